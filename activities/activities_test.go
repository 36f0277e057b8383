package activities

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/connectors/wire"
	"github.com/temporal-codemode/codemode/internal/lookup"
	"github.com/temporal-codemode/codemode/sandbox"
	"github.com/temporal-codemode/codemode/sandbox/child"
	"github.com/temporal-codemode/codemode/sandbox/engine"
	"github.com/temporal-codemode/codemode/signals"
)

func testActivities(t *testing.T, methods ...connectors.Method) *Activities {
	set, err := connectors.NewSet(context.Background(), []connectors.Connector{connectors.New("store", "", methods...)},
		nil)
	require.NoError(t, err)
	return New(Options{Connectors: set, Executor: &engine.InProcess{}})
}

func method(name string, class connectors.Class,
	execute func(connectors.Context, json.RawMessage) (any, error)) connectors.Method {
	return connectors.Method{Name: name, Class: class, Execute: execute}
}

// A log that alone is larger than what is kept of all stays, until another is needed: each pass would read it anew.
func TestALargeLogIsRemembered(t *testing.T) {
	var m memory
	large := func() *remembered {
		log := signals.NewLog()
		log.Order = []signals.Entry{{Value: make([]byte, memoryBytes)}}
		return &remembered{runID: "large", nonce: "n", log: log}
	}
	m.put(large())
	require.NotNil(t, m.take("large", "n"))
	m.put(large())
	m.put(&remembered{runID: "small", nonce: "n", log: signals.NewLog()})
	require.Nil(t, m.take("large", "n"), "others come first")
	require.NotNil(t, m.take("small", "n"))
}

func TestMemoryServesOnlyThePassAfter(t *testing.T) {
	var m memory
	m.put(&remembered{runID: "r", nonce: "n1", log: signals.NewLog()})
	require.Nil(t, m.take("r", "n0"), "another pass was recorded since")
	require.Nil(t, m.take("r", "n1"), "what was taken in vain is gone")
	m.put(&remembered{runID: "r", nonce: "n1", log: signals.NewLog()})
	require.NotNil(t, m.take("r", "n1"))
	require.Nil(t, m.take("r", "n1"), "no two attempts share it")
	for i := range memoryKept + 10 {
		m.put(&remembered{runID: fmt.Sprint(i), nonce: "n", log: signals.NewLog()})
	}
	require.Nil(t, m.take("0", "n"), "the oldest goes")
	require.NotNil(t, m.take(fmt.Sprint(memoryKept), "n"))
}

func TestFillReadsReferences(t *testing.T) {
	given := []signals.Given{{ID: 1, Source: "call-1.1"},
		{ID: 2, Source: "call-2.1", Value: json.RawMessage("2"), Carried: true}, {Kind: signals.GivenTimer}}
	require.False(t, carried(given))
	require.NoError(t, fill(given, func(id string) (signals.Settlement, error) {
		return signals.Settlement{Value: json.RawMessage(`"` + id + `"`)}, nil
	}))
	require.True(t, carried(given))
	require.Equal(t, `"call-1.1"`, string(given[0].Value))
	require.Equal(t, "2", string(given[1].Value))
	require.Empty(t, references(given)[0].Value, "the echo repeats no value that an event holds")
	require.Error(t, fill([]signals.Given{{Source: "x"}},
		func(string) (signals.Settlement, error) { return signals.Settlement{}, errors.New("gone") }))
}

func TestCallFailures(t *testing.T) {
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	for name, c := range map[string]struct {
		ctx       context.Context
		err       error
		kind      string
		retryable bool
	}{
		"the connector's own answer": {context.Background(), errors.New("no"), signals.ErrorConnector, false},
		"asks to be retried": {context.Background(),
			&connectors.RetryableError{Message: "later", RetryAfter: time.Second}, signals.ErrorRetryable, true},
		"connection lost": {context.Background(), &connectors.OutcomeUnknownError{Err: errors.New("eof")},
			signals.OutcomeUnknown, true},
		"cancelled":           {cancelled, errors.New("stopped"), signals.OutcomeUnknown, true},
		"result without JSON": {context.Background(), &connectors.ResultError{}, signals.ErrorTooLarge, false},
	} {
		t.Run(name, func(t *testing.T) {
			var app *temporal.ApplicationError
			require.ErrorAs(t, callFailure(c.ctx, c.err), &app)
			require.Equal(t, []any{c.kind, !c.retryable}, []any{app.Type(), app.NonRetryable()})
		})
	}
	var app *temporal.ApplicationError
	require.ErrorAs(t, callFailure(context.Background(), errors.New(strings.Repeat("x", 20_000))), &app)
	require.LessOrEqual(t, len(app.Message()), sandbox.MaxMessage)
}

