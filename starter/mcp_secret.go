package main

import (
	"cmp"
	"fmt"
	"net/url"
	"os"
	"strings"

	"github.com/temporal-codemode/codemode/signals/payload"
	"github.com/temporal-codemode/codemode/starter/guard"
)

// secret seals what clients of MCP carry between a question and its answer. Doors that are started alike have the same
// one: what CODEMODE_KEY says, else the tokens file, else the keys that payloads are encrypted with. With none of them
// it is empty, and each door takes its own answers alone.
func (f mcpFlags) secret() ([]byte, error) {
	if key := os.Getenv(guard.KeyVariable); key != "" {
		_, err := guard.NewKey() // it refuses short ones
		return []byte(key), err
	}
	if f.tokens != "" {
		text, err := os.ReadFile(f.tokens)
		if err != nil {
			return nil, fmt.Errorf("read the tokens file: %w", err)
		}
		return text, nil
	}
	return []byte(os.Getenv(payload.KeysEnv)), nil
}

// page gives the address of an execution in the console; nil where no console was named.
func (f mcpFlags) page(runtime string) func(executionID string) string {
	if f.console == "" {
		return nil
	}
	base := strings.TrimSuffix(f.console, "/")
	return func(id string) string {
		return base + "/executions/" + url.PathEscape(cmp.Or(runtime, "default")) + "/" + url.PathEscape(id)
	}
}

// checkConsole takes addresses that a person's browser opens.
func (f mcpFlags) checkConsole() error {
	if f.console == "" {
		return nil
	}
	u, err := url.Parse(f.console)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		return usagef("--console %s: give the address of the console, such as https://console.example", f.console)
	}
	return nil
}
