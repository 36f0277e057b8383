package openapi

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/internal/rawjson"
)

const (
	scalarKind = "string"
	listKind   = "array"
	objectKind = "object"
)

var kindSchemas = map[string]string{
	scalarKind: `{"type":"string"}`,
	listKind:   `{"type":"array","items":{"type":"string"}}`,
	objectKind: `{"type":"object","additionalProperties":{"type":"string"}}`,
}

// kin's parser reads the members of an object only when they are declared.
var kinSchemas = map[string]string{
	objectKind: `{"type":"object","properties":{"R":{"type":"string"},"G":{"type":"string"}}}`,
}

func styleDocument(in, style string, explode bool, kind string, more string) []byte {
	path := "/x"
	if in == inPath {
		path = "/x/{p}/y"
	}
	return operation("get", path, fmt.Sprintf(
		`"parameters":[{"name":"p","in":%q,"required":%v,"style":%q,"explode":%v,"schema":%s%s}]`,
		in, in == inPath, style, explode, kindSchemas[kind], more))
}

// place is the part of a request that belongs to the parameter p.
func (s seen) place(in string) string {
	switch in {
	case inPath:
		return strings.TrimSuffix(strings.TrimPrefix(s.Path, "/x/"), "/y")
	case inQuery:
		return s.Query
	case inHeader:
		return s.Header.Get("p")
	}
	return s.Header.Get("Cookie")
}

// Every style in every place that knows it. The texts are those of the
// specification's own table, but that names in brackets and pipes are escaped
// and that cookies are separated as cookies are.
var styleTable = []struct {
	in, style            string
	explode              bool
	scalar, list, object string
}{
	{inPath, styleSimple, false, "blue", "blue,black,brown", "R,100,G,200"},
	{inPath, styleSimple, true, "blue", "blue,black,brown", "R=100,G=200"},
	{inPath, styleLabel, false, ".blue", ".blue,black,brown", ".R,100,G,200"},
	{inPath, styleLabel, true, ".blue", ".blue.black.brown", ".R=100.G=200"},
	{inPath, styleMatrix, false, ";p=blue", ";p=blue,black,brown", ";p=R,100,G,200"},
	{inPath, styleMatrix, true, ";p=blue", ";p=blue;p=black;p=brown", ";R=100;G=200"},
	{inQuery, styleForm, false, "p=blue", "p=blue,black,brown", "p=R,100,G,200"},
	{inQuery, styleForm, true, "p=blue", "p=blue&p=black&p=brown", "R=100&G=200"},
	{inQuery, styleSpace, false, "p=blue", "p=blue%20black%20brown", "p=R%20100%20G%20200"},
	{inQuery, styleSpace, true, "p=blue", "p=blue&p=black&p=brown", "R=100&G=200"},
	{inQuery, stylePipe, false, "p=blue", "p=blue%7Cblack%7Cbrown", "p=R%7C100%7CG%7C200"},
	{inQuery, stylePipe, true, "p=blue", "p=blue&p=black&p=brown", "R=100&G=200"},
	{inQuery, styleDeep, true, "p=blue", "p%5B0%5D=blue&p%5B1%5D=black&p%5B2%5D=brown", "p%5BR%5D=100&p%5BG%5D=200"},
	{inHeader, styleSimple, false, "blue", "blue,black,brown", "R,100,G,200"},
	{inHeader, styleSimple, true, "blue", "blue,black,brown", "R=100,G=200"},
	{inCookie, styleForm, false, "p=blue", "p=blue,black,brown", "p=R,100,G,200"},
	{inCookie, styleForm, true, "p=blue", "p=blue; p=black; p=brown", "R=100; G=200"},
}

func TestOpenAPIStyles(t *testing.T) {
	server := record(t, nil)
	for _, row := range styleTable {
		for kind, c := range map[string]struct{ value, want string }{
			scalarKind: {`"blue"`, row.scalar},
			listKind:   {`["blue","black","brown"]`, row.list},
			objectKind: {`{"R":"100","G":"200"}`, row.object},
		} {
			name := fmt.Sprintf("%s %s explode=%v %s", row.in, row.style, row.explode, kind)
			document := styleDocument(row.in, row.style, row.explode, kind, "")
			set := openAPISet(t, Options{Data: document, BaseURL: server.URL})
			mustCallAPI(t, set, "op", `{"p":`+c.value+`}`)
			got := server.last(t)
			assert.Equal(t, c.want, got.place(row.in), name)
			assert.JSONEq(t, c.value, parsed(t, row.in, row.style, row.explode, kind, got.place(row.in)), name)
			checkWithKin(t, row.in, row.style, row.explode, kind, c.value, got, name)
		}
	}
}

