package openapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/temporal-codemode/codemode/connectors/internal/web"
	"github.com/temporal-codemode/codemode/internal/rawjson"
)

// Complete schemas are cut where validating by them would take longer than the
// server does, and where they only describe results. What lies deeper is unknown
// there.
const (
	maxInputDefs = 256 << 10
	maxEagerDefs = 16 << 10
)

// definitionNames names the schemas that references lead to, the same in all
// methods of a catalogue.
type definitionNames struct {
	names map[*openapi3.Schema]string
	taken map[string]bool
	order []*openapi3.Schema
}

func newDefinitionNames() *definitionNames {
	return &definitionNames{names: map[*openapi3.Schema]string{}, taken: map[string]bool{}}
}

// name is the last step of the reference, in letters that need no escapes
// wherever the name is used.
func (d *definitionNames) name(ref *openapi3.SchemaRef) string {
	if name, ok := d.names[ref.Value]; ok {
		return name
	}
	wanted := plainName(ref.Ref)
	name := wanted
	for n := 2; d.taken[name]; n++ {
		name = fmt.Sprintf("%s_%d", wanted, n)
	}
	d.names[ref.Value], d.taken[name] = name, true
	d.order = append(d.order, ref.Value)
	return name
}

const maxNameLength = 100

func plainName(ref string) string {
	name := strings.TrimSuffix(pointerSteps.Replace(ref[strings.LastIndexByte(ref, '/')+1:]), "#")
	if step := strings.LastIndexAny(name, "#"); step >= 0 {
		name = name[step+1:]
		name = pointerSteps.Replace(name[strings.LastIndexByte(name, '/')+1:])
	}
	clean := strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '.', c == '-':
			return c
		}
		return '_'
	}, name)
	if clean == "" {
		return "Root"
	}
	return clean[:min(len(clean), maxNameLength)]
}

// definitions are the schemas that references lead to, by their names and
// written out: the tree that kin-openapi makes of a document takes up many times
// as much.
type definitions struct {
	all           json.RawMessage // {"$defs":{…}}, with marks where a property goes one way only
	input, output map[string][]byte
}

func writeDefinitions(names *definitionNames) *definitions {
	d := &definitions{all: (&schemaWriter{names: names}).definitions()}
	d.input = membersOf(rawjson.Member(d.all, "$defs"))
	if d.output = d.input; bytes.Contains(d.all, []byte(`Only":true`)) {
		d.input = membersOf(rawjson.Member((&schemaWriter{names: names, way: asInput}).definitions(), "$defs"))
		d.output = membersOf(rawjson.Member((&schemaWriter{names: names, way: asOutput}).definitions(), "$defs"))
	}
	return d
}

func (w *schemaWriter) definitions() json.RawMessage {
	var defs, o rawjson.Object
	for i := 0; i < len(w.names.order); i++ { // which grows meanwhile
		schema := w.names.order[i]
		defs.Add(w.names.names[schema], w.writeDefinition(schema))
	}
	o.Add("$defs", defs.Bytes())
	return o.Bytes()
}

// completed adds to a schema all that it refers to. Past the limit definitions are empty.
func completed(schema []byte, known map[string][]byte, limit int) json.RawMessage {
	var defs rawjson.Object
	seen := map[string]bool{}
	queue := referencesIn(schema, seen)
	for i := 0; i < len(queue); i++ {
		definition := []byte("{}")
		if len(defs.Raw) <= limit {
			definition = known[queue[i]]
			queue = append(queue, referencesIn(definition, seen)...)
		}
		defs.Add(queue[i], definition)
	}
	if defs.Empty() {
		return schema
	}
	return withMember(schema, "$defs", defs.Bytes())
}

const referencePrefix = `"$ref":"#/$defs/`

