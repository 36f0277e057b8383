package openapi

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/temporal-codemode/codemode/connectors/internal/web"
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
	schema      *openapi3.SchemaRef // nil once it is written
	loosen      int

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

func readParameter(from *openapi3.Parameter) (*apiParameter, error) {
	if reason := whyLeftOut(from.Extensions); reason != "" {
		return nil, errors.New(reason)
	}
	method, err := from.SerializationMethod()
	if err != nil || from.Name == "" {
		name, in := words.Shorten(from.Name, words.MaxValue), words.Shorten(from.In, words.MaxValue)
		return nil, fmt.Errorf("%q in %q is no parameter", name, in)
	}
	p := &apiParameter{
		name: from.Name, in: from.In, description: from.Description, required: from.Required,
		deprecated: from.Deprecated,
		schema:     from.Schema, style: method.Style, explode: method.Explode, allowReserved: from.AllowReserved,
	}
	p.segments, _ = from.Extensions["x-multi-segment"].(bool)
	if list, ok := collection(from.Extensions); ok {
		p.explode, p.separator = list.explode, list.separator
	}
	if names := slices.Sorted(maps.Keys(from.Content)); p.schema == nil && len(names) > 0 {
		p.schema = from.Content[names[0]].Schema
		p.asJSON = web.KindOf(names[0]) == web.MediaJSON
	}
	return p, p.check()
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
