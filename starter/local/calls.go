package local

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/internal/wait"
	"github.com/temporal-codemode/codemode/sandbox"
	"github.com/temporal-codemode/codemode/signals"
)

// Calls makes the calls of programs that run without Temporal: each at once, again only where that is safe, and none
// survives the process. There is nobody to approve, so calls that need that are refused.
type Calls struct {
	// Connectors are those that Unattended gives.
	Connectors  *connectors.Set
	ExecutionID string
	// Caller is who runs the program.
	Caller signals.Caller
	// Program is what the text of the program shows, where it was looked at.
	Program *signals.Program
}

// Admit looks a call up and checks its arguments.
func (d Calls) Admit(c sandbox.Call) sandbox.Admission {
	asked := connectors.Asked{Caller: d.Caller, Program: d.Program}
	method, approval, err := d.Connectors.Check(asked, c.Connector, c.Method, c.Args)
	switch {
	case err != nil:
		return sandbox.Refuse(err)
	case approval:
		return sandbox.Refuse(fmt.Errorf("%s needs a person's approval, which this run has no way to ask for",
			method.Path()))
	}
	return sandbox.Admission{Class: method.Class, EveryCall: !method.MayNeedApproval()}
}

// Attempts of a call whose connector asks for another one, where its rule does not say.
const (
	mostAttempts = 3
	firstPause   = 200 * time.Millisecond
	longestPause = 10 * time.Second
)

// Call makes a call.
func (d Calls) Call(ctx context.Context, c sandbox.Call) sandbox.Settlement {
	method, err := d.Connectors.Lookup(c.Connector, c.Method)
	if err != nil {
		return failedCall(err)
	}
	key := signals.IdempotencyKey(d.ExecutionID, c.Seq, c.Connector, c.Method, c.Args)
	pause, longest := cmp.Or(method.Retry.Backoff, firstPause), cmp.Or(method.Retry.MaxBackoff, longestPause)
	for attempt := 1; ; attempt++ {
		value, err := d.invoke(ctx, method, connectors.Context{
			ExecutionID: d.ExecutionID, Seq: c.Seq, IdempotencyKey: key, Attempt: attempt, Caller: d.Caller,
		}, c.Args)
		if err == nil {
			return sandbox.Settlement{Value: value}
		}
		var retryable *connectors.RetryableError
		if !errors.As(err, &retryable) || attempt >= cmp.Or(method.Retry.Attempts, mostAttempts) ||
			retryable.RetryAfter > longest || wait.For(ctx, max(retryable.RetryAfter, pause)) != nil {
			return failedCall(err)
		}
		pause = min(2*pause, longest)
	}
}

func (d Calls) invoke(ctx context.Context, method *connectors.Bound, c connectors.Context,
	args json.RawMessage) (json.RawMessage, error) {
	if method.Timeout > 0 {
		limited, cancel := context.WithTimeout(ctx, method.Timeout)
		defer cancel()
		ctx = limited
	}
	c.Context = ctx
	return method.Invoke(c, args)
}

func failedCall(err error) sandbox.Settlement {
	e := &signals.CallError{Message: signals.Cut(err.Error(), sandbox.MaxMessage)}
	var unknown *connectors.OutcomeUnknownError
	if errors.As(err, &unknown) {
		e.Name = signals.OutcomeUnknown
	}
	return sandbox.Settlement{Err: e}
}

// Unattended is a set without what needs somebody: methods whose every call a person approves, and those that clients
// give the results of. Other rules stay. The set it is made from is to be closed, it is not.
func Unattended(ctx context.Context, set *connectors.Set) (*connectors.Set, error) {
	var list []connectors.Connector
	for _, name := range set.Names() {
		list = append(list, unattended{name, set})
	}
	return connectors.NewSet(ctx, list, nil)
}

// unattended is one connector of such a set.
type unattended struct {
	name string
	set  *connectors.Set
}

func (u unattended) Name() string         { return u.name }
func (u unattended) Instructions() string { return u.set.Instructions(u.name) }
func (u unattended) Close() error         { return nil }

func (u unattended) Methods(context.Context) ([]connectors.Method, error) {
	if err := u.set.Err(u.name); err != nil {
		var unavailable *connectors.UnavailableError
		if errors.As(err, &unavailable) {
			err = unavailable.Err
		}
		return nil, err
	}
	var list []connectors.Method
	for _, b := range u.set.Methods(u.name) {
		if b.ResolvedByClient || b.RequiresApproval && b.ApprovalFor == nil {
			continue
		}
		m := b.Method
		m.Execute = func(ctx connectors.Context, args json.RawMessage) (any, error) { // within the limits of its rule
			value, err := b.Invoke(ctx, args)
			return value, err
		}
		list = append(list, m)
	}
	return list, nil
}

func (u unattended) Large(ctx context.Context) (*connectors.LargeCatalogue, error) {
	methods, err := u.Methods(ctx)
	return &connectors.LargeCatalogue{Methods: methods,
		Definitions: func() json.RawMessage { return u.set.Definitions(u.name) }}, err
}
