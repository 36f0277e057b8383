package openapi

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/connectors/internal/web"
	"github.com/temporal-codemode/codemode/connectors/wire"
	"github.com/temporal-codemode/codemode/internal/rawjson"
	"github.com/temporal-codemode/codemode/internal/words"
)

// ownMethods are those that no operation stands for.
func (c *apiCatalogue) ownMethods() (list []connectors.Method) {
	if c.api.opts.ExposeSpec {
		list = append(list, connectors.Method{
			Name: "spec", Class: connectors.Read, Description: "Get the OpenAPI document.",
			InputSchema:  json.RawMessage(`{"type":"object","properties":{}}`),
			OutputSchema: json.RawMessage(`{"type":"object"}`),
			Execute: func(connectors.Context, json.RawMessage) (any, error) {
				return wire.FromJSON(c.api.secrets.json(c.spec)), nil
			},
		})
	}
	if c.api.opts.RawRequest {
		list = append(list, connectors.Method{
			Name: "request", Class: connectors.Write, Timeout: c.api.opts.Timeout,
			InputSchema: json.RawMessage(rawRequestSchema),
			Description: "Send any request to the API, where no other method fits.", Execute: c.executeRaw,
		})
	}
	return list
}

const rawRequestSchema = `{"type":"object","properties":{` +
	`"path":{"type":"string","description":"Path below the API's base URL, such as /users/1"},` +
	`"method":{"type":"string","description":"GET by default"},` +
	`"params":{"type":"object","description":"Query parameters","additionalProperties":true},` +
	`"body":{"description":"Sent as JSON unless the header Content-Type says otherwise"},` +
	`"headers":{"type":"object","additionalProperties":{"type":["string","number","boolean"]}}},"required":["path"]}`

func (c *apiCatalogue) executeRaw(ctx connectors.Context, args json.RawMessage) (any, error) {
	request, err := rawRequest(args)
	if err != nil {
		return nil, err
	}
	call := &apiCall{catalogue: c, name: "request", class: connectors.Write, request: request}
	return call.run(ctx)
}

func rawRequest(args json.RawMessage) (*web.Request, error) {
	given, _, err := argumentMembers(args)
	if err != nil {
		return nil, err
	}
	r := &web.Request{Verb: strings.ToUpper(rawjson.Text(given["method"])), Header: http.Header{}}
	if r.Verb == "" {
		r.Verb = http.MethodGet
	}
	if !validHeader(r.Verb, "") || r.Verb == http.MethodConnect || r.Verb == http.MethodTrace {
		return nil, connectors.InvalidArgumentf("method: not one that can be sent")
	}
	if err := setRawPath(r, rawjson.Text(given["path"])); err != nil {
		return nil, err
	}
	for name, value := range rawjson.Members(plainOrNil(given["params"])) {
		if !rawjson.IsNull(value) {
			r.Query = append(r.Query, rawField(value).pairs(name, value)...)
		}
	}
	r.Header.Set("Accept", "application/json, */*;q=0.5")
	if err := setRawHeaders(r, plainOrNil(given["headers"])); err != nil {
		return nil, err
	}
	return r, setRawBody(r, given[bodyProperty])
}

func plainOrNil(argument []byte) []byte {
	plain, _ := wire.Plain(argument)
	return plain
}

// rawField repeats lists, and nests objects as most servers read them.
func rawField(value []byte) *formField {
	if rawjson.IsObject(value) {
		return &formField{style: styleDeep}
	}
	return plainField
}

// setRawPath keeps the request below the base URL.
func setRawPath(r *web.Request, path string) error {
	path, _, _ = strings.Cut(path, "#")
	path, query, _ := strings.Cut(path, "?")
	if !strings.HasPrefix(path, "/") {
		return connectors.InvalidArgumentf(`path: must begin with "/", it is taken below the API's base URL`)
	}
	r.Path = encodeTemplate(path)
	for part := range strings.SplitSeq(query, "&") {
		if name, value, _ := strings.Cut(part, "="); name != "" {
			r.Query = append(r.Query, web.EncodedPair(name, value))
		}
	}
	return checkPath(r.Path)
}

// connectionHeaders belong to the connection, not to the request.
var connectionHeaders = words.Set(
	`connection content-length host keep-alive proxy-authorization proxy-connection te trailer transfer-encoding upgrade`)

func setRawHeaders(r *web.Request, headers []byte) error {
	for name, raw := range rawjson.Members(headers) {
		value := scalarText(raw)
		if !validHeader(name, value) || connectionHeaders[strings.ToLower(name)] {
			return connectors.InvalidArgumentf("headers: %s cannot be sent", words.Shorten(name, words.MaxValue))
		}
		r.Header.Set(name, value)
	}
	return nil
}

func setRawBody(r *web.Request, argument []byte) error {
	if len(argument) == 0 {
		return nil
	}
	mediaType := r.Header.Get(typeProperty)
	if mediaType == "" {
		mediaType = "application/json"
		if _, ok := wire.Bytes(argument); ok {
			mediaType = "application/octet-stream"
		}
	}
	body, contentType, err := (&apiMedia{mediaType: mediaType, kind: web.KindOf(mediaType)}).encode(argument)
	if err != nil {
		return err
	}
	r.Body = body
	r.Header.Set(typeProperty, contentType)
	return nil
}
