package openapi

import (
	"maps"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi2"

	"github.com/temporal-codemode/codemode/connectors/internal/web"
)

// prepare writes into a Swagger 2.0 document what its conversion does not look at.
func prepare(doc *openapi2.T) {
	prepareServer(doc)
	for _, scheme := range doc.SecurityDefinitions {
		if !slices.Contains(oauthFlows, scheme.Flow) {
			scheme.Flow = "implicit" // the conversion refuses all others
		}
	}
	for _, item := range doc.Paths {
		prepareParameters(item.Parameters)
		for _, op := range item.Operations() {
			prepareParameters(op.Parameters)
			op.Parameters = oneBody(op.Parameters)
			op.Consumes = bodyTypes(doc, item, op)
			if op.Produces == nil {
				op.Produces = doc.Produces // which the conversion forgets
			}
		}
		item.Parameters = oneBody(item.Parameters)
	}
}

var oauthFlows = []string{"implicit", "accessCode", "password", "application"}

// prepareServer prefers https, and takes out of the host what does not belong there.
func prepareServer(doc *openapi2.T) {
	if _, rest, ok := strings.Cut(doc.Host, "://"); ok {
		doc.Host = rest
	}
	host, path, _ := strings.Cut(doc.Host, "/")
	if doc.Host = host; path != "" {
		doc.BasePath = "/" + strings.Trim(path, "/") + "/" + strings.TrimPrefix(doc.BasePath, "/")
	}
	schemes := slices.DeleteFunc(doc.Schemes, func(s string) bool { return s != "http" && s != "https" })
	if slices.Contains(schemes, "https") {
		schemes = []string{"https"}
	}
	doc.Schemes = schemes
}

// collectionKey carries how a list is written, which the conversion knows for
// queries only, with another default and without tabs.
const collectionKey = "x-collection-format"

func prepareParameters(list openapi2.Parameters) {
	for _, p := range list {
		extensions := map[string]any{collectionKey: p.CollectionFormat}
		maps.Copy(extensions, p.Extensions)
		p.Extensions = extensions
		if p.In == "body" && p.Schema == nil {
			p.Schema = &openapi2.SchemaRef{Value: &openapi2.Schema{}}
		}
	}
}

// oneBody leaves out further bodies, and the form's fields beside a body: the conversion refuses them.
func oneBody(list openapi2.Parameters) (kept openapi2.Parameters) {
	body := slices.IndexFunc(list, func(p *openapi2.Parameter) bool { return p.In == "body" })
	for i, p := range list {
		if body < 0 || i == body || p.In != "body" && p.In != "formData" {
			kept = append(kept, p)
		}
	}
	return kept
}

// bodyTypes are the media types that a body of this kind can have.
func bodyTypes(doc *openapi2.T, item *openapi2.PathItem, op *openapi2.Operation) []string {
	types := op.Consumes
	if types == nil {
		types = doc.Consumes
	}
	form, file := false, false
	for _, p := range slices.Concat(item.Parameters, op.Parameters) {
		form, file = form || p.In == "formData", file || p.In == "formData" && p.Type.Is("file")
	}
	isMultipart := func(t string) bool { return web.KindOf(t) == web.MediaMultipart }
	isForm := func(t string) bool { return web.KindOf(t) == web.MediaForm }
	switch {
	case form && (file || slices.ContainsFunc(types, isMultipart) && !slices.ContainsFunc(types, isForm)):
		return []string{"multipart/form-data"}
	case form:
		return []string{"application/x-www-form-urlencoded"}
	}
	plain := slices.DeleteFunc(slices.Clone(types), func(t string) bool { return isForm(t) || isMultipart(t) })
	if len(plain) == 0 {
		return []string{"application/json"}
	}
	return plain
}

// collectionStyles are what arrays are called there: style, explode and separator.
var collectionStyles = map[string]formField{
	"csv":   {separator: ","},
	"ssv":   {separator: " "},
	"tsv":   {separator: "\t"},
	"pipes": {separator: "|"},
	"multi": {explode: true},
}

// collection is how Swagger 2.0 has a list written; false for documents of other versions.
func collection(extensions map[string]any) (formField, bool) {
	name, ok := extensions[collectionKey].(string)
	if !ok {
		return formField{}, false
	}
	f, known := collectionStyles[name]
	if !known {
		f = collectionStyles["csv"]
	}
	return f, true
}
