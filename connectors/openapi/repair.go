package openapi

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/temporal-codemode/codemode/internal/rawjson"
)

// repair makes of a document one that kin-openapi loads. That refuses a document
// for a single mistake, of which real ones have many; here what is wrong is left
// out, and what stands around it stays.
type repair struct {
	*grammar
	version apiVersion
	first   *apiFile
	files   *apiFiles

	depth int
	// gathered are schemas that lie outside the components, by their names there.
	gathered map[string]bool
	waiting  []place
	apart    [][]byte // see apartShape
	broken   []string // references that lead nowhere
	paths    map[string][]byte
	order    []string // of the paths
}

// place is where a reference leads.
type place struct {
	file    *apiFile
	pointer string
	raw     []byte
}

// leftOutKey says in a stub why the real thing is left out.
const leftOutKey = "x-left-out"

func leftOut(reason string) []byte {
	var o rawjson.Object
	o.Add(leftOutKey, rawjson.Quote(reason))
	return o.Bytes()
}

func whyLeftOut(extensions map[string]any) string {
	reason, _ := extensions[leftOutKey].(string)
	return reason
}

func missingReason(ref string) string {
	if ref == "" {
		return "it is not an object"
	}
	return fmt.Sprintf("its reference %q leads nowhere", ref)
}

// document gives the repaired document, and the schemas of its components apart.
func (r *repair) document() (doc, schemas []byte) {
	doc = r.grammar.document(r, r.first, r.first.raw)
	var all rawjson.Object
	for name, raw := range rawjson.Members(r.first.at(strings.TrimSuffix(r.components(), "/"))) {
		if schema := schemaShape(r, r.first, raw); schema != nil {
			all.Add(name, schema)
		}
	}
	for i := 0; i < len(r.waiting); i++ {
		all.Add(r.waiting[i].name(), schemaShape(r, r.waiting[i].file, r.waiting[i].raw))
	}
	for i, schema := range r.apart {
		all.Add(apartName+strconv.Itoa(i), schema)
	}
	return doc, all.Bytes()
}

// components is where the document has its schemas.
func (r *repair) components() string {
	if r.version == swagger2 {
		return "/definitions/"
	}
	return "/components/schemas/"
}

// pathsShape takes the paths out of the document, see decodePaths.
func pathsShape(r *repair, f *apiFile, raw []byte) []byte {
	for path, item := range rawjson.Members(raw) {
		if _, again := r.paths[path]; !again && !isExtension(path) {
			r.order = append(r.order, path)
			r.paths[path] = pathItem(r, f, item)
		}
	}
	return nil
}

func isExtension(key string) bool { return strings.HasPrefix(key, "x-") }

// pathItem puts what a path item says itself before what its reference leads to.
func pathItem(r *repair, f *apiFile, raw []byte) []byte {
	to, ref, ok := r.follow(f, raw)
	if !ok || !rawjson.IsObject(to.raw) {
		return leftOut(missingReason(ref))
	}
	of := object(r.pathItem, "")
	target := of(r, to.file, to.raw)
	if ref == "" {
		return target
	}
	own := of(r, f, raw)
	o := rawjson.Object{}
	for _, item := range [][]byte{own, target} {
		for key, value := range rawjson.Members(item) {
			if rawjson.Member(o.Bytes(), key) == nil {
				o.Add(key, value)
			}
		}
	}
	return o.Bytes()
}

// unlessSchema leaves out the content beside a schema: kin-openapi refuses both.
func unlessSchema(of shape) shape {
	return func(r *repair, f *apiFile, raw []byte) []byte {
		value := of(r, f, raw)
		if rawjson.Member(value, "schema") != nil {
			return without(value, "content")
		}
		return value
	}
}

func operationShape(r *repair, f *apiFile, raw []byte) []byte {
	if value := object(r.operation, "")(r, f, raw); value != nil {
		return value
	}
	return leftOut(missingReason(""))
}

// successes keeps the answers of 2xx.
func successes(of shape) shape {
	return func(r *repair, f *apiFile, raw []byte) []byte {
		var o rawjson.Object
		for status, response := range rawjson.Members(raw) {
			if strings.HasPrefix(status, "2") {
				o.Add(status, of(r, f, response))
			}
		}
		return o.Bytes()
	}
}

// referable follows references. A component that can be referred to is left to
// kin-openapi; what lies elsewhere is put where the reference stands.
func referable(component string, of shape) shape {
	return func(r *repair, f *apiFile, raw []byte) []byte {
		to, ref, ok := r.follow(f, raw)
		switch {
		case !ok || !rawjson.IsObject(to.raw):
			return leftOut(missingReason(ref))
		case ref != "" && component != "" && r.version != swagger2 && to.file == r.first:
			if name, ok := strings.CutPrefix(to.pointer, "/components/"+component+"/"); ok &&
				!strings.Contains(name, "/") {
				return reference(component, pointerSteps.Replace(name))
			}
		}
		return of(r, to.file, to.raw)
	}
}

// reference is one that kin-openapi understands.
func reference(component, name string) []byte {
	step := strings.ReplaceAll(pointerEscapes.Replace(name), "%", "%25")
	var o rawjson.Object
	o.Add("$ref", rawjson.Quote("#/components/"+component+"/"+step))
	return o.Bytes()
}

