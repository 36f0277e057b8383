package types

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/temporal-codemode/codemode/internal/rawjson"
	"github.com/temporal-codemode/codemode/internal/schema"
)

const (
	// maxDepth is where the reference stops, too.
	maxDepth = 20
	// maxNodes bounds schemas that double with each level, maxRead those that refer to the same long texts again and
	// again, in bytes.
	maxNodes = 20_000
	maxRead  = 2 << 20
	// maxTuple bounds what can neither be folded nor split.
	maxTuple = 20
)

// converter makes types of the schemas of one document.
//
// As exact it prints what the reference prints: all references in their place,
// nothing merged or named. Otherwise definitions become declared types, parts
// that can be shown apart get names, and what TypeScript would refuse is
// written so that it does not.
type converter struct {
	doc   *document
	exact bool
	// claim gives a free type name like the one wanted.
	claim func(name string) string
	path  map[*byte]*frame
	nodes int
	read  int // bytes of the nodes, with what is inside them
	// most bounds nodes, deepest the objects inside one another, of which there are inside now; 0 is maxNodes, and no
	// bound.
	most, deepest, inside int
}

// frame is a node that is being converted.
type frame struct {
	scope string
	// name is set once the node turns out to contain itself.
	name string
}

// root converts a node that is declared under a name.
func (c *converter) root(raw []byte, name string) *typ {
	c.path = map[*byte]*frame{}
	if len(raw) == 0 || raw[0] != '{' {
		_, t := c.open(raw, name)
		return t
	}
	f := &frame{scope: name, name: name}
	c.path[&raw[0]] = f
	t := c.shape(schema.Read(raw), name)
	return c.split(t, name)
}

// convert makes the type of a node that lies inside another.
func (c *converter) convert(raw []byte, scope string) *typ {
	f, t := c.open(raw, scope)
	switch {
	case f != nil && t.op == named && t.text == f.name:
		return unknownType() // nothing but itself
	case f == nil || t.op == named:
		return t
	case f.name != "":
		return c.declare(t, f.name)
	}
	return c.nameable(c.split(t, scope), scope)
}

// open converts a node unless that would never end. The frame is nil for what
// needs no finish.
func (c *converter) open(raw []byte, scope string) (*frame, *typ) {
	switch string(raw) {
	case "true":
		return nil, unknownType()
	case "false":
		return nil, plainType("never")
	}
	c.nodes++
	c.read += len(raw)
	if len(raw) == 0 || raw[0] != '{' || len(c.path) >= maxDepth || c.full() {
		return nil, unknownType()
	}
	if f, open := c.path[&raw[0]]; open {
		return nil, c.cycle(f)
	}
	f := &frame{scope: scope}
	c.path[&raw[0]] = f
	t := c.shape(schema.Read(raw), scope)
	delete(c.path, &raw[0])
	return f, t
}

func (c *converter) full() bool { return c.nodes > cmp.Or(c.most, maxNodes) || c.read > maxRead }

// cycle refers to a node from within itself. An exact type is one statement, so
// that only the whole of it can be referred to.
func (c *converter) cycle(f *frame) *typ {
	if f.name == "" {
		if c.exact {
			return unknownType()
		}
		f.name = c.claim(f.scope)
	}
	return &typ{op: named, text: f.name}
}

func (c *converter) declare(t *typ, name string) *typ {
	t = c.split(t, name)
	if t.name != "" || t.op == plain {
		t = &typ{op: both, parts: []*typ{t}}
	}
	t.name, t.declared = name, true
	return t
}

func (c *converter) shape(s schema.Schema, scope string) *typ {
	var t *typ
	switch {
	case s.Ref() != "":
		t = c.reference(s.Ref(), scope)
	case c.exact:
		t = c.first(s, scope)
	default:
		t = c.combined(s, scope)
	}
	if s.IsTrue("nullable") || !c.exact && s.IsTrue("x-nullable") {
		return orNull(t)
	}
	return t
}

func (c *converter) reference(ref, scope string) *typ {
	target, ok := c.doc.resolve(ref)
	if !ok || len(target) == 0 || target[0] != '{' {
		return unknownType()
	}
	if name := c.doc.name(target); name != "" && !c.exact && !c.small(target) {
		return &typ{op: named, text: name}
	}
	return c.convert(target, scope)
}

// name is the declared name of a node, "" for one without.
func (d *document) name(raw []byte) string {
	for at := d; at != nil; at = at.shared {
		if name := at.names[&raw[0]]; name != "" {
			return name
		}
	}
	return ""
}

const (
	smallEnum = 60
	// readsPerSight is how many looks at a definition cost as much as to read it.
	readsPerSight = 8
)

