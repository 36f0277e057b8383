package openapi

import (
	"github.com/getkin/kin-openapi/openapi3"

	"github.com/temporal-codemode/codemode/internal/rawjson"
)

// formField says how one member of a form is written.
type formField struct {
	contentType   string
	style         string
	explode       bool
	allowReserved bool
	// separator joins a list in place of the style's own.
	separator string
	// styled tells that the document chose the style; otherwise objects go as JSON.
	styled bool
}

func readEncoding(node apiNode) map[string]*formField {
	fields := map[string]*formField{}
	for name, raw := range rawjson.Members(node.raw) {
		var encoding openapi3.Encoding
		if encoding.UnmarshalJSON(without(raw, "headers")) != nil {
			continue
		}
		method := encoding.SerializationMethod()
		fields[name] = &formField{
			contentType: encoding.ContentType, style: method.Style, explode: method.Explode, allowReserved: encoding.AllowReserved,
			styled: encoding.Style != "" || encoding.Explode != nil || encoding.AllowReserved,
		}
	}
	return fields
}

// without is an object less some of its members.
func without(raw []byte, names ...string) []byte {
	var o rawjson.Object
next:
	for key, value := range rawjson.Members(raw) {
		for _, name := range names {
			if key == name {
				continue next
			}
		}
		o.Add(key, value)
	}
	return o.Bytes()
}
