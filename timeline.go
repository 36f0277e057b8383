package codemode

import (
	"context"

	"github.com/temporal-codemode/codemode/internal/rpcerr"
	"github.com/temporal-codemode/codemode/signals"
)

// Pass is one pass of an execution as a timeline shows it. Calls stand by their seq.
type Pass struct {
	Number int `json:"pass"`
	// Settled and Decided are what happened since the pass before: calls that the workflow made, and decisions.
	Settled []int `json:"settled,omitempty"`
	Decided []int `json:"decided,omitempty"`
	// Made are the calls that the pass made itself, Issued those it left to the workflow or to a person.
	Made   []int `json:"made,omitempty"`
	Issued []int `json:"issued,omitempty"`
	// Lookups counts searches, descriptions, snippets and timers.
	Lookups int             `json:"lookups,omitempty"`
	Lines   int             `json:"lines,omitempty"` // of console output
	End     signals.PassEnd `json:"end"`
	Error   string          `json:"error,omitempty"`
}

// Timeline lists the recorded passes of an execution, oldest first.
func (c *Client) Timeline(ctx context.Context, id string) ([]Pass, error) {
	h, err := c.history(ctx, id)
	if err != nil {
		return nil, err
	}
	passes := make([]Pass, len(h.Passes))
	for i, r := range h.Passes {
		passes[i] = passOf(r)
	}
	return passes, nil
}

func passOf(r signals.PassResult) Pass {
	p := Pass{Number: r.Pass, End: r.End, Lines: len(r.Logs)}
	for _, g := range r.Given {
		switch g.Kind {
		case signals.GivenDecision:
			p.Decided = append(p.Decided, g.ID)
		case signals.GivenTimer:
			p.Lookups++
		default:
			p.Settled = append(p.Settled, g.ID)
		}
	}
	for _, e := range r.Entries {
		if e.Internal() {
			p.Lookups++
		} else {
			p.Made = append(p.Made, e.ID)
		}
	}
	for _, b := range r.Blocked {
		p.Issued = append(p.Issued, b.Seq)
	}
	if r.Failure != nil {
		p.Error = r.Failure.Message
	}
	return p
}

// HistoryLength counts the events of an execution and of its rollbacks: it grows with everything that happens to it,
// and reading it is cheap.
func (c *Client) HistoryLength(ctx context.Context, id string) (int64, error) {
	workflowID := signals.WorkflowID(c.runtime, id)
	d, err := c.temporal.DescribeWorkflowExecution(ctx, workflowID, "")
	if rpcerr.NotFound(err) {
		return 0, noExecution(id)
	}
	length := d.GetWorkflowExecutionInfo().GetHistoryLength()
	for n := 1; err == nil && d.WorkflowExecutionInfo.GetCloseTime() != nil; n++ {
		d, err = c.temporal.DescribeWorkflowExecution(ctx, signals.RollbackID(workflowID, n), "")
		length += d.GetWorkflowExecutionInfo().GetHistoryLength()
	}
	if rpcerr.NotFound(err) {
		err = nil
	}
	return length, err
}
