package console

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/temporal-codemode/codemode/internal/rawjson"
	"github.com/temporal-codemode/codemode/internal/schema"
	"github.com/temporal-codemode/codemode/signals"
)

// kind is how a field is edited.
type kind string

const (
	kindText    kind = "text"
	kindLong    kind = "long"
	kindNumber  kind = "number"
	kindBoolean kind = "boolean"
	kindChoice  kind = "choice"
	kindJSON    kind = "json"
	kindGroup   kind = "group"
	kindSecret  kind = "secret"
)

// input is one field of a form, a group of them, or an argument that is no object.
type input struct {
	Kind     kind
	Path     string // of the value, as a JSON pointer; the name of the form's field
	Name     string
	Help     string
	Value    string
	Options  []string // JSON texts of a choice
	Required bool
	Given    bool // the issued arguments have the value
	Problem  string
	Members  []*input
}

// maxDepth is how deep objects become groups of fields; deeper ones are edited as JSON.
const maxDepth = 3

// newForm makes the form for a call's argument. Without a schema its shape follows from the argument itself.
func newForm(raw, args json.RawMessage) *input {
	return (&formBuilder{root: raw}).input("", "", raw, signals.Mask(args), true, 0)
}

type formBuilder struct{ root json.RawMessage }

func (f *formBuilder) input(path, name string, raw, current json.RawMessage, required bool, depth int) *input {
	s, _ := schema.Follow(raw, f.root) // without a schema the value's own shape decides
	in := &input{
		Path: path, Name: signals.Visible(name), Help: signals.Visible(s.Text("description")), Required: required,
		Given: len(current) > 0,
	}
	in.Kind = kindOf(s, current)
	switch in.Kind {
	case kindGroup:
		if depth < maxDepth {
			in.Members = f.members(path, s, current, depth)
			return in
		}
		in.Kind = kindJSON
	case kindChoice:
		for option := range rawjson.Elements(s.Get("enum")) {
			in.Options = append(in.Options, compact(option))
		}
		in.Value = compact(current)
		return in
	case kindText, kindLong:
		_ = json.Unmarshal(current, &in.Value)
		if in.Value == signals.Masked {
			in.Kind, in.Value = kindSecret, ""
		}
		return in
	case kindNumber, kindBoolean:
		in.Value = compact(current)
		return in
	}
	in.Value = indent(current)
	return in
}

// members are those that the schema names, required ones first, then those that only the argument has.
func (f *formBuilder) members(path string, s schema.Schema, current json.RawMessage, depth int) []*input {
	given := map[string]json.RawMessage{}
	_ = json.Unmarshal(current, &given)
	described := map[string]json.RawMessage{}
	var names []string
	for _, p := range s.Properties() {
		described[p.Key] = p.Value
		names = append(names, p.Key)
	}
	for name := range given {
		if _, named := described[name]; !named {
			names = append(names, name)
		}
	}
	rank := func(name string) int {
		_, named := described[name]
		switch {
		case s.Requires(name):
			return 0
		case named && len(given[name]) > 0:
			return 1
		case named:
			return 2
		}
		return 3
	}
	slices.SortFunc(names, func(a, b string) int {
		if d := rank(a) - rank(b); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	var list []*input
	for _, name := range names {
		list = append(list, f.input(path+"/"+escapePointer(name), name, described[name], given[name], s.Requires(name),
			depth+1))
	}
	return list
}

func escapePointer(name string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}

// kindOf tells how a value is edited. A value that does not look like its schema is edited as JSON, so that nothing of
// it is lost.
func kindOf(s schema.Schema, current json.RawMessage) kind {
	is := jsonType(current)
	want := typeName(s)
	switch {
	case s.Has("anyOf", "oneOf", "allOf"):
		return kindJSON
	case s.Has("enum") && (is == "" || listed(s, current)):
		return kindChoice
	case want == "" && is != "":
		want = is
	case is != "" && is != want && !(is == "number" && want == "integer"):
		return kindJSON
	}
	switch want {
	case "string":
		if longText(s) || bytes.Contains(current, []byte(`\n`)) || len(current) > 80 {
			return kindLong
		}
		return kindText
	case "number", "integer":
		return kindNumber
	case "boolean":
		return kindBoolean
	case "object":
		if s.Has("properties") || is == "object" && len(current) < 2000 {
			return kindGroup
		}
	}
	return kindJSON
}

// listed says that a value is among those that a schema lists.
func listed(s schema.Schema, value json.RawMessage) bool {
	for one := range rawjson.Elements(s.Get("enum")) {
		if signals.SameArgs(one, value) {
			return true
		}
	}
	return false
}

// longText says that a text may be so long that it wants several lines.
func longText(s schema.Schema) bool {
	most, ok := s.Number("maxLength")
	return ok && most > 200
}

// typeName is the schema's type, of several the one that is not null.
func typeName(s schema.Schema) string {
	for _, name := range s.Types(false) {
		if name != "null" {
			return name
		}
	}
	return ""
}

func jsonType(raw json.RawMessage) string {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return ""
	}
	switch raw[0] {
	case '"':
		return "string"
	case '{':
		return "object"
	case '[':
		return "array"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	}
	return "number"
}

func compact(raw json.RawMessage) string {
	var b bytes.Buffer
	if len(raw) == 0 || json.Compact(&b, raw) != nil {
		return ""
	}
	return b.String()
}

func decode(raw json.RawMessage) (any, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	err := d.Decode(&v)
	return v, err
}

// read takes what was sent with the form and makes the argument of it. Fields whose text cannot be read keep their
// problem; ok is false then.
func (in *input) read(sent url.Values) (args json.RawMessage, ok bool) {
	ok = true
	v, given := in.take(sent, &ok)
	if !given || !ok {
		return nil, ok
	}
	args, err := signals.Marshal(v)
	return args, err == nil
}

func (in *input) take(sent url.Values, ok *bool) (v any, given bool) {
	if in.Kind == kindGroup {
		object := map[string]any{}
		for _, m := range in.Members {
			if member, given := m.take(sent, ok); given {
				object[lastName(m.Path)] = member
			}
		}
		return object, in.Required || in.Given || len(object) > 0
	}
	in.Value = strings.ReplaceAll(sent.Get("field:"+in.Path), "\r\n", "\n")
	v, given, err := in.parse()
	if err != nil {
		in.Problem, *ok = err.Error(), false
	}
	return v, given
}

func lastName(path string) string {
	last := path[strings.LastIndexByte(path, '/')+1:]
	return strings.NewReplacer("~1", "/", "~0", "~").Replace(last)
}

// parse reads a field's text. An empty text leaves the value out, but for texts that were given or have to be.
func (in *input) parse() (v any, given bool, err error) {
	switch in.Kind {
	case kindText, kindLong:
		return in.Value, in.Value != "" || in.Required || in.Given, nil
	case kindSecret:
		if in.Value == "" {
			return signals.Masked, true, nil
		}
		return in.Value, true, nil
	}
	if strings.TrimSpace(in.Value) == "" {
		if in.Required {
			return nil, false, fmt.Errorf("a value is needed")
		}
		return nil, false, nil
	}
	if !json.Valid([]byte(in.Value)) {
		return nil, false, fmt.Errorf("this is not %s", in.wants())
	}
	v, err = decode(json.RawMessage(in.Value))
	if _, number := v.(json.Number); in.Kind == kindNumber && !number {
		return nil, false, fmt.Errorf("this is not a number")
	}
	return v, true, err
}

func (in *input) wants() string {
	if in.Kind == kindNumber {
		return "a number"
	}
	return "JSON; a text needs quotes"
}
