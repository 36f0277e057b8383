package openapi

import (
	"bytes"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"

	"github.com/temporal-codemode/codemode/connectors/internal/web"
	"github.com/temporal-codemode/codemode/internal/rawjson"
	"github.com/temporal-codemode/codemode/internal/words"
)

// apiDocument is one file: a whole OpenAPI document, or a part that another
// file refers to.
type apiDocument struct {
	raw []byte
	// swagger marks version 2.0, modern 3.1 and later, where keywords beside a
	// $ref count.
	swagger, modern bool
	// path is where the file is below the folder of the first one.
	path  string
	files *apiFiles
	// top are the members of the whole, which may be far apart.
	top map[string][]byte
	// places are the components by pointer, found is what searching has given.
	places map[string][]byte
	found  sync.Map
}

// apiNode is a value in a document.
type apiNode struct {
	doc *apiDocument
	raw []byte
}

func (n apiNode) get(name string) apiNode { return apiNode{n.doc, rawjson.Member(n.raw, name)} }
func (n apiNode) text(name string) string { return rawjson.Text(rawjson.Member(n.raw, name)) }

// components are the places whose members references usually lead to.
var components = [][]string{
	{"definitions"}, {"parameters"}, {"responses"}, {"securityDefinitions"},
	{"components", "schemas"}, {"components", "parameters"}, {"components", "responses"}, {"components", "requestBodies"},
	{"components", "headers"}, {"components", "securitySchemes"}, {"components", "pathItems"},
}

// parseDocument reads JSON or YAML.
func parseDocument(data []byte, at string, files *apiFiles) (*apiDocument, error) {
	data = bytes.TrimSpace(bytes.TrimPrefix(data, []byte("\uFEFF")))
	if !rawjson.IsObject(data) {
		var err error
		if data, err = yamlToJSON(data); err != nil {
			return nil, err
		}
	}
	raw, err := rawjson.Compact(data)
	if err != nil {
		return nil, err
	}
	doc := &apiDocument{raw: raw, path: at, files: files, top: map[string][]byte{}, places: map[string][]byte{}}
	for name, value := range rawjson.Members(raw) {
		doc.top[name] = value
	}
	for _, place := range components {
		for name, value := range rawjson.Members(rawjson.Path(doc.top[place[0]], place[1:]...)) {
			doc.places["/"+strings.Join(place, "/")+"/"+pointerStep(name)] = value
		}
	}
	return doc, nil
}

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

func pointerStep(name string) string { return pointerEscapes.Replace(name) }

// checkVersion tells what the document is, and refuses what it cannot be.
func (d *apiDocument) checkVersion() error {
	if !rawjson.IsObject(d.raw) {
		return errors.New("it is not an OpenAPI document")
	}
	swagger, version := d.top["swagger"], rawjson.Text(d.top["openapi"])
	switch {
	case version == "3.0" || strings.HasPrefix(version, "3.0."):
	case strings.HasPrefix(version, "3."):
		d.modern = true
	case version != "":
		return fmt.Errorf("it is of OpenAPI version %s, but only 2.0, 3.0 and 3.1 are known", words.Shorten(version, 20))
	case rawjson.Text(swagger) == "2.0" || string(swagger) == "2.0" || string(swagger) == "2":
		d.swagger = true
	default:
		return errors.New(`it is not an OpenAPI document: it has neither "openapi" nor "swagger": "2.0"`)
	}
	return nil
}

// pointer finds a place in the document, nil when there is none.
func (d *apiDocument) pointer(pointer string) []byte {
	if at, ok := d.places[pointer]; ok {
		return at
	}
	if plain, err := url.PathUnescape(pointer); err == nil && plain != pointer {
		return d.pointer(plain)
	}
	if at, ok := d.found.Load(pointer); ok {
		return at.([]byte)
	}
	at := d.search(pointer)
	if at != nil {
		d.found.Store(pointer, at)
	}
	return at
}

