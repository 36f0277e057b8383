package mcpserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/temporal-codemode/codemode/internal/rawjson"
	"github.com/temporal-codemode/codemode/internal/schema"
	"github.com/temporal-codemode/codemode/signals"
)

// The decisions that a form offers. Where it cannot show all that an approval is bound to, or where an approval has to
// be a person's, it offers to decide elsewhere in place of approving.
const (
	approve   = "approve"
	reject    = "reject"
	elsewhere = "decide elsewhere"
)

const (
	decisionField = "decision"
	noteField     = "note"
	argPrefix     = "args."
)

// form asks about one pending call. Arguments that fit into a field can be edited there.
type form struct {
	action signals.PendingAction
	fields map[string]json.RawMessage // arguments offered, by name
	schema map[string]schema.Schema   // of arguments, by name
	// why tells why approving is not offered; empty where it is.
	why string
	// how tells how to decide elsewhere.
	how string
	// groups are those of whom is asked, where they signed in.
	groups []string
	// secret keeps the arguments out of the message.
	secret bool
}

// Bounds on what is offered for editing; the console and the command line edit anything. Arguments that are longer than
// maxShown are not shown whole, so they are not approved here.
const (
	maxFields = 20
	maxShown  = 4000
)

func newForm(action signals.PendingAction, input json.RawMessage, how string, groups ...string) *form {
	f := &form{action: action, groups: groups, fields: map[string]json.RawMessage{},
		schema: map[string]schema.Schema{}, how: how}
	f.secret = hasSecret(action, schema.Read(input))
	if f.why = f.whyElsewhere(); f.why != "" {
		return f
	}
	for _, p := range schema.Read(input).Properties() { // without a schema any value may be written
		f.schema[p.Key] = schema.Read(p.Value)
	}
	var args map[string]json.RawMessage
	if json.Unmarshal(action.Current(), &args) != nil || len(args) > maxFields {
		return f
	}
	for name, value := range args {
		if plainly(name) && plainly(string(value)) && plainly(rawjson.Text(value)) {
			f.fields[name] = value // others are in the message alone, where what hides in them is to be seen
		}
	}
	return f
}

// whyElsewhere tells why a call cannot be approved at the client.
func (f *form) whyElsewhere() string {
	action := f.action
	switch {
	case f.secret:
		return "One of its arguments is a secret, which a client must not be shown, so it cannot be approved here"
	case action.Omitted || len(signals.Visible(string(action.Current()))) > maxShown:
		return "Its arguments are too large to be shown here whole, so it cannot be approved here"
	case action.Reason == signals.ReasonUnknown:
		return "It was interrupted while it ran, and nobody here can tell whether it took effect, so it cannot be " +
			"approved here"
	case action.Resolution == signals.ByClient:
		return "It waits for a result and not for an approval, so it cannot be approved here"
	case action.ApproverRule != nil && (action.ApproverRule.NotRequester || len(action.ApproverRule.Of(f.groups)) == 0):
		return fmt.Sprintf("It needs the approval of %s, so it cannot be approved here", action.ApproverRule)
	case action.ApprovalsNeeded > 1:
		return fmt.Sprintf("It needs the approval of %d people, and here nobody can tell who answers, so it cannot be "+
			"approved here", action.ApprovalsNeeded)
	}
	return ""
}

// hasSecret reports whether an argument is one that a schema marks as nobody's to read.
func hasSecret(action signals.PendingAction, input schema.Schema) bool {
	var args map[string]json.RawMessage
	_ = json.Unmarshal(action.Current(), &args) // what is no object has no members that could be marked
	return slices.ContainsFunc(input.Properties(), func(p rawjson.Entry) bool {
		_, given := args[p.Key]
		s := schema.Read(p.Value)
		return given && (s.Text("format") == "password" || string(s.Get("writeOnly")) == "true")
	})
}

func plainly(text string) bool { return signals.Visible(text) == text }

func (f *form) request() *mcp.ElicitParams {
	return &mcp.ElicitParams{Mode: "form", Message: f.message(), RequestedSchema: f.requested()}
}

// requested is written by hand, since clients show the fields in this order.
func (f *form) requested() json.RawMessage {
	var properties bytes.Buffer
	add := func(name string, field map[string]any) {
		if properties.Len() > 0 {
			properties.WriteByte(',')
		}
		key, _ := signals.Marshal(name)
		value, _ := signals.Marshal(field)
		fmt.Fprintf(&properties, "%s:%s", key, value)
	}
	add(decisionField, map[string]any{"type": "string", "enum": f.decisions(), "title": "Decision",
		"default": f.decisions()[1]})
	for _, name := range slices.Sorted(maps.Keys(f.fields)) {
		add(argPrefix+name, f.field(name, f.fields[name]))
	}
	add(noteField, map[string]any{"type": "string", "title": "Note or reason"})
	return json.RawMessage(`{"type":"object","properties":{` + properties.String() + `},"required":["` + decisionField +
		`"]}`)
}

