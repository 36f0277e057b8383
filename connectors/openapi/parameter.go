package openapi

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/temporal-codemode/codemode/connectors/internal/web"
	"github.com/temporal-codemode/codemode/internal/rawjson"
	"github.com/temporal-codemode/codemode/internal/words"
)

// The places and styles of parameters, in the words of documents.
const (
	inPath   = openapi3.ParameterInPath
	inQuery  = openapi3.ParameterInQuery
	inHeader = openapi3.ParameterInHeader
	inCookie = openapi3.ParameterInCookie

	styleSimple = openapi3.SerializationSimple
	styleLabel  = openapi3.SerializationLabel
	styleMatrix = openapi3.SerializationMatrix
	styleForm   = openapi3.SerializationForm
	styleSpace  = openapi3.SerializationSpaceDelimited
	stylePipe   = openapi3.SerializationPipeDelimited
	styleDeep   = openapi3.SerializationDeepObject
)

// apiParameter is a parameter ready to be written.
type apiParameter struct {
	name, in string
	// property is its name in the argument.
	property    string
	description string
	required    bool
	deprecated  bool
	schema      apiNode

	style         string
	explode       bool
	allowReserved bool
	// separator joins a list in place of the style's own.
	separator string
	// asJSON writes the value as JSON text.
	asJSON bool
	// segments lets a path parameter hold slashes.
	segments bool
}

func readParameter(node apiNode, swagger bool) (*apiParameter, error) {
	node, ref, ok := node.deref()
	if !ok || !rawjson.IsObject(node.raw) {
		return nil, errors.New(missingReason(ref))
	}
	if swagger {
		return readSwaggerParameter(node)
	}
	var parsed openapi3.Parameter
	if err := parsed.UnmarshalJSON(without(node.raw, "schema", "content", "example", "examples")); err != nil {
		return nil, errors.New("it is not written as a parameter is")
	}
	p := &apiParameter{
		name: parsed.Name, in: parsed.In, description: parsed.Description, required: parsed.Required,
		deprecated: parsed.Deprecated, allowReserved: parsed.AllowReserved, schema: node.get("schema"),
		segments: rawjson.IsTrue(rawjson.Member(node.raw, "x-multi-segment")),
	}
	method, err := parsed.SerializationMethod()
	if err != nil || p.name == "" {
		return nil, fmt.Errorf("%q in %q is no parameter", words.Shorten(p.name, words.MaxValue), words.Shorten(p.in, words.MaxValue))
	}
	p.style, p.explode = method.Style, method.Explode
	p.readContent(node)
	return p, p.check()
}

// readContent is for parameters that are described by a media type.
func (p *apiParameter) readContent(node apiNode) {
	if p.schema.raw != nil {
		return
	}
	for name, raw := range rawjson.Members(rawjson.Member(node.raw, "content")) {
		p.schema = apiNode{node.doc, raw}.get("schema")
		p.asJSON = web.KindOf(name) == web.MediaJSON
		return
	}
}

// stylesOf are the styles that a place knows, the default first.
var stylesOf = map[string][]string{
	inPath:   {styleSimple, styleLabel, styleMatrix},
	inQuery:  {styleForm, styleSpace, stylePipe, styleDeep},
	inHeader: {styleSimple},
	inCookie: {styleForm},
}

// check falls back to the default style where the document has one that its place does not know.
func (p *apiParameter) check() error {
	if styles := stylesOf[p.in]; !slices.Contains(styles, p.style) {
		p.style = styles[0]
	}
	switch {
	case p.in == inHeader && !validHeader(p.name, ""):
		return fmt.Errorf("%q cannot be the name of a header", p.name)
	case p.in == inCookie && !validHeader(p.name, ""):
		return fmt.Errorf("%q cannot be the name of a cookie", p.name)
	}
	return nil
}

// optional tells that the connector sends the parameter if the program does not.
func (p *apiParameter) optional() bool {
	return !p.required || p.in == inHeader && strings.EqualFold(p.name, web.IdempotencyHeader)
}