// kinCannot are the combinations that the library's parser has no word for.
func kinCannot(in, style string, explode bool, kind string) bool {
	return in == inCookie && explode && kind != scalarKind ||
		in == inQuery && (style == styleSpace || style == stylePipe) && kind != listKind ||
		style == styleDeep && kind != objectKind
}

// checkWithKin lets a parser that is not ours read the request: it accepts only
// the value that is expected.
func checkWithKin(t *testing.T, in, style string, explode bool, kind, value string, got seen, name string) {
	if kinCannot(in, style, explode, kind) {
		return
	}
	var parameter openapi3.Parameter
	raw := fmt.Sprintf(`{"name":"p","in":%q,"style":%q,"explode":%v,"required":true}`, in, style, explode)
	require.NoError(t, json.Unmarshal([]byte(raw), &parameter))
	schema := kindSchemas[kind]
	if own := kinSchemas[kind]; own != "" {
		schema = own
	}
	parameter.Schema = &openapi3.SchemaRef{Value: &openapi3.Schema{}}
	require.NoError(t, json.Unmarshal([]byte(schema), parameter.Schema.Value))
	resolveItems(parameter.Schema.Value)
	var want any
	require.NoError(t, json.Unmarshal([]byte(value), &want))
	parameter.Schema.Value.Enum = []any{want}
	request := &http.Request{Method: "GET", URL: &url.URL{Path: "/x", RawQuery: got.Query}, Header: got.Header}
	input := &openapi3filter.RequestValidationInput{
		Request: request, PathParams: map[string]string{"p": got.place(inPath)},
		Options: &openapi3filter.Options{},
	}
	assert.NoError(t, openapi3filter.ValidateParameter(t.Context(), input, &parameter), "read by kin-openapi: "+name)
}

func resolveItems(s *openapi3.Schema) {
	if s.Items != nil && s.Items.Value == nil {
		s.Items.Value = &openapi3.Schema{Type: &openapi3.Types{"string"}}
	}
}

// parsed reads a value back, by the specification and without any of the code
// that writes it. It is JSON.
func parsed(t testing.TB, in, style string, explode bool, kind, text string) string {
	t.Helper()
	switch {
	case in == inQuery || in == inCookie:
		separator := "&"
		if in == inCookie {
			separator = "; "
		}
		return parsedPairs(t, style, explode, kind, strings.Split(text, separator))
	case style == styleLabel:
		require.True(t, strings.HasPrefix(text, "."), text)
		separator := ","
		if explode {
			separator = "."
		}
		return parsedList(t, explode, kind, strings.Split(text[1:], separator), unescape)
	case style == styleMatrix:
		return parsedMatrix(t, explode, kind, text)
	case in == inHeader:
		return parsedList(t, explode, kind, strings.Split(text, ","), func(s string) string { return s })
	}
	return parsedList(t, explode, kind, strings.Split(text, ","), unescape)
}

func parsedMatrix(t testing.TB, explode bool, kind, text string) string {
	t.Helper()
	require.True(t, strings.HasPrefix(text, ";"), text)
	parts := strings.Split(text[1:], ";")
	if explode && kind == objectKind {
		return parsedList(t, true, kind, parts, unescape)
	}
	var values []string
	for _, part := range parts {
		value, ok := strings.CutPrefix(part, "p=")
		require.True(t, ok, text)
		values = append(values, value)
	}
	if explode || kind == scalarKind {
		return parsedList(t, false, kind, values, unescape)
	}
	return parsedList(t, false, kind, strings.Split(values[0], ","), unescape)
}

func parsedPairs(t testing.TB, style string, explode bool, kind string, pairs []string) string {
	t.Helper()
	var names, values []string
	for _, pair := range pairs {
		name, value, ok := strings.Cut(pair, "=")
		require.True(t, ok, pair)
		names, values = append(names, unescape(name)), append(values, value)
	}
	separators := map[string]string{styleForm: ",", styleSpace: "%20", stylePipe: "%7C"}
	switch {
	case style == styleDeep && kind == objectKind:
		return parsedMembers(names, values,
			func(name string) string { return strings.TrimSuffix(strings.TrimPrefix(name, "p["), "]") })
	case explode && kind == objectKind:
		return parsedMembers(names, values, func(name string) string { return name })
	case !explode && kind != scalarKind:
		values = strings.Split(values[0], separators[style])
	}
	for i, name := range names {
		if style == styleDeep && kind == listKind {
			require.Equal(t, "p["+strconv.Itoa(i)+"]", name)
			continue
		}
		require.Equal(t, "p", name)
	}
	return parsedList(t, false, kind, values, unescape)
}

