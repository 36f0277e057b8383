package codemode

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"time"

	"go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"golang.org/x/sync/errgroup"

	"github.com/temporal-codemode/codemode/internal/history"
	"github.com/temporal-codemode/codemode/internal/rpcerr"
	"github.com/temporal-codemode/codemode/signals"
)

// atOnce is how many executions a client looks at in parallel.
const atOnce = 8

// Pending lists what waits for a person: of one execution, or with an empty id of all of the runtime, newest execution
// first, each by seq. Closed and unknown executions have nothing pending.
func (c *Client) Pending(ctx context.Context, id string) ([]signals.PendingAction, error) {
	if id != "" {
		w := waiting{caller: &signals.Caller{}} // who started it is not asked for
		err := c.look(ctx, id, &w)
		return append([]signals.PendingAction{}, w.actions...), err
	}
	all := []signals.PendingAction{}
	items, err := c.NewInbox().Refresh(ctx)
	for _, item := range items {
		all = append(all, item.PendingAction)
	}
	if err != nil {
		return nil, err
	}
	return all, nil
}

// InboxItem is a call that waits for a person, with what helps to find and understand it.
type InboxItem struct {
	signals.PendingAction
	Runtime string `json:"runtime"`
	// Purpose is the purpose of the execution, or the first line of its program.
	Purpose string `json:"purpose,omitempty"`
	// Caller is who started the execution.
	Caller signals.Caller `json:"caller,omitzero"`
}

// Inbox keeps current what waits for a person in a runtime. A refresh is one list request, and for executions of which
// lists do not tell what waits some cheap looks: each of up to 500 is looked at again within ten refreshes.
type Inbox struct {
	client  *Client
	mu      sync.Mutex
	known   map[string]*waiting
	changed map[string]time.Time
	busy    []string // executions that make calls while others of theirs may wait
}

// waiting is what an inbox knows of one execution.
type waiting struct {
	events  int64 // in its history when it was looked at; 0 asks for another look
	seen    time.Time
	purpose string
	caller  *signals.Caller // nil is not known yet
	actions []signals.PendingAction
}

// NewInbox makes an inbox that knows nothing yet.
func (c *Client) NewInbox() *Inbox {
	return &Inbox{client: c, known: map[string]*waiting{}, changed: map[string]time.Time{}}
}

// Changed lets the next refreshes look at an execution itself, for those who just decided something: lists lag behind.
func (i *Inbox) Changed(id string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.changed[id] = time.Now()
}

// Refresh lists what waits now, newest execution first, each by seq. Beside an error it lists what is known all the
// same. One refresh runs at a time.
func (i *Inbox) Refresh(ctx context.Context) ([]InboxItem, error) {
	found, err := i.client.paused(ctx)
	if err != nil {
		return i.items(nil), err
	}
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	var failed collected
	for id, w := range i.due(i.take(found)) {
		group.Go(func() error { // w is a copy: readers see a whole look or none
			err := i.client.look(groupCtx, id, &w)
			if err == nil {
				i.learn(id, &w)
			}
			failed.add(err)
			return onlyNoWorker(err)
		})
	}
	ids := i.listed(found)
	if err := group.Wait(); err != nil {
		return i.items(ids), err
	}
	return i.items(ids), failed.join()
}

// listed are the executions of which something may wait: those that lists tell of, then the busy ones.
func (i *Inbox) listed(found []*workflow.WorkflowExecutionInfo) []string {
	i.mu.Lock()
	defer i.mu.Unlock()
	return append(executionIDs(found), slices.Sorted(slices.Values(i.busy))...)
}

// take learns what lists tell, forgets executions that no longer wait, and gives those that have to be looked at.
func (i *Inbox) take(found []*workflow.WorkflowExecutionInfo) (unlisted []string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for id, at := range i.changed {
		if time.Since(at) > listLag {
			delete(i.changed, id)
		}
	}
	known := make(map[string]*waiting, len(found))
	inLists := map[string]bool{}
	for _, id := range executionIDs(found) {
		inLists[id] = true
	}
	var busy []string
	for id, w := range i.known {
		if inLists[id] || !w.mayStillWait() {
			continue
		}
		if !slices.Contains(i.busy, id) { // its lists are no news any more: it is looked at now
			again := *w
			again.events, w = 0, &again
		}
		known[id], busy = w, append(busy, id)
	}
	i.busy = busy
	for _, w := range found {
		id := executionID(w)
		told, whole := i.client.told(w)
		if _, changed := i.changed[id]; whole && !changed {
			known[id] = told
			continue
		}
		if known[id] = i.known[id]; known[id] == nil {
			known[id] = &waiting{purpose: told.purpose, caller: told.caller}
		}
		unlisted = append(unlisted, id)
	}
	i.known = known
	return append(unlisted, i.busy...)
}

// mayStillWait says of an execution that no list shows as paused any more that some of its calls may wait all the same,
// beside one that is being made: there were several, or it was looked at itself and there was one.
func (w *waiting) mayStillWait() bool {
	return len(w.actions) > 1 || w.events != 0 && len(w.actions) > 0
}

