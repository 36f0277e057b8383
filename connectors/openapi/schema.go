package openapi

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/temporal-codemode/codemode/internal/rawjson"
)

// schemaWriter makes JSON Schemas of kin-openapi's, which writes them back as
// OpenAPI has them: with its own keywords, in no order, and with references to
// where things lie in the document.
type schemaWriter struct {
	names *definitionNames
	// way marks the properties that do not go it: readOnly or writeOnly. Where it
	// is empty all are shown, with their marks.
	way string
	// owner is the definition whose value is being described, see endless.
	owner *openapi3.Schema
}

const (
	asInput  = "readOnly"
	asOutput = "writeOnly"
)

// write gives the schema of a reference; hidden names the properties that those
// around it keep out.
func (w *schemaWriter) write(ref *openapi3.SchemaRef, hidden ...string) []byte {
	switch {
	case ref == nil || ref.Value == nil:
		return []byte("{}")
	case ref.Ref == "", strings.HasPrefix(ref.Ref, "#/components/schemas/"+apartName):
		return w.schema(ref.Value, hidden)
	case w.endless(ref.Value):
		return []byte("{}")
	}
	var o rawjson.Object
	o.Add("$ref", rawjson.Quote("#/$defs/"+w.names.name(ref)))
	return o.Bytes()
}

// writeDefinition gives the schema of one that has a name.
func (w *schemaWriter) writeDefinition(s *openapi3.Schema) []byte {
	w.owner = s
	defer func() { w.owner = nil }()
	return w.schema(s, nil)
}

// hides tells that a property does not go this way.
func (w *schemaWriter) hides(property *openapi3.SchemaRef) bool {
	p := property.Value
	return property.Ref == "" && (w.way == asInput && p.ReadOnly || w.way == asOutput && p.WriteOnly)
}

// hiddenBy are the properties of a schema, and of those it is composed of, that
// do not go this way.
func (w *schemaWriter) hiddenBy(s *openapi3.Schema) (names []string) {
	for _, part := range append(openapi3.SchemaRefs{{Value: s}}, s.AllOf...) {
		for name, property := range part.Value.Properties {
			if w.hides(property) {
				names = append(names, name)
			}
		}
	}
	return names
}

func (w *schemaWriter) schema(s *openapi3.Schema, hidden []string) []byte {
	if s.Always != nil {
		return encoded(*s.Always)
	}
	written, _ := s.MarshalYAML()
	keywords := written.(map[string]any)
	flag, _ := s.Extensions["x-nullable"].(bool)
	nullable, composed := s.Nullable || flag, len(s.AllOf)+len(s.AnyOf)+len(s.OneOf) > 0 || s.Not != nil
	translate(s, keywords, nullable && !composed)
	if w.way != "" {
		hidden = append(slices.Clone(hidden), w.hiddenBy(s)...)
		delete(keywords, asInput)
		delete(keywords, asOutput)
	}
	var o rawjson.Object
	for _, key := range slices.Sorted(maps.Keys(keywords)) {
		if key == "allOf" && len(s.AllOf) == 1 && s.AllOf[0].Ref != "" {
			w.inline(&o, s.AllOf[0])
		} else if value := w.keyword(s, key, keywords[key], hidden); value != nil {
			o.Add(key, value)
		}
	}
	if nullable && composed {
		return orNull(o.Bytes())
	}
	return o.Bytes()
}

// inline writes a single part beside the rest, which means the same and is shorter.
func (w *schemaWriter) inline(o *rawjson.Object, part *openapi3.SchemaRef) {
	defer w.enter("allOf")()
	for key, value := range rawjson.Members(w.write(part)) {
		o.Add(key, value)
	}
}

// translate says in the words of JSON Schema what OpenAPI has others for.
func translate(s *openapi3.Schema, keywords map[string]any, nullable bool) {
	maps.DeleteFunc(keywords, func(key string, _ any) bool { return isExtension(key) })
	delete(keywords, "nullable")
	if s.MultipleOf != nil && *s.MultipleOf <= 0 {
		delete(keywords, "multipleOf")
	}
	types := s.Type.Clone()
	if types.Includes("file") {
		types.Without("file")
		types.With("string")
		if s.Format == "" {
			keywords["format"] = "binary"
		}
	}
	if nullable && len(types) > 0 {
		types.With("null")
	}
	if nullable && len(s.Enum) > 0 && !slices.Contains(s.Enum, nil) {
		keywords["enum"] = append(slices.Clone(s.Enum), nil)
	}
	delete(keywords, "type")
	if types.With(); len(types) > 0 {
		keywords["type"] = &types
	}
	translateBound(keywords, "minimum", "exclusiveMinimum", s.ExclusiveMin)
	translateBound(keywords, "maximum", "exclusiveMaximum", s.ExclusiveMax)
}

// translateBound takes a limit for an exclusive one where a flag says so.
func translateBound(keywords map[string]any, limit, exclusive string, bound openapi3.ExclusiveBound) {
	if bound.Bool == nil {
		return
	}
	delete(keywords, exclusive)
	if value, ok := keywords[limit]; ok && *bound.Bool {
		keywords[exclusive] = value
		delete(keywords, limit)
	}
}