// referencesIn lists the definitions that a schema refers to and that were not seen yet.
func referencesIn(schema []byte, seen map[string]bool) (names []string) {
	for text := string(schema); ; {
		_, rest, ok := strings.Cut(text, referencePrefix)
		if !ok {
			return names
		}
		name, after, _ := strings.Cut(rest, `"`)
		if text = after; !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
}

// writeSchemas writes what the document says of the argument and of the result,
// and lets go of what it was read from.
func (op *apiOperation) writeSchemas(names *definitionNames) {
	op.input = op.plan.input(&schemaWriter{names: names, way: asInput})
	op.output = op.plan.output(&schemaWriter{names: names, way: asOutput}, op.catalogue.api.opts.FullResponses)
	op.plan.body, op.plan.answer.schema = nil, nil
	for _, parameter := range op.plan.parameters {
		parameter.schema = nil
	}
	for _, m := range op.plan.media {
		m.schema = nil
	}
}

func (p *apiPlan) input(w *schemaWriter) json.RawMessage {
	var (
		properties rawjson.Object
		required   []string
	)
	for _, parameter := range p.parameters {
		schema := w.write(parameter.schema)
		parameter.loosen = parameter.loosened(schema)
		properties.Add(parameter.property, describeSchema(schema, parameter.description, parameter.deprecated))
		if !parameter.optional() {
			required = append(required, parameter.property)
		}
	}
	if len(p.media) > 0 {
		properties.Add(bodyProperty, p.bodySchema(w))
		if p.bodyRequired {
			required = append(required, bodyProperty)
		}
	}
	if len(p.media) > 1 {
		properties.Add(typeProperty, p.typeSchema())
	}
	return objectSchema(properties, required)
}

func objectSchema(properties rawjson.Object, required []string) json.RawMessage {
	var o rawjson.Object
	o.Add("type", rawjson.Quote("object"))
	o.Add("properties", properties.Bytes())
	if required != nil {
		o.Add("required", rawjson.TextArray(required))
	}
	return o.Bytes()
}

// arguments is the schema to validate with. It lets numbers and booleans through
// where a parameter wants a string.
func (op *apiOperation) arguments() json.RawMessage {
	properties := rawjson.Member(op.input, "properties")
	for _, parameter := range op.plan.parameters {
		if parameter.loosen != 0 {
			schema := loose(rawjson.Member(properties, parameter.property), parameter.loosen)
			properties = withMember(properties, parameter.property, schema)
		}
	}
	return completed(withMember(op.input, "properties", properties), op.catalogue.definitions.input, maxInputDefs)
}

// What of a parameter takes numbers and booleans, too.
const (
	looseValue = iota + 1
	looseItems
)

// loosened tells what becomes the same text as a string does.
func (p *apiParameter) loosened(schema []byte) int {
	wantsText := func(ref *openapi3.SchemaRef) bool {
		kinds := kindsOf(ref, 0)
		return kinds.text && !(kinds.number && kinds.boolean)
	}
	switch {
	case p.asJSON:
	case wantsText(p.schema):
		return looseValue
	case rawjson.Member(schema, "items") != nil && wantsText(p.schema.Value.Items):
		return looseItems
	}
	return 0
}

func loose(schema []byte, what int) []byte {
	if what == looseItems {
		return withMember(schema, "items", orScalar(rawjson.Member(schema, "items")))
	}
	about, deprecated := rawjson.Text(rawjson.Member(schema, "description")),
		rawjson.Member(schema, "deprecated") != nil
	return describeSchema(orScalar(without(without(schema, "description"), "deprecated")), about, deprecated)
}

func orScalar(schema []byte) []byte {
	var o rawjson.Object
	o.Add("anyOf", rawjson.Array([][]byte{schema, []byte(`{"type":["number","boolean"]}`)}))
	return o.Bytes()
}

// bodySchema is that of the preferred media type, or of all that differ.
func (p *apiPlan) bodySchema(w *schemaWriter) []byte {
	var list [][]byte
	for _, m := range p.media {
		schema := m.bodySchema(w)
		if string(schema) == "{}" {
			return describeSchema(schema, p.bodyDescription(), false)
		}
		same := func(other []byte) bool { return bytes.Equal(other, schema) }
		if !slices.ContainsFunc(list, same) {
			list = append(list, schema)
		}
	}
	schema := list[0]
	if len(list) > 1 {
		var o rawjson.Object
		o.Add("anyOf", rawjson.Array(list))
		schema = o.Bytes()
	}
	return describeSchema(schema, p.bodyDescription(), false)
}

func (p *apiPlan) bodyDescription() string {
	if p.body == nil {
		return ""
	}
	return p.body.Description
}

// bodySchema for text and bytes says what a program gives, whatever structure
// the document sees in it.
func (m *apiMedia) bodySchema(w *schemaWriter) []byte {
	switch {
	case m.kind == web.MediaBinary:
		return []byte(`{"type":"string","format":"binary"}`)
	case m.kind == web.MediaText && !kindsOf(m.schema, 0).text:
		return []byte(`{"type":"string","description":"` + "Text of the type " + web.BaseType(m.mediaType) + `"}`)
	}
	return w.write(m.schema)
}

func (p *apiPlan) typeSchema() []byte {
	var types []string
	for _, m := range p.media {
		types = append(types, m.mediaType)
	}
	var o rawjson.Object
	o.Add("type", rawjson.Quote("string"))
	o.Add("enum", rawjson.TextArray(types))
	o.Add("description", rawjson.Quote("How the body is sent. Default: "+types[0]))
	return o.Bytes()
}

// output describes the result, nil where the document does not.
func (p *apiPlan) output(w *schemaWriter, full bool) json.RawMessage {
	var schema []byte
	switch {
	case !p.answer.said:
	case p.answer.kind == web.MediaJSON:
		schema = w.write(p.answer.schema)
	case p.answer.kind == web.MediaText:
		schema = []byte(`{"type":"string"}`)
	default:
		schema = []byte(`{"type":"string","format":"binary"}`)
	}
	if !full {
		return schema
	}
	var properties rawjson.Object
	properties.Add("status", []byte(`{"type":"integer"}`))
	properties.Add("headers", []byte(`{"type":"object","additionalProperties":{"type":"string"}}`))
	if schema != nil {
		properties.Add(bodyProperty, schema)
	}
	return objectSchema(properties, []string{"status", "headers"})
}
