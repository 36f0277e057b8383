package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"

	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"

	"github.com/temporal-codemode/codemode"
	"github.com/temporal-codemode/codemode/testenv/server"
)

// serve brings everything up, prints the ready line, and runs the demo or waits.
func serve(ctx context.Context, o options) error {
	s, err := startServer(ctx, o)
	if err != nil {
		return err
	}
	defer s.Stop()
	dir, err := os.MkdirTemp("", "codemode-dev-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	env := &environment{server: s, config: o.config, state: filepath.Join(dir, "tracker.json")}
	if o.config == "" {
		if env.config, err = writeDemoConfig(dir, env.state); err != nil {
			return err
		}
	}
	defer env.stop()
	if !o.noWorker {
		if err := env.startWorker(ctx); err != nil {
			return err
		}
	}
	stopConsole, err := env.startConsole(ctx, o)
	if err != nil {
		return err
	}
	defer stopConsole()
	fmt.Println(env.readyLine())
	if o.noWorker || o.headless || o.config != "" {
		<-ctx.Done()
		return nil
	}
	return env.demo(ctx, o)
}

// environment is what runs.
type environment struct {
	server *server.Server
	config string // of the worker
	state  string // the demo tracker's file
	worker *process
	// console is the address of the approval console; empty without one.
	console string
}

func (e *environment) stop() {
	if e.worker != nil {
		e.worker.stop()
	}
}

func (e *environment) readyLine() string {
	line := "ready temporal=" + e.server.Address()
	if url := e.server.UIURL(); url != "" {
		line += " ui=" + url
	}
	if e.console != "" {
		line += " console=" + e.console
	}
	if e.worker != nil {
		line += fmt.Sprintf(" worker=%d", e.worker.pid())
	}
	return line
}

// startServer uses the default ports where they are free; ports that were asked for must be.
func startServer(ctx context.Context, o options) (*server.Server, error) {
	if !o.given["address"] && !free(o.address) {
		fmt.Fprintf(os.Stderr, "%s is in use, so Temporal listens on another port\n", o.address)
		o.address = ""
	}
	if ui := fmt.Sprintf("127.0.0.1:%d", o.uiPort); !o.given["ui-port"] && !free(ui) {
		o.uiPort = server.FreePort
	}
	return server.Start(ctx, server.Options{Address: o.address, UIPort: o.uiPort, DB: o.db})
}

func free(address string) bool {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return false
	}
	return l.Close() == nil
}

// writeDemoConfig is the configuration that a user would write for the tracker. JSON is YAML too.
func writeDemoConfig(dir, state string) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	type object = map[string]any
	text, err := json.MarshalIndent(object{"connectors": object{"tracker": object{
		"mcp":   object{"command": self, "env": object{roleVariable: roleTracker, stateVariable: state}},
		"tools": object{"create_issue": object{"requiresApproval": true}},
	}}}, "", "  ")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "codemode.json")
	return path, os.WriteFile(path, text, 0o600)
}

var quiet = sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler))

// client talks to the runtime as any program would.
func (e *environment) client() (*codemode.Client, func(), error) {
	c, err := client.Dial(client.Options{HostPort: e.server.Address(), Logger: quiet})
	if err != nil {
		return nil, nil, err
	}
	cm, err := codemode.NewClient(c, codemode.ClientOptions{})
	return cm, c.Close, err
}
