package console

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/temporal-codemode/codemode"
	"github.com/temporal-codemode/codemode/signals"
)

// askView is the question before a decision: the same wherever it is asked, as a dialog or as a page.
type askView struct {
	Action   string
	Keys     []string
	Gone     []string // what is asked about and waits no more
	Groups   []group
	Plan     []signals.Call // what a rollback undoes
	Ends     []ending       // the executions that a rejection, a rollback or a cancellation ends
	Others   int            // calls that wait and that "always" lets go, too
	Whole    bool           // all arguments are shown
	Unfit    int            // calls that cannot be decided that way
	Next     string
	Title    string
	Button   string
	NoteName string
}

// ending is an execution that ends by a decision.
type ending struct {
	Runtime, ID, Purpose string
	Waiting              []card // calls that wait there and are then not made
}

// asked are the words of a question.
var asked = map[string]struct{ verb, note string }{
	actionApprove:  {"Approve", "Note (for the record)"},
	actionReject:   {"Reject", "Reason (for the record and the program)"},
	actionRetry:    {"Make again", "Note (for the record)"},
	actionCancel:   {"Cancel this execution", "Reason (for the record)"},
	actionRollback: {"Roll back", "Note (for the record)"},
}

// ask asks what a person is about to do. Its button names one call beside the action; without, the chosen ones count.
func (c *Console) ask(v *visit) error {
	if err := v.r.ParseForm(); err != nil {
		return badRequest("the form cannot be read")
	}
	action, one, _ := strings.Cut(v.r.PostForm.Get("ask"), " ")
	keys := v.r.PostForm["item"]
	if one != "" {
		keys = []string{one}
	}
	if _, known := asked[action]; !known {
		return badRequest("%q is nothing that can be asked", signals.Cut(action, 100))
	}
	if len(keys) == 0 {
		return badRequest("nothing was selected")
	}
	view := askView{Action: action, Whole: true, NoteName: asked[action].note, Next: nextPage(v.r.PostForm.Get("next"))}
	if err := c.fillQuestion(v, &view, keys); err != nil {
		return err
	}
	if v.r.Header.Get("X-Requested-With") != "" {
		return c.render(v, http.StatusOK, "ask", "question", view.Title, view)
	}
	return c.show(v, http.StatusOK, "ask", view.Title, view)
}

func (c *Console) fillQuestion(v *visit, view *askView, keys []string) error {
	var parsed []key
	for _, text := range keys {
		k, err := parseKey(text)
		if err != nil {
			return err
		}
		parsed = append(parsed, k)
	}
	if view.Action == actionRollback || view.Action == actionCancel {
		return c.aboutExecution(v, view, parsed[0])
	}
	items := c.askedAbout(v, view, parsed)
	view.Groups = groupsOf(v.who, items)
	for n := range view.Groups {
		for at := range view.Groups[n].Cards {
			view.Groups[n].Cards[at].Asking = true
		}
		view.Groups[n].layOut()
	}
	for _, i := range items {
		card := newCard(i)
		view.Keys = append(view.Keys, card.Key)
		view.Whole = view.Whole && card.Size == 0 && !card.Omitted
	}
	switch view.Action {
	case actionReject:
		view.Ends = c.endings(items)
	case actionApprove:
		view.Others = c.alsoLetGo(items)
	}
	view.word(items)
	return nil
}

// askedAbout finds the calls as they wait now. Those that a decision of that kind does not fit are left out.
func (c *Console) askedAbout(v *visit, view *askView, keys []key) []codemode.InboxItem {
	var items []codemode.InboxItem
	for _, k := range keys {
		item, known := c.inbox.find(k)
		if !known {
			r, err := c.runtime(k.Runtime)
			if err == nil {
				item.Runtime = r.Name
				item.PendingAction, err = c.pendingCall(v.context(), r, k)
			}
			if err != nil {
				_, why := statusOf(err)
				view.Gone = append(view.Gone, fmt.Sprintf("Call %d of %s: %s", k.Seq, k.Execution, why))
				continue
			}
		}
		if fits := newCard(item).takes(view.Action); !fits {
			view.Unfit++
			continue
		}
		items = append(items, item)
	}
	return items
}

// takes says that a decision of that kind fits what the call waits for.
func (c card) takes(action string) bool {
	switch action {
	case actionApprove:
		return c.Asks() == "approval"
	case actionRetry:
		return c.Asks() == "unknown"
	}
	return true
}

// endings are the executions that rejecting these calls ends, and what else waits there.
func (c *Console) endings(items []codemode.InboxItem) []ending {
	var list []ending
	for _, i := range items {
		if slices.ContainsFunc(list, func(e ending) bool { return e.Runtime == i.Runtime && e.ID == i.ExecutionID }) {
			continue
		}
		e := ending{Runtime: i.Runtime, ID: i.ExecutionID, Purpose: i.Purpose}
		for _, other := range c.inbox.snapshot([]string{i.Runtime}).Items {
			same := func(i codemode.InboxItem) bool { return keyOf(i) == keyOf(other) }
			if other.ExecutionID == i.ExecutionID && !slices.ContainsFunc(items, same) {
				e.Waiting = append(e.Waiting, newCard(other))
			}
		}
		list = append(list, e)
	}
	return list
}

// alsoLetGo counts the calls that wait beside these for the same method in the same execution.
func (c *Console) alsoLetGo(items []codemode.InboxItem) int {
	others := map[key]bool{}
	for _, i := range items {
		for _, other := range c.inbox.snapshot([]string{i.Runtime}).Items {
			if other.ExecutionID == i.ExecutionID && other.Connector == i.Connector && other.Method == i.Method &&
				newCard(other).takes(actionApprove) {
				others[keyOf(other)] = true
			}
		}
	}
	for _, i := range items {
		delete(others, keyOf(i))
	}
	return len(others)
}

func (a *askView) word(items []codemode.InboxItem) {
	verb := asked[a.Action].verb
	a.Button, a.Title = verb, "Nothing is left to decide"
	switch len(items) {
	case 0:
	case 1:
		a.Title = fmt.Sprintf("%s %s.%s?", verb, items[0].Connector, items[0].Method)
	default:
		a.Button = fmt.Sprintf("%s %d calls", verb, len(items))
		a.Title = a.Button + "?"
	}
	a.Title = signals.Visible(a.Title)
}

// aboutExecution asks about a rollback or a cancellation.
func (c *Console) aboutExecution(v *visit, view *askView, k key) error {
	r, err := c.runtime(k.Runtime)
	if err != nil {
		return err
	}
	record, err := r.Client.Show(v.context(), k.Execution)
	if err != nil {
		return err
	}
	view.Keys, view.Button = []string{k.String()}, asked[view.Action].verb
	view.Title = view.Button + "?"
	if view.Action == actionRollback {
		view.Plan = signals.UndoOrder(record.Log)
		view.Button = "Roll back " + plural(len(view.Plan), "call")
		view.Title = view.Button + "?"
	}
	if !record.Status.Terminal() {
		e := ending{Runtime: r.Name, ID: record.ID, Purpose: cmp.Or(record.Purpose, firstLine(record.Code))}
		for _, i := range c.inbox.snapshot([]string{r.Name}).Items {
			if i.ExecutionID == record.ID {
				e.Waiting = append(e.Waiting, newCard(i))
			}
		}
		view.Ends = []ending{e}
	}
	return nil
}