func TestAdmission(t *testing.T) {
	ok := func(connectors.Context, json.RawMessage) (any, error) { return nil, nil }
	asking := method("ask", connectors.Read, ok)
	asking.RequiresApproval = true
	endless := method("endless", connectors.Read, ok)
	endless.Timeout = time.Hour
	some := method("some", connectors.Read, ok)
	some.ApprovalFor = func(connectors.Asked, json.RawMessage) (bool, error) { return false, nil }
	strict := method("strict", connectors.Read, ok)
	strict.InputSchema = json.RawMessage(`{"type":"object","required":["id"]}`)
	h := &host{job: newJob(signals.PassInput{}, nil),
		Activities: testActivities(t, method("read", connectors.Read, ok), method("write", "", ok), asking, some,
			strict, endless)}
	admit := func(name string) sandbox.Admission { return h.Admit(sandbox.Call{Connector: "store", Method: name}) }
	require.Equal(t, sandbox.Admission{Class: "read", EveryCall: true}, admit("read"))
	require.True(t, admit("write").Gated, "what says nothing of itself is a write")
	require.True(t, admit("endless").Gated, "it may outlast a pass")
	require.True(t, admit("ask").Approval && admit("ask").Gated, "approval always gates")
	require.False(t, admit("some").Gated || admit("some").EveryCall, "the next call's arguments may need approval")
	require.Contains(t, admit("strict").Refused.Message, "id")
	h.OwnQueues = []string{"store"}
	require.True(t, admit("read").Gated, "another worker makes it")
	require.Contains(t, admit("reads").Refused.Message, `Tool "reads" not found on store. Did you mean: read`)
	for _, name := range []string{"Dispose", "PassEnd", "RollbackPlan", "Pass", "Catalogue", "methods", ""} {
		require.NotNil(t, h.Admit(sandbox.Call{Seq: -1, Connector: sandbox.PlatformConnector, Method: name}).Refused,
			name)
	}
	for _, name := range lookup.Methods {
		require.Nil(t, h.Admit(sandbox.Call{Seq: -1, Connector: sandbox.PlatformConnector, Method: name}).Refused, name)
	}
}

// A method that has gone since its call was issued took its rules along: two approvals must not become one, nor a call
// that clients resolve one that is made.
func TestACallWithoutRulesIsNotRecorded(t *testing.T) {
	two := method("pay", connectors.Write, nil)
	two.Approvals, two.ResolvedByClient = 2, true
	r := sandbox.Result{End: sandbox.Blocked, Blocked: []sandbox.BlockedCall{
		{Call: sandbox.Call{Connector: "store", Method: "pay"}, Class: connectors.Write, Approval: true}}}
	result, err := testActivities(t, two).wireResult(signals.PassInput{}, r, nil)
	require.NoError(t, err)
	require.Equal(t, []any{2, true}, []any{result.Blocked[0].Approvals, result.Blocked[0].Client})
	_, err = testActivities(t).wireResult(signals.PassInput{}, r, nil)
	require.ErrorContains(t, err, "the rules for call 0 can no longer be told")
}

func TestReadsThatCannotBeMadeInlineEscalate(t *testing.T) {
	slow := method("slow", connectors.Read, func(c connectors.Context, _ json.RawMessage) (any, error) {
		<-c.Done()
		return nil, &connectors.OutcomeUnknownError{Err: c.Err()}
	})
	slow.Timeout = 10 * time.Millisecond
	h := &host{job: newJob(signals.PassInput{}, nil), Activities: testActivities(t,
		method("flaky", connectors.Read, func(connectors.Context, json.RawMessage) (any, error) {
			return nil, &connectors.RetryableError{Message: "later"}
		}),
		slow,
		method("lost", connectors.Read, func(connectors.Context, json.RawMessage) (any, error) {
			return nil, &connectors.OutcomeUnknownError{Err: errors.New("eof")}
		}),
		method("bad", connectors.Read,
			func(connectors.Context, json.RawMessage) (any, error) { return nil, errors.New("kaput") }),
	)}
	call := func(name string) sandbox.Settlement {
		return h.Call(context.Background(), sandbox.Call{Connector: "store", Method: name})
	}
	require.True(t, call("flaky").Escalate)
	require.True(t, call("lost").Escalate)
	require.Equal(t, &signals.CallError{Name: "TimeoutError",
		Message: "store.slow took longer than its timeout of 10ms."}, call("slow").Err, "it is not made again")
	require.Equal(t, "kaput", call("bad").Err.Message)
}

