// Package server runs a Temporal development server inside this process, with its Web UI when asked.
//
// It is what the demo, the end-to-end tests and the benchmarks start, so that none of them needs a download, a
// container or a network. It listens on loopback only and checks no credentials: it is not for production.
package server

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"sync"
	"time"

	uiserver "github.com/temporalio/ui-server/v2/server"
	"go.temporal.io/server/temporal"
)

// FreePort as Options.UIPort lets the system choose the Web UI's port.
const FreePort = -1

const readyTimeout = 30 * time.Second

// Options says how to run the server. The zero value is a server on a free loopback port that keeps everything in
// memory, has no Web UI and logs nothing.
type Options struct {
	// Address is where clients connect, for example "127.0.0.1:7233". It must be on loopback. Empty, or port 0,
	// means a free port.
	Address string
	// UIPort is the port of the Web UI: 0 for none, FreePort for a free one.
	UIPort int
	// DB is the path of the SQLite file that keeps the state; it is created when missing. Empty means memory.
	DB string
	// Namespace is created when missing, with 30 days of retention. Empty means "default".
	Namespace string
	// LogLevel is one of debug, info, warn, error. Empty means quiet: a healthy server logs errors too, when it stops
	// and its own pollers find their connections gone. Logs go to standard error.
	LogLevel string
	// MaxUpdates is how many updates a run takes in all; 0 leaves the server's 2,000.
	MaxUpdates int
}

// Server is a running server. Stop it when done.
type Server struct {
	address  string
	uiURL    string
	temporal temporal.Server
	ui       *uiserver.Server
	stop     sync.Once
}

// Start starts a server and returns once it serves. ctx bounds only the starting: the server lives until Stop.
func Start(ctx context.Context, opts Options) (*Server, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p, err := plan(opts)
	if err != nil {
		return nil, err
	}
	backend, err := newTemporal(p)
	if err != nil {
		return nil, err
	}
	s := &Server{address: p.address(), temporal: backend}
	if err := s.run(ctx, p); err != nil {
		s.Stop()
		return nil, err
	}
	return s, nil
}

func (s *Server) run(ctx context.Context, p settings) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	if err := s.temporal.Start(); err != nil {
		return fmt.Errorf("start the Temporal server: %w", err)
	}
	if err := awaitNamespace(ctx, p); err != nil {
		return err
	}
	if p.uiPort == 0 {
		return nil
	}
	s.uiURL = "http://" + net.JoinHostPort(p.host, strconv.Itoa(p.uiPort))
	s.ui = newUI(p)
	return startUI(ctx, s.ui, s.uiURL)
}

// Address is where clients connect, as host:port.
func (s *Server) Address() string { return s.address }

// UIURL is the address of the Web UI, or empty when it was not asked for.
func (s *Server) UIURL() string { return s.uiURL }

// Stop ends the server and returns when its ports are free again. It may be called more than once.
func (s *Server) Stop() {
	s.stop.Do(func() {
		if s.ui != nil {
			s.ui.Stop()
		}
		// Its only failure is a service that outlived its stop timeout, and the caller can do nothing about that.
		_ = s.temporal.Stop()
	})
}