// told is what lists tell of what waits in an execution, and whether that is all.
func (c *Client) told(info *workflow.WorkflowExecutionInfo) (w *waiting, whole bool) {
	w = &waiting{}
	var start signals.ListedStart
	if known, err := c.memo(info, signals.MemoStart, &start); known && err == nil {
		w.purpose, w.caller = summary(start.Purpose, start.Code), &start.Caller
	}
	var state signals.ListedState
	known, err := c.memo(info, signals.MemoState, &state)
	if !known || err != nil || state.Omitted || w.caller == nil || visibleStatus(info) != signals.Paused {
		return w, false
	}
	w.actions = state.Pending
	return w, !slices.ContainsFunc(w.actions, func(a signals.PendingAction) bool { return a.Omitted })
}

// recheck is how many executions that are known already a refresh looks at.
const recheck = 50

// due picks the executions to look at: new and changed ones, and of the others those not looked at for the longest
// time.
func (i *Inbox) due(ids []string) map[string]waiting {
	i.mu.Lock()
	defer i.mu.Unlock()
	due := map[string]waiting{}
	var old []string
	for _, id := range ids {
		if w := *i.known[id]; w.events == 0 || i.changed[id].After(w.seen) {
			w.events = 0
			due[id] = w
		} else {
			old = append(old, id)
		}
	}
	slices.SortFunc(old, func(a, b string) int { return i.known[a].seen.Compare(i.known[b].seen) })
	for _, id := range old[:min(len(old), recheck)] {
		due[id] = *i.known[id]
	}
	return due
}

func (i *Inbox) learn(id string, w *waiting) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.known[id] = w
}

// items lists what is known in the order of ids; without ids in that of the ids' time.
func (i *Inbox) items(ids []string) []InboxItem {
	i.mu.Lock()
	defer i.mu.Unlock()
	if ids == nil {
		for id := range i.known {
			ids = append(ids, id)
		}
		slices.SortFunc(ids, func(a, b string) int { return cmp.Compare(b, a) })
	}
	items := []InboxItem{}
	for _, id := range ids {
		w := i.known[id]
		if w == nil {
			continue
		}
		for _, a := range w.actions {
			item := InboxItem{PendingAction: a, Runtime: i.client.runtime, Purpose: w.purpose}
			if w.caller != nil {
				item.Caller = *w.caller
			}
			items = append(items, item)
		}
	}
	return items
}

// collected are errors of several goroutines.
type collected struct {
	mu   sync.Mutex
	errs []error
}

func (c *collected) add(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.errs = append(c.errs, err)
}

func (c *collected) join() error { return errors.Join(c.errs...) }

// onlyNoWorker keeps the error that makes every further look pointless.
func onlyNoWorker(err error) error {
	var none *NoWorkerError
	if errors.As(err, &none) {
		return err
	}
	return nil
}

// look learns what is pending in one execution. It asks the worker only if the history has grown since the look before.
func (c *Client) look(ctx context.Context, id string, w *waiting) error {
	d, err := c.temporal.DescribeWorkflowExecution(ctx, signals.WorkflowID(c.runtime, id), "")
	if rpcerr.NotFound(err) || err == nil && d.WorkflowExecutionInfo.GetCloseTime() != nil {
		*w = waiting{seen: time.Now()}
		return nil
	}
	if err != nil {
		return err
	}
	events := d.WorkflowExecutionInfo.GetHistoryLength()
	if w.events == events {
		w.seen = time.Now()
		return nil
	}
	actions, err := c.pendingOf(ctx, id)
	if err != nil {
		return err
	}
	caller := w.caller
	if caller == nil {
		caller = c.callerOf(ctx, id)
	}
	*w = waiting{events: events, seen: time.Now(), purpose: c.summary(d), caller: caller, actions: actions}
	return nil
}

// callerOf asks the worker who started an execution; nobody where it cannot tell.
func (c *Client) callerOf(ctx context.Context, id string) *signals.Caller {
	var record signals.Record
	page := signals.Page{Offset: math.MaxInt32} // none of the calls
	if err := c.query(ctx, id, signals.QueryState, &record, page); err != nil {
		c.log.Warn("cannot tell who started an execution", "execution", id, "error", err)
	}
	return &record.Caller
}

// summary is the line that the Web UI shows about an execution.
func (c *Client) summary(d *workflowservice.DescribeWorkflowExecutionResponse) string {
	var text string
	if p := d.GetExecutionConfig().GetUserMetadata().GetSummary(); p != nil {
		_ = c.dc.FromPayload(p, &text)
	}
	return text
}

// pendingOf asks the worker what waits in an open execution.
func (c *Client) pendingOf(ctx context.Context, id string) ([]signals.PendingAction, error) {
	guarded, stop := c.guard(ctx, id)
	defer stop()
	var actions []signals.PendingAction
	if err := c.query(guarded, id, signals.QueryPending, &actions); err != nil {
		return nil, guardError(guarded, err)
	}
	if !slices.ContainsFunc(actions, func(a signals.PendingAction) bool { return a.Omitted }) {
		return actions, nil
	}
	record, err := c.Show(ctx, id)
	if err == nil && record != nil {
		history.FillActions(actions, record.Log)
	}
	return actions, err
}

// open tells whether an execution has not ended.
func (c *Client) open(ctx context.Context, id string) (bool, error) {
	open, err := c.isOpen(ctx, signals.WorkflowID(c.runtime, id))
	if rpcerr.NotFound(err) {
		return false, noExecution(id)
	}
	return open, err
}

func (c *Client) isOpen(ctx context.Context, workflowID string) (bool, error) {
	d, err := c.temporal.DescribeWorkflowExecution(ctx, workflowID, "")
	return err == nil && d.WorkflowExecutionInfo.GetCloseTime() == nil, err
}
