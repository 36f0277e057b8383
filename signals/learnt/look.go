package learnt

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/temporal-codemode/codemode/internal/rawjson"
)

// What is looked at of one result.
const (
	// mostLooked bounds the places, repeated ones too.
	mostLooked = 4_000
	// mostItems of an array say what the others look like.
	mostItems = 40
	// mostNames of one object: what has more is a mapping, whose keys are data.
	mostNames = 150
	// mostAlike objects under the keys of one object, with the same names inside, are a mapping, too.
	mostAlike = 5
	// largest is the size of a result, in bytes, of which nothing is learnt: no program takes it, either.
	largest = 4 << 20
)

// Look tells what a result looks like, given as wire JSON, nil for undefined. It is nil for what is too large to look
// at.
func Look(result json.RawMessage) *Shape {
	if len(result) == 0 {
		return &Shape{Seen: 1, Kinds: Undefined}
	}
	if len(result) > largest {
		return nil
	}
	l := looker{left: mostLooked}
	return bounded(l.value(result[rawjson.SkipSpace(result, 0):], 0))
}

type looker struct{ left int }

func (l *looker) value(raw []byte, depth int) *Shape {
	l.left--
	s := &Shape{Seen: 1}
	switch {
	case rawjson.IsText(raw):
		s.Kinds = String
	case rawjson.IsNumber(raw):
		s.Kinds = Number
	case rawjson.IsNull(raw):
		s.Kinds = Null
	case rawjson.IsArray(raw):
		s.Kinds = Array
		l.items(s, raw, depth)
	case rawjson.IsObject(raw):
		l.object(s, raw, depth)
	default:
		s.Kinds = Boolean
	}
	return s
}

func (l *looker) items(s *Shape, raw []byte, depth int) {
	if depth >= maxDepth {
		s.More = true
		return
	}
	n := 0
	for item := range rawjson.Elements(raw) {
		if n++; n > mostItems || l.left <= 0 {
			return
		}
		s.Items = union(s.Items, l.value(item, depth+1))
	}
}

// The keys of tags, which stand for values that JSON lacks, and what goes before a key that only reads like one. They
// are those of package wire, on which nothing here may depend.
const (
	bigintTag = "__codemode_bigint_v1__"
	binaryTag = "__codemode_binary_v1__"
)

func (l *looker) object(s *Shape, raw []byte, depth int) {
	s.Kinds, s.Objects = Object, 1
	var others []*Shape
members:
	for key, value := range rawjson.Members(raw) {
		switch {
		case key == bigintTag:
			*s = Shape{Seen: 1, Kinds: BigInt}
			return
		case key == binaryTag:
			*s = Shape{Seen: 1, Kinds: Bytes}
			return
		case l.left <= 0 || depth >= maxDepth:
			s.More = true
			break members
		}
		inside := l.value(value, depth+1)
		if !IsName(key) || len(s.Fields) >= mostNames {
			others = append(others, inside)
			continue
		}
		s.Fields = append(s.Fields, Field{key, *inside})
	}
	if len(s.Fields) >= mostNames || alike(s.Fields) {
		for i := range s.Fields {
			others = append(others, &s.Fields[i].Shape)
		}
		s.Fields = nil
	}
	for _, other := range others {
		s.Other = union(s.Other, other)
	}
	s.Fields = sorted(s.Fields)
}

// sorted orders fields by name; of a repeated one the last counts, as in JavaScript.
func sorted(fields []Field) []Field {
	slices.SortStableFunc(fields, func(a, b Field) int { return cmp.Compare(a.Name, b.Name) })
	kept := fields[:0]
	for i, f := range fields {
		if i+1 < len(fields) && fields[i+1].Name == f.Name {
			continue
		}
		kept = append(kept, f)
	}
	return kept
}

// alike tells a mapping from an object with properties: everything in it is an object with the same names inside.
func alike(fields []Field) bool {
	if len(fields) < mostAlike {
		return false
	}
	first := &fields[0].Shape
	for i := range fields {
		at := &fields[i].Shape
		if at.Kinds != Object || len(at.Fields) == 0 || len(at.Fields) != len(first.Fields) {
			return false
		}
		for j := range at.Fields {
			if at.Fields[j].Name != first.Fields[j].Name {
				return false
			}
		}
	}
	return true
}
