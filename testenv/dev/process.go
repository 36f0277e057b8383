package main

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"go.temporal.io/sdk/client"

	"github.com/temporal-codemode/codemode/worker/codemodeworker"
	"github.com/temporal-codemode/codemode/worker/config"
)

// This binary plays the worker and the tracker too, told so by its environment.
const (
	roleVariable  = "CODEMODE_DEV_ROLE"
	roleWorker    = "worker"
	roleTracker   = "tracker"
	stateVariable = "CODEMODE_DEV_TRACKER"
	configVar     = "CODEMODE_DEV_CONFIG"
)

// runWorker is the worker process: the stock worker on the configuration that the environment names.
func runWorker(ctx context.Context) error {
	cfg, err := config.Load(os.Getenv(configVar))
	if err != nil {
		return err
	}
	options, err := cfg.Options()
	if err != nil {
		return err
	}
	return codemodeworker.Run(ctx, options, codemodeworker.RunOptions{
		Client: client.Options{HostPort: os.Getenv("TEMPORAL_ADDRESS")},
		Log:    slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
		Ready:  func(line string) { fmt.Println(line) },
	})
}

// process is a worker process.
type process struct {
	cmd  *exec.Cmd
	done chan struct{}
}

// startWorker starts the stock worker and returns once it is ready.
func (e *environment) startWorker(ctx context.Context) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), roleVariable+"="+roleWorker, configVar+"="+e.config,
		"TEMPORAL_ADDRESS="+e.server.Address())
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start the worker: %w", err)
	}
	p := &process{cmd: cmd, done: make(chan struct{})}
	ready := make(chan bool, 1)
	go func() {
		defer close(p.done)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if strings.HasPrefix(lines.Text(), "worker ready") {
				ready <- true
			}
		}
		_ = cmd.Wait()
	}()
	e.worker = p
	select {
	case <-ready:
		return nil
	case <-p.done:
		return fmt.Errorf("the worker ended before it was ready: %s", cmd.ProcessState)
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (p *process) pid() int { return p.cmd.Process.Pid }

// kill ends the worker as a crash would.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.done
}

func (p *process) stop() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.done:
	case <-time.After(10 * time.Second):
		p.kill()
	}
}