func parsedMembers(names, values []string, inner func(string) string) string {
	all := map[string]string{}
	for i, name := range names {
		all[inner(name)] = unescape(values[i])
	}
	raw, _ := json.Marshal(all)
	return string(raw)
}

// parsedList makes a value of the parts of a list.
func parsedList(t testing.TB, explode bool, kind string, parts []string, decode func(string) string) string {
	t.Helper()
	var value any
	switch kind {
	case scalarKind:
		require.Len(t, parts, 1)
		value = decode(parts[0])
	case listKind:
		list := []string{}
		for _, part := range parts {
			list = append(list, decode(part))
		}
		value = list
	default:
		all := map[string]string{}
		for i := 0; i < len(parts); i++ {
			name, text, ok := strings.Cut(parts[i], "=")
			if !explode {
				require.Less(t, i+1, len(parts))
				i++
				name, text, ok = parts[i-1], parts[i], true
			}
			require.True(t, ok, parts)
			all[decode(name)] = decode(text)
		}
		value = all
	}
	raw, _ := json.Marshal(value)
	return string(raw)
}

func unescape(text string) string {
	plain, err := url.PathUnescape(text)
	if err != nil {
		return "not an escape: " + text
	}
	return plain
}

// What a value may hold without being mistaken for the style around it.
func TestOpenAPIStylesRoundTrip(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, row := range styleTable {
		for _, kind := range []string{scalarKind, listKind, objectKind} {
			for range 20 {
				value := randomValue(random, kind, alphabetOf(row.in, row.style))
				checkRoundTrip(t, row.in, row.style, row.explode, kind, value)
			}
		}
	}
}

// alphabetOf leaves out what the place or the style cannot carry: headers have
// no escapes, and a dot is never escaped.
func alphabetOf(in, style string) string {
	switch {
	case in == inHeader:
		return "abcABC019-_~.;:|/?#[]@!$&'()*+ü "
	case style == styleLabel:
		return "abc019-_~=,;:|/?#[]@!$&'()*+% \"<>\\^`{}ü日\u0001"
	case style == styleSpace || style == stylePipe:
		return "abc019-_~.,=;:/?#[]@!$&'()*+%\"<>\\^`{}ü日"
	}
	return "abc019-_~.=,;:|/?#[]@!$&'()*+% \"<>\\^`{}ü日\n\u0001"
}

func randomValue(random *rand.Rand, kind, alphabet string) string {
	letters := []rune(alphabet)
	word := func() string {
		var b strings.Builder
		b.WriteRune('w') // neither empty nor a dot
		for range random.IntN(8) {
			b.WriteRune(letters[random.IntN(len(letters))])
		}
		b.WriteRune('w')
		return b.String()
	}
	var value any = word()
	switch kind {
	case listKind:
		value = []string{word(), word()}
	case objectKind:
		value = map[string]string{"a" + strconv.Itoa(random.IntN(9)): word(),
			"b-" + strconv.Itoa(random.IntN(9)): word()}
	}
	raw, _ := json.Marshal(value)
	return string(raw)
}

// checkRoundTrip writes a value and reads it back with the other parser.
func checkRoundTrip(t testing.TB, in, style string, explode bool, kind, value string) {
	t.Helper()
	document := styleDocument(in, style, explode, kind, "")
	catalogue, err := newCatalogue(New("api", Options{Data: document}).(*openAPIConnector), document)
	require.NoError(t, err)
	request, err := catalogue.operations[0].plan.request(json.RawMessage(`{"p":` + value + `}`))
	require.NoError(t, err, value)
	request.Base = &url.URL{Scheme: "http", Host: "h"}
	at, err := request.URL()
	require.NoError(t, err, value)
	over, err := http.ReadRequest(bufioReader(request.HTTP(t.Context(), at, connectors.Read)))
	require.NoError(t, err, value)
	got := seen{Path: over.URL.EscapedPath(), Query: over.URL.RawQuery, Header: over.Header}
	back := parsed(t, in, style, explode, kind, got.place(in))
	assert.JSONEq(t, value, back, "%s %s explode=%v %s: %s", in, style, explode, kind, got.place(in))
}

