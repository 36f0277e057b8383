package utcp

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"

	"github.com/temporal-codemode/codemode/connectors"
)

// detail says how much of its types an interface shows.
type detail struct {
	depth    int  // of objects in one another
	comments bool // what properties are for
	output   bool // of what type the result is
}

// details are tried from the fullest on until a text fits.
var details = []detail{{6, true, true}, {6, false, true}, {3, false, true}, {2, false, false}, {1, false, false}}

// write gives a tool's interface in UTCP's form.
func write(b *connectors.Bound, shared *document, d detail) string {
	name, space := Guard(b.Method.Name), Guard(b.Connector)
	var text strings.Builder
	text.WriteString("\nnamespace " + space + " {\n")
	w := writer{detail: d, shared: shared}
	text.WriteString(w.declare(name+"Input", b.InputSchema))
	if d.output && len(b.OutputSchema) > 0 {
		text.WriteString(w.declare(name+"Output", b.OutputSchema))
	} else {
		text.WriteString("  type " + name + "Output = any;\n")
	}
	text.WriteString("}\n\n/**\n")
	description := strings.TrimSpace(b.Description)
	if d.depth == 1 {
		description, _, _ = strings.Cut(description, "\n")
	}
	for line := range strings.Lines(comment(description)) {
		text.WriteString(" * " + strings.TrimRight(line, "\n") + "\n")
	}
	if len(b.Tags) > 0 {
		text.WriteString(" * Tags: " + comment(strings.Join(b.Tags, ", ")) + "\n")
	}
	if b.MayNeedApproval() {
		text.WriteString(" * Needs a person's approval: the program waits for it.\n")
	}
	text.WriteString(" * Access as: " + callable(b) + "(args)\n */\n")
	return text.String()
}

func comment(text string) string { return strings.ReplaceAll(text, "*/", "*\\/") }

// writer turns JSON Schema into TypeScript the way the bridge does.
type writer struct {
	detail
	root   *document // the schema that is written
	shared *document // what schemas of its connector refer to beside that
}

type schema struct {
	Ref         string            `json:"$ref"`
	Type        json.RawMessage   `json:"type"`
	Description string            `json:"description"`
	Enum        []any             `json:"enum"`
	Const       any               `json:"const"`
	Properties  object            `json:"properties"`
	Required    []string          `json:"required"`
	Items       json.RawMessage   `json:"items"`
	AnyOf       []json.RawMessage `json:"anyOf"`
	OneOf       []json.RawMessage `json:"oneOf"`
	AllOf       []json.RawMessage `json:"allOf"`
}

func (w writer) declare(name string, raw json.RawMessage) string {
	w.root = newDocument(func() json.RawMessage { return raw })
	s := w.read(raw, 0)
	if s == nil || !s.isObject() {
		return "  type " + name + " = " + w.typeOf(raw, 1, 0) + ";\n"
	}
	return "  interface " + name + " " + w.object(s, 1, 0) + "\n"
}

// read decodes a schema and follows its references; nil where that leads nowhere.
func (w writer) read(raw json.RawMessage, hops int) *schema {
	var s schema
	if json.Unmarshal(raw, &s) != nil {
		return nil
	}
	if s.Ref == "" {
		return &s
	}
	if hops > 20 || !strings.HasPrefix(s.Ref, "#") {
		return nil
	}
	for _, document := range []*document{w.root, w.shared} {
		if target := document.at(strings.TrimPrefix(s.Ref, "#")); target != nil {
			found := w.read(target, hops+1)
			if found != nil && s.Description != "" {
				found.Description = s.Description
			}
			return found
		}
	}
	return nil
}

func (s *schema) types() []string {
	var one string
	var many []string
	if json.Unmarshal(s.Type, &one) == nil {
		return []string{one}
	}
	_ = json.Unmarshal(s.Type, &many)
	return many
}

func (s *schema) isObject() bool {
	types := s.types()
	return len(types) == 1 && types[0] == "object" || len(types) == 0 && len(s.Properties) > 0
}

// typeOf writes a type; depth counts the objects around it, hops how far schemas led on without one.
func (w writer) typeOf(raw json.RawMessage, depth, hops int) string {
	s := w.read(raw, 0)
	if s == nil || depth > w.depth+1 || hops > 20 {
		return "any"
	}
	switch {
	case len(s.Enum) > 0:
		return union(len(s.Enum), func(i int) string { return literal(s.Enum[i]) })
	case s.Const != nil:
		return literal(s.Const)
	case len(s.AnyOf) > 0:
		return union(len(s.AnyOf), func(i int) string { return w.typeOf(s.AnyOf[i], depth, hops+1) })
	case len(s.OneOf) > 0:
		return union(len(s.OneOf), func(i int) string { return w.typeOf(s.OneOf[i], depth, hops+1) })
	case len(s.AllOf) == 1:
		return w.typeOf(s.AllOf[0], depth, hops+1)
	case s.isObject():
		if depth > w.depth {
			return "{ [key: string]: any }"
		}
		return w.object(s, depth, hops)
	}
	types := s.types()
	if len(types) == 0 {
		return "any"
	}
	return union(len(types), func(i int) string { return w.simple(types[i], s, depth, hops) })
}

func (w writer) simple(name string, s *schema, depth, hops int) string {
	switch name {
	case "string", "boolean", "null":
		return name
	case "number", "integer":
		return "number"
	case "array":
		if len(s.Items) == 0 {
			return "any[]"
		}
		return "(" + w.typeOf(s.Items, depth, hops+1) + ")[]"
	case "object":
		return "{ [key: string]: any }"
	}
	return "any"
}

func union(n int, part func(int) string) string {
	var parts []string
	seen := map[string]bool{}
	for i := range n {
		if p := part(i); !seen[p] {
			seen[p] = true
			parts = append(parts, p)
		}
	}
	return strings.Join(parts, " | ")
}

func literal(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(v) != nil {
		return "any"
	}
	return strings.TrimSpace(b.String())
}

func (w writer) object(s *schema, depth, hops int) string {
	indent := strings.Repeat("  ", depth+1)
	if len(s.Properties) == 0 {
		return "{\n" + indent + "[key: string]: any;\n" + indent[2:] + "}"
	}
	required := map[string]bool{}
	for _, name := range s.Required {
		required[name] = true
	}
	var b strings.Builder
	b.WriteString("{\n")
	for _, p := range s.Properties {
		var described struct{ Description string }
		_ = json.Unmarshal(p.value, &described)
		if w.comments && described.Description != "" {
			b.WriteString(indent + "/** " + strings.Join(strings.Fields(comment(described.Description)), " ") + " */\n")
		}
		mark := "?"
		if required[p.name] {
			mark = ""
		}
		b.WriteString(indent + key(p.name) + mark + ": " + w.typeOf(p.value, depth+1, hops+1) + ";\n")
	}
	b.WriteString(indent[2:] + "}")
	return b.String()
}

var identifier = regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_$]*$`)

func key(name string) string {
	if name = Guard(name); identifier.MatchString(name) {
		return name
	}
	return strconv.Quote(name)
}

// object keeps the order in which properties were written.
type object []property

type property struct {
	name  string
	value json.RawMessage
}

// UnmarshalJSON reads an object, and nothing where there is none.
func (o *object) UnmarshalJSON(text []byte) error {
	d := json.NewDecoder(bytes.NewReader(text))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return err
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		p := property{name: name.(string)}
		if err := d.Decode(&p.value); err != nil {
			return err
		}
		*o = append(*o, p)
	}
	return nil
}
