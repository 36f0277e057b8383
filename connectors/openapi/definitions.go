package openapi

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"

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
	mu      sync.Mutex
	byPlace map[string]string
	byName  map[string]apiNode
	order   []string
}

func newDefinitionNames() *definitionNames {
	return &definitionNames{byPlace: map[string]string{}, byName: map[string]apiNode{}}
}

// name is the last step of the reference, in letters that need no escapes
// wherever the name is used.
func (d *definitionNames) name(target apiNode, ref string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, fragment, _ := strings.Cut(ref, "#")
	place := target.doc.path + "#" + fragment
	if name, ok := d.byPlace[place]; ok {
		return name
	}
	wanted := plainName(ref)
	name := wanted
	for n := 2; ; n++ {
		if _, taken := d.byName[name]; !taken {
			break
		}
		name = fmt.Sprintf("%s_%d", wanted, n)
	}
	d.byPlace[place], d.byName[name] = name, target
	d.order = append(d.order, name)
	return name
}

// each gives what is named, from the first place on, to which more may be added
// meanwhile.
func (d *definitionNames) each(visit func(name string, node apiNode)) {
	for i := 0; ; i++ {
		d.mu.Lock()
		if i == len(d.order) {
			d.mu.Unlock()
			return
		}
		name := d.order[i]
		node := d.byName[name]
		d.mu.Unlock()
		visit(name, node)
	}
}

const maxNameLength = 100

func plainName(ref string) string {
	last := ref[strings.LastIndexAny(ref, "/#")+1:]
	clean := strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '.', c == '-':
			return c
		}
		return '_'
	}, last)
	if clean == "" {
		return "Root"
	}
	return clean[:min(len(clean), maxNameLength)]
}

// schemaDefs collects what the schema of one method refers to.
type schemaDefs struct {
	seen  map[string]bool
	queue []schemaDef
	limit int
}

type schemaDef struct {
	name string
	node apiNode
}

func (d *schemaDefs) add(name string, target apiNode) {
	if !d.seen[name] {
		d.seen[name] = true
		d.queue = append(d.queue, schemaDef{name, target})
	}
}

// writeDefs gives the definitions, nil when there are none. Past the limit they are empty.
func (w *schemaWriter) writeDefs() []byte {
	if w.defs == nil || len(w.defs.queue) == 0 {
		return nil
	}
	var o rawjson.Object
	for i := 0; i < len(w.defs.queue); i++ {
		next, schema := w.defs.queue[i], []byte("{}")
		if len(o.Raw) <= w.defs.limit {
			schema = w.writeDefinition(next.node)
		}
		o.Add(next.name, schema)
	}
	return o.Bytes()
}

// complete makes schemas that hold all they refer to.
func (c *apiCatalogue) complete(way string, limit int) *schemaWriter {
	return &schemaWriter{names: c.names, hidden: way, defs: &schemaDefs{seen: map[string]bool{}, limit: limit}}
}

// sharing makes schemas that refer to the catalogue's definitions.
func (c *apiCatalogue) sharing(way string) *schemaWriter {
	return &schemaWriter{names: c.names, hidden: way}
}

func (c *apiCatalogue) writeDefinitions() json.RawMessage {
	var defs, o rawjson.Object
	w := c.sharing(asBoth)
	c.names.each(func(name string, node apiNode) { defs.Add(name, w.writeDefinition(node)) })
	o.Add("$defs", defs.Bytes())
	return o.Bytes()
}

// arguments is the schema to validate with.
func (op *apiOperation) arguments() json.RawMessage {
	return op.input(op.catalogue.complete(asInput, maxInputDefs), true)
}

// input describes the argument. Lenient lets numbers and booleans through where
// a parameter wants a string.
func (op *apiOperation) input(w *schemaWriter, lenient bool) json.RawMessage {
	var (
		p          = op.plan()
		properties rawjson.Object
		required   []string
	)
	for _, parameter := range p.parameters {
		properties.Add(parameter.property, parameter.inputSchema(w, lenient))
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
	return w.object(properties, required)
}

func (w *schemaWriter) object(properties rawjson.Object, required []string) json.RawMessage {
	var o rawjson.Object
	o.Add("type", rawjson.Quote("object"))
	o.Add("properties", properties.Bytes())
	if required != nil {
		o.Add("required", rawjson.TextArray(required))
	}
	if defs := w.writeDefs(); defs != nil {
		o.Add("$defs", defs)
	}
	return o.Bytes()
}

func (p *apiParameter) inputSchema(w *schemaWriter, lenient bool) []byte {
	schema := w.write(p.schema, nil)
	if lenient && !p.asJSON {
		schema = p.lenient(schema)
	}
	return describeSchema(schema, p.description, p.deprecated)
}

// lenient lets through what becomes the same text as a string does.
func (p *apiParameter) lenient(schema []byte) []byte {
	if kinds := p.schema.kinds(0); kinds.text && !(kinds.number && kinds.boolean) {
		return orScalar(schema)
	}
	items := p.schema.get("items")
	written := rawjson.Member(schema, "items")
	if kinds := items.kinds(0); written == nil || !kinds.text || kinds.number && kinds.boolean {
		return schema
	}
	o := rawjson.Object{}
	for key, value := range rawjson.Members(schema) {
		if key == "items" {
			value = orScalar(value)
		}
		o.Add(key, value)
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
		if !containsBytes(list, schema) {
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

func containsBytes(list [][]byte, raw []byte) bool {
	for _, other := range list {
		if string(other) == string(raw) {
			return true
		}
	}
	return false
}

func (p *apiPlan) bodyDescription() string {
	if p.op.catalogue.doc.swagger {
		return ""
	}
	return p.op.node.get("requestBody").resolved().text("description")
}

// bodySchema for text and bytes says what a program gives, whatever structure
// the document sees in it.
func (m *apiMedia) bodySchema(w *schemaWriter) []byte {
	kinds := m.schema.kinds(0)
	switch {
	case m.kind == web.MediaBinary:
		return []byte(`{"type":"string","format":"binary"}`)
	case m.kind == web.MediaText && !kinds.text:
		return []byte(`{"type":"string","description":"` + "Text of the type " + web.BaseType(m.mediaType) + `"}`)
	}
	return w.write(m.schema, nil)
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
func (op *apiOperation) output(w *schemaWriter) json.RawMessage {
	answer := op.plan().answer
	var schema []byte
	switch {
	case answer.schema.doc == nil:
	case answer.kind == web.MediaJSON:
		schema = w.write(answer.schema, nil)
	case answer.kind == web.MediaText:
		schema = []byte(`{"type":"string"}`)
	default:
		schema = []byte(`{"type":"string","format":"binary"}`)
	}
	if op.catalogue.api.opts.FullResponses {
		return w.full(schema)
	}
	defs := w.writeDefs()
	if defs == nil {
		return schema
	}
	o := rawjson.Object{Raw: append([]byte{','}, schema[1:len(schema)-1]...)}
	o.Add("$defs", defs)
	return o.Bytes()
}

// full describes an answer with all its parts.
func (w *schemaWriter) full(body []byte) json.RawMessage {
	var properties rawjson.Object
	properties.Add("status", []byte(`{"type":"integer"}`))
	properties.Add("headers", []byte(`{"type":"object","additionalProperties":{"type":"string"}}`))
	if body != nil {
		properties.Add(bodyProperty, body)
	}
	return w.object(properties, []string{"status", "headers"})
}
