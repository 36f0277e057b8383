// Package local runs programs without Temporal: in the same sandbox, with the same connectors and rules.
//
// Its rule: nothing lasts. Nothing of a run is recorded, repeated after a crash, approved or undone.
package local

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/temporal-codemode/codemode"
	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/connectors/catalogue"
	"github.com/temporal-codemode/codemode/internal/ask"
	"github.com/temporal-codemode/codemode/sandbox"
	"github.com/temporal-codemode/codemode/sandbox/child"
	"github.com/temporal-codemode/codemode/signals"
)

// Options configure runs without Temporal. The zero value has no connectors.
type Options struct {
	// Connectors are the namespaces that programs see, Rules change their methods, as a worker's do.
	Connectors []connectors.Connector
	Rules      map[string][]connectors.Rule
	// Executor runs the programs; nil runs each in a hardened child process, as Sandbox says, for which
	// main begins with child.Main().
	Executor sandbox.Executor
	Sandbox  child.Options
	Modules  map[string]string
	Hints    map[string]string
	// Timeout bounds a run, calls and timers included; 0 is 60 s.
	Timeout time.Duration
	// Preflight is what follows from mistakes that are found in a program before it runs.
	Preflight signals.PreflightMode
	// Synchronous programs call without await.
	Synchronous bool
}

// Run runs a program that needs no Temporal: in the same sandbox, with the same connectors and rules, but nothing of
// it is recorded, repeated after a crash, or undone. Nobody can be asked, so methods that always need approval or get
// their results from clients are left out.
// The outcome is completed or error. It loads and closes the connectors; NewOnce keeps them for several runs.
func Run(ctx context.Context, code string, o Options) (signals.Outcome, error) {
	once, err := New(ctx, o)
	if err != nil {
		return signals.Outcome{}, err
	}
	out, err := once.Execute(ctx, code, codemode.ExecuteOptions{Synchronous: o.Synchronous})
	return out, errors.Join(err, once.Close())
}

// Runner runs programs without Temporal; see RunOnce.
type Runner struct {
	options Options
	loaded  *connectors.Set // as configured
	offered *connectors.Set // without what needs approval
	catalog *catalogue.Catalogue
	own     *child.Pool // to be closed
}

// New loads the connectors.
func New(ctx context.Context, o Options) (*Runner, error) {
	set, err := connectors.NewSet(ctx, o.Connectors, o.Rules)
	if err != nil {
		return nil, err
	}
	r := &Runner{options: o, loaded: set}
	r.options.Timeout = cmp.Or(o.Timeout, time.Minute)
	if r.offered, err = Unattended(ctx, set); err != nil {
		return nil, errors.Join(err, set.Close())
	}
	r.catalog = catalogue.New(r.offered)
	if o.Executor == nil {
		if r.own, err = child.New(o.Sandbox); err != nil {
			return nil, errors.Join(err, set.Close())
		}
		r.options.Executor = r.own
	}
	return r, nil
}

// Close closes the connectors and the sandbox.
func (r *Runner) Close() error {
	err := r.loaded.Close()
	if r.own != nil {
		err = errors.Join(err, r.own.Close())
	}
	return err
}

// Execute runs a program to its end. Of the options only Synchronous and Caller count.
func (r *Runner) Execute(ctx context.Context, code string, o codemode.ExecuteOptions) (signals.Outcome, error) {
	if message := signals.CheckSize("The execution code", code); message != "" {
		return signals.ErrorOutcome("", message), nil
	}
	if o.Continues != "" {
		return signals.ErrorOutcome("", "Nothing is kept of earlier programs here, so that none can be continued: run "+
			"what is left to do, without continues."), nil
	}
	if err := o.Caller.Check(); err != nil {
		return signals.Outcome{}, err
	}
	now := time.Now()
	id := signals.NewExecutionID(now)
	h := r.host(id, o.Caller)
	run := &run{id: id, Passes: Passes{Executor: r.options.Executor, Host: h, Timeout: r.options.Timeout,
		Ends: now.Add(r.options.Timeout)}}
	run.Pass = sandbox.Pass{
		Code: code, Seed: id, Start: now.UnixMilli(), Modules: r.options.Modules, Connectors: r.offered.Names(),
		Synchronous: o.Synchronous,
	}
	report, err := h.lookups().Check(ctx, r.options.Executor, run.Pass, r.options.Preflight)
	if err != nil {
		return signals.Outcome{}, err
	}
	h.Program, run.found = report.Program, report.Hints
	if report.Stop != nil {
		return run.failed(sandbox.Result{Failure: report.Stop}), nil
	}
	return run.finish(ctx)
}

