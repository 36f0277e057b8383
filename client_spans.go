package codemode

import (
	"context"
	"fmt"
	"time"

	"go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
)

// Servers list in an order of their own, mostly by the time of the end. Who wants the newest few would have to read the
// names of all; so a list looks back step by step, and takes smaller steps where there is much.

// span is from when until when executions started; a zero time is no bound.
type span struct{ from, until time.Time }

var lookBack = []time.Duration{time.Minute, 10 * time.Minute, 2 * time.Hour, 24 * time.Hour, 14 * 24 * time.Hour}

// startedWithin are spans, newest first, of which every execution started in exactly one.
func startedWithin(now time.Time) []span {
	var spans []span
	var until time.Time
	for _, d := range lookBack {
		spans = append(spans, span{now.Add(-d), until})
		until = now.Add(-d)
	}
	return append(spans, span{until: until})
}

func (s span) filter() string {
	filter := ""
	if !s.from.IsZero() {
		filter += fmt.Sprintf(` AND StartTime >= "%s"`, s.from.UTC().Format(time.RFC3339Nano))
	}
	if !s.until.IsZero() {
		filter += fmt.Sprintf(` AND StartTime < "%s"`, s.until.UTC().Format(time.RFC3339Nano))
	}
	return filter
}

// newestOf lists what started within a span, newest first; if that is much, only the newest part, which has at least as
// many as wanted, and tells what is left.
func (c *Client) newestOf(ctx context.Context, filter string, s span, wanted int) (found []*workflow.
	WorkflowExecutionInfo, rest []span, err error) {
	if !s.from.IsZero() {
		found, all, err := c.visibleUpTo(ctx, filter+s.filter(), 1)
		if err != nil || all {
			return found, nil, err
		}
		part, err := c.newestPart(ctx, filter, s, wanted)
		if err != nil {
			return nil, nil, err
		}
		if part.from.After(s.from) {
			rest = []span{{s.from, part.from}}
		}
		s = part
	}
	found, err = c.visible(ctx, filter+s.filter())
	return found, rest, err
}

// counts bounds how often a list counts to find out how far to look back.
const counts = 16

// newestPart is the part of a span that has as many as are wanted, and not many more.
func (c *Client) newestPart(ctx context.Context, filter string, s span, wanted int) (span, error) {
	from, until := s.from, s.until
	if until.IsZero() {
		until = time.Now()
	}
	total, err := c.count(ctx, filter+s.filter())
	if err != nil || total <= int64(wanted+pageSize/2) {
		return s, err
	}
	for range counts {
		middle := from.Add(until.Sub(from) / 2)
		n, err := c.count(ctx, filter+span{middle, s.until}.filter())
		switch {
		case err != nil:
			return s, err
		case n < int64(wanted):
			until = middle
		case n > int64(wanted+pageSize/2):
			from = middle
		default:
			return span{middle, s.until}, nil
		}
	}
	return span{from, s.until}, nil
}

func (c *Client) count(ctx context.Context, filter string) (int64, error) {
	n, err := c.temporal.CountWorkflow(ctx,
		&workflowservice.CountWorkflowExecutionsRequest{Query: c.visibleQuery(filter)})
	return n.GetCount(), err
}