func (d *apiDocument) search(pointer string) []byte {
	if pointer == "" {
		return d.raw
	}
	if pointer[0] != '/' {
		return nil
	}
	at := d.raw
	for step := range strings.SplitSeq(pointer[1:], "/") {
		at = rawjson.Step(at, strings.ReplaceAll(strings.ReplaceAll(step, "~1", "/"), "~0", "~"))
	}
	return at
}

const maxReferences = 32

// deref follows references until something else comes, with the last reference
// followed. It fails for those that lead nowhere or in a circle.
func (n apiNode) deref() (target apiNode, ref string, ok bool) {
	for range maxReferences {
		raw := rawjson.Member(n.raw, "$ref")
		if !rawjson.IsText(raw) {
			return n, ref, n.raw != nil
		}
		ref = rawjson.Text(raw)
		if n, ok = n.doc.find(ref); !ok {
			return apiNode{}, ref, false
		}
	}
	return apiNode{}, ref, false
}

// schemaTarget is deref for schemas, which may say more beside a reference: it
// stops there.
func (n apiNode) schemaTarget() (target apiNode, ref string, ok bool) {
	last, ref, ok := n.deref()
	if !ok || !n.doc.modern {
		return last, ref, ok
	}
	for range maxReferences {
		ref = n.text("$ref")
		n, _ = n.doc.find(ref)
		if !rawjson.IsText(rawjson.Member(n.raw, "$ref")) || len(without(n.raw, "$ref")) > len("{}") {
			break
		}
	}
	return n, ref, true
}

// resolved is the node itself or what it refers to, empty when that fails.
func (n apiNode) resolved() apiNode {
	target, _, _ := n.deref()
	if target.doc == nil {
		target.doc = n.doc
	}
	return target
}

// referenceTo makes a node that consists of a reference.
func referenceTo(d *apiDocument, ref string) apiNode {
	var o rawjson.Object
	o.Add("$ref", rawjson.Quote(ref))
	return apiNode{d, o.Bytes()}
}

// find gives what a single reference names.
func (d *apiDocument) find(ref string) (apiNode, bool) {
	file, fragment, _ := strings.Cut(ref, "#")
	doc := d
	if file != "" {
		if doc = d.files.open(d.path, file); doc == nil {
			return apiNode{}, false
		}
	}
	found := doc.pointer(fragment)
	return apiNode{doc, found}, found != nil
}

// apiFiles are the files of a document that was read from one. Only what lies
// in the folder of the first or below is opened.
type apiFiles struct {
	folder string // empty: none can be opened

	mu     sync.Mutex
	opened map[string]*apiDocument // nil for those that cannot be read
	first  *apiDocument
}

func (f *apiFiles) begin(doc *apiDocument) {
	f.first = doc
	f.opened = map[string]*apiDocument{doc.path: doc}
}

func (f *apiFiles) open(from, name string) *apiDocument {
	if f.folder == "" || strings.Contains(name, "://") {
		return nil
	}
	if plain, err := url.PathUnescape(name); err == nil {
		name = plain
	}
	at := path.Join(path.Dir(from), name)
	f.mu.Lock()
	defer f.mu.Unlock()
	doc, known := f.opened[at]
	if !known {
		doc = f.read(at)
		f.opened[at] = doc
	}
	return doc
}

func (f *apiFiles) read(at string) *apiDocument {
	file, err := os.OpenInRoot(f.folder, filepath.FromSlash(at))
	if err != nil {
		return nil
	}
	defer file.Close()
	data, err := web.ReadLimited(file, maxDocumentBytes)
	if err != nil {
		return nil
	}
	doc, err := parseDocument(data, at, f)
	if err != nil {
		return nil
	}
	doc.swagger, doc.modern = f.first.swagger, f.first.modern
	return doc
}

// several tells whether files beside the first were looked for.
func (f *apiFiles) several() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.opened) > 1
}
