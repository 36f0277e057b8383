package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
)

// This binary plays every part, told so by its environment.
const (
	roleVariable = "CODEMODE_CHAOS_ROLE"
	addressVar   = "CODEMODE_CHAOS_ADDRESS" // where to listen, or of Temporal
	ledgerVar    = "CODEMODE_CHAOS_LEDGER"
	fileVar      = "CODEMODE_CHAOS_FILE"
	runtimeVar   = "CODEMODE_CHAOS_RUNTIME"
	eventsVar    = "CODEMODE_CHAOS_HISTORY_EVENTS"
	seedVar      = "CODEMODE_CHAOS_SEED"
)

// process is a child that can be killed and started again.
type process struct {
	role string
	env  []string
	log  io.Writer

	mu      sync.Mutex
	cmd     *exec.Cmd
	input   io.Closer
	done    chan struct{}
	address string // of the first start; later starts listen there too
}

// start starts the child and returns when it is ready.
func (p *process) start() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(self)
	cmd.Env = append(append(os.Environ(), roleVariable+"="+p.role), p.env...)
	if p.address != "" {
		cmd.Env = append(cmd.Env, addressVar+"="+p.address)
	}
	cmd.Stderr = p.log
	input, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	output, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start the %s: %w", p.role, err)
	}
	lines := bufio.NewReader(output)
	line, err := lines.ReadString('\n')
	if err != nil {
		return fmt.Errorf("the %s ended before it was ready: %v", p.role, cmd.Wait())
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(io.Discard, lines)
		_ = cmd.Wait()
	}()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cmd, p.input, p.done = cmd, input, done
	if p.address == "" {
		p.address = strings.TrimSpace(strings.TrimPrefix(line, "ready"))
	}
	return nil
}

// kill ends the child with SIGKILL.
func (p *process) kill() {
	p.mu.Lock()
	cmd, done := p.cmd, p.done
	p.mu.Unlock()
	if cmd == nil {
		return
	}
	_ = cmd.Process.Kill()
	<-done
}

func (p *process) pid() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd == nil {
		return 0
	}
	return p.cmd.Process.Pid
}

// ended is closed when the child has ended: traps kill workers without being asked.
func (p *process) ended() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.done
}

// ready tells the parent that this child is up, and ends this process with its parent.
func ready(address string) {
	fmt.Println("ready", address)
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
}
