package openapi

import (
	"encoding/base64"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/internal/rawjson"
)

const wireABC = `{"__codemode_binary_v1__":"Uint8Array","data":"YWJj"}`

func bodySet(t *testing.T, server *recorder, content string) *connectors.Set {
	return openAPISet(t,
		Options{BaseURL: server.URL, Data: operation("post", "/x", `"requestBody":{"content":{`+content+`}}`)})
}

func TestOpenAPIBodies(t *testing.T) {
	server := record(t, nil)
	for _, c := range []struct{ name, content, args, wantType, want string }{
		{"JSON keeps digits and order", `"application/json":{}`,
			`{"body":{"z":1.50,"a":{"__codemode_bigint_v1__":"12345678901234567890"},"b":` + wireABC + `}}`,
			"application/json", `{"z":1.50,"a":12345678901234567890,"b":"YWJj"}`},
		{"JSON null", `"application/json":{}`, `{"body":null}`, "application/json", `null`},
		{"JSON of another name", `"application/vnd.api+json":{}`, `{"body":[1]}`, "application/vnd.api+json", `[1]`},
		{"merge patch before other patches", `"application/json-patch+json":{},"application/merge-patch+json":{}`,
			`{"body":{}}`, "application/merge-patch+json", `{}`},
		{"chosen", `"application/json-patch+json":{},"application/merge-patch+json":{}`,
			`{"body":[],"Content-Type":"application/json-patch+json"}`, "application/json-patch+json", `[]`},
		{"text", `"text/plain":{}`, `{"body":"a\nü"}`, "text/plain", "a\nü"},
		{"XML as text", `"application/xml":{"schema":{"type":"object"}}`, `{"body":"<a/>"}`, "application/xml", "<a/>"},
		{"YAML of a value", `"application/apply-patch+yaml":{}`, `{"body":{"a":1}}`, "application/apply-patch+yaml",
			`{"a":1}`},
		{"bytes", `"application/octet-stream":{"schema":{"type":"string","format":"binary"}}`,
			`{"body":` + wireABC + `}`, "application/octet-stream", "abc"},
		{"bytes of a string", `"image/png":{}`, `{"body":"abc"}`, "image/png", "abc"},
		{"bytes of any type", `"*/*":{"schema":{"type":"string","format":"binary"}}`, `{"body":` + wireABC + `}`,
			"application/octet-stream", "abc"},
		{"any type", `"*/*":{}`, `{"body":{"a":1}}`, "application/json", `{"a":1}`},
		{"JSON first", `"multipart/form-data":{},"application/xml":{},"application/json":{}`, `{"body":{"a":1}}`,
			"application/json", `{"a":1}`},
		{"none", `"application/json":{}`, `{}`, "", ""},
	} {
		mustCallAPI(t, bodySet(t, server, c.content), "op", c.args)
		got := server.last(t)
		assert.Equal(t, c.want, got.Body, c.name)
		assert.Equal(t, c.wantType, got.Header.Get("Content-Type"), c.name)
	}
}

func TestOpenAPIRefusedBodies(t *testing.T) {
	server := record(t, nil)
	for _, c := range []struct{ content, args, want string }{
		{`"text/plain":{"schema":{}}`, `{"body":{"a":1}}`,
			"body: expected a string or bytes, since it is sent as text/plain"},
		{`"application/x-www-form-urlencoded":{}`, `{"body":"a=1"}`,
			"body: expected object, since it is sent as a form"},
		{`"multipart/form-data":{}`, `{"body":[1]}`, "body: expected object, since it is sent as a form"},
		{`"application/json":{"schema":{"type":"object"}}`, `{"body":[1]}`, "body: expected object, but got array"},
	} {
		_, err := callAPI(t, bodySet(t, server, c.content), "op", c.args)
		assert.EqualError(t, err, "Invalid arguments for api.op: "+c.want)
	}
	assert.Empty(t, server.all())
}

