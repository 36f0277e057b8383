// Package invocation tells how to type the commands of this project, for errors that end with a remedy.
//
// Its rule: what it says works where the running binary was started: in a checkout by go run, elsewhere by the names of
// the released binaries.
package invocation

import (
	"os"
	"strings"
)

// fromCheckout says that go run built this process: it has a path that will be gone.
func fromCheckout() bool { return strings.Contains(os.Args[0], "go-build") }

// Self is this command again; command is its folder in a checkout.
func Self(command string) string {
	if fromCheckout() {
		return "go run ./" + command
	}
	return os.Args[0]
}

// Worker starts the stock worker.
func Worker() string {
	if fromCheckout() {
		return "go run ./worker --config codemode.yaml"
	}
	return "codemode-worker --config codemode.yaml"
}

// Server starts a Temporal server for development.
func Server() string {
	if fromCheckout() {
		return "go run ./testenv/dev --headless"
	}
	return "temporal server start-dev"
}
