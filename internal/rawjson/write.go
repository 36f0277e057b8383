package rawjson

import (
	"bytes"
	"encoding/json"
)

// Marshal is json.Marshal that leaves <, > and & alone.
func Marshal(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// Quote is the string literal of a text.
func Quote(text string) []byte {
	raw, _ := Marshal(text) // strings always can be
	return raw
}

// Object writes an object member by member.
type Object struct{ Raw []byte }

// Add appends a member, whose value is JSON already.
func (o *Object) Add(name string, value []byte) {
	o.Raw = append(append(o.Raw, ','), Quote(name)...)
	o.Raw = append(append(o.Raw, ':'), value...)
}

// Empty tells that nothing was added.
func (o *Object) Empty() bool { return len(o.Raw) == 0 }

// Bytes is the object.
func (o *Object) Bytes() []byte {
	if o.Empty() {
		return []byte("{}")
	}
	return append(append([]byte{'{'}, o.Raw[1:]...), '}')
}

// Array writes an array of what is JSON already.
func Array(elements [][]byte) []byte {
	return append(append([]byte{'['}, bytes.Join(elements, []byte{','})...), ']')
}

// TextArray writes an array of strings.
func TextArray(texts []string) []byte {
	raw, _ := Marshal(texts)
	return raw
}
