package connectors

import (
	"mime"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// mediaKind is how a body is written or read. The order is that of preference.
type mediaKind int

const (
	mediaJSON mediaKind = iota
	mediaForm
	mediaMultipart
	mediaText
	mediaBinary
)

// kindOf goes by the media type alone. Whatever is not known is bytes.
func kindOf(mediaType string) mediaKind {
	base := baseType(mediaType)
	switch {
	case base == "*/*", base == "application/*", base == "application/json", base == "text/json",
		strings.HasSuffix(base, "+json"):
		return mediaJSON
	case base == "application/x-www-form-urlencoded":
		return mediaForm
	case base == "multipart/form-data":
		return mediaMultipart
	case strings.HasPrefix(base, "text/"), strings.HasSuffix(base, "+xml"), strings.HasSuffix(base, "+yaml"),
		strings.HasSuffix(base, "/xml"), strings.HasSuffix(base, "/yaml"), strings.HasSuffix(base, "/javascript"),
		strings.HasSuffix(base, "/graphql"), strings.Contains(base, "ndjson"), strings.Contains(base, "jsonl"):
		return mediaText
	}
	return mediaBinary
}

func baseType(mediaType string) string {
	base, _, _ := strings.Cut(mediaType, ";")
	return strings.ToLower(strings.TrimSpace(base))
}

func charsetOf(mediaType string) string {
	_, parameters, err := mime.ParseMediaType(mediaType)
	if err != nil {
		return ""
	}
	return strings.ToLower(parameters["charset"])
}

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
	for name, raw := range jsonMembers(node.raw) {
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
	var o jsonObject
next:
	for key, value := range jsonMembers(raw) {
		for _, name := range names {
			if key == name {
				continue next
			}
		}
		o.add(key, value)
	}
	return o.bytes()
}