func TestOpenAPIScalarTexts(t *testing.T) {
	server := record(t, nil)
	for schema, values := range map[string]map[string]string{
		`{"type":"string"}`: {`7`: "7", `true`: "true", `""`: "", `"a"`: "a",
			`1.50`: "1.50"},
		`{"type":"integer"}`: {`9007199254740993`: "9007199254740993",
			`{"__codemode_bigint_v1__":"12345678901234567890"}`: "12345678901234567890", `-0`: "-0"},
		`{"type":"boolean"}`:                            {`false`: "false"},
		`{"type":"string","enum":["1","2"]}`:            {`1`: "1", `"2"`: "2"},
		`{"anyOf":[{"type":"string"},{"type":"null"}]}`: {`5`: "5"},
		`{}`: {`{"a":[1,{"b":null}]}`: "", `1e3`: "1e3"},
	} {
		set := openAPISet(t,
			Options{BaseURL: server.URL,
				Data: operation("get", "/x", `"parameters":[{"name":"p","in":"query","schema":`+schema+`}]`)})
		for value, want := range values {
			mustCallAPI(t, set, "op", `{"p":`+value+`}`)
			query, err := url.ParseQuery(server.last(t).Query)
			require.NoError(t, err)
			assert.Equal(t, want, query.Get("p"), "%s %s", schema, value)
		}
	}
	set := openAPISet(t,
		Options{BaseURL: server.URL,
			Data: operation("get", "/x",
				`"parameters":[{"name":"p","in":"query","schema":{"type":"array","items":{"type":"string"}}}]`)})
	mustCallAPI(t, set, "op", `{"p":[1,true,"x"]}`)
	assert.Equal(t, "p=1&p=true&p=x", server.last(t).Query)
	_, err := callAPI(t, set, "op", `{"p":[{}]}`)
	assert.Error(t, err)
}

func TestOpenAPIParameterForms(t *testing.T) {
	server := record(t, nil)
	for _, c := range []struct{ name, path, parameters, args, wantPath, wantQuery string }{
		{"content", "/x", `{"name":"f","in":"query","content":{"application/json":{"schema":{"type":"object"}}}}`,
			`{"f":{"a":[1]}}`, "/x", "f=%7B%22a%22%3A%5B1%5D%7D"},
		{"allowReserved", "/x", `{"name":"u","in":"query","allowReserved":true,"schema":{"type":"string"}}`,
			`{"u":"http://h/?a=b&c#d%20%zz+"}`, "/x", "u=http://h/?a=b%26c%23d%20%25zz%2B"},
		{"deep object with lists", "/x",
			`{"name":"d","in":"query","style":"deepObject","explode":true,"schema":{"type":"object"}}`,
			`{"d":{"a":{"b":[1,{"c":"x y"}]},"n":null}}`, "/x",
			"d%5Ba%5D%5Bb%5D%5B0%5D=1&d%5Ba%5D%5Bb%5D%5B1%5D%5Bc%5D=x%20y&d%5Bn%5D="},
		{"deep scalar", "/x",
			`{"name":"created","in":"query","style":"deepObject","explode":true,"schema":{"anyOf":[{"type":"object"},{"type":"integer"}]}}`, `{"created":5}`, "/x", "created=5"},
		{"empty list", "/x",
			`{"name":"a","in":"query","schema":{"type":"array"}},{"name":"b","in":"query","explode":false,"schema":{"type":"array"}}`, `{"a":[],"b":[]}`, "/x", ""},
		{"null is absent", "/x", `{"name":"a","in":"query","schema":{"type":"string","nullable":true}}`, `{"a":null}`,
			"/x", ""},
		{"nested in a list is JSON", "/x", `{"name":"a","in":"query","schema":{"type":"array"}}`, `{"a":[{"k":1},[2]]}`,
			"/x", "a=%7B%22k%22%3A1%7D&a=%5B2%5D"},
		{"brackets in names", "/x", `{"name":"ids[]","in":"query","schema":{"type":"array"}}`, `{"ids[]":[1,2]}`,
			"/x", "ids%5B%5D=1&ids%5B%5D=2"},
		{"several segments", "/c/{path}/z",
			`{"name":"path","in":"path","required":true,"x-multi-segment":true,"schema":{"type":"string"}}`,
			`{"path":"a b/c?d"}`, "/c/a%20b/c%3Fd/z", ""},
		{"two in one segment", "/{a}.{b}",
			`{"name":"a","in":"path","schema":{"type":"string"}},{"name":"b","in":"path","schema":{"type":"string"}}`,
			`{"a":"{b}","b":"y"}`, "/%7Bb%7D.y", ""},
		{"fragment and query in the path", "/#Action=Run", `{"name":"Action","in":"query","schema":{"type":"string"}}`,
			`{"Action":"Run"}`, "/", "Action=Run"},
		{"query in the path", "/x?v=1", `{"name":"a","in":"query","schema":{"type":"string"}}`, `{"a":"b"}`,
			"/x", "v=1&a=b"},
		{"undeclared variable", "/x/{id}", ``, `{"id":5}`, "/x/5", ""},
		{"same name twice", "/x/{id}",
			`{"name":"id","in":"path","schema":{"type":"string"}},{"name":"id","in":"query","schema":{"type":"string"}}`, `{"id":"p","id_query":"q"}`, "/x/p", "id=q"},
		{"a body and one called so", "/x",
			`{"name":"body","in":"query","schema":{"type":"string"}}],"requestBody":{"content":{"text/plain":{}}},"tags":[`, `{"body_query":"q","body":"b"}`, "/x", "body=q"},
		{"called body", "/x", `{"name":"body","in":"query","schema":{"type":"string"}}`, `{"body":"q"}`, "/x",
			"body=q"},
		{"no slash", "x", ``, `{}`, "/x", ""},
		{"invalid style", "/x", `{"name":"a","in":"query","style":"matrix","schema":{"type":"string"}}`, `{"a":"b"}`,
			"/x", "a=b"},
		{"unusual path", "/a(b)/c:d/e@f/[g]/~h/ü", ``, `{}`, "/a(b)/c:d/e@f/[g]/~h/%C3%BC", ""},
	} {
		set := openAPISet(t,
			Options{BaseURL: server.URL, Data: operation("get", c.path, `"parameters":[`+c.parameters+`]`)})
		mustCallAPI(t, set, "op", c.args)
		got := server.last(t)
		assert.Equal(t, c.wantPath, got.Path, c.name)
		assert.Equal(t, c.wantQuery, got.Query, c.name)
	}
}

