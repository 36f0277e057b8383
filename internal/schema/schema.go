// Package schema reads JSON Schemas where they lie, one level at a time, for those who write types or forms from them.
//
// Its rule: it reads what a keyword says and checks nothing; package validate does that.
package schema

import (
	"github.com/temporal-codemode/codemode/internal/rawjson"
)

// Schema is one node, opened.
type Schema struct {
	Raw     []byte
	Members []rawjson.Entry
}

func Read(raw []byte) Schema { return Schema{raw, rawjson.Entries(raw)} }

func (s Schema) Get(key string) []byte {
	for _, m := range s.Members {
		if m.Key == key {
			return m.Value
		}
	}
	return nil
}

func (s Schema) Has(keys ...string) bool {
	for _, key := range keys {
		if s.Get(key) != nil {
			return true
		}
	}
	return false
}

func (s Schema) Text(key string) string {
	value, _ := rawjson.String(s.Get(key))
	return value
}

func (s Schema) IsTrue(key string) bool { return string(s.Get(key)) == "true" }

// Schemas is an array of schemas, nil when it is empty or none.
func (s Schema) Schemas(key string) [][]byte {
	list, _ := rawjson.List(s.Get(key))
	return list
}

// Ref is the reference that the node consists of, in any draft's words.
func (s Schema) Ref() string {
	for _, key := range []string{"$ref", "$dynamicRef", "$recursiveRef"} {
		if ref := s.Text(key); ref != "" {
			return ref
		}
	}
	return ""
}

// Types are the type names, those implied by other keywords too if asked so.
func (s Schema) Types(implied bool) []string {
	if name, ok := rawjson.String(s.Get("type")); ok {
		return []string{name}
	}
	if list := rawjson.Texts(s.Get("type")); len(list) > 0 {
		return list
	}
	switch {
	case s.Has("properties"):
		return []string{"object"}
	case implied && s.Has("items", "prefixItems"):
		return []string{"array"}
	case implied && s.Has("additionalProperties", "patternProperties"):
		return []string{"object"}
	}
	return nil
}