func TestOpenAPIForms(t *testing.T) {
	server := record(t, nil)
	for _, c := range []struct{ name, encoding, body, want string }{
		{"plain", ``, `{"a":"x y&z=ü","n":1.5,"b":true,"none":null}`, "a=x%20y%26z%3D%C3%BC&n=1.5&b=true&none="},
		{"lists repeat", ``, `{"a":[1,"b"],"empty":[]}`, "a=1&a=b"},
		{"objects are JSON", ``, `{"o":{"k":[1]}}`, "o=%7B%22k%22%3A[1]%7D"},
		{"as Stripe nests", `"items":{"style":"deepObject","explode":true},"metadata":{"style":"deepObject","explode":true},"expand":{"style":"deepObject","explode":true}`,
			`{"items":[{"price":"p1","tax":["a","b"]},{"price":"p2"}],"metadata":{"k[x]":"v"},"expand":["customer"],"trial_end":"now"}`,
			"items[0][price]=p1&items[0][tax][0]=a&items[0][tax][1]=b&items[1][price]=p2&metadata[k[x]]=v&expand[0]=customer&trial_end=now"},
		{"joined", `"a":{"style":"form","explode":false},"p":{"style":"pipeDelimited"}`, `{"a":[1,2],"p":[3,4]}`,
			"a=1,2&p=3%7C4"},
		{"bigint", ``, `{"id":{"__codemode_bigint_v1__":"12345678901234567890"}}`, "id=12345678901234567890"},
	} {
		set := bodySet(t, server, `"application/x-www-form-urlencoded":{"encoding":{`+c.encoding+`}}`)
		mustCallAPI(t, set, "op", `{"body":`+c.body+`}`)
		got := server.last(t)
		assert.Equal(t, "application/x-www-form-urlencoded", got.Header.Get("Content-Type"))
		assert.Equal(t, c.want, strings.NewReplacer("%5B", "[", "%5D", "]").Replace(got.Body), c.name)
		_, err := url.ParseQuery(got.Body)
		assert.NoError(t, err)
	}
}

// parts reads a multipart body: name, file name, type and content of each.
func parts(t *testing.T, got seen) (list []string) {
	t.Helper()
	_, parameters, err := mime.ParseMediaType(got.Header.Get("Content-Type"))
	require.NoError(t, err)
	r := multipart.NewReader(strings.NewReader(got.Body), parameters["boundary"])
	for {
		part, err := r.NextPart()
		if err == io.EOF {
			return list
		}
		require.NoError(t, err)
		data, err := io.ReadAll(part)
		require.NoError(t, err)
		list = append(list, fmt.Sprintf("%s|%s|%s|%s", part.FormName(), part.FileName(),
			part.Header.Get("Content-Type"), data))
	}
}

func TestOpenAPIMultipart(t *testing.T) {
	server := record(t, nil)
	set := bodySet(t, server,
		`"multipart/form-data":{"encoding":{"photo":{"contentType":"image/png, image/jpeg"},"tags":{"style":"form","explode":false}}}`)
	mustCallAPI(t, set, "op", `{"body":{"file":`+wireABC+`,"photo":`+wireABC+`,"many":[`+wireABC+
		`,"t"],"o":{"a":{"__codemode_bigint_v1__":"12345678901234567890"}},"n":5,"s":"a\"b","tags":["x","y"],"no":null,"we\"ird\n":"v"}}`)
	assert.Equal(t, []string{
		"file|file|application/octet-stream|abc",
		"photo|photo|image/png|abc",
		"many|many|application/octet-stream|abc",
		"many|||t",
		`o||application/json|{"a":12345678901234567890}`,
		"n|||5",
		`s|||a"b`,
		"tags|||x,y",
		"we%22ird%0A|||v",
	}, parts(t, server.last(t)))
}

func TestOpenAPIMultipartOfTheFixture(t *testing.T) {
	set, server := fixtureAPI(t)
	mustCallAPI(t, set, "sendForm", `{"body":{"file":`+wireABC+`,"note":"n"}}`)
	assert.Equal(t, []string{"file|file|application/octet-stream|abc", "note|||n"}, parts(t, server.last(t)))
}

func TestOpenAPISwaggerForms(t *testing.T) {
	server := record(t, nil)
	document := func(consumes, parameters string) []byte {
		return []byte(`{"swagger":"2.0","info":{"title":"T","version":"1"},"consumes":[` + consumes +
			`],"paths":{"/x":{"post":{"operationId":"op","parameters":[` + parameters + `]}}}}`)
	}
	fields := `{"name":"a","in":"formData","type":"string","required":true},{"name":"l","in":"formData","type":"array","items":{"type":"string"},"collectionFormat":"pipes"},{"name":"m","in":"formData","type":"array","items":{"type":"string"},"collectionFormat":"multi"}`
	set := openAPISet(t, Options{BaseURL: server.URL, Data: document(``, fields)})
	mustCallAPI(t, set, "op", `{"body":{"a":"x","l":["1","2"],"m":["3","4"]}}`)
	assert.Equal(t, "a=x&l=1%7C2&m=3&m=4", server.last(t).Body)
	_, err := callAPI(t, set, "op", `{"body":{}}`)
	assert.EqualError(t, err, "Invalid arguments for api.op: body.a: required, but missing")

	file := `{"name":"f","in":"formData","type":"file","description":"The file"},` + fields
	set = openAPISet(t, Options{BaseURL: server.URL, Data: document(`"application/x-www-form-urlencoded"`, file)})
	mustCallAPI(t, set, "op", `{"body":{"f":`+wireABC+`,"a":"x","l":["1","2"]}}`)
	assert.Equal(t, []string{"f|f|application/octet-stream|abc", "a|||x", "l|||1|2"}, parts(t, server.last(t)))
	b, err := set.Lookup("api", "op")
	require.NoError(t, err)
	assert.JSONEq(t, `{"type":"string","format":"binary","description":"The file"}`,
		string(rawjson.Path(b.InputSchema, "properties", "body", "properties", "f")))
}

