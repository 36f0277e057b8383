package openapi

import (
	"slices"

	"github.com/temporal-codemode/codemode/internal/rawjson"
)

// brokenReferences lists the references of the document that lead nowhere, each
// once. Those in examples and extensions are not meant as references.
func (d *apiDocument) brokenReferences() []string {
	s := referenceSearch{doc: d, seen: map[string]bool{}}
	s.visit(d.raw, false)
	return s.broken
}

type referenceSearch struct {
	doc    *apiDocument
	seen   map[string]bool
	broken []string
}

var notSchemas = []string{"example", "examples", "default", "enum", "const"}

// visit goes through a value; named tells that its members' names are chosen by
// the author of the document.
func (s *referenceSearch) visit(raw []byte, named bool) {
	for element := range rawjson.Elements(raw) {
		s.visit(element, false)
	}
	for key, value := range rawjson.Members(raw) {
		switch {
		case key == "$ref" && rawjson.IsText(value):
			s.check(rawjson.Text(value))
		case named, !slices.Contains(notSchemas, key) && !isExtension(key):
			s.visit(value, !named && slices.Contains(namedMembers, key))
		}
	}
}

// namedMembers hold what the author named.
var namedMembers = []string{
	"properties", "patternProperties", "definitions", "$defs", "dependentSchemas", "paths", "responses", "parameters",
	"schemas", "requestBodies", "headers", "content", "callbacks", "encoding", "securitySchemes", "links", "pathItems",
}

func (s *referenceSearch) check(ref string) {
	if s.seen[ref] {
		return
	}
	s.seen[ref] = true
	if _, _, ok := referenceTo(s.doc, ref).deref(); !ok {
		s.broken = append(s.broken, ref)
	}
}

func isExtension(key string) bool { return len(key) > 1 && key[0] == 'x' && key[1] == '-' }
