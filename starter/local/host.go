package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/connectors/catalogue"
	"github.com/temporal-codemode/codemode/internal/lookup"
	"github.com/temporal-codemode/codemode/internal/wait"
	"github.com/temporal-codemode/codemode/sandbox"
	"github.com/temporal-codemode/codemode/signals"
)

// host answers the calls of programs that run without Temporal: each is made at once, once more only where that is
// safe, and none survives the process. There is nobody to approve, so calls that need that are refused, and there are
// no snippets.
type host struct {
	Connectors  *connectors.Set
	Catalogue   *catalogue.Catalogue
	Hints       map[string]string
	ExecutionID string
}

// Admit looks a call up and checks its arguments.
func (d *host) Admit(c sandbox.Call) sandbox.Admission {
	if c.Connector == sandbox.PlatformConnector {
		return lookup.Admit(c.Method)
	}
	method, approval, err := d.Connectors.Check(c.Connector, c.Method, c.Args)
	switch {
	case err != nil:
		return sandbox.Refuse(err)
	case approval:
		return sandbox.Refuse(fmt.Errorf("%s needs a person's approval, which this run has no way to ask for",
			method.Path()))
	}
	return sandbox.Admission{Class: method.Class, EveryCall: !method.MayNeedApproval()}
}

// Attempts of a call whose connector asks for another one.
const (
	mostAttempts = 3
	firstPause   = 200 * time.Millisecond
	longestPause = 10 * time.Second
)

// Call makes a call.
func (d *host) Call(ctx context.Context, c sandbox.Call) sandbox.Settlement {
	if c.Connector == sandbox.PlatformConnector {
		return d.lookups().Call(ctx, c)
	}
	method, err := d.Connectors.Lookup(c.Connector, c.Method)
	if err != nil {
		return failedCall(err)
	}
	key := signals.IdempotencyKey(d.ExecutionID, c.Seq, c.Connector, c.Method, c.Args)
	for attempt := 1; ; attempt++ {
		value, err := d.invoke(ctx, method, connectors.Context{
			ExecutionID: d.ExecutionID, Seq: c.Seq, IdempotencyKey: key, Attempt: attempt,
		}, c.Args)
		if err == nil {
			return sandbox.Settlement{Value: value}
		}
		var retryable *connectors.RetryableError
		if !errors.As(err, &retryable) || attempt == mostAttempts {
			return failedCall(err)
		}
		pause := max(retryable.RetryAfter, firstPause<<(attempt-1))
		if pause > longestPause || wait.For(ctx, pause) != nil {
			return failedCall(err)
		}
	}
}

func (d *host) invoke(ctx context.Context, method *connectors.Bound, c connectors.Context,
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

// Answer is that of the catalogue, as clients get it from a worker.
func (d *host) Answer(ctx context.Context, question signals.CatalogueInput) (json.RawMessage, error) {
	answer, err := d.lookups().Answer(ctx, question)
	if err != nil {
		return nil, err
	}
	return signals.Marshal(answer)
}

func (d *host) lookups() lookup.Lookups {
	return lookup.Lookups{Connectors: d.Connectors, Catalogue: d.Catalogue, Hints: d.Hints, Snippets: noSnippets{}}
}

type noSnippets struct{}

func (noSnippets) Get(context.Context, string, int) (*signals.Snippet, error) { return nil, nil }

func (noSnippets) List(context.Context) ([]signals.Snippet, error) { return nil, nil }
