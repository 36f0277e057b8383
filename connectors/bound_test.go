package connectors

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func boundTo(t *testing.T, m Method, rules ...Rule) *Bound {
	t.Helper()
	m.Name = "m"
	set := newSet(t, map[string][]Rule{"c": rules}, New("c", "", m))
	b, err := set.Lookup("c", "m")
	require.NoError(t, err)
	return b
}

func execute(value any, err error) Method {
	return Method{Execute: func(Context, json.RawMessage) (any, error) { return value, err }}
}

func callContext() Context {
	return Context{Context: context.Background(), ExecutionID: "exec_1", Seq: 3, IdempotencyKey: "k", Attempt: 1}
}

func TestInvoke(t *testing.T) {
	own := errors.New("kaput")
	for _, c := range []struct {
		name    string
		method  Method
		want    string
		failure string
		unknown bool
	}{
		{name: "value", method: execute(map[string]int{"a": 1}, nil), want: `{"a":1}`},
		{name: "undefined", method: execute(nil, nil)},
		{name: "null", method: execute(json.RawMessage("null"), nil), want: "null"},
		{name: "own error", method: execute(nil, own), failure: "kaput"},
		{name: "retryable stays",
			method: execute(nil, &RetryableError{Message: "later", Err: context.DeadlineExceeded}), failure: "later"},
		{name: "unknown stays", method: execute(nil, fmt.Errorf("wrapped: %w", &OutcomeUnknownError{Err: own})),
			failure: "wrapped: outcome unknown: kaput", unknown: true},
		{name: "deadline", method: execute(nil, fmt.Errorf("post: %w", context.DeadlineExceeded)),
			failure: "outcome unknown: post: context deadline exceeded", unknown: true},
		{name: "cancelled", method: execute(nil, context.Canceled), failure: "outcome unknown: context canceled",
			unknown: true},
		{name: "panic", method: Method{Execute: func(Context, json.RawMessage) (any, error) { panic("oh no") }},
			failure: "outcome unknown: panic in c.m: oh no", unknown: true},
		{name: "cannot be encoded", method: execute(math.NaN(), nil),
			failure: "The result of c.m could not be recorded durably (not serializable: json: unsupported value: " +
				"NaN). Only JSON-compatible values (plus binary and bigint) can cross a durable replay boundary."},
	} {
		got, err := boundTo(t, c.method).Invoke(callContext(), nil)
		var unknown *OutcomeUnknownError
		assert.Equal(t, c.unknown, errors.As(err, &unknown), c.name)
		if c.failure != "" {
			require.EqualError(t, err, c.failure, c.name)
			assert.Nil(t, got, c.name)
			continue
		}
		require.NoError(t, err, c.name)
		assert.Equal(t, c.want, string(got), c.name)
	}
}

func TestInvokePassesContextAndArguments(t *testing.T) {
	b := boundTo(t, Method{Execute: func(ctx Context, args json.RawMessage) (any, error) {
		return []any{ctx.ExecutionID, ctx.Seq, ctx.IdempotencyKey, ctx.Attempt, args}, nil
	}})
	got, err := b.Invoke(callContext(), json.RawMessage(`{"n":{"__codemode_bigint_v1__":"1"}}`))
	require.NoError(t, err)
	assert.Equal(t, `["exec_1",3,"k",1,{"n":{"__codemode_bigint_v1__":"1"}}]`, string(got))
}

func TestPanicsKeepTheirStack(t *testing.T) {
	b := boundTo(t, Method{Execute: func(Context, json.RawMessage) (any, error) { panic("oh no") }})
	_, err := b.Invoke(callContext(), nil)
	var panicked *PanicError
	require.ErrorAs(t, err, &panicked)
	assert.Contains(t, string(panicked.Stack), "TestPanicsKeepTheirStack")
}

