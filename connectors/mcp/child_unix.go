//go:build unix

package mcp

import (
	"os/exec"
	"syscall"
)

// askToEnd is how a process is told to end.
const askToEnd = syscall.SIGTERM

// separate gives the process a group of its own: an interrupt at the terminal is
// for this process, which lets calls finish before it ends its servers.
func separate(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}

// endGroup ends what the process has left behind, such as the server that a
// package runner started.
func endGroup(cmd *exec.Cmd) {
	if cmd != nil && cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
}
