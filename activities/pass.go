package activities

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/proto"

	"github.com/temporal-codemode/codemode/internal/history"
	"github.com/temporal-codemode/codemode/internal/lookup"
	"github.com/temporal-codemode/codemode/sandbox"
	"github.com/temporal-codemode/codemode/sandbox/compile"
	"github.com/temporal-codemode/codemode/sandbox/preflight"
	"github.com/temporal-codemode/codemode/signals"
	"github.com/temporal-codemode/codemode/signals/payload"
)

// Pass runs one pass of an execution. The error is for passes that another attempt or worker should run; how the
// program ended is data.
func (a *Activities) Pass(ctx context.Context, in signals.PassInput) (converter.RawValue, error) {
	in.Given = slices.Clone(in.Given) // a local activity shares its input with the workflow
	info := activity.GetInfo(ctx)
	if info.IsLocalActivity {
		return a.localPass(ctx, in, info.WorkflowExecution.RunID)
	}
	result, err := a.pass(ctx, in, info.WorkflowExecution.RunID)
	if err != nil {
		return converter.RawValue{}, err
	}
	encoded, err := payload.Raw(result)
	if err != nil || a.size(encoded) <= maxPayload {
		return encoded, err
	}
	a.memory.drop(info.WorkflowExecution.RunID)
	return a.smaller(in, result, a.size(encoded))
}

// size is what a result takes in history, after the converter's codecs where it has any.
func (a *Activities) size(encoded converter.RawValue) int {
	size := len(encoded.Payload().GetData())
	if size <= maxPayload {
		return size
	}
	p, err := a.DataConverter.ToPayload(encoded)
	if err != nil {
		return size
	}
	return proto.Size(p)
}

// smaller shortens what people decided, which the record finds elsewhere, and leaves out a final value that history
// cannot hold. What else is too large ends the execution.
func (a *Activities) smaller(in signals.PassInput, result signals.PassResult, size int) (converter.RawValue, error) {
	result.Given = shortened(result.Given)
	if encoded, err := payload.Raw(result); err != nil || a.size(encoded) <= maxPayload {
		return encoded, err
	}
	if result.End == signals.PassCompleted {
		result.Omitted, result.Value = signals.TooLarge("The final result", len(result.Value), signals.MaxValueBytes),
			nil
		encoded, err := payload.Raw(result)
		if err != nil || a.size(encoded) <= maxPayload {
			return encoded, err
		}
	}
	return payload.Raw(failed(in, newNonce(),
		fmt.Sprintf("The result of pass %d takes %d bytes, more than the %d that history can hold. "+
			"Return and log less at once.", in.Pass, size, maxPayload)))
}

func shortened(given []signals.Given) []signals.Given {
	short := slices.Clone(given)
	for i, g := range short {
		if g.Decision != nil {
			d := g.Decision.Short()
			short[i].Decision = &d
		}
	}
	return short
}

// Sizes of an encoded result in bytes. The server refuses 2 MiB, and a result refused for size would be sent for ever;
// a workflow task carries much besides.
const (
	maxPayload      = 2_050_000
	maxLocalPayload = 256 * 1024
)

// localPass answers inside the workflow task, or says that the pass goes on as an activity of its own.
func (a *Activities) localPass(ctx context.Context, in signals.PassInput, runID string) (converter.RawValue, error) {
	j := a.within(ctx, in)
	if j != nil && j.err == nil {
		encoded, err := payload.Raw(j.result)
		if err != nil || len(encoded.Payload().GetData()) <= maxLocalPayload {
			return encoded, err
		}
		a.jobs.leave(runID, j)
	}
	return payload.Raw(signals.PassResult{Pass: in.Pass, End: signals.PassElsewhere})
}

// pass answers as a regular activity.
func (a *Activities) pass(ctx context.Context, in signals.PassInput, runID string) (signals.PassResult, error) {
	if err := a.checkWorker(in, a.missing(in)); err != nil {
		return notHere(ctx, in, err)
	}
	pulse := beat(ctx)
	defer pulse.stop()
	if pulse.start() > maxStarts {
		return failed(in, newNonce(),
			fmt.Sprintf("Code execution failed: the pass ended its worker %d times", maxStarts)), nil
	}
	j := a.jobs.takeOver(runID, in)
	if j == nil {
		j = a.begin(ctx, in)
	}
	result, err := j.follow(ctx, pulse)
	if err != nil && !errors.Is(err, errPanicked) {
		pulse.ended()
	}
	return result, err
}

