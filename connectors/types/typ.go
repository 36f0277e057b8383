package types

import "strings"

type op int

const (
	plain  op = iota // text as it stands
	named            // a reference to a declared type
	array            // of parts[0]
	tuple            // of parts, and of rest after them
	union            // of parts
	both             // intersection of parts
	record           // object of props and index
)

// typ is a TypeScript type.
type typ struct {
	op    op
	text  string // plain: what to print; named: the type's name
	parts []*typ
	props []prop
	index *typ // the index signature of an object
	// rest is the tail of a tuple, or of a long object or union what was split
	// off to be shown apart.
	rest *typ
	// name is what the type is called when it is not shown in its place; empty
	// for what is always shown.
	name string
	// declared types are never shown in their place: they contain themselves.
	declared bool
}

type prop struct {
	name     string
	optional bool
	docs     *docs
	t        *typ
}

func plainType(text string) *typ { return &typ{op: plain, text: text} }

func unknownType() *typ { return plainType("unknown") }

func (t *typ) is(text string) bool { return t.op == plain && t.text == text }

// join makes one type of several; a single one stays what it is.
func join(o op, parts []*typ) *typ {
	if len(parts) == 1 {
		return parts[0]
	}
	return &typ{op: o, parts: parts}
}

// orNull adds null where it says something.
func orNull(t *typ) *typ {
	if t.is("unknown") || t.is("never") || t.is("null") {
		return t
	}
	if t.op == union {
		for _, p := range t.parts {
			if p.is("null") {
				return t
			}
		}
	}
	return &typ{op: union, parts: []*typ{t, plainType("null")}}
}

// printer writes types. Its zero value shows everything in its place.
type printer struct {
	detail detail
	// level, when set, is the detail for what is shown under a name.
	level func(name string) detail
	// most ends the text early, in bytes; 0 does not.
	most int
	// folded says whether to print a type's name in its place.
	folded func(t *typ) bool
	// mention is told of each name that is printed; t is nil for a reference.
	mention func(name string, t *typ)
	// broken are references that TypeScript would refuse as circular.
	broken map[*typ]bool
	// nested, when set, writes in the form of [Nested], of the type called root.
	nested *Nested
	root   string
	b      strings.Builder
}

func (p *printer) text(t *typ) string {
	p.b.Reset()
	p.print(t, "")
	return p.b.String()
}

// declaration is the statement that names a type.
func (p *printer) declaration(name string, t *typ) string {
	p.b.Reset()
	if p.level != nil {
		p.detail = p.level(name)
	}
	p.b.WriteString("type " + name + " = ")
	p.body(t, "")
	return p.b.String()
}

func (p *printer) print(t *typ, indent string) {
	if p.folds(t) {
		p.write(t.name, t)
		return
	}
	defer p.enter(t)()
	p.body(t, indent)
}

// enter sets the detail for a part, and gives what sets it back.
func (p *printer) enter(t *typ) func() {
	before := p.detail
	if t.name != "" && p.level != nil {
		p.detail = p.level(t.name)
	}
	return func() { p.detail = before }
}

func (p *printer) full() bool { return p.most > 0 && p.b.Len() > p.most }

func (p *printer) folds(t *typ) bool { return t.name != "" && p.folded != nil && p.folded(t) }

func (p *printer) write(name string, t *typ) {
	p.b.WriteString(name)
	if p.mention != nil {
		p.mention(name, t)
	}
}

// body prints a type in its place, whatever is folded.
func (p *printer) body(t *typ, indent string) {
	switch t.op {
	case plain:
		p.b.WriteString(p.plain(t.text))
	case named:
		p.reference(t)
	case array:
		p.operand(t.parts[0], indent, union, both)
		p.b.WriteString("[]")
	case tuple:
		p.tuple(t, indent)
	case union:
		p.list(t, " | ", indent)
	case both:
		p.list(t, " & ", indent, union)
	case record:
		p.object(t, indent)
	}
}

func (p *printer) plain(text string) string {
	if p.nested != nil {
		return nestedText(text)
	}
	return text
}

func (p *printer) reference(t *typ) {
	if p.broken[t] || p.nested != nil && t.text != p.root {
		p.b.WriteString(p.plain("unknown"))
		return
	}
	p.write(t.text, nil)
}

// operand brackets a type of the given kinds.
func (p *printer) operand(t *typ, indent string, kinds ...op) {
	bracket := p.open(t, kinds)
	if bracket {
		p.b.WriteByte('(')
	}
	p.print(t, indent)
	if bracket {
		p.b.WriteByte(')')
	}
}

func (p *printer) open(t *typ, kinds []op) bool {
	if p.folds(t) {
		return false
	}
	for _, k := range kinds {
		if t.op == k || k == both && t.op == record && p.hiddenRest(t) != nil {
			return true
		}
	}
	return false
}

// hiddenRest is what an object is printed without, as in { ... } & Rest.
func (p *printer) hiddenRest(t *typ) *typ {
	for ; t.rest != nil; t = t.rest {
		if p.folds(t.rest) {
			return t.rest
		}
	}
	return nil
}

func (p *printer) list(t *typ, separator, indent string, bracketed ...op) {
	for i, part := range t.parts {
		if p.full() {
			return
		}
		if i > 0 {
			p.b.WriteString(separator)
		}
		p.operand(part, indent, bracketed...)
	}
	if t.rest != nil {
		p.b.WriteString(separator)
		p.print(t.rest, indent)
	}
}

func (p *printer) tuple(t *typ, indent string) {
	p.b.WriteByte('[')
	for i, part := range t.parts {
		if i > 0 {
			p.b.WriteString(", ")
		}
		p.print(part, indent)
	}
	if t.rest != nil {
		if len(t.parts) > 0 {
			p.b.WriteString(", ")
		}
		p.b.WriteString("...")
		p.operand(t.rest, indent, union, both)
		p.b.WriteString("[]")
	}
	p.b.WriteByte(']')
}

func (p *printer) object(t *typ, indent string) {
	p.b.WriteString("{\n")
	p.members(t, indent+p.step())
	p.b.WriteString(indent + "}")
	if rest := p.hiddenRest(t); rest != nil {
		p.b.WriteString(" & ")
		p.write(rest.name, rest)
	}
}

// step is the indentation of an object's members.
func (p *printer) step() string {
	if p.nested != nil {
		return nestedIndent
	}
	return "    "
}

func (p *printer) key(name string) string {
	if p.nested != nil && p.nested.Key != nil {
		name = p.nested.Key(name)
	}
	return quoteName(name)
}

func (p *printer) members(t *typ, indent string) {
	for _, m := range t.props {
		if p.full() {
			return
		}
		p.b.WriteString(m.docs.comment(p.detail, indent))
		p.b.WriteString(indent + p.key(m.name))
		if m.optional {
			p.b.WriteByte('?')
		}
		p.b.WriteString(": ")
		p.print(m.t, indent)
		p.b.WriteString(";\n")
	}
	if t.rest != nil && !p.folds(t.rest) {
		leave := p.enter(t.rest)
		p.members(t.rest, indent)
		leave()
	}
	if t.index != nil {
		p.b.WriteString(indent + "[key: string]: ")
		p.print(t.index, indent)
		p.b.WriteString(";\n")
	}
}

// each calls f for the types that t is made of.
func (t *typ) each(f func(*typ)) {
	for _, part := range t.parts {
		f(part)
	}
	for _, m := range t.props {
		f(m.t)
	}
	if t.index != nil {
		f(t.index)
	}
	if t.rest != nil {
		f(t.rest)
	}
}
