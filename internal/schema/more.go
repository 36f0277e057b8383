package schema

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/temporal-codemode/codemode/internal/rawjson"
)

// Properties are those of an object, in the order in which they were written.
func (s Schema) Properties() []rawjson.Entry { return rawjson.Entries(s.Get("properties")) }

// Requires says that an object must have a property.
func (s Schema) Requires(name string) bool {
	return slices.Contains(rawjson.Texts(s.Get("required")), name)
}

// Number is the value of a numeric keyword.
func (s Schema) Number(key string) (n float64, ok bool) {
	raw := s.Get(key)
	return n, rawjson.IsNumber(raw) && json.Unmarshal(raw, &n) == nil
}

// mostHops bounds how far references lead on.
const mostHops = 20

// Follow opens what a node's local reference leads to in one of the roots, and goes on from there. A description beside
// the reference counts more than the one at its end. ok is false where a reference leads nowhere.
func Follow(raw []byte, roots ...[]byte) (s Schema, ok bool) {
	s = Read(raw)
	description := s.Get("description")
	for range mostHops {
		ref := s.Text("$ref")
		if ref == "" {
			if description != nil {
				s.Members = append([]rawjson.Entry{{Key: "description", Value: description}}, s.Members...)
			}
			return s, true
		}
		target := locate(ref, roots)
		if target == nil {
			return Schema{}, false
		}
		s = Read(target)
	}
	return Schema{}, false
}

func locate(ref string, roots [][]byte) []byte {
	pointer, local := strings.CutPrefix(ref, "#")
	if !local {
		return nil
	}
	for _, root := range roots {
		if target := Pointer(root, pointer); target != nil {
			return target
		}
	}
	return nil
}

var unescape = strings.NewReplacer("~1", "/", "~0", "~")

// Pointer is what a JSON pointer leads to, nil for nothing. The empty one is the whole.
func Pointer(root []byte, pointer string) []byte {
	if pointer == "" {
		return root
	}
	for step := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		if root = rawjson.Step(root, unescape.Replace(step)); root == nil {
			return nil
		}
	}
	return root
}