// run makes the pass itself, for j.
func (a *Activities) run(ctx context.Context, in signals.PassInput, j *job) (signals.PassResult, error) {
	known, err := a.recall(ctx, in)
	if err != nil {
		return signals.PassResult{}, err
	}
	nonce := newNonce()
	known.input = standing(in)
	limits := a.limits(in)
	shelf := known.log.Shelf(time.Now(), time.Duration(limits.CarriedReadsMs)*time.Millisecond)
	if missing := a.missing(in); len(missing) > 0 {
		known.nonce = nonce
		a.memory.put(known)
		return signals.PassResult{Nonce: nonce, Pass: in.Pass, End: signals.PassMissing, Missing: missing,
			Given: references(in.Given)}, nil
	}
	if err := known.log.Give(in.Given, nil); err != nil {
		return signals.PassResult{}, err
	}
	a.learnFrom(ctx, in.Given, known.log)
	pass, lookups := a.sandboxPass(in, known, nonce), a.lookups(ctx, in.Runtime)
	ctx = sandbox.WithWaiting(ctx, j.report)
	report, err := a.preflight(ctx, in, pass, lookups)
	if err != nil {
		return signals.PassResult{}, err
	}
	r := sandbox.Result{End: sandbox.Failed, Failure: report.Stop}
	if report.Stop == nil {
		h := a.host(in, lookups, j, report)
		h.shelf, h.teller = shelf, teller(ctx)
		if r, err = a.Executor.Run(ctx, pass, h); err != nil {
			return signals.PassResult{}, err
		}
	}
	result, err := a.wireResult(in, r, shelf)
	if err != nil {
		return signals.PassResult{}, err
	}
	if result.Pinned != nil {
		attributes := a.SearchAttributes(ctx)
		result.Pinned.SearchAttributes, result.Pinned.LabelAttribute = attributes.Status, attributes.Labels
		result.Pinned.Preflight = report.Preflight
	}
	if f := result.Failure; f != nil {
		f.Excerpt = signals.Excerpt(known.code, f.Position)
	}
	result.Nonce = nonce
	known.log.Add(result)
	known.nonce = nonce
	if result.End != signals.PassCompleted && result.End != signals.PassFailed { // else no pass follows
		a.memory.put(known)
	}
	return result, nil
}

func (a *Activities) host(in signals.PassInput, lookups lookup.Lookups, j *job, found preflight.Report) *host {
	h := &host{Activities: a, in: in, lookups: lookups, job: j, program: found.Program}
	if in.Pinned != nil {
		h.program = in.Pinned.Preflight.Program
	}
	return h
}

// preflight looks at the program before its first pass.
func (a *Activities) preflight(ctx context.Context, in signals.PassInput, pass sandbox.Pass,
	lookups lookup.Lookups) (preflight.Report, error) {
	if in.Pinned != nil {
		return preflight.Report{}, nil
	}
	return lookups.Check(ctx, a.Executor, pass, a.Preflight)
}

// newNonce tells a recorded pass from every other of its execution.
func newNonce() string { return rand.Text()[:13] }

// standing is what the inputs of an execution's passes have in common, but for what the first pass pins.
func standing(in signals.PassInput) signals.PassInput {
	return signals.PassInput{ExecutionID: in.ExecutionID, Runtime: in.Runtime, StartedAt: in.StartedAt,
		Synchronous: in.Synchronous}
}

// maxStarts is how often a pass that takes its worker with it is tried as an activity, after once inside a workflow
// task.
const maxStarts = 3

func failed(in signals.PassInput, nonce, message string) signals.PassResult {
	return signals.PassResult{Nonce: nonce, Pass: in.Pass, End: signals.PassFailed, Given: references(in.Given),
		Failure: &signals.PassFailure{Message: message, Stopped: true}}
}

// checkWorker leaves the pass to another worker if this one's engine might replay the log differently, or if it lacks
// the execution's connectors. Only a pass that follows a decision is answered without them, since a person waits.
func (a *Activities) checkWorker(in signals.PassInput, missing []string) error {
	if in.Pinned == nil {
		return nil
	}
	if version := a.version(); version != in.Pinned.Engine {
		return &elsewhereError{"EngineMismatch",
			fmt.Sprintf("this worker's engine (%s) is not the execution's (%s): waiting for a worker that has it",
				version, in.Pinned.Engine)}
	}
	if len(missing) > 0 && !in.Decided {
		return &elsewhereError{"ConnectorMissing", signals.MissingConnectors(in.ExecutionID, missing)}
	}
	return nil
}