func (r *Runner) host(id string, caller signals.Caller) *host {
	return &host{Calls: Calls{Connectors: r.offered, ExecutionID: id, Caller: caller}, Catalogue: r.catalog,
		Hints: r.options.Hints}
}

// Check looks at a program without running it, as Client.Check does.
func (r *Runner) Check(ctx context.Context, code string) (signals.Checked, error) {
	return r.host("", signals.Caller{}).lookups().Checked(ctx, r.options.Executor,
		sandbox.Pass{Code: code, Modules: r.options.Modules}, r.options.Preflight)
}

// Ask puts a question to the catalogue, as Client.Ask does.
func (r *Runner) Ask(ctx context.Context, question signals.CatalogueInput) (json.RawMessage, error) {
	return r.host("", signals.Caller{}).Answer(ctx, question)
}

// Methods lists what programs can call.
func (r *Runner) Methods(ctx context.Context) ([]signals.Method, error) {
	return ask.Catalogue(r.Ask).Methods(ctx)
}

// Method tells about one method.
func (r *Runner) Method(ctx context.Context, connector, method string) (*signals.Method, error) {
	return ask.Catalogue(r.Ask).Method(ctx, connector, method)
}

// maxTypes is how long types in a tool's description may get; programs can always ask for more.
const maxTypes = 24_000

// Tool is what a model is offered: the description has the types of all methods, if they are not too many.
func (r *Runner) Tool(ctx context.Context, o codemode.ToolOptions) (signals.Tool, error) {
	tool, err := ask.Catalogue(r.Ask).Tool(ctx, o.Description, o.Hints)
	if err != nil || o.Description != "" {
		return tool, err
	}
	var types []string
	size := 0
	for _, name := range r.offered.Names() {
		text := r.catalog.Types(name)
		if size += len(text); size > maxTypes {
			return tool, nil
		}
		types = append(types, text)
	}
	if len(types) > 0 {
		tool.Description += "\n\n## Types\n\n```ts\n" + strings.Join(types, "\n\n") + "\n```"
	}
	return tool, nil
}

// run is one run of a program.
type run struct {
	Passes
	id    string
	found []signals.Hint // before it ran
}

func (r *run) finish(ctx context.Context) (signals.Outcome, error) {
	result, err := r.Run(ctx)
	switch {
	case errors.Is(err, signals.ErrTimedOut):
		return r.failed(sandbox.Result{Failure: sandbox.TimeUp(r.Timeout)}), nil
	case err != nil:
		return signals.Outcome{}, fmt.Errorf("run %s: %w", r.id, err)
	case result.End == sandbox.Failed:
		return r.failed(result), nil
	}
	out := r.outcome(signals.Completed)
	out.Result, out.Warnings = result.Value, result.Warnings
	return out, nil
}

func (r *run) outcome(status signals.Status) signals.Outcome {
	out := signals.Outcome{Status: status, ExecutionID: r.id, Logs: r.Logs, Calls: []signals.Call{}, Hints: r.found}
	for _, e := range r.Pass.Log {
		if e.Timer || e.ID < 0 {
			continue
		}
		call := signals.Call{
			Seq: e.ID, Connector: e.Connector, Method: e.Method, Args: e.Args, Result: e.Value, State: signals.Applied,
			Class: e.Class, Position: e.Position, SettledAt: e.At,
		}
		if e.Error != nil {
			call.State, call.Error, call.ErrorName = signals.Errored, e.Error.Message, e.Error.Name
		}
		out.Calls = append(out.Calls, call)
	}
	return out
}

func (r *run) failed(result sandbox.Result) signals.Outcome {
	out, f := r.outcome(signals.Failed), result.PassFailure()
	out.Error, out.Position, out.Warnings = signals.ErrorText(f.Message, r.Logs), f.Position, result.Warnings
	out.Excerpt = signals.Excerpt(r.Pass.Code, f.Position)
	return out
}
