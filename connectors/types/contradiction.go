package types

import (
	"fmt"
	"strings"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/internal/rawjson"
	"github.com/temporal-codemode/codemode/internal/schema"
	"github.com/temporal-codemode/codemode/signals/learnt"
)

const (
	// maxContradictions are told of one method.
	maxContradictions = 5
	// maxAlternatives bounds how many schemas of one place are looked at.
	maxAlternatives = 50
	// enoughObjects have to lack a required property.
	enoughObjects = 3
)

// Contradictions lists where results were not as their method declares, as in "price is string, declared number". What
// is not declared at all, is none.
func (s *Connector) Contradictions(m *connectors.Bound) []string {
	if s.results == nil || len(m.OutputSchema) == 0 {
		return nil
	}
	shape := s.results(m.Method.Name)
	doc, err := s.document(m, output)
	if err != nil || shape == nil {
		return nil
	}
	k := contradictions{doc: doc}
	k.compare([][]byte{doc.root}, shape, nil)
	return k.list
}

type contradictions struct {
	doc  *document
	list []string
}

func (k *contradictions) say(path []string, format string, args ...any) {
	at := strings.TrimPrefix(strings.Join(path, ""), ".")
	if at == "" {
		at = "the result"
	}
	if len(k.list) < maxContradictions {
		k.list = append(k.list, at+" "+fmt.Sprintf(format, args...))
	}
}

// compare looks at what was seen at one place, and at the schemas that may hold for it.
func (k *contradictions) compare(schemas [][]byte, seen *learnt.Shape, path []string) {
	nodes, certain := k.flat(schemas)
	if len(nodes) == 0 {
		return
	}
	var allowed learnt.Kinds
	for _, node := range nodes {
		allowed |= kindsOf(node)
	}
	if others := seen.Kinds &^ (allowed | learnt.Undefined); others != 0 && allowed != 0 {
		k.say(path, "is %s, declared %s", strings.Join(others.Names(), " or "), declaredKinds(nodes))
		return
	}
	k.fields(nodes, certain, seen, path)
	if seen.Items == nil {
		return
	}
	var items [][]byte
	for _, node := range nodes {
		if raw := node.Get("items"); rawjson.IsObject(raw) && !node.Has("prefixItems") {
			items = append(items, raw)
		}
	}
	k.compare(items, seen.Items, inside(path, "[]"))
}

func inside(path []string, step string) []string { return append(path[:len(path):len(path)], step) }

func (k *contradictions) fields(nodes []schema.Schema, certain bool, seen *learnt.Shape, path []string) {
	for i := range seen.Fields {
		f := &seen.Fields[i]
		var declared [][]byte
		for _, node := range nodes {
			if raw := rawjson.Member(node.Get("properties"), f.Name); raw != nil {
				declared = append(declared, raw)
			} else if !certain {
				declared = nil // one of the alternatives does not know it
				break
			}
		}
		k.compare(declared, &f.Shape, inside(path, "."+f.Name))
	}
	if !certain || seen.More || seen.Other != nil || seen.Objects < enoughObjects {
		return
	}
	for _, node := range nodes {
		for _, name := range rawjson.Texts(node.Get("required")) {
			if f := seen.Field(name); learnt.IsName(name) && (f == nil || f.Seen < seen.Objects) {
				missing := seen.Objects
				if f != nil {
					missing -= f.Seen
				}
				k.say(inside(path, "."+name), "is missing in %d of %d, declared as required", missing, seen.Objects)
			}
		}
	}
}

// flat opens references and combinations. certain is false where only one of several has to hold.
func (k *contradictions) flat(schemas [][]byte) (nodes []schema.Schema, certain bool) {
	certain = true
	queue := schemas
	for n := 0; len(queue) > 0 && n < maxAlternatives; n++ {
		raw := queue[0]
		queue = queue[1:]
		if !rawjson.IsObject(raw) {
			return nil, false // anything goes
		}
		node := schema.Read(raw)
		if ref := node.Ref(); ref != "" {
			target, ok := k.doc.resolve(ref)
			if !ok {
				return nil, false
			}
			queue = append(queue[:len(queue):len(queue)], target)
			continue
		}
		for _, key := range []string{"anyOf", "oneOf", "allOf"} {
			list := node.Schemas(key)
			certain = certain && (len(list) == 0 || key == "allOf")
			queue = append(queue[:len(queue):len(queue)], list...)
		}
		if combined := node.Has("anyOf", "oneOf", "allOf"); !combined || node.Has("type", "properties", "enum") {
			nodes = append(nodes, node)
		}
	}
	return nodes, certain && len(queue) == 0
}

// kindsOf are those that a schema lets through: all where it says none.
func kindsOf(s schema.Schema) (kinds learnt.Kinds) {
	const all = 1<<16 - 1
	if s.Has("enum", "const") {
		return all // values are not known here
	}
	types := s.Types(false)
	if len(types) == 0 {
		return all
	}
	for _, name := range types {
		kinds |= map[string]learnt.Kinds{
			"string": learnt.String | learnt.Bytes, "number": learnt.Number | learnt.BigInt,
			"integer": learnt.Number | learnt.BigInt, "boolean": learnt.Boolean, "null": learnt.Null,
			"object": learnt.Object, "array": learnt.Array | learnt.Bytes, "file": all,
		}[name]
	}
	if s.IsTrue("nullable") || s.IsTrue("x-nullable") {
		kinds |= learnt.Null
	}
	return kinds
}

func declaredKinds(nodes []schema.Schema) string {
	var list []string
	for _, node := range nodes {
		list = append(list, node.Types(false)...)
	}
	return strings.Join(list, " or ")
}
