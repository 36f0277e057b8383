package types

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/url"
	"strconv"
	"strings"
	"sync"

	"github.com/temporal-codemode/codemode/internal/rawjson"
	"github.com/temporal-codemode/codemode/internal/schema"
)

// document is a JSON text that schemas lie in, and what they refer to.
type document struct {
	root []byte
	// defs are the definitions in their order, found by container and key.
	defs   []definition
	byKey  map[[2]string][]byte
	shared *document
	// walked remembers where pointers to other places led.
	walked sync.Map
	// names are the type names of nodes that references lead to, by the node's
	// first byte, which identifies it.
	names map[*byte]string
}

// definition is a schema that has a name of its own.
type definition struct {
	container, key string
	raw            []byte
}

var containers = [][]string{{"$defs"}, {"definitions"}, {"components", "schemas"}}

// shelves are other places that references lead to in OpenAPI documents. What
// lies there is shown in its place.
var shelves = [][]string{
	{"components", "parameters"}, {"components", "responses"}, {"components", "requestBodies"},
	{"components", "headers"},
	{"parameters"}, {"responses"},
}

var errNotJSON = errors.New("the schema is not valid JSON")

// newDocument reads where the definitions are; references not found in the text
// are looked up in shared, which may be nil.
func newDocument(raw []byte, shared *document) (*document, error) {
	if !json.Valid(raw) {
		return nil, errNotJSON
	}
	d := &document{root: bytes.TrimSpace(raw), shared: shared, byKey: map[[2]string][]byte{}, names: map[*byte]string{}}
	for _, path := range containers {
		container := strings.Join(path, "/")
		for _, m := range d.index(path) {
			d.defs = append(d.defs, definition{container, m.Key, m.Value})
		}
	}
	for _, path := range shelves {
		d.index(path)
	}
	return d, nil
}

func (d *document) index(path []string) []rawjson.Entry {
	at, _ := walk(d.root, path)
	members := rawjson.Entries(at)
	for _, m := range members {
		d.byKey[[2]string{strings.Join(path, "/"), m.Key}] = m.Value
	}
	return members
}

// resolve finds what a reference leads to. References to other documents are
// not followed.
func (d *document) resolve(ref string) ([]byte, bool) {
	for at := d; at != nil; at = at.shared {
		if raw, ok := at.local(ref); ok {
			return raw, true
		}
	}
	return nil, false
}

func (d *document) local(ref string) ([]byte, bool) {
	fragment, local := strings.CutPrefix(ref, "#")
	switch {
	case ref == "#":
		return d.root, true
	case local && strings.HasPrefix(fragment, "/"):
		return d.pointer(fragment)
	}
	return d.anchor(ref)
}

func (d *document) pointer(pointer string) ([]byte, bool) {
	if raw, ok := d.steps(pointerSteps(pointer)); ok {
		return raw, true
	}
	if plain, err := url.PathUnescape(pointer); err == nil && plain != pointer {
		return d.steps(pointerSteps(plain))
	}
	return nil, false
}

func pointerSteps(pointer string) []string {
	steps := strings.Split(pointer[1:], "/")
	for i, s := range steps {
		steps[i] = strings.ReplaceAll(strings.ReplaceAll(s, "~1", "/"), "~0", "~")
	}
	return steps
}

// steps saves the way through a large document's containers.
func (d *document) steps(steps []string) ([]byte, bool) {
	for n := 1; n <= 2 && n < len(steps); n++ {
		if raw, ok := d.byKey[[2]string{strings.Join(steps[:n], "/"), steps[n]}]; ok {
			return walk(raw, steps[n+1:])
		}
	}
	key := strings.Join(steps, "\x00")
	if raw, ok := d.walked.Load(key); ok {
		return raw.([]byte), raw.([]byte) != nil
	}
	raw, ok := walk(d.root, steps)
	if !ok {
		raw = nil
	}
	d.walked.Store(key, raw)
	return raw, ok
}

func walk(raw []byte, steps []string) ([]byte, bool) {
	for _, step := range steps {
		inner, ok := child(raw, step)
		if !ok {
			return nil, false
		}
		raw = inner
	}
	return raw, true
}

func child(raw []byte, step string) ([]byte, bool) {
	for _, m := range rawjson.Entries(raw) {
		if m.Key == step {
			return m.Value, true
		}
	}
	items, _ := rawjson.List(raw)
	for i, item := range items {
		if step == strconv.Itoa(i) {
			return item, true
		}
	}
	return nil, false
}

// anchor finds a definition by the name or address that it gives itself.
func (d *document) anchor(ref string) ([]byte, bool) {
	for _, def := range d.defs {
		s := schema.Read(def.raw)
		for _, key := range []string{"$anchor", "$dynamicAnchor"} {
			if name := s.Text(key); name != "" && ref == "#"+name {
				return def.raw, true
			}
		}
		if id := s.Text("$id"); id != "" && id == ref || s.Text("id") == ref && ref != "" {
			return def.raw, true
		}
	}
	return nil, false
}
