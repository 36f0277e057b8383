package learnt

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Kinds are the broad types that values at one place had.
type Kinds uint16

// The broad types. Undefined is what a method answers that returns nothing.
const (
	Null Kinds = 1 << iota
	Boolean
	Number
	String
	BigInt
	Bytes
	Array
	Object
	Undefined
)

// kindNames are their names in TypeScript, and the letters that stand for them in JSON.
var kindNames = []struct {
	kind         Kinds
	letter, name string
}{
	{String, "s", "string"}, {Number, "n", "number"}, {BigInt, "i", "bigint"}, {Boolean, "b", "boolean"},
	{Bytes, "y", "Uint8Array"}, {Array, "a", "array"}, {Object, "o", "object"}, {Null, "z", "null"},
	{Undefined, "u", "undefined"},
}

// Names lists the kinds, always in the same order.
func (k Kinds) Names() (list []string) {
	for _, each := range kindNames {
		if k&each.kind != 0 {
			list = append(list, each.name)
		}
	}
	return list
}

// Has tells whether values had one of the kinds.
func (k Kinds) Has(kinds Kinds) bool { return k&kinds != 0 }

// MarshalText writes a letter for each kind.
func (k Kinds) MarshalText() ([]byte, error) {
	var letters []byte
	for _, each := range kindNames {
		if k&each.kind != 0 {
			letters = append(letters, each.letter...)
		}
	}
	return letters, nil
}

// UnmarshalText passes over letters that it does not know.
func (k *Kinds) UnmarshalText(letters []byte) error {
	*k = 0
	for _, each := range kindNames {
		if strings.Contains(string(letters), each.letter) {
			*k |= each.kind
		}
	}
	return nil
}

// Shape is what the values at one place look like.
type Shape struct {
	// Seen counts the values that were looked at, and Objects those of them that were objects.
	Seen    int   `json:"n"`
	Objects int   `json:"m,omitempty"`
	Kinds   Kinds `json:"t"`
	// Fields are what objects have under keys that are names, by name.
	Fields []Field `json:"f,omitempty"`
	// Other is what they have under all other keys.
	Other *Shape `json:"o,omitempty"`
	// Items are the elements of arrays.
	Items *Shape `json:"i,omitempty"`
	// More says that there was more inside than is kept.
	More bool `json:"x,omitempty"`
}

// Field is what objects have under a name. Seen counts the objects that have it.
type Field struct {
	Name string `json:"k"`
	Shape
}

// Field finds what is under a name.
func (s *Shape) Field(name string) *Shape {
	at, found := slices.BinarySearchFunc(s.Fields, name, byName)
	if !found {
		return nil
	}
	return &s.Fields[at].Shape
}

func byName(f Field, name string) int { return cmp.Compare(f.Name, name) }

// maxCount keeps counts from running over.
const maxCount = 1 << 50

func count(a, b int) int { return min(max(a, 0)+max(b, 0), maxCount) }

// Merge adds what two shapes know, and leaves both as they are.
func Merge(a, b *Shape) *Shape { return bounded(union(a, b)) }

func union(a, b *Shape) *Shape {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return &Shape{
		Seen: count(a.Seen, b.Seen), Objects: count(a.Objects, b.Objects), Kinds: a.Kinds | b.Kinds,
		Fields: unionFields(a.Fields, b.Fields), Other: union(a.Other, b.Other), Items: union(a.Items, b.Items),
		More: a.More || b.More,
	}
}

func unionFields(a, b []Field) []Field {
	if len(a) == 0 || len(b) == 0 {
		return append(a[:len(a):len(a)], b...)
	}
	all := make([]Field, 0, max(len(a), len(b)))
	for len(a) > 0 && len(b) > 0 {
		switch order := cmp.Compare(a[0].Name, b[0].Name); {
		case order < 0:
			all, a = append(all, a[0]), a[1:]
		case order > 0:
			all, b = append(all, b[0]), b[1:]
		default:
			all = append(all, Field{a[0].Name, *union(&a[0].Shape, &b[0].Shape)})
			a, b = a[1:], b[1:]
		}
	}
	return append(append(all, a...), b...)
}

const (
	// maxNodes bounds a shape: places of values in it.
	maxNodes = 400
	// maxDepth bounds how deep they are inside one another.
	maxDepth = 10
)