// keyword is the value of one, nil for one that is left out.
func (w *schemaWriter) keyword(s *openapi3.Schema, key string, value any, hidden []string) []byte {
	defer w.enter(key)()
	switch v := value.(type) {
	case *openapi3.SchemaRef:
		return w.write(v)
	case openapi3.SchemaRefs:
		if key != "allOf" {
			hidden = nil
		}
		var list [][]byte
		for _, part := range v {
			list = append(list, w.write(part, hidden...))
		}
		return rawjson.Array(list)
	case openapi3.Schemas:
		// Where no others are allowed they stay: sending back what was read would be refused.
		closed := s.AdditionalProperties.Has != nil && !*s.AdditionalProperties.Has
		var o rawjson.Object
		for _, name := range inOrder(v, s.Extensions) {
			if closed || key != "properties" || !slices.Contains(hidden, name) {
				o.Add(name, w.write(v[name]))
			}
		}
		return o.Bytes()
	case *openapi3.BoolSchema:
		if v.Schema != nil {
			return w.write(v.Schema)
		}
	case []string: // the required ones
		kept := slices.DeleteFunc(unique(v), func(name string) bool { return slices.Contains(hidden, name) })
		if len(kept) == 0 {
			return nil
		}
		return encoded(kept)
	}
	return encoded(value)
}

func encoded(value any) []byte {
	raw, err := rawjson.Marshal(value)
	if err != nil {
		return nil
	}
	return raw
}

func unique(list []string) (kept []string) {
	for _, text := range list {
		if !slices.Contains(kept, text) {
			kept = append(kept, text)
		}
	}
	return kept
}

// inOrder lists the names of a map as the document has them, see orderKey.
func inOrder[V any](m map[string]V, extensions map[string]any) (names []string) {
	order, _ := extensions[orderKey].([]any)
	for _, name := range order {
		if text, ok := name.(string); ok && !slices.Contains(names, text) {
			if _, there := m[text]; there {
				names = append(names, text)
			}
		}
	}
	if len(names) < len(m) {
		return slices.Sorted(maps.Keys(m))
	}
	return names
}

func orNull(schema []byte) []byte {
	var o rawjson.Object
	o.Add("anyOf", rawjson.Array([][]byte{schema, []byte(`{"type":"null"}`)}))
	return o.Bytes()
}

// describeSchema adds a description to a schema that has none.
func describeSchema(schema []byte, description string, deprecated bool) []byte {
	if !rawjson.IsObject(schema) {
		return schema
	}
	if description = strings.TrimSpace(description); description != "" && rawjson.Member(schema, "description") == nil {
		schema = withMember(schema, "description", rawjson.Quote(description))
	}
	if deprecated {
		schema = withMember(schema, "deprecated", []byte("true"))
	}
	return schema
}

// inPlace are the keywords whose schemas apply to the same value as the schema
// they stand in. A reference from there back to that schema would never come to
// an end, and makes validators refuse everything.
var inPlace = []string{"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas"}

// enter notes whether what is written next applies to the same value, and gives
// the way back.
func (w *schemaWriter) enter(keyword string) (leave func()) {
	owner := w.owner
	if !slices.Contains(inPlace, keyword) {
		w.owner = nil
	}
	return func() { w.owner = owner }
}

// endless tells that a reference leads back to the definition that is being
// written, with nothing between.
func (w *schemaWriter) endless(target *openapi3.Schema) bool {
	return w.owner != nil && leadsTo(target, w.owner, map[*openapi3.Schema]bool{})
}

func leadsTo(s, owner *openapi3.Schema, seen map[*openapi3.Schema]bool) bool {
	if s == nil || seen[s] {
		return s != nil && s == owner
	}
	seen[s] = true
	next := slices.Concat(s.AllOf, s.AnyOf, s.OneOf, openapi3.SchemaRefs{s.Not, s.If, s.Then, s.Else})
	next = slices.AppendSeq(next, maps.Values(s.DependentSchemas))
	return s == owner || slices.ContainsFunc(next, func(ref *openapi3.SchemaRef) bool {
		return ref != nil && leadsTo(ref.Value, owner, seen)
	})
}

// jsonKinds is the set of types that a schema lets through.
type jsonKinds struct{ text, number, boolean bool }

const maxKindDepth = 8

// kindsOf looks only at what says it plainly; where nothing does, all are let through.
func kindsOf(ref *openapi3.SchemaRef, depth int) jsonKinds {
	all := jsonKinds{true, true, true}
	if depth > maxKindDepth || ref == nil || ref.Value == nil {
		return all
	}
	switch s := ref.Value; {
	case !s.Type.IsEmpty():
		return jsonKinds{
			text:    s.Type.Includes(openapi3.TypeString) || s.Type.Includes("file"),
			number:  s.Type.Includes(openapi3.TypeNumber) || s.Type.Includes(openapi3.TypeInteger),
			boolean: s.Type.Includes(openapi3.TypeBoolean),
		}
	case len(s.AnyOf) > 0:
		return kindsOfAny(s.AnyOf, depth)
	case len(s.OneOf) > 0:
		return kindsOfAny(s.OneOf, depth)
	case len(s.AllOf) > 0:
		for _, part := range s.AllOf {
			k := kindsOf(part, depth+1)
			all = jsonKinds{all.text && k.text, all.number && k.number, all.boolean && k.boolean}
		}
		return all
	case len(s.Enum) > 0:
		return kindsOfValues(s.Enum)
	}
	return all
}

func kindsOfAny(list openapi3.SchemaRefs, depth int) (sum jsonKinds) {
	for _, part := range list {
		k := kindsOf(part, depth+1)
		sum = jsonKinds{sum.text || k.text, sum.number || k.number, sum.boolean || k.boolean}
	}
	return sum
}

func kindsOfValues(values []any) (k jsonKinds) {
	for _, value := range values {
		switch value.(type) {
		case string:
			k.text = true
		case float64, json.Number:
			k.number = true
		case bool:
			k.boolean = true
		}
	}
	return k
}
