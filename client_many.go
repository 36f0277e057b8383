package codemode

import (
	"context"
	"errors"
	"fmt"
	"path"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/temporal-codemode/codemode/signals"
)

// Selection picks what waits for a person. The zero value picks all.
type Selection struct {
	// Method is a connector.method, or a glob of it such as "tracker.*".
	Method string
	// Labels picks what waits in executions that have all of these.
	Labels map[string]string
}

// Check refuses what could never pick anything.
func (s Selection) Check() error {
	if _, err := path.Match(s.Method, ""); err != nil {
		return fmt.Errorf("method %q is no glob: %w", s.Method, err)
	}
	return signals.Caller{Labels: s.Labels}.Check()
}

func (s Selection) picks(i InboxItem) bool {
	return methodMatches(s.Method, i.Connector+"."+i.Method) && hasLabels(&signals.Record{Caller: i.Caller}, s.Labels)
}

// methodMatches reports whether a connector.method is what a glob describes; an empty glob describes all.
func methodMatches(glob, method string) bool {
	matches, _ := path.Match(glob, method)
	return glob == "" || matches
}

// Select lists what waits for a person and is picked, newest execution first, each by seq. Lists may lag a second
// behind; what is decided is what they showed, or refused.
func (c *Client) Select(ctx context.Context, s Selection) ([]InboxItem, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	all, err := c.NewInbox().Refresh(ctx)
	items := []InboxItem{}
	for _, i := range all {
		if s.picks(i) {
			items = append(items, i)
		}
	}
	return items, err
}

// ApproveAllOptions of ApproveAll; all are optional.
type ApproveAllOptions struct {
	// By is a claim, AssertedBy is who the front door authenticated.
	By, AssertedBy string
	Note           string
	// Progress is told what became of each execution, one after the other.
	Progress func(Decided)
}

// RejectAllOptions of RejectAll; all are optional.
type RejectAllOptions struct {
	// By is a claim, AssertedBy is who the front door authenticated.
	By, AssertedBy string
	Reason         string
	// Continue throws a RejectedError into the programs; without it the executions end.
	Continue bool
	// Progress is told what became of each execution, one after the other.
	Progress func(Decided)
}

// Decided is what became of the calls of one execution that were decided together.
type Decided struct {
	ExecutionID string `json:"executionId"`
	// Accepted are the calls that the decision applied to, Refused those to which it did not, and why.
	Accepted []int         `json:"accepted"`
	Refused  []RefusedCall `json:"refused"`
}

// RefusedCall is a call to which a decision did not apply.
type RefusedCall struct {
	Seq   int    `json:"seq"`
	Error string `json:"error"`
}

// ApproveAll approves the calls as they were listed: what has other arguments by now, or waits no more, is refused. It
// returns when all is recorded, and does not wait for what follows. What was not reached is missing beside an error.
func (c *Client) ApproveAll(ctx context.Context, items []InboxItem, o ApproveAllOptions) ([]Decided, error) {
	return c.decideAll(ctx, items, o.Progress, func(a signals.PendingAction) signals.OneDecision {
		return signals.OneDecision{Approve: &signals.Approve{Seqs: []int{a.Seq}, ArgsDigest: a.ArgsDigest, By: o.By,
			AssertedBy: o.AssertedBy, Note: o.Note}}
	})
}

// RejectAll rejects the calls as they were listed: what waits no more is refused. It returns when all is recorded.
// Without Continue one call of each execution is rejected, which ends it.
func (c *Client) RejectAll(ctx context.Context, items []InboxItem, o RejectAllOptions) ([]Decided, error) {
	if !o.Continue {
		items = firstOfEach(items)
	}
	return c.decideAll(ctx, items, o.Progress, func(a signals.PendingAction) signals.OneDecision {
		return signals.OneDecision{Reject: &signals.Reject{Seq: &a.Seq, Continue: o.Continue, By: o.By,
			AssertedBy: o.AssertedBy, Reason: o.Reason}}
	})
}

func firstOfEach(items []InboxItem) []InboxItem {
	var list []InboxItem
	seen := map[string]bool{}
	for _, i := range items {
		if !seen[i.ExecutionID] {
			seen[i.ExecutionID] = true
			list = append(list, i)
		}
	}
	return list
}

// decidesAtOnce is how many executions are decided about in parallel.
const decidesAtOnce = 32

type decideCall func(signals.PendingAction) signals.OneDecision

func (c *Client) decideAll(ctx context.Context, items []InboxItem, progress func(Decided),
	about decideCall) ([]Decided, error) {
	var ids []string
	calls := map[string][]signals.PendingAction{}
	for _, i := range items {
		if calls[i.ExecutionID] == nil {
			ids = append(ids, i.ExecutionID)
		}
		calls[i.ExecutionID] = append(calls[i.ExecutionID], i.PendingAction)
	}
	var told sync.Mutex
	all := []Decided{}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(decidesAtOnce)
	for _, id := range ids {
		group.Go(func() error {
			d, err := c.decideCalls(ctx, id, calls[id], about)
			if err != nil {
				return fmt.Errorf("decide about execution %s: %w", id, err)
			}
			told.Lock()
			defer told.Unlock()
			if all = append(all, d); progress != nil {
				progress(d)
			}
			return nil
		})
	}
	return all, group.Wait()
}

// mostTogether is how many decisions one message takes.
const mostTogether = 500

// decideCalls decides about calls of one execution, in one message if that applies to all of them, and else in one for
// each: a call that has changed keeps nobody from deciding about the others.
func (c *Client) decideCalls(ctx context.Context, id string, calls []signals.PendingAction,
	about decideCall) (Decided, error) {
	d := Decided{ExecutionID: id, Accepted: []int{}, Refused: []RefusedCall{}}
	for len(calls) > 0 {
		n := min(len(calls), mostTogether)
		if err := c.decideTogether(ctx, &d, calls[:n], about); err != nil {
			return d, err
		}
		calls = calls[n:]
	}
	return d, nil
}

func (c *Client) decideTogether(ctx context.Context, d *Decided, calls []signals.PendingAction,
	about decideCall) error {
	var m signals.Mixed
	for _, a := range calls {
		m = append(m, about(a))
	}
	v, err := c.Decide(ctx, d.ExecutionID, signals.Approve{Decisions: m})
	if errors.Is(err, ErrNotFound) { // deleted meanwhile
		v, err = signals.Verdict{Error: err.Error()}, nil
	}
	switch {
	case err != nil:
		return err
	case v.Accepted:
		for _, a := range calls {
			d.Accepted = append(d.Accepted, a.Seq)
		}
	case len(calls) == 1:
		d.Refused = append(d.Refused, RefusedCall{Seq: calls[0].Seq, Error: v.Error})
	default:
		for i := range calls {
			if err := c.decideTogether(ctx, d, calls[i:i+1], about); err != nil {
				return err
			}
		}
	}
	return nil
}