// small definitions say more in their place than by their name.
func (c *converter) small(raw []byte) bool {
	if c.read += len(raw) / readsPerSight; c.full() {
		return true
	}
	s := schema.Read(raw)
	if s.Ref() != "" {
		return true
	}
	if s.Has("anyOf", "oneOf", "allOf", "properties") || len(s.Get("enum")) > smallEnum ||
		len(s.Get("const")) > smallEnum {
		return false
	}
	types := s.Types(true)
	return len(types) == 1 && !slices.Contains([]string{"array", "object"}, types[0])
}

// first is the reference's order of precedence.
func (c *converter) first(s schema.Schema, scope string) *typ {
	for _, key := range []string{"anyOf", "oneOf"} {
		if list := s.Schemas(key); len(list) > 0 {
			return join(union, c.each(list, scope, "Option"))
		}
	}
	if list := s.Schemas("allOf"); len(list) > 0 {
		return join(both, c.each(list, scope, "Part"))
	}
	return c.own(s, scope, nil)
}

func (c *converter) each(list [][]byte, scope, word string) []*typ {
	parts := make([]*typ, len(list))
	for i, raw := range list {
		parts[i] = c.convert(raw, scope+c.label(raw, word, i))
	}
	return parts
}

const longestTitle = 30

// label names one of several: by its title, or by number.
func (c *converter) label(raw []byte, word string, i int) string {
	if !c.exact {
		if title := schema.Read(raw).Text("title"); title != "" && len(title) <= longestTitle &&
			IsIdentifier(pascal(title)) {
			return pascal(title)
		}
	}
	return word + strconv.Itoa(i+1)
}

// own is the type by what the node says itself; required adds to its own list.
func (c *converter) own(s schema.Schema, scope string, required []string) *typ {
	if values, ok := rawjson.List(s.Get("enum")); ok {
		return c.literals(values, scope)
	}
	if value := s.Get("const"); value != nil {
		return c.literal(value)
	}
	types := s.Types(!c.exact)
	if len(types) == 0 {
		return unknownType()
	}
	parts := make([]*typ, len(types))
	for i, name := range types {
		parts[i] = c.simple(name, s, scope, required)
	}
	return c.either(parts)
}

func (c *converter) simple(name string, s schema.Schema, scope string, required []string) *typ {
	switch name {
	case "string", "boolean", "null":
		return plainType(name)
	case "number", "integer":
		return plainType("number")
	case "array":
		return c.array(s, scope)
	case "object":
		return c.object(s, scope, required)
	}
	return unknownType()
}

// either joins alternatives; those that print alike count once, but for the
// reference, which repeats them.
func (c *converter) either(parts []*typ) *typ {
	if c.exact {
		return join(union, parts)
	}
	var (
		p    = printer{folded: func(*typ) bool { return true }}
		kept []*typ
		seen = map[string]bool{}
	)
	for _, t := range parts {
		if t.is("unknown") {
			return t
		}
		printed := p.text(t)
		if !seen[printed] {
			seen[printed] = true
			kept = append(kept, t)
		}
	}
	return join(union, kept)
}

func (c *converter) literals(values [][]byte, scope string) *typ {
	if len(values) == 0 {
		return plainType("never")
	}
	if c.nodes += len(values) / literalsPerNode; c.full() {
		return unknownType()
	}
	parts := make([]*typ, len(values))
	for i, v := range values {
		parts[i] = c.literal(v)
	}
	return join(union, parts)
}

const (
	longestLiteral = 300
	// literalsPerNode is how many values cost as much as a schema.
	literalsPerNode = 10
)

func (c *converter) literal(raw []byte) *typ {
	if len(raw) > longestLiteral && !c.exact {
		return unknownType()
	}
	switch raw[0] {
	case '"':
		s, _ := rawjson.String(raw)
		return plainType(quote(s))
	case '{', '[':
		return plainType(compact(raw))
	case 't', 'f', 'n':
		return plainType(string(raw))
	}
	return plainType(number(raw))
}

func (c *converter) array(s schema.Schema, scope string) *typ {
	if items, ok := rawjson.List(s.Get("prefixItems")); ok {
		return c.tuple(items, s.Get("items"), scope)
	}
	if items, ok := rawjson.List(s.Get("items")); ok {
		return c.tuple(items, s.Get("additionalItems"), scope)
	}
	if items := s.Get("items"); items != nil && !slices.Contains([]string{"false", "null", "0", `""`}, string(items)) {
		return &typ{op: array, parts: []*typ{c.convert(items, scope+"Item")}}
	}
	return &typ{op: array, parts: []*typ{unknownType()}}
}

// tuple shows more elements only where they have a type of their own: what is
// merely allowed tells the model nothing.
func (c *converter) tuple(items [][]byte, more []byte, scope string) *typ {
	t := &typ{op: tuple}
	for i, item := range items {
		if i == maxTuple && !c.exact {
			t.rest = unknownType()
			return t
		}
		t.parts = append(t.parts, c.convert(item, scope+strconv.Itoa(i+1)))
	}
	if !c.exact && len(more) > 0 && more[0] == '{' {
		t.rest = c.convert(more, scope+"Item")
	}
	return t
}
