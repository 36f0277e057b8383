package codemode

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/temporal-codemode/codemode/signals"
)

// checkWithin bounds how long a decision waits to be checked before it is sent.
const checkWithin = time.Second

// check says why arguments or a result that a person wrote could not be used. It answers "" as well where no worker
// tells in time: the activity that uses them checks them in any case.
func (c *Client) check(ctx context.Context, id string, m signals.Message) string {
	written := slices.DeleteFunc(slices.Clone(m.Each()), func(one signals.Message) bool { return !writes(one) })
	if len(written) == 0 || m.Check() != nil {
		return ""
	}
	ctx, stop := context.WithCancel(ctx) // no deadline: a server refuses a long poll whose deadline is near
	defer stop()
	defer time.AfterFunc(checkWithin, stop).Stop()
	pending, err := c.pendingOf(ctx, id)
	if err != nil {
		return ""
	}
	for _, one := range written {
		question, ok := checkOf(one, pending)
		if !ok {
			continue
		}
		var problem string
		answer, err := c.ask(ctx, question)
		if err == nil && json.Unmarshal(answer, &problem) == nil && problem != "" {
			return problem
		}
	}
	return ""
}

// writes reports whether a decision has something in it that a person wrote for the call.
func writes(m signals.Message) bool {
	approve, ok := m.(signals.Approve)
	_, gives := m.(signals.Resolve)
	return gives || ok && len(approve.Args) > 0
}

// checkOf is the question whether the call that a decision is about can use what is in it.
func checkOf(m signals.Message, pending []signals.PendingAction) (signals.CatalogueInput, bool) {
	question := signals.CatalogueInput{Kind: signals.CatalogueValue}
	var of func(a signals.PendingAction) bool
	switch m := m.(type) {
	case signals.Approve:
		question.Args = m.Args
		of = func(a signals.PendingAction) bool {
			return !wantsResult(a) && (len(m.Seqs) == 0 || slices.Contains(m.Seqs, a.Seq))
		}
	case signals.Resolve:
		question.Result = m.Result
		of = func(a signals.PendingAction) bool { return wantsResult(a) && m.Seq == a.Seq }
	}
	at := slices.IndexFunc(pending, of)
	if at < 0 {
		return question, false
	}
	question.Target = pending[at].Connector + "." + pending[at].Method
	return question, true
}

// wantsResult reports whether a call waits for its result instead of an approval.
func wantsResult(a signals.PendingAction) bool { return a.Resolution != "" || a.Reason != "" }
