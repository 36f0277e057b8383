package mcpserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/temporal-codemode/codemode/internal/rawjson"
	"github.com/temporal-codemode/codemode/internal/schema"
	"github.com/temporal-codemode/codemode/signals"
)

// The decisions that a form offers.
const (
	approve = "approve"
	reject  = "reject"
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
}

// Bounds on what is offered for editing; the console and the command line edit anything.
const (
	maxFields    = 20
	maxFieldSize = 4000
	maxShown     = 4000
)

func newForm(action signals.PendingAction, input json.RawMessage) *form {
	f := &form{action: action, fields: map[string]json.RawMessage{}, schema: map[string]schema.Schema{}}
	for _, p := range schema.Read(input).Properties() { // without a schema any value may be written
		f.schema[p.Key] = schema.Read(p.Value)
	}
	var args map[string]json.RawMessage
	if action.Omitted || json.Unmarshal(action.Current(), &args) != nil || len(args) > maxFields {
		return f
	}
	for name, value := range args {
		if len(value) <= maxFieldSize {
			f.fields[name] = value
		}
	}
	return f
}

func (f *form) request() mcp.ElicitationRequest {
	return mcp.ElicitationRequest{
		Request: mcp.Request{Method: string(mcp.MethodElicitationCreate)},
		Params:  mcp.ElicitationParams{Message: f.message(), RequestedSchema: f.requested()},
	}
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
	add(decisionField, map[string]any{"type": "string", "enum": []string{approve, reject}, "title": "Decision",
		"default": reject})
	for _, name := range slices.Sorted(maps.Keys(f.fields)) {
		add(argPrefix+name, f.field(name, f.fields[name]))
	}
	add(noteField, map[string]any{"type": "string", "title": "Note or reason"})
	return json.RawMessage(`{"type":"object","properties":{` + properties.String() + `},"required":["` + decisionField +
		`"]}`)
}

func (f *form) message() string {
	text := fmt.Sprintf("A program asks to call %s.%s", f.action.Connector, f.action.Method)
	if args := f.action.Current(); len(args) > 0 {
		text += " with " + signals.Cut(string(args), maxShown)
	}
	text += ".\nExecution " + f.action.ExecutionID
	if f.action.Position != nil {
		text += fmt.Sprintf(", line %d of the program", f.action.Position.Line)
	}
	if f.action.Omitted {
		text += ". Its arguments are too large to be shown here: look at the execution before you decide"
	}
	if f.action.Refused != "" {
		text += ".\nThe last answer could not be used: " + f.action.Refused
	}
	return text + "."
}

// field is how a client shows an argument. Elicitation knows primitive values only: others are edited as JSON.
func (f *form) field(name string, value json.RawMessage) map[string]any {
	p := f.schema[name]
	field := map[string]any{"title": name}
	if description := p.Text("description"); description != "" {
		field["description"] = description
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
		if slices.Contains(rawjson.Texts(p.Get("enum")), v) {
			field["enum"] = json.RawMessage(p.Get("enum"))
		}
	default:
		return asJSON(field, name, value)
	}
	field["default"] = value
	return field
}

// maxDigits is how long a number may be to survive a client that knows only doubles.
const maxDigits = 15

func asJSON(field map[string]any, name string, value json.RawMessage) map[string]any {
	field["type"], field["title"], field["default"] = "string", name+" (JSON)", string(value)
	return field
}

type choice struct {
	decision string
	args     json.RawMessage // edited; nil as they are
	note     string
}

// read takes a person's answer. Declining is a no; cancelling decides nothing.
func (f *form) read(r *mcp.ElicitationResult) (choice, error) {
	switch r.Action {
	case mcp.ElicitationResponseActionDecline:
		return choice{decision: reject, note: "declined"}, nil
	case mcp.ElicitationResponseActionAccept:
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
	if v.decision != approve && v.decision != reject {
		return choice{}, fmt.Errorf("the decision must be %s or %s", approve, reject)
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
