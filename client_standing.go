package codemode

import (
	"context"
	"math"

	"github.com/temporal-codemode/codemode/signals"
)

// Standing is where an execution stands, and whose it is.
type Standing struct {
	// Outcome is the newest; its status is running while the execution goes on after that.
	signals.Outcome
	Caller signals.Caller
	// CreatedAt and UpdatedAt are epoch milliseconds.
	CreatedAt, UpdatedAt int64
	// EndedBy is who or what ended the execution before its program did.
	EndedBy *signals.Decision
}

// Standing looks at an execution and waits for nothing. It needs no worker, but without one it may not know of a pause.
func (c *Client) Standing(ctx context.Context, id string) (Standing, error) {
	guarded, stop := c.guard(ctx, id)
	defer stop()
	s, err := c.openStanding(guarded, id)
	switch {
	case ctx.Err() != nil:
		return s, ctx.Err()
	case err != nil: // it has ended, or there is nobody to ask
		return c.recordedStanding(ctx, id)
	}
	s.Outcome, err = c.complete(ctx, s.Outcome)
	return s, err
}

// openStanding asks the worker; an execution that has ended is not found.
func (c *Client) openStanding(ctx context.Context, id string) (s Standing, err error) {
	if s.Outcome, err = c.newest(ctx, id, 0); err != nil {
		return s, err
	}
	var record signals.Record
	page := signals.Page{Offset: math.MaxInt32} // none of the calls
	if err := c.query(ctx, id, signals.QueryState, &record, page); err != nil {
		return s, err
	}
	s.Caller, s.CreatedAt, s.UpdatedAt = record.Caller, record.CreatedAt, record.UpdatedAt
	return s, nil
}

// recordedStanding reads history.
func (c *Client) recordedStanding(ctx context.Context, id string) (Standing, error) {
	h, err := c.history(ctx, id)
	if err != nil {
		return Standing{}, err
	}
	r, err := h.Record(c.runtime, id)
	if err != nil {
		return Standing{}, err
	}
	if _, err := h.Join(ctx, c.temporal, signals.WorkflowID(c.runtime, id), r); err != nil {
		return Standing{}, err
	}
	return Standing{Outcome: c.transform(ctx, h.Outcome(r)), Caller: r.Caller, CreatedAt: r.CreatedAt,
		UpdatedAt: r.UpdatedAt, EndedBy: r.EndedBy}, nil
}
