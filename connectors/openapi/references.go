package openapi

import (
	"net/url"
	"strings"

	"github.com/temporal-codemode/codemode/internal/rawjson"
)

const maxReferences = 32

// follow goes along references until something else comes, with the last one
// followed. It fails for those that lead nowhere or in a circle.
func (r *repair) follow(f *apiFile, raw []byte) (to place, ref string, ok bool) {
	to = place{file: f, raw: raw}
	for range maxReferences {
		next := rawjson.Member(to.raw, "$ref")
		if !rawjson.IsText(next) {
			return to, ref, true
		}
		if ref = rawjson.Text(next); !r.find(&to, ref) {
			break
		}
	}
	r.miss(ref)
	return place{}, ref, false
}

// followSchema stops where a schema says more beside its reference.
func (r *repair) followSchema(f *apiFile, raw []byte) (to place, ok bool) {
	last, _, ok := r.follow(f, raw)
	if !ok || r.version != openapi31 {
		return last, ok
	}
	for to = (place{file: f, raw: raw}); ; {
		r.find(&to, rawjson.Text(rawjson.Member(to.raw, "$ref")))
		if !rawjson.IsText(rawjson.Member(to.raw, "$ref")) || len(without(to.raw, "$ref")) > len("{}") {
			return to, true
		}
	}
}

// find goes to what a single reference names.
func (r *repair) find(at *place, ref string) bool {
	name, pointer, _ := strings.Cut(ref, "#")
	file := at.file
	if name != "" {
		if file = r.files.open(file.path, name); file == nil {
			return false
		}
	}
	raw := file.at(pointer)
	if plain, err := url.PathUnescape(pointer); raw == nil && err == nil {
		pointer, raw = plain, file.at(plain)
	}
	*at = place{file, pointer, raw}
	return raw != nil
}
