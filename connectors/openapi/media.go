package openapi

import (
	"github.com/getkin/kin-openapi/openapi3"
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

func readFields(media *openapi3.MediaType) map[string]*formField {
	fields := map[string]*formField{}
	for name, encoding := range media.Encoding {
		method := encoding.SerializationMethod()
		fields[name] = &formField{
			contentType: encoding.ContentType, style: method.Style, explode: method.Explode,
			allowReserved: encoding.AllowReserved,
			styled:        encoding.Style != "" || encoding.Explode != nil || encoding.AllowReserved,
		}
	}
	if media.Schema == nil || media.Schema.Value == nil {
		return fields
	}
	for name, property := range media.Schema.Value.Properties {
		if list, ok := collection(property.Value.Extensions); ok {
			list.style, list.styled = styleForm, true
			fields[name] = &list
		}
	}
	return fields
}
