package preflight

import (
	"fmt"
	"slices"
	"strings"

	"github.com/temporal-codemode/codemode/internal/schema"
	"github.com/temporal-codemode/codemode/internal/words"
	"github.com/temporal-codemode/codemode/signals"
)

// shape is what is known of a value's type: the schemas that it may have, all of them declared by one method. Without
// any, nothing is known.
type shape struct {
	schemas []schema.Schema
	method  int // of the uses, counted from 1
	path    string
}

// read finds a field that no declared type has.
func (j *judge) read(f Field) {
	t := j.typeOf(f.Of, 0)
	if len(t.schemas) == 0 {
		return
	}
	fields, declared := j.fieldOf(t, f.Name)
	if fields != nil || declared == nil {
		return
	}
	near := words.Nearest(f.Name, declared)
	if f.Optional && (len(near) == 0 || j.reads(near[0])) {
		return // a program that asks may be right to
	}
	u := j.Uses[t.method-1]
	where := ""
	if t.path != "" {
		where = " in " + strings.TrimPrefix(t.path, ".")
	}
	message := fmt.Sprintf("the result of %s.%s has no %q%s", u.Name, u.Method, f.Name, where)
	switch message += suggestion(near); {
	case len(near) > 0:
	case len(declared) == 0:
		message += ": it is no object but of type " + strings.Join(t.schemas[0].Types(true), " or ")
	case len(declared) <= mostDeclared:
		message += ": it has " + strings.Join(declared, ", ")
	}
	j.hint(signals.Hint{Kind: signals.HintField, Position: f.At, Near: near, Message: message},
		j.methods[t.method-1], "")
}

// reads reports whether the program asks anywhere whether there is a field of that name.
func (j *judge) reads(name string) bool {
	return slices.ContainsFunc(j.Reads, func(f Field) bool { return f.Name == name && f.Optional })
}

const mostDeclared = 12

// typeOf follows a value back to the method that gave it.
func (j *judge) typeOf(value, depth int) shape {
	if value == 0 || depth > 64 {
		return shape{}
	}
	if t, known := j.types[value]; known {
		return t
	}
	v := j.Values[value-1]
	var t shape
	switch v.Kind {
	case ResultOf:
		t = j.resultOf(v.Of)
	case FieldOf:
		if of := j.typeOf(v.Of, depth+1); len(of.schemas) > 0 {
			list, _ := j.fieldOf(of, v.Name)
			t = shape{list, of.method, of.path + "." + v.Name}
		}
	case ElementOf:
		if j.Values[v.Of-1].Kind == ListOf {
			t = j.typeOf(j.Values[v.Of-1].Of, depth+1)
			break
		}
		t = j.elementOf(j.typeOf(v.Of, depth+1))
	case MethodOf:
		t = j.methodOf(v, depth)
	}
	j.types[value] = t
	return t
}

func (j *judge) resultOf(use int) shape {
	m := j.methods[use-1]
	if m == nil || len(m.Output) == 0 {
		return shape{}
	}
	return shape{j.alternatives(m, [][]byte{m.Output}, 0), use, ""}
}

// methodOf is what a method of a list gives.
func (j *judge) methodOf(v Value, depth int) shape {
	if j.Values[v.Of-1].Kind == ListOf {
		return shape{}
	}
	t := j.typeOf(v.Of, depth+1)
	if len(t.schemas) == 0 || !allLists(t) {
		return shape{}
	}
	switch v.Name {
	case "at", "pop", "shift":
		return j.elementOf(t)
	case "filter", "slice", "reverse", "toReversed":
		return t
	}
	return shape{}
}

func allLists(t shape) bool {
	return !slices.ContainsFunc(t.schemas, func(s schema.Schema) bool {
		return !slices.Equal(s.Types(true), []string{"array"})
	})
}

func (j *judge) elementOf(t shape) shape {
	if len(t.schemas) == 0 || !allLists(t) {
		return shape{}
	}
	var items [][]byte
	for _, s := range t.schemas {
		if s.Has("prefixItems") || !s.Has("items") {
			return shape{}
		}
		items = append(items, s.Get("items"))
	}
	return shape{j.alternatives(j.methods[t.method-1], items, 0), t.method, t.path + "[]"}
}

