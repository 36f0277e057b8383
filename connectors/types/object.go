package types

import (
	"slices"
	"strconv"

	"github.com/temporal-codemode/codemode/internal/rawjson"
	"github.com/temporal-codemode/codemode/internal/schema"
)

// object is a block of properties.
func (c *converter) object(s schema.Schema, scope string, required []string) *typ {
	if c.deepest > 0 && c.inside == c.deepest {
		return plainType("Record<string, unknown>")
	}
	c.inside++
	defer func() { c.inside-- }()
	required = append(rawjson.Texts(s.Get("required")), required...)
	t := &typ{op: record}
	for _, m := range rawjson.Entries(s.Get("properties")) {
		t.props = append(t.props, prop{
			name: m.Key, optional: !slices.Contains(required, m.Key),
			docs: c.docs(m.Value), t: c.convert(m.Value, scope+pascal(m.Key)),
		})
	}
	index := c.index(s, scope)
	if len(t.props) == 0 && index == nil {
		if string(s.Get("additionalProperties")) == "false" {
			return plainType("{}")
		}
		return plainType("Record<string, unknown>")
	}
	return c.withIndex(t, index, scope)
}

// index is the type of the properties without a name, nil when there are none.
func (c *converter) index(s schema.Schema, scope string) *typ {
	raw := s.Get("additionalProperties")
	if len(raw) > 0 && (raw[0] == '{' || string(raw) == "true") {
		return c.convert(raw, scope+"Value")
	}
	if c.exact {
		return nil
	}
	var parts []*typ
	for _, m := range rawjson.Entries(s.Get("patternProperties")) {
		parts = append(parts, c.convert(m.Value, scope+"Value"))
	}
	if len(parts) == 0 {
		return nil
	}
	return c.either(parts)
}

// withIndex keeps an index signature beside properties only where TypeScript
// takes it: each property must have a type that the signature allows.
func (c *converter) withIndex(t, index *typ, scope string) *typ {
	if index == nil || c.exact || len(t.props) == 0 || index.is("unknown") {
		t.index = index
		return t
	}
	return &typ{op: both, parts: []*typ{c.nameable(c.split(t, scope), scope+"Named"), {op: record, index: index}}}
}

// combined joins what a node says itself with its anyOf, oneOf and allOf.
func (c *converter) combined(s schema.Schema, scope string) *typ {
	var parts []*typ
	for _, key := range []string{"anyOf", "oneOf"} {
		if list := s.Schemas(key); len(list) > 0 {
			parts = append(parts, c.either(c.each(list, scope, "Option")))
		}
	}
	required := c.requiredOf(s)
	for _, raw := range s.Schemas("allOf") {
		parts = append(parts, c.part(raw, scope, required))
	}
	parts = slices.DeleteFunc(parts, vague)
	own := c.ownBeside(s, scope, required, len(parts) > 0)
	if own != nil {
		parts = append([]*typ{own}, parts...)
	}
	if len(parts) == 0 {
		return unknownType()
	}
	t := join(both, c.merge(parts, scope))
	if own == nil && slices.Contains(s.Types(false), "null") {
		return orNull(t)
	}
	return t
}

// vague types are constraints, which TypeScript has no words for.
func vague(t *typ) bool { return t.is("unknown") || t.is("Record<string, unknown>") }

// ownBeside leaves out a bare "type": what stands beside it says more.
func (c *converter) ownBeside(s schema.Schema, scope string, required []string, others bool) *typ {
	says := s.Has("enum", "const", "properties", "items", "prefixItems", "patternProperties") ||
		len(s.Get("additionalProperties")) > 0 && s.Get("additionalProperties")[0] == '{'
	if others && !says {
		return nil
	}
	return c.own(s, scope, required)
}

// requiredOf lists the required names that a node and its allOf give together.
func (c *converter) requiredOf(s schema.Schema) []string {
	names := rawjson.Texts(s.Get("required"))
	for _, raw := range s.Schemas("allOf") {
		names = append(names, rawjson.Texts(schema.Read(raw).Get("required"))...)
	}
	return names
}

// part is a member of an allOf, left open for merging.
func (c *converter) part(raw []byte, scope string, required []string) *typ {
	s := schema.Read(raw)
	if s.Ref() != "" || s.Has("anyOf", "oneOf", "allOf") || !slices.Equal(s.Types(true), []string{"object"}) {
		return c.convert(raw, scope)
	}
	return c.own(s, scope, required)
}

// merge puts property blocks together that do not contradict each other, and
// names those that are left apart.
func (c *converter) merge(parts []*typ, scope string) []*typ {
	var merged []*typ
	for _, t := range parts {
		if n := len(merged); n > 0 && t.op == record && t.name == "" {
			if i := slices.IndexFunc(merged, func(o *typ) bool { return mergeable(o, t) }); i >= 0 {
				merged[i] = c.union(merged[i], t)
				continue
			}
		}
		merged = append(merged, t)
	}
	if len(merged) > 1 {
		for i, t := range merged {
			merged[i] = c.nameable(c.split(t, scope), scope+"Part"+strconv.Itoa(i+1))
		}
	}
	return merged
}

func mergeable(a, b *typ) bool {
	if a.op != record || a.name != "" || a.index != nil || b.index != nil || a.rest != nil || b.rest != nil {
		return false
	}
	for _, m := range b.props {
		if i := slices.IndexFunc(a.props, func(o prop) bool { return o.name == m.name }); i >= 0 &&
			!compatible(a.props[i].t, m.t) {
			return false
		}
	}
	return true
}

func compatible(a, b *typ) bool {
	var p printer
	return vague(a) || vague(b) || p.text(a) == p.text(b)
}

func (c *converter) union(a, b *typ) *typ {
	t := &typ{op: record, props: slices.Clone(a.props)}
	for _, m := range b.props {
		i := slices.IndexFunc(t.props, func(o prop) bool { return o.name == m.name })
		if i < 0 {
			t.props = append(t.props, m)
			continue
		}
		old := &t.props[i]
		old.optional = old.optional && m.optional
		if vague(old.t) {
			old.t = m.t
		}
		if old.docs == nil {
			old.docs = m.docs
		}
	}
	return t
}
