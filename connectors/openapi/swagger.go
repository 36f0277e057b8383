package openapi

import (
	"fmt"
	"slices"
	"strings"

	"github.com/temporal-codemode/codemode/connectors/internal/web"
	"github.com/temporal-codemode/codemode/internal/rawjson"
	"github.com/temporal-codemode/codemode/internal/words"
)

// Swagger 2.0 has its schemas inside the parameters, bodies among the
// parameters, and the media types apart from both.

// collectionStyles are what arrays are called there: style, explode and separator.
var collectionStyles = map[string]formField{
	"csv":   {separator: ","},
	"ssv":   {separator: " "},
	"tsv":   {separator: "\t"},
	"pipes": {separator: "|"},
	"multi": {explode: true},
}

func readSwaggerParameter(node apiNode) (*apiParameter, error) {
	p := &apiParameter{
		name: node.text("name"), in: node.text("in"), description: node.text("description"),
		required: rawjson.IsTrue(rawjson.Member(node.raw, "required")), deprecated: rawjson.IsTrue(rawjson.Member(node.raw, "deprecated")), schema: node,
	}
	p.setCollection(node)
	switch {
	case p.in == "body":
		p.schema = node.get("schema")
		return p, nil
	case p.in == "formData" && p.name != "":
		return p, nil
	case p.name == "" || stylesOf[p.in] == nil:
		return nil, fmt.Errorf("%q in %q is no parameter", words.Shorten(p.name, words.MaxValue), words.Shorten(p.in, words.MaxValue))
	}
	return p, p.check()
}

func (p *apiParameter) setCollection(node apiNode) {
	collection, ok := collectionStyles[node.text("collectionFormat")]
	if !ok {
		collection = collectionStyles["csv"]
	}
	p.style, p.explode, p.separator = styleForm, collection.explode, collection.separator
	if p.in == inPath || p.in == inHeader {
		p.style = styleSimple
	}
}

// readSwaggerBody takes the body and the form's fields out of the parameters.
func (p *apiPlan) readSwaggerBody(list []*apiParameter) (rest []*apiParameter) {
	var fields []*apiParameter
	for _, parameter := range list {
		switch parameter.in {
		case "body":
			p.swaggerBody(parameter)
		case "formData":
			fields = append(fields, parameter)
		default:
			rest = append(rest, parameter)
		}
	}
	switch {
	case len(fields) == 0:
	case p.media != nil:
		p.warn("the form is left out: there is a body as well")
	default:
		p.swaggerForm(fields)
	}
	return rest
}

// swaggerTypes are the media types of an operation: its own or those of the whole document.
func (op *apiOperation) swaggerTypes(key string) []string {
	if own := rawjson.Member(op.node.raw, key); own != nil {
		return rawjson.Texts(own)
	}
	return rawjson.Texts(op.catalogue.doc.top[key])
}

func (p *apiPlan) swaggerBody(parameter *apiParameter) {
	p.bodyRequired = parameter.required
	for _, mediaType := range p.op.swaggerTypes("consumes") {
		if kind := web.KindOf(mediaType); kind != web.MediaForm && kind != web.MediaMultipart {
			p.addMedia(&apiMedia{mediaType: mediaType, schema: parameter.schema})
		}
	}
	if len(p.media) == 0 {
		p.addMedia(&apiMedia{mediaType: "application/json", schema: parameter.schema})
	}
	p.rankMedia()
}

// swaggerForm makes one body of the form's fields.
func (p *apiPlan) swaggerForm(fields []*apiParameter) {
	var (
		properties rawjson.Object
		required   []string
		file       bool
	)
	encoding := map[string]*formField{}
	for _, f := range fields {
		properties.Add(f.name, f.schema.raw)
		if f.required {
			required = append(required, f.name)
			p.bodyRequired = true
		}
		file = file || f.schema.text("type") == "file"
		encoding[f.name] = &formField{style: styleForm, explode: f.explode, separator: f.separator, styled: true}
	}
	schema := rawjson.Object{}
	schema.Add("type", rawjson.Quote("object"))
	schema.Add("properties", properties.Bytes())
	if required != nil {
		schema.Add("required", rawjson.TextArray(required))
	}
	node := apiNode{fields[0].schema.doc, schema.Bytes()}
	p.addMedia(&apiMedia{mediaType: p.op.swaggerFormType(file), schema: node, fields: encoding})
}

func (op *apiOperation) swaggerFormType(file bool) string {
	types := op.swaggerTypes("consumes")
	isMultipart := func(t string) bool { return web.KindOf(t) == web.MediaMultipart }
	isForm := func(t string) bool { return web.KindOf(t) == web.MediaForm }
	if file || slices.ContainsFunc(types, isMultipart) && !slices.ContainsFunc(types, isForm) {
		return "multipart/form-data"
	}
	return "application/x-www-form-urlencoded"
}

func (op *apiOperation) swaggerAnswer(response apiNode) (list []*apiMedia) {
	schema := response.get("schema")
	if schema.raw == nil {
		return nil
	}
	for _, name := range op.swaggerTypes("produces") {
		list = append(list, &apiMedia{mediaType: name, kind: web.KindOf(name), schema: schema})
	}
	if len(list) == 0 {
		list = append(list, &apiMedia{mediaType: "application/json", schema: schema})
	}
	return list
}

// swaggerServers are the URLs that scheme, host and base path make.
func swaggerServers(doc *apiDocument) (list []string) {
	host, base := rawjson.Text(doc.top["host"]), rawjson.Text(doc.top["basePath"])
	if host == "" {
		if base == "" {
			return nil
		}
		return []string{base}
	}
	schemes := rawjson.Texts(doc.top["schemes"])
	if len(schemes) == 0 || slices.Contains(schemes, "https") {
		schemes = append([]string{"https"}, schemes...)
	}
	for _, scheme := range schemes {
		if scheme == "http" || scheme == "https" {
			list = append(list, scheme+"://"+host+"/"+strings.TrimPrefix(base, "/"))
		}
	}
	return list
}