func TestOpenAPISwaggerParameters(t *testing.T) {
	server := record(t, nil)
	list := `"type":"array","items":{"type":"integer"}`
	set := openAPISet(t, Options{BaseURL: server.URL, Data: []byte(`{"swagger":"2.0","info":{"title":"T","version":"1"},
		"parameters":{"Shared":{"name":"shared","in":"query","type":"string"}},
		"paths":{"/x/{p}":{"parameters":[{"name":"p","in":"path","required":true,` + list + `,"collectionFormat":"pipes"},{"$ref":"#/parameters/Shared"}],
		"put":{"operationId":"op","parameters":[
			{"name":"c","in":"query",` + list + `},{"name":"s","in":"query",` + list + `,"collectionFormat":"ssv"},{"name":"t","in":"query",` + list + `,"collectionFormat":"tsv"},
			{"name":"m","in":"query",` + list + `,"collectionFormat":"multi"},{"name":"X-H","in":"header",` + list + `,"collectionFormat":"pipes"},
			{"name":"thing","in":"body","required":true,"schema":{"$ref":"#/definitions/Thing"}}]}}},
		"definitions":{"Thing":{"type":"object","required":["id"],"properties":{"id":{"type":"integer"},"n":{"type":"string","x-nullable":true}}}}}`)})
	mustCallAPI(t, set, "op",
		`{"p":[1,2],"shared":3,"c":[1,2],"s":[1,2],"t":[1,2],"m":[1,2],"X-H":[1,2],"body":{"id":1,"n":null}}`)
	got := server.last(t)
	assert.Equal(t, "/x/1%7C2", got.Path)
	assert.Equal(t, "shared=3&c=1,2&s=1%202&t=1%092&m=1&m=2", got.Query)
	assert.Equal(t, "1|2", got.Header.Get("X-H"))
	assert.Equal(t, `{"id":1,"n":null}`, got.Body)
	_, err := callAPI(t, set, "op", `{"p":[1],"body":{}}`)
	assert.EqualError(t, err, "Invalid arguments for api.op: body.id: required, but missing")
}

func TestOpenAPIReadOnlyAndWriteOnly(t *testing.T) {
	data := apiOf(`"paths":{"/x":{"post":{"operationId":"op",
		"requestBody":{"required":true,"content":{"application/json":{"schema":{"$ref":"#/components/schemas/U"}}}},
		"responses":{"201":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/U"}}}}}},
		"put":{"operationId":"all","requestBody":{"content":{"application/json":{"schema":{"allOf":[{"$ref":"#/components/schemas/U"},{"required":["id","name"]}]}}}}},
		"patch":{"operationId":"closed","requestBody":{"content":{"application/json":{"schema":{"type":"object","additionalProperties":false,"required":["id"],"properties":{"id":{"type":"string","readOnly":true}}}}}}}}},
		"components":{"schemas":{"U":{"type":"object","required":["id","name","password"],"properties":{
			"id":{"type":"string","readOnly":true},"name":{"type":"string"},"password":{"type":"string","writeOnly":true}}}}}`)
	set := openAPISet(t, Options{Data: data, BaseURL: record(t, nil).URL})
	op := complete(t, New("api", Options{Data: data}), "op")
	assert.JSONEq(t, `{"type":"object","required":["name","password"],"properties":{"name":{"type":"string"},"password":{"type":"string"}}}`, string(rawjson.Path(op.InputSchema, "$defs", "U")))
	assert.JSONEq(t, `{"type":"object","required":["id","name"],"properties":{"id":{"type":"string"},"name":{"type":"string"}}}`, string(rawjson.Path(op.OutputSchema, "$defs", "U")))
	mustCallAPI(t, set, "op", `{"body":{"name":"n","password":"p","id":"sent back"}}`)
	mustCallAPI(t, set, "all", `{"body":{"name":"n","password":"p"}}`)
	mustCallAPI(t, set, "closed", `{"body":{"id":"sent back"}}`)
	mustCallAPI(t, set, "closed", `{"body":{}}`)
	large, err := New("api", Options{Data: data}).(connectors.LargeConnector).Large(t.Context())
	require.NoError(t, err)
	assert.Contains(t, string(large.Definitions()), `"id":{"readOnly":true,"type":"string"}`)
}

func TestOpenAPIBase64IsNotDecodedByAccident(t *testing.T) {
	server := record(t, nil)
	text := base64.StdEncoding.EncodeToString([]byte("abc"))
	mustCallAPI(t, bodySet(t, server, `"application/octet-stream":{}`), "op", `{"body":"`+text+`"}`)
	assert.Equal(t, text, server.last(t).Body)
}
