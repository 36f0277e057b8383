package codemodetest

import (
	"context"
	"encoding/json"
	"slices"
	"sync"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/signals"
)

// Connector is a connector of canned answers that keeps what it was asked.
type Connector struct {
	name    string
	mu      sync.Mutex
	methods []*connectors.Method
	calls   []Call
}

// Call is one attempt of a call, or of undoing it.
type Call struct {
	Method         string
	Args           json.RawMessage
	IdempotencyKey string
	Attempt        int
	Caller         signals.Caller
	// Revert says that the call was undone; Result is then what it had answered.
	Revert bool
	Result json.RawMessage
}

// NewConnector makes a connector without methods.
func NewConnector(name string) *Connector { return &Connector{name: name} }

// Answer is computed for a call. Methods take it in place of a value.
type Answer = func(args json.RawMessage) (any, error)

// Read adds a method that programs call while they run. It answers with a value, an error, or what an Answer says. The
// method may be changed until the first program runs.
func (c *Connector) Read(name string, answer any) *connectors.Method {
	return c.add(name, connectors.Read, answer)
}

// Idempotent adds a method that may be repeated with the same key.
func (c *Connector) Idempotent(name string, answer any) *connectors.Method {
	return c.add(name, connectors.Idempotent, answer)
}

// Write adds a method that is made once. It can be undone; that is kept among the calls.
func (c *Connector) Write(name string, answer any) *connectors.Method {
	m := c.add(name, connectors.Write, answer)
	m.Revert = func(ctx connectors.Context, args, result json.RawMessage) error {
		c.keep(Call{Method: name, Args: args, IdempotencyKey: ctx.IdempotencyKey, Attempt: ctx.Attempt, Revert: true,
			Caller: ctx.Caller, Result: result})
		return nil
	}
	return m
}

func (c *Connector) add(name string, class connectors.Class, answer any) *connectors.Method {
	m := &connectors.Method{Name: name, Description: "A fake.", Class: class}
	m.Execute = func(ctx connectors.Context, args json.RawMessage) (any, error) {
		c.keep(Call{Method: name, Args: args, IdempotencyKey: ctx.IdempotencyKey, Attempt: ctx.Attempt,
			Caller: ctx.Caller})
		switch answer := answer.(type) {
		case Answer:
			return answer(args)
		case error:
			return nil, answer
		}
		return answer, nil
	}
	c.methods = append(c.methods, m)
	return m
}

func (c *Connector) keep(call Call) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls = append(c.calls, call)
}

// Calls lists what the connector was asked, in order; of one method, or of all where none is named.
func (c *Connector) Calls(methods ...string) []Call {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := []Call{}
	for _, call := range c.calls {
		if len(methods) == 0 || slices.Contains(methods, call.Method) {
			list = append(list, call)
		}
	}
	return list
}

// Name is the namespace that programs call.
func (c *Connector) Name() string { return c.name }

// Instructions are empty.
func (c *Connector) Instructions() string { return "" }

// Methods lists the methods as they were added.
func (c *Connector) Methods(context.Context) ([]connectors.Method, error) {
	list := make([]connectors.Method, len(c.methods))
	for i, m := range c.methods {
		list[i] = *m
	}
	return list, nil
}

// Close does nothing.
func (c *Connector) Close() error { return nil }
