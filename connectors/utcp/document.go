package utcp

import (
	"encoding/json"
	"strings"
	"sync"
)

// document is JSON that references lead into. A large one is decoded only where they do, and there once.
type document struct {
	text func() json.RawMessage

	mu      sync.Mutex
	objects map[string]map[string]json.RawMessage // by pointer
}

func newDocument(text func() json.RawMessage) *document {
	return &document{text: text, objects: map[string]map[string]json.RawMessage{}}
}

// at is what a JSON pointer leads to; nil where there is nothing.
func (d *document) at(pointer string) json.RawMessage {
	if pointer == "" {
		return d.text()
	}
	i := strings.LastIndexByte(pointer, '/')
	if i < 0 {
		return nil
	}
	return d.object(pointer[:i])[strings.NewReplacer("~1", "/", "~0", "~").Replace(pointer[i+1:])]
}

func (d *document) object(pointer string) map[string]json.RawMessage {
	d.mu.Lock()
	known, ok := d.objects[pointer]
	d.mu.Unlock()
	if ok {
		return known
	}
	var members map[string]json.RawMessage
	_ = json.Unmarshal(d.at(pointer), &members) // what is no object has no members
	d.mu.Lock()
	defer d.mu.Unlock()
	d.objects[pointer] = members
	return members
}
