package codemodetest

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"testing"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"

	"github.com/temporal-codemode/codemode"
	"github.com/temporal-codemode/codemode/sandbox/engine"
	"github.com/temporal-codemode/codemode/signals"
	"github.com/temporal-codemode/codemode/worker/codemodeworker"
)

// Options of a test run. The zero value runs programs without connectors, and leaves what waits for a person to expire.
type Options struct {
	// Options are the worker's; of Worker only the interceptors are used. The executor is engine.InProcess unless one
	// is given.
	codemodeworker.Options
	// Caller is who starts the program.
	Caller signals.Caller
	// Decide answers for the people who approve; nil says nothing.
	Decide Decide
	// Continues is how an earlier run ended, from which the program goes on: see codemode.ExecuteOptions. Fresh reads
	// anew what that one has read.
	Continues *Result
	Fresh     bool
	// Paused is told of each outcome that is paused, before anybody decides: the place for what has to be true then.
	Paused func(signals.Outcome)
	// Snippets are what codemode.run finds, by name.
	Snippets map[string]signals.SnippetVersion
}

// Result is how a program ended.
type Result struct {
	// Outcome is what the caller of Execute gets at last.
	Outcome signals.Outcome
	// Record is the audit record.
	Record *signals.Record
	// Took is the time that passed for the execution, waiting included.
	Took time.Duration

	histories histories
	run       *run
}

// Run runs a program to its end. What keeps it from running at all, such as a mistake in the options, fails the test.
func Run(t testing.TB, code string, o Options) Result {
	t.Helper()
	if o.Executor == nil {
		o.Executor = &engine.InProcess{}
	}
	if err := o.Caller.Check(); err != nil {
		t.Fatal(err)
	}
	plugin, err := codemodeworker.NewPlugin(o.Options)
	if err != nil {
		t.Fatal(err)
	}
	if o.Runtime == "" {
		o.Runtime = signals.DefaultRuntime
	}
	r := &run{t: t, options: o, id: "exec_test"}
	r.events = &recorder{runtime: o.Runtime, snippets: o.Snippets, earlier: histories{}}
	if o.Continues != nil {
		maps.Copy(r.events.earlier, o.Continues.histories)
		r.id = fmt.Sprintf("exec_test_%d", len(r.events.earlier)+1)
	}
	r.events.id = signals.WorkflowID(o.Runtime, r.id)
	r.setUp(plugin)
	return r.execute(code)
}

type run struct {
	t       testing.TB
	options Options
	id      string
	env     *testsuite.TestWorkflowEnvironment
	events  *recorder
}

func (r *run) setUp(plugin worker.Plugin) {
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(sdklog.NewStructuredLogger(slog.New(slog.NewTextHandler(io.Discard, nil))))
	r.env = suite.NewTestWorkflowEnvironment()
	r.env.SetStartTime(time.Now())
	r.env.SetTestTimeout(time.Minute)
	r.env.SetStartWorkflowOptions(client.StartWorkflowOptions{
		ID: signals.WorkflowID(r.options.Runtime, r.id), TaskQueue: codemodeworker.TaskQueue(r.options.Runtime),
	})
	r.env.SetOnActivityStartedListener(r.events.activityStarted)
	r.env.SetOnActivityCompletedListener(r.events.activityCompleted)
	slots, err := worker.NewFixedSizeTuner(worker.FixedSizeTunerOptions{NumWorkflowSlots: 100, NumActivitySlots: 100,
		NumLocalActivitySlots: 100, NumNexusSlots: 100})
	if err != nil {
		r.t.Fatal(err)
	}
	r.env.SetWorkerOptions(worker.Options{
		Tuner:        slots, // the environment configures a worker again and again, and takes numbers but once
		Plugins:      []worker.Plugin{plugin},
		Interceptors: append(slices.Clone(r.options.Worker.Interceptors), &lendClient{client: r.events}),
	})
}

func (r *run) execute(code string) Result {
	r.t.Helper()
	started := r.env.Now()
	input := signals.ExecutionInput{Code: code, Runtime: r.options.Runtime, Caller: r.options.Caller}
	if earlier := r.options.Continues; earlier != nil {
		input.Continues = &signals.Continues{ExecutionID: earlier.Record.ID, Fresh: r.options.Fresh}
	}
	r.events.started(started, input)
	if r.options.Decide == nil && r.options.Paused != nil {
		r.options.Decide = func(signals.PendingAction) Decision { return Decision{} }
	}
	if r.options.Decide != nil {
		r.env.RegisterDelayedCallback(func() { r.wait(0) }, 0)
	}
	r.env.ExecuteWorkflow(signals.ExecutionWorkflow, input)
	var result signals.ExecutionResult
	if err := r.env.GetWorkflowResult(&result); err != nil {
		r.t.Fatalf("the execution did not end by itself: %v", err)
	}
	r.events.completed(r.env.Now(), result)
	return r.result(r.env.Now().Sub(started))
}

// result reads the end as a client of a server would.
func (r *run) result(took time.Duration) Result {
	r.t.Helper()
	c, err := codemode.NewClient(r.events, codemode.ClientOptions{Runtime: r.options.Runtime})
	if err != nil {
		r.t.Fatal(err)
	}
	outcome, err := c.Wait(context.Background(), r.id, 0)
	if err != nil {
		r.t.Fatal(err)
	}
	record, err := c.Show(context.Background(), r.id)
	if err != nil {
		r.t.Fatal(err)
	}
	return Result{Outcome: outcome, Record: record, Took: took, histories: r.events.all(), run: r}
}

// wait asks for the next outcome and decides what it waits for.
func (r *run) wait(after int) {
	r.update(signals.UpdateWait, signals.Wait{After: after}, func(answer any) {
		var o signals.Outcome
		raw, ok := answer.(converter.RawValue)
		if ok {
			ok = converter.GetDefaultDataConverter().FromPayload(raw.Payload(), &o) == nil
		}
		switch {
		case !ok || o.Status.Terminal():
		case o.Status != signals.Paused:
			r.wait(after)
		default:
			if r.options.Paused != nil {
				r.options.Paused(o)
			}
			for _, p := range o.Pending {
				for _, m := range r.options.Decide(p).messages {
					r.update(m.name, m.payload(p, m.by), func(verdict any) { r.checkVerdict(p, verdict) })
				}
			}
			r.wait(o.Pass)
		}
	})
}

func (r *run) checkVerdict(p signals.PendingAction, verdict any) {
	if v, ok := verdict.(signals.Verdict); ok && !v.Accepted {
		r.t.Errorf("the decision about %s.%s (seq %d) was refused: %s", p.Connector, p.Method, p.Seq, v.Error)
	}
}

func (r *run) update(name string, payload any, then func(answer any)) {
	r.env.RegisterDelayedCallback(func() {
		r.env.UpdateWorkflow(name, "", &testsuite.TestUpdateCallback{
			OnAccept: func() {},
			OnReject: func(err error) { r.t.Errorf("%s was refused: %v", name, err) },
			OnComplete: func(answer any, err error) {
				if err == nil { // the execution may have ended
					then(answer)
				}
			},
		}, payload)
	}, 0)
}
