//go:build !unix

package mcp

import "os/exec"

func separate(*exec.Cmd) {}
func endGroup(*exec.Cmd) {}
