package main

import (
	"context"
	"log/slog"
	"os"
	"time"

	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/worker"

	"github.com/temporal-codemode/codemode"
	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/sandbox"
	"github.com/temporal-codemode/codemode/testenv/server"
)

// site is the server and what runs on it: our worker and the baseline's, each with the SDK's default options.
type site struct {
	server   *server.Server
	temporal client.Client
	client   *codemode.Client
	stops    []func()
}

func open(ctx context.Context, o options) (*site, error) {
	s := &site{}
	if err := s.start(ctx, o); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *site) start(ctx context.Context, o options) (err error) {
	if s.server, err = server.Start(ctx, server.Options{DB: o.db}); err != nil {
		return err
	}
	s.stops = append(s.stops, s.server.Stop)
	quiet := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError + 1}))
	s.temporal, err = client.Dial(client.Options{HostPort: s.server.Address(), Logger: sdklog.NewStructuredLogger(quiet)})
	if err != nil {
		return err
	}
	s.stops = append(s.stops, s.temporal.Close)
	if s.client, err = codemode.NewClient(s.temporal, codemode.ClientOptions{}); err != nil {
		return err
	}
	if err := s.startOurs(ctx, o); err != nil {
		return err
	}
	return s.startBaseline()
}

func (s *site) startOurs(ctx context.Context, o options) error {
	settings := codemode.Options{Connectors: []connectors.Connector{store()}}
	if o.inProcess {
		settings.Executor = &sandbox.InProcess{}
	}
	w, err := codemode.NewWorker(ctx, s.temporal, settings)
	if err != nil {
		return err
	}
	if err := w.Start(); err != nil {
		return err
	}
	s.stops = append(s.stops, w.Stop)
	return nil
}

func (s *site) startBaseline() error {
	w := worker.New(s.temporal, baselineQueue, worker.Options{})
	registerBaseline(w)
	if err := w.Start(); err != nil {
		return err
	}
	s.stops = append(s.stops, w.Stop)
	return nil
}

func (s *site) close() {
	for i := len(s.stops) - 1; i >= 0; i-- {
		s.stops[i]()
	}
}

// patience bounds one execution; the longest, of a thousand activities, takes some ten seconds on an idle machine.
const patience = 3 * time.Minute

// size reads what a closed run's history takes.
func (s *site) size(ctx context.Context, workflowID string) (events, bytes int64, err error) {
	if err := s.temporal.GetWorkflow(ctx, workflowID, "").Get(ctx, nil); err != nil {
		return 0, 0, err
	}
	d, err := s.temporal.DescribeWorkflowExecution(ctx, workflowID, "")
	if err != nil {
		return 0, 0, err
	}
	info := d.GetWorkflowExecutionInfo()
	return info.GetHistoryLength(), info.GetHistorySizeBytes(), nil
}