// decisions are those that the form offers; the second is the one that does no harm.
func (f *form) decisions() []string {
	if f.why != "" {
		return []string{reject, elsewhere}
	}
	return []string{approve, reject}
}

// message shows what is decided about, with all that hides in it.
func (f *form) message() string {
	text := fmt.Sprintf("A program asks to call %s.%s", f.action.Connector, f.action.Method)
	args := string(f.action.Current())
	switch shown := signals.Visible(args); {
	case args == "" || f.secret:
	case len(shown) > maxShown:
		text += fmt.Sprintf(" with %d bytes of arguments, of which these are the first: %s", len(args),
			signals.Cut(shown, maxShown/4))
	default:
		text += " with " + shown
	}
	text += ".\nExecution " + f.action.ExecutionID
	if f.action.Position != nil {
		text += fmt.Sprintf(", line %d of the program", f.action.Position.Line)
	}
	if f.why != "" {
		text += ".\n" + f.why + ": decide " + f.how
	}
	if f.action.Refused != "" {
		text += ".\nThe last answer could not be used: " + signals.Cut(f.action.Refused, maxShown/4)
	}
	return signals.Visible(text) + "."
}

// field is how a client shows an argument. Elicitation knows primitive values only: others are edited as JSON.
func (f *form) field(name string, value json.RawMessage) map[string]any {
	p := f.schema[name]
	field := map[string]any{"title": name}
	if description := p.Text("description"); description != "" {
		field["description"] = signals.Visible(signals.Cut(description, maxDescription))
	}
	var v any
	_ = json.Unmarshal(value, &v)
	switch v := v.(type) {
	case bool:
		field["type"] = "boolean"
	case float64:
		if len(value) > maxDigits {
			return asJSON(field, name, value)
		}
		field["type"] = "number"
		if p.Text("type") == "integer" {
			field["type"] = "integer"
		}
		for _, bound := range []string{"minimum", "maximum"} {
			if n, ok := p.Number(bound); ok {
				field[bound] = n
			}
		}
	case string:
		field["type"] = "string"
		if slices.Contains(rawjson.Texts(p.Get("enum")), v) && plainly(string(p.Get("enum"))) {
			field["enum"] = json.RawMessage(p.Get("enum"))
		}
	default:
		return asJSON(field, name, value)
	}
	field["default"] = value
	return field
}

// maxDescription is how much of a tool's own words a field shows.
const maxDescription = 500

// maxDigits is how long a number may be to survive a client that knows only doubles.
const maxDigits = 15

func asJSON(field map[string]any, name string, value json.RawMessage) map[string]any {
	field["type"], field["title"], field["default"] = "string", name+" (JSON)", string(value)
	return field
}

// What a person did with a question; anything else decided nothing.
const (
	accepted = "accept"
	declined = "decline"
)

type choice struct {
	decision string
	args     json.RawMessage // edited; nil as they are
	note     string
}

// read takes a person's answer. Declining is a no; cancelling decides nothing.
func (f *form) read(r *mcp.ElicitResult) (choice, error) {
	switch r.Action {
	case declined:
		return choice{decision: reject, note: "declined"}, nil
	case accepted:
	default:
		return choice{}, nil
	}
	text, err := json.Marshal(r.Content)
	if err != nil {
		return choice{}, err
	}
	var content map[string]json.RawMessage
	if err := json.Unmarshal(text, &content); err != nil {
		return choice{}, fmt.Errorf("it is no object")
	}
	v := choice{decision: plain(content[decisionField]), note: plain(content[noteField])}
	if !slices.Contains(f.decisions(), v.decision) {
		return choice{}, fmt.Errorf("the decision must be %s", strings.Join(f.decisions(), " or "))
	}
	if v.decision == approve {
		v.args, err = f.edited(content)
	}
	return v, err
}

func plain(text json.RawMessage) string {
	var s string
	_ = json.Unmarshal(text, &s)
	return strings.TrimSpace(s)
}

// edited gives all the arguments if any of them was changed.
func (f *form) edited(content map[string]json.RawMessage) (json.RawMessage, error) {
	var args map[string]json.RawMessage
	if len(f.fields) == 0 || json.Unmarshal(f.action.Current(), &args) != nil {
		return nil, nil
	}
	changed := false
	for _, name := range slices.Sorted(maps.Keys(f.fields)) {
		value, given := content[argPrefix+name]
		if !given {
			continue
		}
		if title, _ := f.field(name, f.fields[name])["title"].(string); title != name { // it was shown as JSON
			value = json.RawMessage(plain(value))
			if !json.Valid(value) {
				return nil, fmt.Errorf("%s is not valid JSON", name)
			}
		}
		if !signals.SameArgs(value, f.fields[name]) {
			args[name], changed = bytes.TrimSpace(value), true
		}
	}
	if !changed {
		return nil, nil
	}
	return signals.Marshal(args)
}
