package openapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/connectors/internal/web"
	"github.com/temporal-codemode/codemode/connectors/wire"
	"github.com/temporal-codemode/codemode/internal/rawjson"
	"github.com/temporal-codemode/codemode/internal/words"
)

// members reads the argument of a call: an object, or nothing for an empty one.
func argumentMembers(args json.RawMessage) (members map[string][]byte, names []string, err error) {
	members = map[string][]byte{}
	if len(args) == 0 {
		return members, nil, nil
	}
	compact, err := rawjson.Compact(args)
	if err != nil {
		return nil, nil, connectors.InvalidArgumentf("arguments are not valid JSON")
	}
	if !rawjson.IsObject(compact) {
		return nil, nil, connectors.InvalidArgumentf("expected object")
	}
	for name, value := range rawjson.Members(compact) {
		if _, again := members[name]; !again {
			names = append(names, name)
		}
		members[name] = value
	}
	return members, names, nil
}

// request makes the request of a call. Base URL and credentials are added later.
func (p *apiPlan) request(args json.RawMessage) (*web.Request, error) {
	given, names, err := argumentMembers(args)
	if err != nil {
		return nil, err
	}
	if err := p.checkNames(names); err != nil {
		return nil, err
	}
	r := &web.Request{Verb: p.op.verb, Header: http.Header{}}
	r.Header.Set("Accept", p.answer.accept)
	path := map[string]string{}
	for _, parameter := range p.parameters {
		argument, ok := given[parameter.property]
		if !ok || rawjson.IsNull(argument) {
			if parameter.in == inPath {
				return nil, connectors.InvalidArgumentf("%s: required, but missing", parameter.property)
			}
			continue
		}
		if err := parameter.write(r, path, argument); err != nil {
			return nil, err
		}
	}
	if err := p.writePath(r, path); err != nil {
		return nil, err
	}
	return r, p.writeBody(r, given)
}

// checkNames refuses what is no parameter: sent without it, a request would do
// something else than the program meant.
func (p *apiPlan) checkNames(given []string) error {
	known := p.properties()
	for _, name := range given {
		if name == bodyProperty || slices.Contains(known, name) {
			continue
		}
		text := fmt.Sprintf("%s: not a known parameter", name)
		if near := words.Nearest(name, known); len(near) > 0 {
			text += ", did you mean " + strings.Join(near, " or ") + "?"
		} else if len(p.media) > 0 {
			text += "; the members of the body go into the property body"
		}
		return connectors.InvalidArgumentf("%s", text)
	}
	return nil
}

// write puts one value where its parameter goes.
func (p *apiParameter) write(r *web.Request, path map[string]string, argument []byte) error {
	raw, err := wire.Plain(argument)
	if err != nil {
		return connectors.InvalidArgumentf("%s: %v", p.property, err)
	}
	if p.asJSON {
		raw = rawjson.Quote(string(raw))
	}
	switch p.in {
	case inPath:
		path[p.name] = p.inPath(raw)
		if len(path[p.name]) == 0 {
			return connectors.InvalidArgumentf("%s: must not be empty, since it is a part of the path", p.property)
		}
	case inQuery:
		r.Query = append(r.Query, p.field().pairs(p.name, raw)...)
	case inCookie:
		r.Cookies = append(r.Cookies, p.cookiePairs(raw)...)
	case inHeader:
		value := p.inHeader(raw)
		if !validHeader(p.name, value) {
			return connectors.InvalidArgumentf("%s: a header cannot hold control characters", p.property)
		}
		r.Header.Set(p.name, value)
	}
	return nil
}

func (p *apiParameter) cookiePairs(raw []byte) []web.Pair {
	list := p.field().pairs(p.name, raw)
	for i := range list {
		if plain, err := url.PathUnescape(list[i].Name); err == nil && validHeader(plain, "") {
			list[i].Name = plain
		}
	}
	return list
}

// writePath fills the path once, so that values with braces stay what they are.
func (p *apiPlan) writePath(r *web.Request, values map[string]string) error {
	template, _, _ := strings.Cut(p.op.path, "#")
	template, query, _ := strings.Cut(template, "?")
	for part := range strings.SplitSeq(query, "&") {
		if name, value, _ := strings.Cut(part, "="); name != "" {
			r.Query = slices.Insert(r.Query, 0, web.EncodedPair(name, value))
		}
	}
	var b strings.Builder
	done := 0
	for _, at := range pathVariable.FindAllStringSubmatchIndex(template, -1) {
		b.WriteString(encodeTemplate(template[done:at[0]]))
		b.WriteString(values[template[at[2]:at[3]]])
		done = at[1]
	}
	b.WriteString(encodeTemplate(template[done:]))
	r.Path = b.String()
	if !strings.HasPrefix(r.Path, "/") {
		r.Path = "/" + r.Path
	}
	return checkPath(r.Path)
}

// encodeTemplate leaves alone what may stand in a path.
func encodeTemplate(text string) string {
	return strings.NewReplacer("%5B", "[", "%5D", "]", "%26", "&", "%2B", "+").Replace(web.PercentEncode(text, true))
}

// checkPath refuses what servers take for a step up: the request would reach
// another operation, with other rules.
func checkPath(path string) error {
	for segment := range strings.SplitSeq(path, "/") {
		if stepsUp(segment) {
			return connectors.InvalidArgumentf("the path would hold %q", words.Shorten(segment, words.MaxValue))
		}
	}
	return nil
}

// mostUnescapes is how often servers behind one another may take escapes out of a path.
const mostUnescapes = 4

// stepsUp looks at a segment as servers do: many take escapes out before they look for what separates segments, for
// some a backslash does so, too, and for others a parameter may follow the dots.
func stepsUp(segment string) bool {
	for n := range mostUnescapes {
		for _, part := range strings.FieldsFunc(segment, func(c rune) bool { return strings.ContainsRune(`/\;`, c) }) {
			if part == "." || part == ".." {
				return true
			}
		}
		plain, err := url.PathUnescape(segment)
		if err != nil || plain == segment {
			return err != nil && n == 0
		}
		segment = plain
	}
	return false
}

// writeBody sends a body even for an operation that declares none, as JSON.
func (p *apiPlan) writeBody(r *web.Request, given map[string][]byte) error {
	argument, ok := given[bodyProperty]
	if !ok || slices.ContainsFunc(p.parameters, func(p *apiParameter) bool { return p.property == bodyProperty }) {
		return nil
	}
	media := &apiMedia{mediaType: "application/json"}
	if len(p.media) > 0 {
		media = p.media[0]
	}
	if chosen := rawjson.Text(given[typeProperty]); chosen != "" && len(p.media) > 1 {
		i := slices.IndexFunc(p.media, func(m *apiMedia) bool { return m.mediaType == chosen })
		if i < 0 {
			return connectors.InvalidArgumentf("%s: the body cannot be sent as %s", typeProperty,
				words.Shorten(chosen, words.MaxValue))
		}
		media = p.media[i]
	}
	body, contentType, err := media.encode(argument)
	if err != nil {
		return err
	}
	r.Body = body
	r.Header.Set(typeProperty, contentType)
	return nil
}
