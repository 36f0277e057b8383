package main

import (
	"context"
	"log/slog"
	"os"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"

	"github.com/temporal-codemode/codemode"
	"github.com/temporal-codemode/codemode/testenv/server"
)

// site is the server, in this process, and the two workers in theirs.
type site struct {
	server         *server.Server
	temporal       client.Client
	client         *codemode.Client
	ours, baseline *process
	stops          []func()
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
	s.temporal, err = codemode.Dial(ctx,
		client.Options{HostPort: s.server.Address(), Logger: sdklog.NewStructuredLogger(silent())})
	if err != nil {
		return err
	}
	s.stops = append(s.stops, s.temporal.Close)
	if s.client, err = codemode.NewClient(s.temporal, codemode.ClientOptions{OmitCalls: true}); err != nil {
		return err
	}
	if s.ours, err = s.worker(workerConfig{InProcess: o.inProcess, CPUProfile: o.cpuProfile}); err != nil {
		return err
	}
	s.baseline, err = s.worker(workerConfig{Baseline: true})
	return err
}

func (s *site) worker(c workerConfig) (*process, error) {
	c.Address = s.server.Address()
	p, err := startProcess(c)
	if err == nil {
		s.stops = append(s.stops, p.stop)
	}
	return p, err
}

func silent() *slog.Logger {
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError + 1}))
}

func (s *site) close() {
	for i := len(s.stops) - 1; i >= 0; i-- {
		s.stops[i]()
	}
}

// patience bounds one execution; the longest, of a thousand activities, takes some ten seconds on an idle machine.
const patience = 3 * time.Minute

// weight is what a closed run leaves in history.
type weight struct{ events, bytes, actions float64 }

func (s *site) weigh(ctx context.Context, workflowID string) (weight, error) {
	if err := s.temporal.GetWorkflow(ctx, workflowID, "").Get(ctx, nil); err != nil {
		return weight{}, err
	}
	d, err := s.temporal.DescribeWorkflowExecution(ctx, workflowID, "")
	if err != nil {
		return weight{}, err
	}
	w := weight{events: float64(d.WorkflowExecutionInfo.HistoryLength),
		bytes: float64(d.WorkflowExecutionInfo.HistorySizeBytes)}
	events := s.temporal.GetWorkflowHistory(ctx, workflowID, "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	local := false // a local activity of this workflow task was counted
	for events.HasNext() {
		e, err := events.Next()
		if err != nil {
			return weight{}, err
		}
		switch {
		case e.EventType == enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED:
			local = false
		case e.GetMarkerRecordedEventAttributes().GetMarkerName() == "LocalActivity":
			if !local {
				w.actions++
			}
			local = true
		default:
			w.actions += billed(e)
		}
	}
	return w, nil
}

// billed is how many actions Temporal Cloud counts for an event. Queries, and updates that were refused, leave none.
func billed(e *historypb.HistoryEvent) float64 {
	switch e.EventType {
	case enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED, enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED,
		enumspb.EVENT_TYPE_TIMER_STARTED,
		enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED, enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ACCEPTED,
		enumspb.EVENT_TYPE_UPSERT_WORKFLOW_SEARCH_ATTRIBUTES, enumspb.EVENT_TYPE_WORKFLOW_PROPERTIES_MODIFIED:
		return 1
	case enumspb.EVENT_TYPE_ACTIVITY_TASK_STARTED: // each further attempt
		return float64(e.GetActivityTaskStartedEventAttributes().Attempt - 1)
	}
	return 0
}
