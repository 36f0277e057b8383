package console

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"

	"github.com/temporal-codemode/codemode"
	"github.com/temporal-codemode/codemode/internal/validate"
	"github.com/temporal-codemode/codemode/signals"
)

// callPageView is the page on which one pending call is looked at and edited.
type callPageView struct {
	card
	Form     *input
	JSON     string // the whole argument
	Method   *signals.Method
	Reveal   bool
	Whole    []argument
	Masked   bool
	Revealed []argument
	Problem  string
	Advanced bool // the JSON was edited, not the form
}

// pendingOf finds the call that a page's address names.
func (c *Console) pendingOf(v *visit) (Runtime, codemode.InboxItem, error) {
	r, id, err := c.executionOf(v)
	if err != nil {
		return r, codemode.InboxItem{}, err
	}
	seq, err := strconv.Atoi(v.r.PathValue("seq"))
	if err != nil {
		return r, codemode.InboxItem{}, notFound("There is no such call.")
	}
	a, err := c.pendingCall(v.context(),
		r, key{Runtime: r.Name, Execution: id, Seq: seq, Digest: v.r.FormValue("digest")})
	return r, codemode.InboxItem{PendingAction: a, Runtime: r.Name}, err
}

func (c *Console) callPage(v *visit) error {
	r, item, err := c.pendingOf(v)
	if err != nil {
		return err
	}
	view := c.callView(v, r, item)
	// Who decides may ask to see what is masked; that they did is on record.
	if v.r.URL.Query().Get("reveal") != "" && v.who.Roles.MayDecide() {
		c.Log.Info("masked values shown", "runtime", r.Name, "execution", item.ExecutionID, "seq", item.Seq,
			"to", v.who.Name)
		view.Reveal, view.Revealed = true, []argument{{value: show(item.Current())}}
	}
	return c.show(v, http.StatusOK, "call", item.Connector+"."+item.Method, view)
}

func (c *Console) callView(v *visit, r Runtime, item codemode.InboxItem) callPageView {
	raw := item.Current()
	view := callPageView{card: newCard(item), Masked: !bytes.Equal(signals.Mask(raw), raw), Whole: arguments(raw),
		JSON: indent(signals.Mask(raw))}
	method, err := r.Client.Method(v.context(), item.Connector, item.PendingAction.Method)
	if err != nil {
		c.Log.Warn("no schema for a form", "method", item.Connector+"."+item.PendingAction.Method, "error", err)
	}
	view.Method = method
	view.Mine = slices.Contains(item.ApprovedBy, v.who.Name)
	view.Form = newForm(schemaOf(method), item.Current())
	return view
}

func schemaOf(m *signals.Method) json.RawMessage {
	if m == nil {
		return nil
	}
	return m.InputSchema
}

// reviewView shows what was changed before it is sent.
type reviewView struct {
	card
	Changes []change
	NewArgs string
	Pretty  value
	Problem string // the schema's; the worker decides
	Note    string
}

func (c *Console) reviewPage(v *visit) error {
	r, item, err := c.pendingOf(v)
	if err != nil {
		return err
	}
	view := c.callView(v, r, item)
	edited, ok := c.edited(v, &view)
	if !ok {
		return c.show(v, http.StatusUnprocessableEntity, "call", item.Connector+"."+item.Method, view)
	}
	actual := restore(edited, item.Current())
	if problem := validate.Value(schemaOf(view.Method), actual); problem != "" {
		view.Problem = problem
		view.JSON = indent(edited)
		return c.show(v, http.StatusUnprocessableEntity, "call", item.Connector+"."+item.Method, view)
	}
	return c.show(v, http.StatusOK, "review", "Review "+item.Connector+"."+item.Method, reviewView{
		card: view.card, Changes: diff(item.Current(), actual), NewArgs: string(edited),
		Pretty: show(signals.Mask(actual)), Note: v.r.PostFormValue("note"),
	})
}

// edited reads the arguments of the form, or the JSON beside it.
func (c *Console) edited(v *visit, view *callPageView) (json.RawMessage, bool) {
	_ = v.r.ParseForm()
	if v.r.PostForm.Get("mode") != "json" {
		args, ok := view.Form.read(v.r.PostForm)
		if !ok {
			view.Problem = cmp.Or(view.Problem, "Some fields cannot be read.")
		}
		return args, ok
	}
	view.Advanced, view.JSON = true, v.r.PostForm.Get("json")
	if !json.Valid([]byte(view.JSON)) {
		view.Problem = "This is not valid JSON."
		return nil, false
	}
	return json.RawMessage(compact(json.RawMessage(view.JSON))), true
}
