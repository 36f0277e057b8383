package openapi

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/connectors/internal/web"
)

// apiPlan is what a call of an operation needs to know. Nothing in it keeps the
// tree that kin-openapi makes of a document, once its schemas are written.
type apiPlan struct {
	op         *apiOperation
	parameters []*apiParameter
	// media are the ways to write the body, the preferred first; none for an
	// operation without body.
	media        []*apiMedia
	body         *openapi3.RequestBody
	bodyRequired bool
	answer       apiAnswer
	warnings     []connectors.Warning
}

func (p *apiPlan) warn(kind connectors.WarningKind, format string, args ...any) {
	p.warnings = append(p.warnings, connectors.Warning{Kind: kind, Text: fmt.Sprintf(format, args...)})
}

func (p *apiPlan) read(item *openapi3.PathItem, op *openapi3.Operation) {
	p.parameters = p.completePath(p.readParameters(item.Parameters, op.Parameters))
	if op.RequestBody != nil {
		p.readBody(op.RequestBody.Value)
	}
	p.nameProperties()
	p.readAnswer(op.Responses)
}

// readParameters takes those of the path item and of the operation; of two in
// the same place with the same name the operation's counts.
func (p *apiPlan) readParameters(lists ...openapi3.Parameters) (all []*apiParameter) {
	for _, ref := range slices.Concat(lists...) {
		parameter, err := readParameter(ref.Value)
		if err != nil {
			p.warn(connectors.WarnLeftOut, "a parameter is left out: %v", err)
			continue
		}
		same := func(other *apiParameter) bool { return other.in == parameter.in && other.name == parameter.name }
		if i := slices.IndexFunc(all, same); i >= 0 {
			all[i] = parameter
		} else {
			all = append(all, parameter)
		}
	}
	return all
}

var pathVariable = regexp.MustCompile(`\{([^{}/]*)\}`)

// completePath makes the path's variables and the path parameters agree.
func (p *apiPlan) completePath(list []*apiParameter) (kept []*apiParameter) {
	variables := map[string]bool{}
	for _, match := range pathVariable.FindAllStringSubmatch(p.op.path, -1) {
		variables[match[1]] = true
	}
	for _, parameter := range list {
		switch {
		case parameter.in != inPath:
		case !variables[parameter.name]:
			p.warn(connectors.WarnLeftOut, "the path parameter %q is left out: the path has no {%s}", parameter.name,
				parameter.name)
			continue
		default:
			parameter.required = true
			delete(variables, parameter.name)
		}
		if !p.op.catalogue.fills(parameter) {
			kept = append(kept, parameter)
		}
	}
	for _, match := range pathVariable.FindAllStringSubmatch(p.op.path, -1) {
		if name := match[1]; variables[name] {
			p.warn(connectors.WarnUnknown,
				"the path's {%s} is not among the parameters: it is taken for a required string", name)
			delete(variables, name)
			schema := openapi3.NewSchemaRef("", openapi3.NewStringSchema())
			kept = append(kept, &apiParameter{name: name, in: inPath, required: true, style: styleSimple,
				schema: schema})
		}
	}
	return kept
}

const (
	bodyProperty = "body"
	typeProperty = "Content-Type"
)

// nameProperties gives each parameter a property of its own in the argument.
func (p *apiPlan) nameProperties() {
	taken := map[string]bool{bodyProperty: len(p.media) > 0, typeProperty: len(p.media) > 1}
	for _, parameter := range p.parameters {
		name := parameter.name
		if taken[name] {
			name += "_" + parameter.in
		}
		for base, n := name, 2; taken[name]; n++ {
			name = fmt.Sprintf("%s_%d", base, n)
		}
		if name != parameter.name {
			p.warn(connectors.WarnRenamed, "the %s parameter %q is named %q, since that name is taken", parameter.in,
				parameter.name, name)
		}
		taken[name] = true
		parameter.property = name
	}
}

// properties are the names in the argument, in their order.
func (p *apiPlan) properties() []string {
	var names []string
	for _, parameter := range p.parameters {
		names = append(names, parameter.property)
	}
	if len(p.media) > 0 {
		names = append(names, bodyProperty)
	}
	if len(p.media) > 1 {
		names = append(names, typeProperty)
	}
	return names
}

// apiMedia is one media type of a request body.
type apiMedia struct {
	mediaType string
	kind      web.MediaKind
	schema    *openapi3.SchemaRef
	// fields say how the members of a form are written, where the document does.
	fields map[string]*formField
}

func (p *apiPlan) readBody(body *openapi3.RequestBody) {
	if reason := whyLeftOut(body.Extensions); reason != "" {
		p.warn(connectors.WarnUnknown, "the request body is unknown: %s", reason)
		p.media = []*apiMedia{{mediaType: "application/json"}}
		return
	}
	p.body, p.bodyRequired = body, body.Required
	for _, name := range inOrder(body.Content, body.Extensions) {
		media := body.Content[name]
		p.addMedia(&apiMedia{mediaType: name, schema: media.Schema, fields: readFields(media)})
	}
	p.rankMedia()
}

func (p *apiPlan) addMedia(m *apiMedia) {
	if strings.Contains(m.mediaType, "*") {
		m.mediaType = concreteType(m)
	}
	m.kind = web.KindOf(m.mediaType)
	same := func(other *apiMedia) bool { return other.mediaType == m.mediaType }
	if !slices.ContainsFunc(p.media, same) {
		p.media = append(p.media, m)
	}
}

// concreteType is what is sent for a range of types.
func concreteType(m *apiMedia) string {
	switch {
	case m.schema != nil && m.schema.Value != nil && m.schema.Value.Format == "binary":
		return "application/octet-stream"
	case strings.HasPrefix(m.mediaType, "text/"):
		return "text/plain"
	}
	return "application/json"
}

// rankMedia puts first what a program can write most easily.
func (p *apiPlan) rankMedia() {
	rank := func(m *apiMedia) int {
		switch {
		case m.mediaType == "application/json":
			return 0
		case strings.HasPrefix(m.mediaType, "application/merge-patch+json"):
			return 1
		}
		return 2 + int(m.kind)
	}
	slices.SortStableFunc(p.media, func(a, b *apiMedia) int { return cmp.Compare(rank(a), rank(b)) })
}

// apiAnswer is what the document says about the success of an operation.
type apiAnswer struct {
	accept string
	// said tells that there is something about the result.
	said   bool
	schema *openapi3.SchemaRef
	kind   web.MediaKind
}

// readAnswer looks at the first answer of 2xx that has a body, JSON if there is
// a choice.
func (p *apiPlan) readAnswer(responses *openapi3.Responses) {
	p.answer.accept = "application/json, */*;q=0.5"
	for _, status := range responses.Keys() {
		response := responses.Value(status).Value
		if response == nil || len(response.Content) == 0 {
			continue
		}
		types := inOrder(response.Content, response.Extensions)
		best := slices.MinFunc(types, func(a, b string) int { return cmp.Compare(web.KindOf(a), web.KindOf(b)) })
		p.answer.said, p.answer.schema, p.answer.kind = true, response.Content[best].Schema, web.KindOf(best)
		if best != "application/json" && !strings.Contains(best, "*") {
			p.answer.accept = best + ", application/json;q=0.9, */*;q=0.5"
		}
		return
	}
}
