package connectors

import (
	"encoding"
	"encoding/json"
	"reflect"
	"strings"
	"sync"
)

// typePlace is a place in arguments that are decoded into a Go type. Structs take exactly the names of their fields,
// which encoding/json alone does not see to: it ignores case.
type typePlace struct{ reflect.Type }

var (
	decodesJSON = reflect.TypeFor[json.Unmarshaler]()
	decodesText = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// placeOf is the place of a type; nil for one that takes anything, or decodes itself.
func placeOf(t reflect.Type) place {
	for t.Kind() == reflect.Pointer && !decodesItself(t) {
		t = t.Elem()
	}
	if decodesItself(t) {
		return nil
	}
	switch t.Kind() {
	case reflect.Struct, reflect.Map, reflect.Slice, reflect.Array:
		return typePlace{t}
	}
	return nil
}

func decodesItself(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return p.Implements(decodesJSON) || p.Implements(decodesText)
}

func (p typePlace) member(name string) (inside place, declared bool, problem string) {
	switch p.Kind() {
	case reflect.Map:
		return placeOf(p.Elem()), true, ""
	case reflect.Struct:
	default:
		return nil, false, "" // the decoder tells that this is the wrong type
	}
	fields := fieldsOf(p.Type)
	if t, ok := fields.byName[name]; ok {
		return placeOf(t), true, ""
	}
	if other, ok := fields.folded[fold(name)]; ok {
		return nil, false, unlike(other)
	}
	return nil, false, unknownKey
}

func (p typePlace) element() place {
	if p.Kind() == reflect.Slice || p.Kind() == reflect.Array {
		return placeOf(p.Elem())
	}
	return nil
}

// jsonFields are the names by which encoding/json knows the fields of a struct.
type jsonFields struct {
	byName map[string]reflect.Type
	folded map[string]string
}

var knownFields sync.Map // from reflect.Type to *jsonFields

func fieldsOf(t reflect.Type) *jsonFields {
	if known, ok := knownFields.Load(t); ok {
		return known.(*jsonFields)
	}
	fields := &jsonFields{byName: map[string]reflect.Type{}, folded: map[string]string{}}
	fields.add(t, map[reflect.Type]bool{})
	known, _ := knownFields.LoadOrStore(t, fields)
	return known.(*jsonFields)
}

// add takes the fields of a struct, and then those of what it embeds, which have less right to a name.
func (f *jsonFields) add(t reflect.Type, seen map[reflect.Type]bool) {
	if seen[t] {
		return
	}
	seen[t] = true
	var embedded []reflect.Type
	for i := range t.NumField() {
		field := t.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		inner := field.Type
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		switch {
		case field.Tag.Get("json") == "-":
		case field.Anonymous && name == "" && inner.Kind() == reflect.Struct:
			embedded = append(embedded, inner)
		case !field.IsExported():
		case name == "":
			f.take(field.Name, field.Type)
		default:
			f.take(name, field.Type)
		}
	}
	for _, inner := range embedded {
		f.add(inner, seen)
	}
}

func (f *jsonFields) take(name string, t reflect.Type) {
	if _, taken := f.byName[name]; !taken {
		f.byName[name], f.folded[fold(name)] = t, name
	}
}