func TestResultErrorIsTyped(t *testing.T) {
	_, err := boundTo(t, execute(make(chan int), nil)).Invoke(callContext(), nil)
	var result *ResultError
	assert.ErrorAs(t, err, &result)
}

func TestNeedsApproval(t *testing.T) {
	over100 := func(_ Asked, args json.RawMessage) (bool, error) {
		var in struct{ Amount int64 }
		err := json.Unmarshal(args, &in)
		return in.Amount > 100, err
	}
	for _, c := range []struct {
		name, args string
		method     Method
		want       bool
		failure    string
	}{
		{name: "no", method: Method{}},
		{name: "yes", method: Method{RequiresApproval: true}, want: true},
		{name: "predicate instead of flag", method: Method{RequiresApproval: true, ApprovalFor: over100},
			args: `{"amount":1}`},
		{name: "predicate", method: Method{ApprovalFor: over100}, args: `{"amount":101}`, want: true},
		{name: "bigints are compared", method: Method{ApprovalFor: over100},
			args: `{"amount":{"__codemode_bigint_v1__":"9007199254740993"}}`, want: true},
		{name: "absent is {}", method: Method{ApprovalFor: over100}},
		{name: "an error asks a person", method: Method{ApprovalFor: over100}, args: `{"amount":"x"}`, want: true,
			failure: "cannot tell whether this call of c.m needs approval: json: "},
		{name: "broken arguments ask a person", method: Method{ApprovalFor: over100}, args: `{`, want: true,
			failure: "not valid JSON"},
		{name: "a panic asks a person",
			method:  Method{ApprovalFor: func(Asked, json.RawMessage) (bool, error) { panic("oh no") }},
			want:    true,
			failure: "panic in c.m: oh no"},
	} {
		c.method.Execute = nothing
		got, err := boundTo(t, c.method).NeedsApproval(Asked{}, json.RawMessage(c.args))
		assert.Equal(t, c.want, got, c.name)
		if c.failure == "" {
			assert.NoError(t, err, c.name)
		} else {
			assert.ErrorContains(t, err, c.failure, c.name)
		}
	}
}

func TestUndo(t *testing.T) {
	assert.EqualError(t, boundTo(t, execute(nil, nil)).Undo(callContext(), nil, nil),
		"c.m cannot be undone: it has no revert")

	var undone []string
	m := execute(nil, nil)
	m.Revert = func(ctx Context, args, result json.RawMessage) error {
		undone = append(undone, ctx.ExecutionID, string(args), string(result))
		return nil
	}
	require.NoError(t, boundTo(t, m).Undo(callContext(), json.RawMessage("1"), json.RawMessage("2")))
	assert.Equal(t, []string{"exec_1", "1", "2"}, undone)

	m.Revert = func(Context, json.RawMessage, json.RawMessage) error { return errors.New("undo failed") }
	assert.EqualError(t, boundTo(t, m).Undo(callContext(), nil, nil), "undo failed")

	m.Revert = func(Context, json.RawMessage, json.RawMessage) error { panic("oh no") }
	var unknown *OutcomeUnknownError
	assert.ErrorAs(t, boundTo(t, m).Undo(callContext(), nil, nil), &unknown)
}

func TestRevertByAnotherMethod(t *testing.T) {
	var deleted []string
	shop := func() Connector {
		return New("shop", "",
			Method{Name: "create", Execute: nothing},
			Method{Name: "delete", InputSchema: json.RawMessage(`{"required":["id"]}`),
				Execute: func(ctx Context, args json.RawMessage) (any, error) {
					deleted = append(deleted, ctx.IdempotencyKey+string(args))
					return nil, nil
				}})
	}
	byResult := func(args, result json.RawMessage) (json.RawMessage, error) {
		if result == nil {
			return nil, errors.New("no result")
		}
		return result, nil
	}
	set := newSet(t, map[string][]Rule{"shop": {
		{Pattern: "delete", Hidden: true},
		{Pattern: "create", Revert: &RevertRule{Method: "delete", Args: byResult}},
	}}, shop())
	create, err := set.Lookup("shop", "create")
	require.NoError(t, err)
	require.NoError(t, create.Undo(callContext(), nil, json.RawMessage(`{"id":7}`)))
	assert.Equal(t, []string{`k{"id":7}`}, deleted)
	assert.EqualError(t, create.Undo(callContext(), nil, nil),
		"arguments for shop.delete, which undoes shop.create: no result")
	assert.EqualError(t, create.Undo(callContext(), nil, json.RawMessage(`{}`)),
		"Invalid arguments for shop.delete: id: required, but missing")
	assert.Len(t, deleted, 1)
}