// elsewhereError says why this worker cannot run a pass that another may.
type elsewhereError struct{ kind, message string }

func (e *elsewhereError) Error() string { return e.message }

// How often other workers are asked for a pass that this one cannot run: soon at first, since a fleet that is being
// replaced has both kinds, then less and less. Who has decided something gets an answer after the first few.
const (
	askSoon    = 2 * time.Second
	askSoonFor = 5
	askAtMost  = 5 * time.Minute
)

// notHere leaves the pass to another worker. If there seems to be none, a decision led to nothing, and says so.
func notHere(ctx context.Context, in signals.PassInput, why error) (signals.PassResult, error) {
	var e *elsewhereError
	if !errors.As(why, &e) {
		return signals.PassResult{}, why
	}
	activity.GetMetricsHandler(ctx).WithTags(map[string]string{"reason": e.kind}).Counter(metricPassesElsewhere).Inc(1)
	attempt := int(activity.GetInfo(ctx).Attempt)
	if in.Decided && attempt > askSoonFor {
		return signals.PassResult{Nonce: newNonce(), Pass: in.Pass, End: signals.PassMissing,
			Given: references(in.Given), Why: e.message}, nil
	}
	return signals.PassResult{}, applicationError(e.kind, e.message, true, pauseBefore(attempt))
}

// pauseBefore is how long after an attempt the next one comes.
func pauseBefore(attempt int) time.Duration {
	return min(askAtMost, askSoon<<min(max(0, attempt-askSoonFor), 16))
}

// metricPassesElsewhere counts, by reason, the passes that a worker had to leave to another.
const metricPassesElsewhere = "codemode_passes_elsewhere"

// version names all that may change how a log replays.
func (a *Activities) version() string {
	version := a.Executor.Version()
	if modules := compile.ModulesVersion(a.Modules); modules != "" {
		version += ", modules " + modules
	}
	return version
}

func (a *Activities) missing(in signals.PassInput) []string {
	var names []string
	if in.Pinned != nil {
		for _, n := range in.Pinned.Connectors {
			if !a.Connectors.Has(n) {
				names = append(names, n)
			}
		}
	}
	return names
}

// recall finds the log so far: in memory if it stands right after the previous pass, else in the run's history. Given
// values that travelled as references are filled in.
func (a *Activities) recall(ctx context.Context, in signals.PassInput) (*remembered, error) {
	run := activity.GetInfo(ctx).WorkflowExecution
	if in.After == "" && in.Code != "" && !in.Continues {
		return &remembered{runID: run.RunID, code: in.Code, log: signals.NewLog(), bytes: len(in.Code)}, nil
	}
	known := a.memory.take(run.RunID, in.After)
	if known != nil && carried(in.Given) {
		return known, nil
	}
	h, err := history.Read(ctx, activity.GetClient(ctx), a.DataConverter, run.ID, run.RunID)
	if err != nil {
		return nil, fmt.Errorf("read the log of %s: %w", in.ExecutionID, err)
	}
	if known == nil {
		h.Cut(in.Pass - 1)
		log, err := h.Log()
		if err != nil {
			return nil, fmt.Errorf("fold the log of %s: %w", in.ExecutionID, err)
		}
		known = &remembered{runID: run.RunID, nonce: log.Nonce, code: h.Input.Code, log: log,
			bytes: len(h.Input.Code) + log.Earlier.Bytes()}
	}
	if known.nonce != in.After {
		return nil, fmt.Errorf("the history of %s ends with another pass than the one before pass %d", in.ExecutionID,
			in.Pass)
	}
	return known, fill(in.Given, h.Source)
}

func carried(given []signals.Given) bool {
	for _, g := range given {
		if g.Source != "" && !g.Carried {
			return false
		}
	}
	return true
}

func fill(given []signals.Given, source signals.Source) error {
	for i, g := range given {
		if g.Source == "" || g.Carried {
			continue
		}
		s, err := source(g.Source)
		if err != nil {
			return fmt.Errorf("result of call %d: %w", g.ID, err)
		}
		given[i].Value, given[i].Error, given[i].Carried = s.Value, s.Error, true
	}
	return nil
}

func references(given []signals.Given) []signals.Given {
	out := make([]signals.Given, len(given))
	for i, g := range given {
		out[i] = g.Reference()
	}
	return out
}
