package openapi

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/temporal-codemode/codemode/connectors/internal/web"
	"github.com/temporal-codemode/codemode/internal/rawjson"
)

// apiPlan is an operation read to the end: what a call needs to know.
type apiPlan struct {
	op         *apiOperation
	parameters []*apiParameter
	// media are the ways to write the body, the preferred first; none for an
	// operation without body.
	media        []*apiMedia
	bodyRequired bool
	answer       apiAnswer
	warnings     []string
}

func (op *apiOperation) makePlan() *apiPlan {
	p := &apiPlan{op: op}
	list := p.readParameters()
	if op.catalogue.doc.swagger {
		list = p.readSwaggerBody(list)
	} else {
		p.readBody()
	}
	p.parameters = p.completePath(list)
	p.nameProperties()
	p.answer = op.readAnswer()
	return p
}

func (p *apiPlan) warn(format string, args ...any) {
	p.warnings = append(p.warnings, fmt.Sprintf(format, args...))
}

// readParameters takes those of the path item and of the operation; of two in
// the same place with the same name the operation's counts.
func (p *apiPlan) readParameters() []*apiParameter {
	var list []*apiParameter
	for _, owner := range []apiNode{p.op.item, p.op.node} {
		for raw := range rawjson.Elements(rawjson.Member(owner.raw, "parameters")) {
			parameter, err := readParameter(apiNode{owner.doc, raw}, p.op.catalogue.doc.swagger)
			if err != nil {
				p.warn("a parameter is left out: %v", err)
				continue
			}
			same := func(other *apiParameter) bool { return other.in == parameter.in && other.name == parameter.name }
			if i := slices.IndexFunc(list, same); i >= 0 {
				list[i] = parameter
			} else {
				list = append(list, parameter)
			}
		}
	}
	return list
}

var pathVariable = regexp.MustCompile(`\{([^{}/]*)\}`)

// completePath makes the path's variables and the path parameters agree.
func (p *apiPlan) completePath(list []*apiParameter) []*apiParameter {
	variables := map[string]bool{}
	for _, match := range pathVariable.FindAllStringSubmatch(p.op.path, -1) {
		variables[match[1]] = true
	}
	var kept []*apiParameter
	for _, parameter := range list {
		switch {
		case parameter.in != inPath:
		case !variables[parameter.name]:
			p.warn("the path parameter %q is left out: the path has no {%s}", parameter.name, parameter.name)
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
			p.warn("the path's {%s} is not among the parameters: it is taken for a required string", name)
			delete(variables, name)
			kept = append(kept, impliedParameter(p.op.item.doc, name))
		}
	}
	return kept
}

func impliedParameter(doc *apiDocument, name string) *apiParameter {
	return &apiParameter{
		name: name, in: inPath, required: true, style: styleSimple,
		schema: apiNode{doc, []byte(`{"type":"string"}`)},
	}
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
			p.warn("the %s parameter %q is named %q, since that name is taken", parameter.in, parameter.name, name)
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
	schema    apiNode
	// fields say how the members of a form are written, where the document does.
	fields map[string]*formField
}

func (p *apiPlan) readBody() {
	body, ref, ok := p.op.node.get("requestBody").deref()
	if !ok {
		if ref != "" {
			p.warn("the request body is unknown: %s", missingReason(ref))
			p.media = []*apiMedia{{mediaType: "application/json", schema: apiNode{doc: p.op.node.doc}}}
		}
		return
	}
	p.bodyRequired = rawjson.IsTrue(rawjson.Member(body.raw, "required"))
	for name, raw := range rawjson.Members(rawjson.Member(body.raw, "content")) {
		node := apiNode{body.doc, raw}.resolved()
		p.addMedia(&apiMedia{mediaType: name, schema: node.get("schema"), fields: readEncoding(node.get("encoding"))})
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
	schema := m.schema.resolved()
	switch {
	case schema.text("format") == "binary":
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
	// schema is empty where nothing is said about the result.
	schema apiNode
	kind   web.MediaKind
}

// readAnswer looks at the first answer of 2xx that has a body, JSON if there is
// a choice.
func (op *apiOperation) readAnswer() apiAnswer {
	answer := apiAnswer{accept: "application/json, */*;q=0.5"}
	for status, raw := range rawjson.Members(rawjson.Member(op.node.raw, "responses")) {
		if !strings.HasPrefix(status, "2") {
			continue
		}
		response := apiNode{op.node.doc, raw}.resolved()
		types := op.answerTypes(response)
		if len(types) == 0 {
			continue
		}
		best := slices.MinFunc(types, func(a, b *apiMedia) int { return cmp.Compare(a.kind, b.kind) })
		answer.schema, answer.kind = best.schema, best.kind
		if best.mediaType != "application/json" && !strings.Contains(best.mediaType, "*") {
			answer.accept = best.mediaType + ", application/json;q=0.9, */*;q=0.5"
		}
		return answer
	}
	return answer
}

func (op *apiOperation) answerTypes(response apiNode) (list []*apiMedia) {
	if op.catalogue.doc.swagger {
		return op.swaggerAnswer(response)
	}
	for name, raw := range rawjson.Members(rawjson.Member(response.raw, "content")) {
		list = append(list, &apiMedia{mediaType: name, kind: web.KindOf(name), schema: apiNode{response.doc, raw}.get("schema")})
	}
	return list
}