func TestFunc(t *testing.T) {
	type in struct {
		ID   int64  `json:"id"`
		Data []byte `json:"data"`
		Tags []string
	}
	m := Func("m", "Does.", Read, func(_ Context, v in) (in, error) { return v, nil })
	assert.Equal(t, Read, m.Class)
	assert.Equal(t, "Does.", m.Description)
	b := boundTo(t, m)

	got, err := b.Invoke(callContext(),
		json.RawMessage(
			`{"id":{"__codemode_bigint_v1__":"9007199254740993"},"data":{"__codemode_binary_v1__":"Uint8Array","data":"AQID"}}`))
	require.NoError(t, err)
	assert.Equal(t, `{"id":{"__codemode_bigint_v1__":"9007199254740993"},"data":"AQID","Tags":null}`, string(got))

	got, err = b.Invoke(callContext(), nil)
	require.NoError(t, err)
	assert.Equal(t, `{"id":0,"data":null,"Tags":null}`, string(got))

	for args, want := range map[string]string{
		`{"id":"x"}`:     "Invalid arguments for c.m: id: expected int64, but got string",
		`{"Tags":{}}`:    "Invalid arguments for c.m: Tags: expected array, but got object",
		`[]`:             "Invalid arguments for c.m: expected object, but got array",
		`{"data":"%%%"}`: "Invalid arguments for c.m: illegal base64 data at input byte 0",
	} {
		_, err = b.Invoke(callContext(), json.RawMessage(args))
		assert.EqualError(t, err, want)
	}
}

func TestFuncWithWireArguments(t *testing.T) {
	echo := boundTo(t, Func("m", "", Read, func(_ Context, raw json.RawMessage) (any, error) {
		if raw == nil {
			return nil, nil
		}
		return raw, nil
	}))
	for _, args := range []string{``, `null`, `[{"__codemode_bigint_v1__":"1"}]`} {
		got, err := echo.Invoke(callContext(), json.RawMessage(args))
		require.NoError(t, err)
		assert.Equal(t, args, string(got))
	}
}

func TestSchemaFor(t *testing.T) {
	type in struct {
		ID    int64     `json:"id" jsonschema:"Item id"`
		Since time.Time `json:"since,omitzero"`
		Tags  []string  `json:"tags,omitempty"`
	}
	m := Func("m", "", Read, func(_ Context, v in) (any, error) { return v.ID, nil })
	m.InputSchema = SchemaFor[in]()
	b := boundTo(t, m)
	assert.NoError(t, b.Validate(json.RawMessage(`{"id":1,"since":"2026-01-02T03:04:05Z","tags":["a"]}`)))
	assert.EqualError(t, b.Validate(json.RawMessage(`{"id":1.5}`)),
		"Invalid arguments for c.m: id: expected integer, but got number")
	assert.EqualError(t, b.Validate(nil), "Invalid arguments for c.m: id: required, but missing")
	assert.Contains(t, string(m.InputSchema), "Item id")
}

func TestErrorTexts(t *testing.T) {
	assert.EqualError(t, &RetryableError{}, "temporary failure")
	assert.EqualError(t, &RetryableError{Err: errors.New("503")}, "503")
	assert.EqualError(t, &OutcomeUnknownError{}, "outcome unknown")
}
