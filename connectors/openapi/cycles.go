package openapi

import (
	"github.com/temporal-codemode/codemode/internal/rawjson"
	"github.com/temporal-codemode/codemode/internal/words"
)

// Keywords whose schemas apply to the same value as the schema they stand in. A
// reference from there back to that schema would never come to an end, and
// makes validators refuse everything.
var inPlaceKeywords = words.Set(`allOf anyOf oneOf not if then else dependentSchemas`)

// enter notes whether what is written next applies to the same value, and gives
// the way back.
func (w *schemaWriter) enter(keyword string) (leave func()) {
	owner := w.owner
	if !inPlaceKeywords[keyword] {
		w.owner = nil
	}
	return func() { w.owner = owner }
}

// endless tells that a reference leads back to the definition that is being
// written, with nothing between.
func (w *schemaWriter) endless(target apiNode) bool {
	return w.owner != nil && leadsTo(target, w.owner, map[*byte]bool{})
}

func leadsTo(n apiNode, owner *byte, seen map[*byte]bool) bool {
	if len(n.raw) == 0 || seen[&n.raw[0]] {
		return false
	}
	if seen[&n.raw[0]] = true; &n.raw[0] == owner {
		return true
	}
	for key, raw := range rawjson.Members(n.raw) {
		switch {
		case key == "$ref":
			next, _ := n.doc.find(rawjson.Text(raw))
			if leadsTo(next, owner, seen) {
				return true
			}
		case inPlaceKeywords[key] && anyLeadsTo(apiNode{n.doc, raw}, owner, seen):
			return true
		}
	}
	return false
}

// anyLeadsTo looks at a schema, a list or a map of schemas.
func anyLeadsTo(n apiNode, owner *byte, seen map[*byte]bool) bool {
	if leadsTo(n, owner, seen) {
		return true
	}
	for raw := range rawjson.Elements(n.raw) {
		if leadsTo(apiNode{n.doc, raw}, owner, seen) {
			return true
		}
	}
	for _, raw := range rawjson.Members(n.raw) {
		if rawjson.IsObject(raw) && leadsTo(apiNode{n.doc, raw}, owner, seen) {
			return true
		}
	}
	return false
}
