//go:build !unix

package mcp

import (
	"os"
	"os/exec"
)

func separate(*exec.Cmd) {}
func endGroup(*exec.Cmd) {}

// askToEnd is all that there is where processes get no signals.
var askToEnd = os.Kill
