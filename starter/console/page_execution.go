package console

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"github.com/temporal-codemode/codemode"
	"github.com/temporal-codemode/codemode/signals"
)

// executionView is the record of an execution as its page shows it.
type executionView struct {
	*signals.Record
	Lines    []codeLine
	Events   []event
	Pending  []group
	Length   int64  // of the history, before it was read
	Stale    string // why what waits may be out of date
	Console  value
	Temporal string
	Open     bool
	// Undo are the calls that a rollback would undo, in that order.
	Undo []signals.Call
}

// codeLine is a line of the program with the calls that it made.
type codeLine struct {
	Number int
	Text   string
	Calls  []signals.Call
	Failed bool // the program's error came from here
}

// event is something in the timeline: a pass, or what happened between two.
type event struct {
	Pass    *codemode.Pass
	Made    []signals.Call
	Issued  []signals.Call
	Decided []decidedCall
	Settled []signals.Call
}

// decidedCall is a decision with the call that it was about.
type decidedCall struct {
	signals.Decision
	Call signals.Call
}

func (c *Console) executionPage(v *visit) error {
	r, id, err := c.executionOf(v)
	if err != nil {
		return err
	}
	length, err := r.Client.HistoryLength(v.context(), id)
	if err != nil {
		return err
	}
	record, err := r.Client.Show(v.context(), id)
	if err != nil {
		return err
	}
	passes, err := r.Client.Timeline(v.context(), id)
	if err != nil {
		return err
	}
	view := newExecutionView(record, passes)
	view.Length = length
	view.Temporal = c.temporalLink(r.Name, id)
	if record.Status == signals.Paused || !record.Status.Terminal() && anyPending(record.Log) {
		c.fillPending(v, r, &view)
	}
	title := cmp.Or(record.Purpose, firstLine(record.Code), id)
	if v.r.URL.Query().Get("part") != "" {
		return c.render(v, http.StatusOK, "execution", "record", title, view)
	}
	return c.show(v, http.StatusOK, "execution", signals.Cut(title, 80), view)
}

// fillPending adds the calls that wait, as the worker tells them; without one, as lists do, and says so.
func (c *Console) fillPending(v *visit, r Runtime, view *executionView) {
	var items []codemode.InboxItem
	actions, err := r.Client.Pending(v.context(), view.ID)
	for _, a := range actions {
		items = append(items, codemode.InboxItem{PendingAction: a, Runtime: r.Name, Purpose: view.Purpose})
	}
	if err != nil {
		_, view.Stale = statusOf(err)
		for _, i := range c.inbox.snapshot([]string{r.Name}).Items {
			if i.ExecutionID == view.ID {
				items = append(items, i)
			}
		}
	}
	view.Pending = groupsOf(v.who, items)
	for n := range view.Pending {
		view.Pending[n].layOut()
	}
}

func newExecutionView(record *signals.Record, passes []codemode.Pass) executionView {
	view := executionView{Record: record, Console: showText(strings.Join(record.Logs, "\n")),
		Open: !record.Status.Terminal()}
	byLine, bySeq := map[int][]signals.Call{}, map[int]signals.Call{}
	for _, call := range record.Log {
		bySeq[call.Seq] = call
		if call.Position != nil {
			byLine[call.Position.Line] = append(byLine[call.Position.Line], call)
		}
	}
	for n, text := range strings.Split(strings.TrimRight(record.Code, "\n"), "\n") {
		failed := record.Position != nil && record.Position.Line == n+1
		view.Lines = append(view.Lines,
			codeLine{Number: n + 1, Text: signals.Visible(text), Calls: byLine[n+1], Failed: failed})
	}
	view.Events, view.Undo = events(passes, bySeq), signals.UndoOrder(record.Log)
	return view
}

// events tells the story: what happened between passes, then the pass.
func events(passes []codemode.Pass, calls map[int]signals.Call) []event {
	told := map[int]int{} // decisions about each call that were told
	find := func(seqs []int) []signals.Call {
		var list []signals.Call
		for _, seq := range seqs {
			if call, ok := calls[seq]; ok {
				list = append(list, call)
			}
		}
		return list
	}
	var list []event
	for _, p := range passes {
		between := event{Decided: decisionsOf(find(p.Decided), told), Settled: find(p.Settled)}
		if len(between.Decided)+len(between.Settled) > 0 {
			list = append(list, between)
		}
		list = append(list, event{Pass: &p, Made: find(p.Made), Issued: find(p.Issued)})
	}
	return list
}