func TestOpenAPIRefusedPaths(t *testing.T) {
	server := record(t, nil)
	set := openAPISet(t, Options{BaseURL: server.URL, Data: operation("get", "/a/{x}/{y}",
		`"parameters":[{"name":"x","in":"path","allowReserved":true,"schema":{}},{"name":"y","in":"path","schema":{"type":"string"},"x-multi-segment":true}]`)})
	for args, want := range map[string]string{
		`{"x":"..","y":"y"}`:            `the path would hold ".."`,
		`{"x":"%2e%2e","y":"y"}`:        `the path would hold "%2e%2e"`,
		`{"x":".","y":"y"}`:             `the path would hold "."`,
		`{"x":"","y":"y"}`:              `x: must not be empty, since it is a part of the path`,
		`{"x":[],"y":"y"}`:              `x: must not be empty, since it is a part of the path`,
		`{"x":"x","y":"../../secrets"}`: `the path would hold ".."`,
	} {
		_, err := callAPI(t, set, "op", args)
		assert.EqualError(t, err, "Invalid arguments for api.op: "+want, args)
	}
	assert.Empty(t, server.all())
	mustCallAPI(t, set, "op", `{"x":"...","y":"a/..b"}`)
}

func TestOpenAPIHeadersAndCookies(t *testing.T) {
	server := record(t, nil)
	set := openAPISet(t, Options{BaseURL: server.URL, Data: operation("get", "/x", `"parameters":[
		{"name":"X-List","in":"header","schema":{"type":"array"}},{"name":"Accept","in":"header","schema":{"type":"string"}},
		{"name":"Content-Type","in":"header","schema":{"type":"string"}},{"name":"bad name","in":"header"},
		{"name":"sid","in":"cookie","schema":{"type":"string"}},{"name":"n","in":"cookie","schema":{"type":"integer"}}]`)})
	mustCallAPI(t, set, "op", `{"X-List":["a b",1],"Accept":"text/csv","sid":"a; b=c","n":1}`)
	got := server.last(t)
	assert.Equal(t, "a b,1", got.Header.Get("X-List"))
	assert.Equal(t, "text/csv", got.Header.Get("Accept"))
	assert.Equal(t, "sid=a%3B%20b%3Dc; n=1", got.Header.Get("Cookie"))
	_, err := callAPI(t, set, "op", `{"X-List":["a\r\nX-Evil: 1"]}`)
	assert.EqualError(t, err, "Invalid arguments for api.op: X-List: a header cannot hold control characters")
	b, err := set.Lookup("api", "op")
	require.NoError(t, err)
	assert.Nil(t, rawjson.Path(b.InputSchema, "properties", "Content-Type"), "the body's")
	assert.Nil(t, rawjson.Path(b.InputSchema, "properties", "bad name"))
}

func bufioReader(request *http.Request) *bufio.Reader {
	var b bytes.Buffer
	_ = request.Write(&b)
	return bufio.NewReader(&b)
}
