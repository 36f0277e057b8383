package utcp

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/internal/rawjson"
	"github.com/temporal-codemode/codemode/internal/schema"
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
func write(b *connectors.Bound, shared func() []byte, d detail) string {
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
	root   []byte        // the schema that is written
	shared func() []byte // what schemas of its connector refer to beside that
}

func (w writer) declare(name string, raw json.RawMessage) string {
	w.root = raw
	s, ok := w.read(raw)
	if !ok || !isObject(s) {
		return "  type " + name + " = " + w.typeOf(raw, 1, 0) + ";\n"
	}
	return "  interface " + name + " " + w.object(s, 1, 0) + "\n"
}

// read opens a schema and follows its references; ok is false where they lead nowhere.
func (w writer) read(raw json.RawMessage) (s schema.Schema, ok bool) {
	if !rawjson.IsObject(raw) {
		return s, false
	}
	return schema.Follow(raw, w.root, w.shared())
}

func isObject(s schema.Schema) bool {
	types := s.Types(false)
	return len(types) == 1 && types[0] == "object"
}

// typeOf writes a type; depth counts the objects around it, hops how far schemas led on without one.
func (w writer) typeOf(raw json.RawMessage, depth, hops int) string {
	s, ok := w.read(raw)
	if !ok || depth > w.depth+1 || hops > 20 {
		return "any"
	}
	inner := func(part []byte) string { return w.typeOf(part, depth, hops+1) }
	switch all := s.Schemas("allOf"); {
	case len(s.Schemas("enum")) > 0:
		return union(s.Schemas("enum"), literal)
	case s.Has("const") && !rawjson.IsNull(s.Get("const")):
		return literal(s.Get("const"))
	case len(s.Schemas("anyOf")) > 0:
		return union(s.Schemas("anyOf"), inner)
	case len(s.Schemas("oneOf")) > 0:
		return union(s.Schemas("oneOf"), inner)
	case len(all) == 1:
		return inner(all[0])
	case isObject(s):
		if depth > w.depth {
			return "{ [key: string]: any }"
		}
		return w.object(s, depth, hops)
	}
	types := s.Types(false)
	if len(types) == 0 {
		return "any"
	}
	return union(types, func(name string) string { return w.simple(name, s, depth, hops) })
}

func (w writer) simple(name string, s schema.Schema, depth, hops int) string {
	switch name {
	case "string", "boolean", "null":
		return name
	case "number", "integer":
		return "number"
	case "array":
		if !s.Has("items") {
			return "any[]"
		}
		return "(" + w.typeOf(s.Get("items"), depth, hops+1) + ")[]"
	case "object":
		return "{ [key: string]: any }"
	}
	return "any"
}

// union writes each part once.
func union[T any](list []T, write func(T) string) string {
	var parts []string
	seen := map[string]bool{}
	for _, one := range list {
		if p := write(one); !seen[p] {
			seen[p] = true
			parts = append(parts, p)
		}
	}
	return strings.Join(parts, " | ")
}

// literal writes a value as it stands in the schema, without white space.
func literal(raw []byte) string {
	compact, err := rawjson.Compact(raw)
	if err != nil {
		return "any"
	}
	return string(compact)
}

func (w writer) object(s schema.Schema, depth, hops int) string {
	indent := strings.Repeat("  ", depth+1)
	properties := s.Properties()
	if len(properties) == 0 {
		return "{\n" + indent + "[key: string]: any;\n" + indent[2:] + "}"
	}
	var b strings.Builder
	b.WriteString("{\n")
	for _, p := range properties {
		if text := schema.Read(p.Value).Text("description"); w.comments && text != "" {
			b.WriteString(indent + "/** " + strings.Join(strings.Fields(comment(text)), " ") + " */\n")
		}
		mark := "?"
		if s.Requires(p.Key) {
			mark = ""
		}
		b.WriteString(indent + key(p.Key) + mark + ": " + w.typeOf(p.Value, depth+1, hops+1) + ";\n")
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
