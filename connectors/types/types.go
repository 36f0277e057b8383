package types

import "encoding/json"

// FromSchema writes a JSON Schema as one TypeScript statement, "type name
// = ...", the way the reference does: references are shown in their place, and
// what cannot be resolved or said is unknown. What the reference gets wrong is
// right here: unions are bracketed where they have to be, a null in a list of
// types is kept, and a schema that contains itself refers to its own name.
func FromSchema(schema json.RawMessage, name string) string {
	doc, err := newDocument(schema, nil)
	if err != nil {
		return "type " + name + " = unknown"
	}
	c := converter{doc: doc, exact: true}
	t := c.root(doc.root, name)
	p := printer{broken: circular(map[string]*typ{name: t})}
	return p.declaration(name, t)
}

// circular finds the references by which declared types would be defined as
// themselves, without a property or an element between.
func circular(declared map[string]*typ) map[*typ]bool {
	broken := map[*typ]bool{}
	for name, t := range declared {
		for _, ref := range direct(t) {
			if reaches(ref.text, name, declared, map[string]bool{}) {
				broken[ref] = true
			}
		}
	}
	return broken
}

// direct are the references that a type consists of. TypeScript looks into
// arrays and tuples at once only in intersections and in the rest of a tuple.
func direct(t *typ) []*typ { return directIn(t, false) }

func directIn(t *typ, eager bool) (refs []*typ) {
	eager = eager || t.op == both
	switch {
	case t.op == named:
		return []*typ{t}
	case t.op == union, eager && t.op != record:
		t.each(func(inner *typ) { refs = append(refs, directIn(inner, eager)...) })
	case t.op == tuple && t.rest != nil:
		return directIn(t.rest, true)
	}
	return refs
}

func reaches(from, to string, declared map[string]*typ, seen map[string]bool) bool {
	t := declared[from]
	if from == to {
		return true
	}
	if t == nil || seen[from] {
		return false
	}
	seen[from] = true
	for _, ref := range direct(t) {
		if reaches(ref.text, to, declared, seen) {
			return true
		}
	}
	return false
}
