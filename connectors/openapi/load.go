package openapi

import (
	"encoding/json"
	"runtime"

	"github.com/getkin/kin-openapi/openapi2"
	"github.com/getkin/kin-openapi/openapi2conv"
	"github.com/getkin/kin-openapi/openapi3"
)

// turns bounds how many documents are decoded at once: one takes up many times
// its size meanwhile, and a set loads all its connectors at the same time.
var turns = make(chan struct{}, runtime.GOMAXPROCS(0))

// apiDocument is a document that is loaded.
type apiDocument struct {
	*openapi3.T
	raw    []byte
	paths  []string // in their order
	broken []string // the references in it that lead nowhere
}

// parse loads a document with kin-openapi.
func parse(data []byte, files *apiFiles, name string) (*apiDocument, error) {
	first, err := parseFile(data, name)
	if err != nil {
		return nil, err
	}
	version, err := first.version()
	if err != nil {
		return nil, err
	}
	r := &repair{
		grammar: newGrammar(version), version: version, first: first, files: files,
		gathered: map[string]bool{}, paths: map[string][]byte{},
	}
	files.opened = map[string]*apiFile{name: first}
	raw, rawSchemas := r.document()
	var schemas openapi3.Schemas
	if err := json.Unmarshal(rawSchemas, &schemas); err != nil {
		return nil, err
	}
	load := decode
	if version == swagger2 {
		load = convert
	}
	doc, err := load(raw, r.paths, schemas)
	if err != nil {
		return nil, err
	}
	// The loader opens nothing by itself: files were followed before.
	return &apiDocument{doc, first.raw, r.order, r.broken}, openapi3.NewLoader().ResolveRefsIn(doc, nil)
}

func decode(raw []byte, paths map[string][]byte, schemas openapi3.Schemas) (*openapi3.T, error) {
	doc := &openapi3.T{}
	if err := json.Unmarshal(raw, doc); err != nil {
		return nil, err
	}
	items, err := decodePaths[openapi3.PathItem](paths)
	if err != nil {
		return nil, err
	}
	doc.Paths = openapi3.NewPathsWithCapacity(len(items))
	for path, item := range items {
		doc.Paths.Set(path, item)
	}
	if doc.Components == nil {
		doc.Components = &openapi3.Components{}
	}
	doc.Components.Schemas = schemas
	return doc, nil
}

// decodePaths decodes path items one by one: as parts of a document they would
// be decoded five times over.
func decodePaths[Item any](paths map[string][]byte) (map[string]*Item, error) {
	items := make(map[string]*Item, len(paths))
	for path, raw := range paths {
		item := new(Item)
		if err := json.Unmarshal(raw, item); err != nil {
			return nil, err
		}
		items[path] = item
	}
	return items, nil
}

// convert makes OpenAPI 3 of Swagger 2.0. The conversion is given empty schemas,
// which are filled afterwards: it knows neither anyOf nor oneOf, leaves out "not",
// and does not reach the references in additionalProperties.
func convert(raw []byte, paths map[string][]byte, schemas openapi3.Schemas) (doc *openapi3.T, err error) {
	var old openapi2.T
	if err := json.Unmarshal(raw, &old); err != nil {
		return nil, err
	}
	if old.Paths, err = decodePaths[openapi2.PathItem](paths); err != nil {
		return nil, err
	}
	old.Definitions = map[string]*openapi2.SchemaRef{}
	for name := range schemas {
		old.Definitions[name] = &openapi2.SchemaRef{Value: &openapi2.Schema{}}
	}
	prepare(&old)
	if doc, err = openapi2conv.ToV3(&old); err != nil {
		return nil, err
	}
	for name, schema := range schemas {
		if schema.Ref != "" {
			doc.Components.Schemas[name] = schema
			continue
		}
		*doc.Components.Schemas[name].Value = *schema.Value
	}
	return doc, nil
}