// decisionsOf finds the decisions in the order in which passes were told of them. A call stands there once for each.
func decisionsOf(calls []signals.Call, told map[int]int) []decidedCall {
	var list []decidedCall
	for _, call := range calls {
		n := told[call.Seq]
		told[call.Seq]++
		d := signals.Decision{By: call.DecidedBy, AssertedBy: call.AssertedBy, At: call.DecidedAt, Note: call.Note}
		if n < len(call.Decisions) {
			d = call.Decisions[n]
		}
		d.Kind = cmp.Or(d.Kind, "decided about")
		list = append(list, decidedCall{d, call})
	}
	return list
}

func anyPending(calls []signals.Call) bool {
	return slices.ContainsFunc(calls, func(c signals.Call) bool { return c.State == signals.Pending })
}

// settledAs says how a call got its result between two passes.
func settledAs(c signals.Call) string {
	given := slices.ContainsFunc(c.Decisions, func(d signals.Decision) bool {
		return d.Kind == signals.SignalResolve && !d.Void
	})
	switch {
	case given:
		return "a person gave the result of"
	case c.Ended == signals.CallRejected || c.ErrorName == signals.RejectedError:
		return "the program is told of"
	}
	return "the workflow made"
}

// passEnds says why passes end.
var passEnds = map[signals.PassEnd]string{
	signals.PassCompleted: "ran to the end of the program",
	signals.PassBlocked:   "ran until it had to wait",
	signals.PassMissing:   "did not run: a connector is missing",
	signals.PassMore:      "ran on into the next one",
	signals.PassFailed:    "failed",
}

func passEnd(e signals.PassEnd) string { return cmp.Or(passEnds[e], "ran: "+string(e)) }

func firstLine(code string) string {
	for _, line := range strings.Split(code, "\n") {
		if line = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "//")); line != "" {
			return line
		}
	}
	return ""
}

// listView is the list of executions.
type listView struct {
	Records  []signals.Record
	Status   signals.Status
	Statuses []signals.Status
	Runtime  string
	Runtimes []string
	Limit    int
	Text     string
	More     bool
}

func (c *Console) executionsPage(v *visit) error {
	q := v.r.URL.Query()
	view := listView{
		Status: signals.Status(q.Get("status")), Statuses: statuses, Runtime: q.Get("runtime"), Runtimes: c.names(),
		Limit: max(1, number(q.Get("limit"), 30, 500)), Text: strings.TrimSpace(q.Get("q")),
	}
	var err error
	if view.Records, err = c.list(v, view.Runtime,
		codemode.ListOptions{Limit: view.Limit, Status: view.Status, Text: view.Text, Brief: true}); err != nil {
		return err
	}
	view.More = len(view.Records) == view.Limit
	return c.show(v, http.StatusOK, "executions", "Executions", view)
}

// list reads executions of one runtime, or with an empty name of all, newest first.
func (c *Console) list(v *visit, runtime string, o codemode.ListOptions) ([]signals.Record, error) {
	if err := checkStatus(o.Status); err != nil {
		return nil, err
	}
	served := c.Runtimes
	if runtime != "" {
		r, err := c.runtime(runtime)
		if err != nil {
			return nil, err
		}
		served = []Runtime{r}
	}
	records := []signals.Record{}
	for _, r := range served {
		found, err := r.Client.Executions(v.context(), o)
		if err != nil {
			return nil, err
		}
		records = append(records, found...)
	}
	slices.SortStableFunc(records, func(a, b signals.Record) int { return cmp.Compare(b.CreatedAt, a.CreatedAt) })
	return records[:min(len(records), o.Limit)], nil
}

// publicCall masks what looks like a secret.
func publicCall(c signals.Call) signals.Call {
	c.Args, c.Result, c.EditedArgs = signals.Mask(c.Args), signals.Mask(c.Result), signals.Mask(c.EditedArgs)
	c.Decisions = slices.Clone(c.Decisions)
	for n := range c.Decisions {
		c.Decisions[n].EditedArgs = signals.Mask(c.Decisions[n].EditedArgs)
	}
	return c
}

func publicItem(i codemode.InboxItem) codemode.InboxItem {
	i.Args, i.EditedArgs = signals.Mask(i.Args), signals.Mask(i.EditedArgs)
	return i
}

// publicRecord masks what looks like a secret, in the calls and in the result.
func publicRecord(r signals.Record) signals.Record {
	r.Result = signals.Mask(r.Result)
	r.Log = slices.Clone(r.Log)
	for n := range r.Log {
		r.Log[n] = publicCall(r.Log[n])
	}
	return r
}