// alternatives opens schemas: references, unions, what they have in common. It gives nothing where anything else may
// be there; null is left out.
func (j *judge) alternatives(m *Method, raws [][]byte, depth int) (list []schema.Schema) {
	for _, raw := range raws {
		s, ok := schema.Follow(raw, m.Output, m.definitions())
		if !ok || depth > deepest {
			return nil
		}
		unions := append(s.Schemas("anyOf"), s.Schemas("oneOf")...)
		if len(unions) > 0 && !s.Has("properties", "allOf") {
			inner := j.alternatives(m, unions, depth+1)
			if inner == nil {
				return nil
			}
			list = append(list, inner...)
			continue
		}
		if s.Has(loose...) {
			return nil
		}
		types := slices.DeleteFunc(slices.Clone(s.Types(true)), func(t string) bool { return t == "null" })
		switch {
		case len(types) > 1, len(types) == 0 && !slices.Equal(s.Types(true), []string{"null"}):
			return nil
		case len(types) == 1:
			list = append(list, s)
		}
	}
	return list
}

// fieldOf is the type of a field. declared are the names that there are, nil where there may be others; then, or where
// the field is there, nothing is wrong.
func (j *judge) fieldOf(t shape, name string) (fields []schema.Schema, declared []string) {
	var found [][]byte
	declared = []string{}
	missing := false
	for _, s := range t.schemas {
		names, closed := namesOf(s)
		if !closed || ofObjects[name] {
			return nil, nil
		}
		declared = append(declared, names...)
		switch {
		case s.Has("properties") && valueOf(s, name) != nil:
			found = append(found, valueOf(s, name))
		case slices.Contains(names, name):
			return nil, nil // a method of JavaScript's own
		default:
			missing = true
		}
	}
	if len(found) == 0 {
		slices.Sort(declared)
		if kind := t.schemas[0].Types(true); len(kind) > 0 && kind[0] != "object" {
			return nil, []string{}
		}
		return nil, slices.Compact(declared)
	}
	if missing { // in one of several types
		return nil, nil
	}
	fields = j.alternatives(j.methods[t.method-1], found, 0)
	if fields == nil {
		return nil, nil
	}
	return fields, nil
}

func valueOf(s schema.Schema, name string) []byte {
	for _, p := range s.Properties() {
		if p.Key == name {
			return p.Value
		}
	}
	return nil
}

// namesOf lists what a value of a schema has; closed is false where it may have anything else.
func namesOf(s schema.Schema) (names []string, closed bool) {
	types := s.Types(true)
	kind := ""
	for _, t := range types {
		if t != "null" {
			kind = t
		}
	}
	switch kind {
	case "object":
		properties := s.Properties()
		additional := s.Get("additionalProperties")
		if len(properties) == 0 || additional != nil && string(additional) != "false" {
			return nil, false
		}
		for _, p := range properties {
			names = append(names, p.Key)
		}
		return names, true
	case "array":
		return ofLists, true
	case "string":
		return ofTexts, true
	case "number", "integer":
		return ofNumbers, true
	case "boolean":
		return []string{"toString", "valueOf"}, true
	}
	return nil, false
}

// What JavaScript's own objects have.
var (
	ofObjects = words.Set(`constructor hasOwnProperty isPrototypeOf propertyIsEnumerable toLocaleString toString valueOf
		__proto__ then toJSON`)
	ofLists = strings.Fields(`length at concat copyWithin entries every fill filter find findIndex findLast
		findLastIndex flat flatMap forEach includes indexOf join keys lastIndexOf map pop push reduce reduceRight
		reverse shift slice 		some sort splice toReversed toSorted toSpliced unshift values with`)
	ofTexts = strings.Fields(`length at charAt charCodeAt codePointAt concat endsWith includes indexOf isWellFormed
		lastIndexOf localeCompare match matchAll normalize padEnd padStart repeat replace replaceAll search slice split
		startsWith substr substring toLocaleLowerCase toLocaleUpperCase toLowerCase toUpperCase toWellFormed
		trim trimEnd trimStart trimLeft trimRight anchor big blink bold fixed fontcolor fontsize italics
		link small strike sub sup`)
	ofNumbers = strings.Fields(`toExponential toFixed toPrecision toLocaleString toString valueOf`)
)
