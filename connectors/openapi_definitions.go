package connectors

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
)

// Schemas of one method are cut where they would fill a model's context many
// times over: what lies deeper, in order of distance, is unknown there.
const (
	maxInputDefs  = 256 << 10
	maxOutputDefs = 128 << 10
	// maxEagerDefs is for outputs that are made of all methods at once.
	maxEagerDefs = 16 << 10
)

// definitionNames names the schemas that references lead to, the same in all
// methods of a catalogue.
type definitionNames struct {
	mu      sync.Mutex
	byPlace map[string]string
	byName  map[string]apiNode
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
	return name
}

func (d *definitionNames) find(name string) (apiNode, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	node, ok := d.byName[name]
	return node, ok
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
	names *definitionNames
	seen  map[string]bool
	queue []schemaDef
}

type schemaDef struct {
	name string
	node apiNode
}

func (d *schemaDefs) name(target apiNode, ref string) string {
	name := d.names.name(target, ref)
	if !d.seen[name] {
		d.seen[name] = true
		d.queue = append(d.queue, schemaDef{name, target})
	}
	return name
}

// write gives the definitions, and nothing when there are none. Past the limit
// they are empty.
func (d *schemaDefs) write(w *schemaWriter, limit int) []byte {
	var o jsonObject
	for len(d.queue) > 0 {
		next := d.queue[0]
		d.queue = d.queue[1:]
		if len(o.raw) > limit {
			o.add(next.name, []byte("{}"))
			continue
		}
		o.add(next.name, w.write(next.node, nil))
	}
	if o.empty() {
		return nil
	}
	return o.bytes()
}

func (c *apiCatalogue) writer(input bool) *schemaWriter {
	w := &schemaWriter{defs: &schemaDefs{names: c.names, seen: map[string]bool{}}, hidden: "writeOnly"}
	if input {
		w.hidden = "readOnly"
	}
	return w
}

// inputSchema describes the argument. Lenient lets numbers and booleans through
// where a parameter wants a string, for callers that do not normalize.
func (op *apiOperation) inputSchema(lenient bool) json.RawMessage {
	p, w := op.plan(), op.catalogue.writer(true)
	var (
		properties jsonObject
		required   []string
	)
	for _, parameter := range p.parameters {
		properties.add(parameter.property, parameter.inputSchema(w, lenient))
		if !parameter.optional() {
			required = append(required, parameter.property)
		}
	}
	if len(p.media) > 0 {
		properties.add(bodyProperty, p.bodySchema(w))
		if p.bodyRequired {
			required = append(required, bodyProperty)
		}
	}
	if len(p.media) > 1 {
		properties.add(typeProperty, p.typeSchema())
	}
	return objectSchema(w, properties, required, maxInputDefs)
}

func objectSchema(w *schemaWriter, properties jsonObject, required []string, limit int) json.RawMessage {
	var o jsonObject
	o.add("type", quoteJSON("object"))
	o.add("properties", properties.bytes())
	if required != nil {
		o.add("required", textArray(required))
	}
	if defs := w.defs.write(w, limit); defs != nil {
		o.add("$defs", defs)
	}
	return o.bytes()
}

func (p *apiParameter) inputSchema(w *schemaWriter, lenient bool) []byte {
	schema := w.write(p.schema, nil)
	if kinds := p.schema.kinds(0); lenient && kinds.text && !(kinds.number && kinds.boolean) && !p.asJSON {
		var o jsonObject
		o.add("anyOf", jsonArray([][]byte{schema, []byte(`{"type":["number","boolean"]}`)}))
		schema = o.bytes()
	}
	return describeSchema(schema, p.description, p.deprecated)
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
		var o jsonObject
		o.add("anyOf", jsonArray(list))
		schema = o.bytes()
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
	case m.kind == mediaBinary:
		return []byte(`{"type":"string","format":"binary"}`)
	case m.kind == mediaText && !kinds.text:
		return []byte(`{"type":"string","description":"` + "Text of the type " + baseType(m.mediaType) + `"}`)
	}
	return w.write(m.schema, nil)
}

func (p *apiPlan) typeSchema() []byte {
	var types []string
	for _, m := range p.media {
		types = append(types, m.mediaType)
	}
	var o jsonObject
	o.add("type", quoteJSON("string"))
	o.add("enum", textArray(types))
	o.add("description", quoteJSON("How the body is sent. Default: "+types[0]))
	return o.bytes()
}

// outputSchema describes the result, nil where the document does not.
func (op *apiOperation) outputSchema(limit int) json.RawMessage {
	answer, w := op.plan().answer, op.catalogue.writer(false)
	var schema []byte
	switch {
	case answer.schema.doc == nil:
	case answer.kind == mediaJSON:
		schema = w.write(answer.schema, nil)
	case answer.kind == mediaText:
		schema = []byte(`{"type":"string"}`)
	default:
		schema = []byte(`{"type":"string","format":"binary"}`)
	}
	if op.catalogue.api.opts.FullResponses {
		return fullSchema(w, schema, limit)
	}
	return withDefs(w, schema, limit)
}

func withDefs(w *schemaWriter, schema []byte, limit int) json.RawMessage {
	defs := w.defs.write(w, limit)
	if defs == nil {
		return schema
	}
	o := jsonObject{raw: append([]byte{','}, schema[1:len(schema)-1]...)}
	o.add("$defs", defs)
	return o.bytes()
}

func fullSchema(w *schemaWriter, body []byte, limit int) json.RawMessage {
	var properties jsonObject
	properties.add("status", []byte(`{"type":"integer"}`))
	properties.add("headers", []byte(`{"type":"object","additionalProperties":{"type":"string"}}`))
	if body != nil {
		properties.add(bodyProperty, body)
	}
	return objectSchema(w, properties, []string{"status", "headers"}, limit)
}

// definition is a named schema by itself.
func (c *apiCatalogue) definition(name string) json.RawMessage {
	node, ok := c.names.find(name)
	if !ok {
		return nil
	}
	w := c.writer(false)
	w.hidden = "" // shown whole: it may be asked for either way
	return withDefs(w, w.write(node, nil), maxOutputDefs)
}