func TestWorkersThatMustNotTakeAPass(t *testing.T) {
	a := testActivities(t)
	pinned := func(engine string, names ...string) signals.PassInput {
		return signals.PassInput{ExecutionID: "e", Pinned: &signals.Pinned{Engine: engine, Connectors: names}}
	}
	require.NoError(t, a.checkWorker(signals.PassInput{}, nil))
	require.NoError(t, a.checkWorker(pinned(a.version(), "store"), nil))
	require.ErrorContains(t, a.checkWorker(pinned("another"), nil), "waiting for a worker that has it")
	in := pinned(a.version(), "store", "shop")
	require.Equal(t, []string{"shop"}, a.missing(in))
	require.ErrorContains(t, a.checkWorker(in, a.missing(in)), `requires connector(s) "shop"`)
	in.Decided = true
	require.NoError(t, a.checkWorker(in, a.missing(in)), "a person waits for the answer")
	a.Modules = map[string]string{"m": "1"}
	require.ErrorContains(t, a.checkWorker(pinned(a.Executor.Version()), nil), "modules",
		"modules are part of the engine")
}

// TestBytesAndBigintsAgree: connectors and sandbox write the same tags, though neither imports the other.
func TestBytesAndBigintsAgree(t *testing.T) {
	a := testActivities(t,
		method("bytes", connectors.Read,
			func(connectors.Context, json.RawMessage) (any, error) { return []byte{1, 2}, nil }),
		method("big", connectors.Read, func(connectors.Context, json.RawMessage) (any, error) {
			return json.RawMessage(`{"__codemode_bigint_v1__":"12345678901234567890"}`), nil
		}),
		method("plain", connectors.Read, func(_ connectors.Context, args json.RawMessage) (any, error) {
			text, err := wire.Plain(args)
			return string(text), err
		}),
	)
	r, err := a.Executor.Run(context.Background(), sandbox.Pass{Connectors: []string{"store"}, Code: `
const b = await store.bytes({}), n = await store.big({});
return [b instanceof Uint8Array, [...b], typeof n, await store.plain({ b, n })];`},
		&host{Activities: a, job: newJob(signals.PassInput{}, nil)})
	require.NoError(t, err)
	require.Nil(t, r.Failure)
	require.JSONEq(t, `[true,[1,2],"bigint","{\"b\":\"AQI=\",\"n\":12345678901234567890}"]`, string(r.Value))
}

func TestResultsAreWordedForModels(t *testing.T) {
	seq := 3
	for want, f := range map[string]*sandbox.Failure{
		"Code execution failed: boom":                {Kind: sandbox.Thrown, Message: "boom"},
		"Code execution failed: Execution timed out": {Kind: sandbox.TimedOut, Message: "Execution timed out"},
		"The result of a.b is too large to record": {Kind: sandbox.TooLarge, Subject: "The result of a.b",
			Size: 9, Limit: 1},
		"could not be recorded durably (not serializable": {Kind: sandbox.NotSerializable, Subject: "x",
			Message: "circular"},
		"divergence": {Kind: sandbox.Diverged, Message: "divergence", Seq: seq},
	} {
		got := sandbox.Result{Failure: f}.PassFailure()
		require.Contains(t, got.Message, want)
		require.Equal(t, f.Kind == sandbox.Diverged, got.Diverged != nil)
	}
}

func TestClientsLearnWhatAMethodTakes(t *testing.T) {
	m := method("refund", connectors.Idempotent, nil)
	m.Execute = func(connectors.Context, json.RawMessage) (any, error) { return nil, nil }
	m.Revert = func(connectors.Context, json.RawMessage, json.RawMessage) error { return nil }
	m.RequiresApproval, m.Description, m.InputSchema = true, "Refund an order.", json.RawMessage(`{"type":"object"}`)
	a := testActivities(t, m)
	answer, err := lookup.Lookups{Connectors: a.Connectors}.Answer(context.Background(),
		signals.CatalogueInput{Kind: signals.CatalogueMethod, Target: "store.refund"})
	require.NoError(t, err)
	require.Equal(t, &signals.Method{
		Connector: "store", Method: "refund", Description: "Refund an order.", Class: signals.Idempotent,
		RequiresApproval: true, Revertable: true,
		InputSchema: json.RawMessage(`{"type":"object"}`),
	}, answer)
	answer, err = lookup.Lookups{Connectors: a.Connectors}.Answer(context.Background(),
		signals.CatalogueInput{Kind: signals.CatalogueMethod, Target: "store.nope"})
	require.NoError(t, err)
	require.Nil(t, answer)
}

