package codemode

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	commonpb "go.temporal.io/api/common/v1"
	workflowpb "go.temporal.io/api/workflow/v1"

	"github.com/temporal-codemode/codemode/internal/rpcerr"
	"github.com/temporal-codemode/codemode/signals"
)

// Progress is how far an execution has come.
type Progress struct {
	// Calls are those that are being made, in the order in which the program issued them; of many reads at once the
	// oldest.
	Calls []signals.RunningCall
	// Issued is how many calls the program has issued so far, as far as that is known.
	Issued int
}

// Progress looks at what an execution is doing, by what its worker last said. It is empty for one that does nothing.
func (c *Client) Progress(ctx context.Context, id string) (p Progress, err error) {
	d, err := c.temporal.DescribeWorkflowExecution(ctx, signals.WorkflowID(c.runtime, id), "")
	if rpcerr.NotFound(err) {
		return p, noExecution(id)
	}
	if err != nil {
		return p, err
	}
	for _, a := range d.PendingActivities {
		p.add(a, c.heartbeat(a.HeartbeatDetails))
	}
	slices.SortFunc(p.Calls, func(a, b signals.RunningCall) int { return cmp.Compare(a.Seq, b.Seq) })
	if len(p.Calls) > 0 {
		p.Issued = max(p.Issued, p.Calls[len(p.Calls)-1].Seq+1, c.issued(ctx, id))
	}
	return p, nil
}

// issued asks the worker how many calls there are between passes; 0 where it cannot tell.
func (c *Client) issued(ctx context.Context, id string) int {
	ctx, cancel := context.WithTimeout(ctx, queryPatience)
	defer cancel()
	var record signals.Record
	if c.query(ctx, id, signals.QueryState, &record, signals.Page{Offset: math.MaxInt32}) != nil {
		return 0
	}
	return record.Total
}

// heartbeat reads what an activity last said; what cannot be read says nothing.
func (c *Client) heartbeat(details *commonpb.Payloads) (h signals.Heartbeat) {
	if len(details.GetPayloads()) > 0 {
		_ = c.dc.FromPayload(details.Payloads[0], &h)
	}
	return h
}

// add notes what an activity does: a pass makes reads, any other is a call.
func (p *Progress) add(a *workflowpb.PendingActivityInfo, h signals.Heartbeat) {
	p.Issued = max(p.Issued, h.Issued)
	p.Calls = append(p.Calls, h.Reads...)
	call := signals.RunningCall{Method: a.ActivityType.GetName()}
	attempt := 0
	n, _ := fmt.Sscanf(a.ActivityId, "call-%d.%d", &call.Seq, &attempt)
	if n < 2 || strings.HasSuffix(call.Method, ".revert") {
		return
	}
	if h.Call != nil {
		call.Done, call.Total, call.Message = h.Call.Done, h.Call.Total, h.Call.Message
	}
	p.Calls = append(p.Calls, call)
}