// maxSchemaDepth bounds how deep schemas lie in each other. What lies deeper is
// unknown: the time that kin-openapi takes grows with the depth.
const maxSchemaDepth = 100

func schemaShape(r *repair, f *apiFile, raw []byte) []byte {
	switch {
	case isBoolean(raw) && r.version == openapi31:
		return raw
	case rawjson.IsTrue(raw) || r.depth > maxSchemaDepth:
		return []byte("{}")
	case !rawjson.IsObject(raw):
		return nil
	}
	r.depth++
	defer func() { r.depth-- }()
	if !rawjson.IsText(rawjson.Member(raw, "$ref")) {
		return r.schemaObject(f, raw, nil)
	}
	return r.schemaReference(f, raw)
}

// schemaObject writes a schema; before is a schema that applies as well.
func (r *repair) schemaObject(f *apiFile, raw, before []byte) []byte {
	var o rawjson.Object
	if list := rawjson.Member(raw, "items"); rawjson.IsArray(list) {
		o.Add("prefixItems", r.grammar.schema["allOf"](r, f, list)) // as it was written before 3.1
	}
	for key, value := range rawjson.Members(object(r.schema, "properties")(r, f, raw)) {
		switch {
		case key == "allOf" && before != nil:
			value, before = append(append([]byte{'['}, before...), append([]byte{','}, value[1:]...)...), nil
		case key == "const" && rawjson.IsNull(value):
			key, value = "enum", []byte("[null]") // kin-openapi takes a null for nothing
		}
		if string(value) != "[]" || key == "default" || key == "const" {
			o.Add(key, value)
		}
	}
	if before != nil {
		o.Add("allOf", rawjson.Array([][]byte{before}))
	}
	return o.Bytes()
}

// besideReferences count beside a reference in every version, since authors mean them to.
var besideReferences = []string{"description", "nullable", "x-nullable", "readOnly", "writeOnly"}

// schemaReference makes of a reference with something beside it one of the parts
// of a schema. kin-openapi would copy what the reference leads to, and so lose
// that it is the same in all places, or leave the rest out.
func (r *repair) schemaReference(f *apiFile, raw []byte) []byte {
	to, ok := r.followSchema(f, raw)
	var beside rawjson.Object
	for key, value := range rawjson.Members(raw) {
		if key != "$ref" && (r.version == openapi31 || slices.Contains(besideReferences, key)) {
			beside.Add(key, value)
		}
	}
	var target []byte
	if ok && rawjson.IsObject(to.raw) {
		target = r.schemaAt(to)
	}
	if written := r.schemaObject(f, beside.Bytes(), target); target == nil || !beside.Empty() {
		return written
	}
	return target
}

// schemaAt refers to a schema. One that is no component becomes one: kin-openapi
// decodes it anew for every reference to it, which never ends where such schemas
// refer to each other, and its conversion of Swagger 2.0 moves what they point at.
func (r *repair) schemaAt(to place) []byte {
	name := to.component(r)
	if name == "" {
		name = to.name()
		if !r.gathered[name] {
			r.gathered[name] = true
			r.waiting = append(r.waiting, to)
		}
	}
	return reference("schemas", name)
}

const apartName = "apart#"

// apartShape takes a schema out of what it stands in, which kin-openapi decodes
// once for every level around it, and which it converts if it is Swagger 2.0.
func apartShape(r *repair, f *apiFile, raw []byte) []byte {
	schema := schemaShape(r, f, raw)
	if !rawjson.IsObject(schema) || rawjson.Member(schema, "$ref") != nil {
		return schema
	}
	r.apart = append(r.apart, schema)
	return reference("schemas", apartName+strconv.Itoa(len(r.apart)-1))
}

// component is the name of a schema among the document's, empty for others.
func (to place) component(r *repair) string {
	name, ok := strings.CutPrefix(to.pointer, r.components())
	if !ok || to.file != r.first || strings.Contains(name, "/") {
		return ""
	}
	return pointerSteps.Replace(name)
}

// name is unlike that of any component, since it has a "#".
func (to place) name() string { return to.file.path + "#" + to.pointer }

func (r *repair) miss(ref string) {
	if !slices.Contains(r.broken, ref) {
		r.broken = append(r.broken, ref)
	}
}

// typeShape keeps the types that there are.
func typeShape(_ *repair, _ *apiFile, raw []byte) []byte {
	types := rawjson.Texts(raw)
	if rawjson.IsText(raw) {
		types = []string{rawjson.Text(raw)}
	}
	known := slices.DeleteFunc(types, func(t string) bool { return !slices.Contains(knownTypes, t) })
	if len(known) == 0 {
		return nil
	}
	return rawjson.TextArray(known)
}

var knownTypes = []string{"string", "number", "integer", "boolean", "array", "object", "null", "file"}

// boundShape is a flag beside a limit, or the limit itself.
func boundShape(r *repair, f *apiFile, raw []byte) []byte {
	if isBoolean(raw) || r.version == swagger2 {
		return is(isBoolean)(r, f, raw)
	}
	return is(isDouble)(r, f, raw)
}

// openShape tells of what else there may be: a schema or a flag.
func openShape(r *repair, f *apiFile, raw []byte) []byte {
	if isBoolean(raw) {
		return raw
	}
	return schemaShape(r, f, raw)
}