// bounded keeps the first places of a shape: level by level, those of one level in the order of their names. The order
// depends on nothing else, so merging what was bounded before gives what bounding the whole would.
func bounded(s *Shape) *Shape {
	if s == nil || s.nodes(0) <= maxNodes {
		return s
	}
	root := *s
	left := maxNodes - 1
	for level, depth := []*Shape{&root}, 0; len(level) > 0; depth++ {
		var next []*Shape
		for _, at := range level {
			next = append(next, at.keep(&left, depth)...)
		}
		level = next
	}
	return &root
}

// keep copies what is inside as far as there is room, and gives it.
func (s *Shape) keep(left *int, depth int) (kept []*Shape) {
	room := *left
	if depth >= maxDepth {
		room = 0
	}
	if n := min(len(s.Fields), room); n < len(s.Fields) {
		s.Fields, s.More = s.Fields[:n], true
	}
	s.Fields = slices.Clone(s.Fields)
	for i := range s.Fields {
		kept = append(kept, &s.Fields[i].Shape)
	}
	for _, inner := range []**Shape{&s.Other, &s.Items} {
		switch {
		case *inner == nil:
		case len(kept) >= room:
			*inner, s.More = nil, true
		default:
			inside := **inner
			*inner = &inside
			kept = append(kept, &inside)
		}
	}
	*left -= len(kept)
	return kept
}

// nodes counts the places of a shape; what is too deep counts as too many.
func (s *Shape) nodes(depth int) int {
	if depth > maxDepth {
		return maxNodes + 1
	}
	n := 1
	for i := range s.Fields {
		n += s.Fields[i].nodes(depth + 1)
	}
	for _, inner := range []*Shape{s.Other, s.Items} {
		if inner != nil {
			n += inner.nodes(depth + 1)
		}
	}
	return n
}

// Covers tells whether a shape already says all that another does but for its counts.
func (s *Shape) Covers(other *Shape) bool {
	switch {
	case other == nil:
		return true
	case s == nil:
		return false
	case s.Kinds|other.Kinds != s.Kinds, other.More && !s.More, s.Objects > 0 && !s.coversMissing(other):
		return false
	}
	for i := range other.Fields {
		if f := s.Field(other.Fields[i].Name); f == nil && !s.More || f != nil && !f.Covers(&other.Fields[i].Shape) {
			return false
		}
	}
	return (s.Other.Covers(other.Other) && s.Items.Covers(other.Items)) || s.More
}

// coversMissing tells whether the names that another shape's objects lack were missing before.
func (s *Shape) coversMissing(other *Shape) bool {
	for i := range s.Fields {
		if other.Objects == 0 || s.Fields[i].Seen < s.Objects {
			continue
		}
		if f := other.Field(s.Fields[i].Name); f == nil || f.Seen < other.Objects {
			return false
		}
	}
	return true
}

// Check refuses what no worker makes: names that are none, in an order that is none, or more than the bounds.
func (s *Shape) Check() error {
	if s.nodes(0) > maxNodes {
		return fmt.Errorf("a learnt type has more than %d places", maxNodes)
	}
	return s.check()
}

func (s *Shape) check() error {
	for i := range s.Fields {
		name := s.Fields[i].Name
		if !IsName(name) || i > 0 && s.Fields[i-1].Name >= name {
			return fmt.Errorf("a learnt type has a key that is no name")
		}
		if err := s.Fields[i].check(); err != nil {
			return err
		}
	}
	for _, inner := range []*Shape{s.Other, s.Items} {
		if inner == nil {
			continue
		}
		if err := inner.check(); err != nil {
			return err
		}
	}
	return nil
}

// size is what a shape takes as JSON.
func (s *Shape) size() int {
	text, err := json.Marshal(s)
	if err != nil {
		return 0
	}
	return len(text)
}

const (
	// Of so many names under which objects have something, in so many objects, most should be there more than once.
	manyNames   = 8
	manyObjects = 4
)

// Mapping tells objects whose keys are data though they read like names: most of them were seen in one object only.
func (s *Shape) Mapping() bool {
	if len(s.Fields) <= manyNames || s.Objects < manyObjects {
		return false
	}
	once := 0
	for i := range s.Fields {
		if s.Fields[i].Seen == 1 {
			once++
		}
	}
	return once*2 > len(s.Fields)
}

// Values is what objects have under any key.
func (s *Shape) Values() *Shape {
	all := s.Other
	for i := range s.Fields {
		all = union(all, &s.Fields[i].Shape)
	}
	return bounded(all)
}
