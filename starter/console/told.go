package console

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/temporal-codemode/codemode/signals"
)

// telling is what came of the decisions about one execution.
type telling struct {
	Runtime, ID string
	Lines       []toldLine
	// Follow is where to ask how it goes on; empty where nothing was done.
	Follow string
}

type toldLine struct {
	Good bool
	Text string
}

// tellings sums up results, for each execution what is alike in one line.
func tellings(results []result) []telling {
	var list []telling
	for _, r := range results {
		at := slices.IndexFunc(list, func(t telling) bool { return t.Runtime == r.Runtime && t.ID == r.ExecutionID })
		if at < 0 {
			at = len(list)
			list = append(list, telling{Runtime: r.Runtime, ID: r.ExecutionID})
			list[at].sum(results)
		}
	}
	return list
}

func (t *telling) sum(results []result) {
	seqs := url.Values{}
	counts, first := map[toldLine]int{}, []toldLine{}
	for _, r := range results {
		if r.Runtime != t.Runtime || r.ExecutionID != t.ID {
			continue
		}
		line := toldLine{r.Accepted, r.words()}
		if counts[line]++; counts[line] == 1 {
			first = append(first, line)
		}
		if r.Accepted && r.Seq != nil {
			seqs.Add("seq", strconv.Itoa(*r.Seq))
		}
		if r.Accepted {
			t.Follow = executionLink(t.Runtime, t.ID) + "/outcome"
		}
	}
	for _, line := range first {
		if n := counts[line]; n > 1 {
			line.Text = plural(n, "call") + ": " + line.Text
		}
		t.Lines = append(t.Lines, line)
	}
	if t.Follow != "" {
		t.Follow += "?" + seqs.Encode()
	}
}

// words say what became of a decision.
func (r result) words() string {
	switch {
	case !r.Accepted:
		return "not done: " + r.Error
	case r.Missing > 0:
		return fmt.Sprintf("your approval counts, %s more to approve", people(r.Missing))
	}
	return did(r.Action)
}

func people(n int) string {
	if n == 1 {
		return "1 person has"
	}
	return fmt.Sprintf("%d people have", n)
}

// did says what a decision of a kind did.
func did(action string) string {
	return cmp.Or(map[string]string{
		actionApprove: "approved", actionReject: "rejected", actionRetry: "made again",
		actionResolve: "given its result",
		actionCancel:  "the execution is cancelled", actionRollback: "rolled back", "expire": "expired",
	}[action], action)
}

// outcomeView tells how calls went on that were decided about, and their execution.
type outcomeView struct {
	Record  *signals.Record
	Made    int // took effect
	Running int
	Failed  []signals.Call
	One     *signals.Call // the only call that was asked for, made
	Done    bool          // there will be no other news of these calls
}

func (c *Console) outcomePart(v *visit) error {
	r, id, err := c.executionOf(v)
	if err != nil {
		return err
	}
	record, err := r.Client.Show(v.context(), id)
	if err != nil {
		return err
	}
	view := outcomeView{Record: record, Done: true}
	seqs := v.r.URL.Query()["seq"]
	for n, call := range record.Log {
		if !slices.Contains(seqs, strconv.Itoa(call.Seq)) {
			continue
		}
		switch call.State {
		case signals.Applied:
			if view.Made++; len(seqs) == 1 {
				view.One = &record.Log[n]
			}
		case signals.Errored:
			view.Failed = append(view.Failed, call)
		case signals.Executing, signals.Pending:
			view.Running++
			view.Done = false
		}
	}
	view.Done = record.Status.Terminal() || view.Done && record.Status != signals.Running
	return c.render(v, http.StatusOK, "told", "outcome", "Outcome", view)
}

// stateOf is the word for where a call stands. The record calls several ends reverted, which people tell apart.
func stateOf(c signals.Call) string {
	words := map[signals.CallEnd]string{signals.CallNotMade: "not made"}
	switch {
	case c.RevertedAt != 0:
		return "undone"
	case c.Ended != "":
		return cmp.Or(words[c.Ended], string(c.Ended))
	case c.State == signals.Errored && c.ErrorName == signals.RejectedError:
		return "rejected"
	}
	return string(c.State)
}

// Text is the result of the only call, shortened.
func (o outcomeView) Text() string {
	if o.One == nil || len(o.One.Result) == 0 {
		return ""
	}
	return signals.Summary(json.RawMessage(signals.Mask(o.One.Result)), 200)
}