// TestIdempotentCallWhoseServerIsGone: the first attempt was not made, a later one may follow one that took effect.
func TestIdempotentCallWhoseServerIsGone(t *testing.T) {
	gone := &connectors.RetryableError{Err: &connectors.UnavailableError{Connector: "store",
		Err: errors.New("its server did not start")}}
	a := testActivities(t,
		method("put", connectors.Idempotent,
			func(connectors.Context, json.RawMessage) (any, error) { return nil, gone }))
	for attempt, want := range map[int]string{1: signals.ErrorRetryable, 2: signals.OutcomeUnknown} {
		suite := testsuite.WorkflowTestSuite{}
		env := suite.NewTestActivityEnvironment()
		in := signals.CallInput{Connector: "store", Method: "put", Class: signals.Idempotent, Attempt: attempt}
		call := func(ctx context.Context) (json.RawMessage, error) { return a.call(ctx, in, nil) }
		env.RegisterActivity(call)
		_, err := env.ExecuteActivity(call)
		var app *temporal.ApplicationError
		require.ErrorAs(t, err, &app)
		require.Equal(t, []any{want, false}, []any{app.Type(), app.NonRetryable()}, "attempt %d", attempt)
	}
}

func TestReadsMadeAnewAreReplacedInACopy(t *testing.T) {
	log := signals.NewLog()
	add := func(entries ...signals.Entry) { log.Add(signals.PassResult{Entries: entries}) }
	known := &remembered{log: log}
	add(signals.Entry{ID: 0, Value: json.RawMessage("0")})
	first, ephemeral := known.entries()
	require.Len(t, first, 1)
	require.False(t, ephemeral)
	add(signals.Entry{ID: 1})
	require.Len(t, first, 1, "a pass does not see what comes after it")

	add(signals.Entry{ID: 2, Ephemeral: true, Value: json.RawMessage("1")})
	before, ephemeral := known.entries()
	require.True(t, ephemeral)
	add(signals.Entry{ID: 2, Ephemeral: true, Value: json.RawMessage("2")})
	last, ephemeral := known.entries()
	require.True(t, ephemeral)
	require.Len(t, last, 3)
	require.Equal(t, "1", string(before[2].Value), "a pass that still runs sees what it was given")
	require.Equal(t, "2", string(last[2].Value), "it was read anew")
}

func TestDecisionsOfReadsMadeAnewNeedANewRuntime(t *testing.T) {
	a := testActivities(t)
	for _, ephemeral := range []bool{true, false} {
		for _, decided := range []bool{true, false} {
			log := signals.NewLog()
			log.Add(signals.PassResult{Entries: []signals.Entry{{ID: 0, Connector: "store", Ephemeral: ephemeral}}})
			pass := a.sandboxPass(signals.PassInput{Decided: decided}, &remembered{log: log}, "n")
			require.Equal(t, decided && ephemeral, pass.Refresh)
		}
	}
}

// TestOrderlyFailuresDoNotCountAsCrashes: a pass that could not be run did not end its worker. One whose code panics
// counts.
func TestOrderlyFailuresDoNotCountAsCrashes(t *testing.T) {
	for name, failing := range map[string]func() error{
		"no memory for a child": func() error { return errors.New("no memory for a child") },
		"the pass panicked":     func() error { panic("a bug") },
		"panicked: elsewhere":   func() error { panic(&child.Panic{Value: "elsewhere", Stack: []byte("a stack")}) },
	} {
		t.Run(name, func(t *testing.T) {
			a := testActivities(t)
			a.Executor = failingExecutor{a.Executor, failing}
			suite := testsuite.WorkflowTestSuite{}
			env := suite.NewTestActivityEnvironment()
			a.Register(env)
			var starts []int
			env.SetOnActivityHeartbeatListener(func(_ *activity.Info, details converter.EncodedValues) {
				var p progress
				require.NoError(t, details.Get(&p))
				starts = append(starts, p.Starts)
			})
			_, err := env.ExecuteActivity(signals.PassActivity, signals.PassInput{ExecutionID: "e", Pass: 1, Code: "1"})
			require.ErrorContains(t, err, name)
			require.NotContains(t, err.Error(), "a stack")
			require.Equal(t, name == "no memory for a child", slices.Contains(starts, 0))
		})
	}
}

type failingExecutor struct {
	sandbox.Executor
	failing func() error
}

func (f failingExecutor) Run(context.Context, sandbox.Pass, sandbox.Host) (sandbox.Result, error) {
	return sandbox.Result{}, f.failing()
}
