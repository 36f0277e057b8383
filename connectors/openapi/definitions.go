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

// definitions are the schemas that references lead to, written out: the tree
// that kin-openapi makes of a document takes up many times as much.
type definitions struct {
	raw    json.RawMessage // {"$defs":{…}}
	byName map[string][]byte
	marked bool // some properties go one way only
}

func writeDefinitions(w *schemaWriter) *definitions {
	var defs, o rawjson.Object
	for i := 0; i < len(w.names.order); i++ { // which grows meanwhile
		schema := w.names.order[i]
		defs.Add(w.names.names[schema], w.writeDefinition(schema))
	}
	o.Add("$defs", defs.Bytes())
	d := &definitions{raw: o.Bytes(), byName: map[string][]byte{}}
	for name, schema := range rawjson.Members(rawjson.Member(d.raw, "$defs")) {
		d.byName[name] = schema
	}
	d.marked = isMarked(d.raw)
	return d
}

// isMarked tells that some properties in a schema go one way only.
func isMarked(schema []byte) bool { return bytes.Contains(schema, []byte(`Only":true`)) }

// The properties that a schema for one way must not have are those with the other's mark.
const (
	asInput  = "readOnly"
	asOutput = "writeOnly"
)

// complete adds to a schema all that it refers to. Past the limit definitions are empty.
func (d *definitions) complete(schema []byte, way string, limit int) json.RawMessage {
	var defs rawjson.Object
	seen := map[string]bool{}
	queue := references(schema, seen)
	for i := 0; i < len(queue); i++ {
		definition := []byte("{}")
		if len(defs.Raw) <= limit {
			definition = d.forWay(d.byName[queue[i]], way)
			queue = append(queue, references(definition, seen)...)
		}
		defs.Add(queue[i], definition)
	}
	if defs.Empty() {
		return schema
	}
	o := rawjson.Object{}
	for key, value := range rawjson.Members(schema) {
		o.Add(key, value)
	}
	o.Add("$defs", defs.Bytes())
	return o.Bytes()
}

const referencePrefix = `"$ref":"#/$defs/`

// references lists the definitions that a schema refers to and that were not seen yet.
func references(schema []byte, seen map[string]bool) (names []string) {
	text := string(schema)
	for {
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

// forWay leaves out of a schema, but not of those that it refers to, the
// properties that do not go this way.
func (d *definitions) forWay(schema []byte, way string) json.RawMessage {
	if !d.marked && !isMarked(schema) {
		return schema
	}
	return d.oneWay(schema, way, nil)
}

// oneWay leaves out the properties that do not go this way; hidden names those
// that the schemas around this one leave out.
func (d *definitions) oneWay(schema []byte, way string, hidden []string) []byte {
	if !rawjson.IsObject(schema) {
		return schema
	}
	hidden = append(slices.Clone(hidden), d.hiddenBy(schema, way)...)
	closed := string(rawjson.Member(schema, "additionalProperties")) == "false"
	var o rawjson.Object
	for key, value := range rawjson.Members(schema) {
		switch key {
		case asInput, asOutput:
			continue
		case "required":
			names := slices.DeleteFunc(rawjson.Texts(value), func(name string) bool { return slices.Contains(hidden, name) })
			if len(names) == 0 {
				continue
			}
			value = rawjson.TextArray(names)
		case "properties":
			// Where no others are allowed they stay: sending back what was read would be refused.
			value = d.propertiesOneWay(value, way, hidden, closed)
		case "patternProperties", "dependentSchemas":
			value = d.propertiesOneWay(value, way, nil, true)
		case "allOf":
			value = d.partsOneWay(value, way, hidden)
		case "anyOf", "oneOf", "prefixItems":
			value = d.partsOneWay(value, way, nil)
		case "default", "const", "enum":
		default:
			value = d.oneWay(value, way, nil)
		}
		o.Add(key, value)
	}
	return o.Bytes()
}

func (d *definitions) propertiesOneWay(properties []byte, way string, hidden []string, all bool) []byte {
	var o rawjson.Object
	for name, schema := range rawjson.Members(properties) {
		if all || !slices.Contains(hidden, name) {
			o.Add(name, d.oneWay(schema, way, nil))
		}
	}
	return o.Bytes()
}

func (d *definitions) partsOneWay(parts []byte, way string, hidden []string) []byte {
	var list [][]byte
	for part := range rawjson.Elements(parts) {
		list = append(list, d.oneWay(part, way, hidden))
	}
	return rawjson.Array(list)
}

// hiddenBy are the properties of a schema, and of those it is composed of, that
// do not go this way.
func (d *definitions) hiddenBy(schema []byte, way string) (names []string) {
	parts := append(slices.Collect(rawjson.Elements(rawjson.Member(schema, "allOf"))), schema, d.target(schema))
	for _, part := range parts {
		if target := d.target(part); target != nil {
			part = target
		}
		for name, property := range rawjson.Members(rawjson.Member(part, "properties")) {
			if rawjson.IsTrue(rawjson.Member(property, way)) {
				names = append(names, name)
			}
		}
	}
	return names
}

// target is the definition that a schema refers to, nil when there is none.
func (d *definitions) target(schema []byte) []byte {
	return d.byName[strings.TrimPrefix(rawjson.Text(rawjson.Member(schema, "$ref")), "#/$defs/")]
}

// writeSchemas writes what the document says of the argument and of the result,
// and lets go of what it was read from.
func (op *apiOperation) writeSchemas(w *schemaWriter) {
	op.input, op.output = op.plan.input(w), op.plan.output(w, op.catalogue.api.opts.FullResponses)
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
	var o, properties rawjson.Object
	schema := op.catalogue.definitions.forWay(op.input, asInput)
	loosen := map[string]int{}
	for _, parameter := range op.plan.parameters {
		loosen[parameter.property] = parameter.loosen
	}
	for name, property := range rawjson.Members(rawjson.Member(schema, "properties")) {
		properties.Add(name, loose(property, loosen[name]))
	}
	for key, value := range rawjson.Members(schema) {
		if key == "properties" {
			value = properties.Bytes()
		}
		o.Add(key, value)
	}
	return op.catalogue.definitions.complete(o.Bytes(), asInput, maxInputDefs)
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
	case p.schema != nil && p.schema.Value != nil && rawjson.Member(schema, "items") != nil && wantsText(p.schema.Value.Items):
		return looseItems
	}
	return 0
}

func loose(schema []byte, what int) []byte {
	if what == looseValue {
		return orScalar(schema)
	}
	var o rawjson.Object
	for key, value := range rawjson.Members(schema) {
		if key == "items" && what == looseItems {
			value = orScalar(value)
		}
		o.Add(key, value)
	}
	if o.Empty() {
		return schema
	}
	return o.Bytes()
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
