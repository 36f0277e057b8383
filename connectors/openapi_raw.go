package connectors

import (
	"encoding/json"
	"net/http"
	"strings"
)

// ownMethods are those that no operation stands for.
func (c *apiCatalogue) ownMethods() (list []Method) {
	if c.api.opts.ExposeSpec {
		list = append(list, Method{
			Name: "spec", Class: Read, Description: "Get the OpenAPI document.",
			InputSchema: json.RawMessage(`{"type":"object","properties":{}}`), OutputSchema: json.RawMessage(`{"type":"object"}`),
			Execute: func(Context, json.RawMessage) (any, error) { return tagBigInts(c.api.secrets.json(c.doc.raw)), nil },
		})
	}
	if c.api.opts.RawRequest {
		list = append(list, Method{
			Name: "request", Class: Write, Timeout: c.api.opts.Timeout, InputSchema: json.RawMessage(rawRequestSchema),
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

func (c *apiCatalogue) executeRaw(ctx Context, args json.RawMessage) (any, error) {
	request, err := rawRequest(args)
	if err != nil {
		return nil, err
	}
	call := &apiCall{catalogue: c, name: "request", class: Write, request: request}
	return call.run(ctx)
}

func rawRequest(args json.RawMessage) (*apiRequest, error) {
	given, _, err := argumentMembers(args)
	if err != nil {
		return nil, err
	}
	r := &apiRequest{verb: strings.ToUpper(jsonText(given["method"])), header: http.Header{}}
	if r.verb == "" {
		r.verb = http.MethodGet
	}
	if !validHeader(r.verb, "") || r.verb == http.MethodConnect || r.verb == http.MethodTrace {
		return nil, invalidArgument("method: not one that can be sent")
	}
	if err := r.setRawPath(jsonText(given["path"])); err != nil {
		return nil, err
	}
	for name, value := range jsonMembers(plainOrNil(given["params"])) {
		if !isNull(value) {
			r.query = append(r.query, rawField(value).pairs(name, value)...)
		}
	}
	r.header.Set("Accept", "application/json, */*;q=0.5")
	if err := r.setRawHeaders(plainOrNil(given["headers"])); err != nil {
		return nil, err
	}
	return r, r.setRawBody(given[bodyProperty])
}

func plainOrNil(wire []byte) []byte {
	plain, _ := PlainJSON(wire)
	return plain
}

// rawField repeats lists, and nests objects as most servers read them.
func rawField(value []byte) *formField {
	if isObject(value) {
		return &formField{style: styleDeep}
	}
	return plainField
}

// setRawPath keeps the request below the base URL.
func (r *apiRequest) setRawPath(path string) error {
	path, _, _ = strings.Cut(path, "#")
	path, query, _ := strings.Cut(path, "?")
	if !strings.HasPrefix(path, "/") {
		return invalidArgument(`path: must begin with "/", it is taken below the API's base URL`)
	}
	r.path = encodeTemplate(path)
	for part := range strings.SplitSeq(query, "&") {
		if name, value, _ := strings.Cut(part, "="); name != "" {
			r.query = append(r.query, queryPair{percentEncode(name, true), percentEncode(value, true)})
		}
	}
	return checkPath(r.path)
}

// connectionHeaders belong to the connection, not to the request.
var connectionHeaders = wordSet(`connection content-length host keep-alive proxy-authorization proxy-connection te trailer transfer-encoding upgrade`)

func (r *apiRequest) setRawHeaders(headers []byte) error {
	for name, raw := range jsonMembers(headers) {
		value := scalarText(raw)
		if !validHeader(name, value) || connectionHeaders[strings.ToLower(name)] {
			return invalidArgument("headers: %s cannot be sent", shorten(name, maxValueText))
		}
		r.header.Set(name, value)
	}
	return nil
}

func (r *apiRequest) setRawBody(wire []byte) error {
	if len(wire) == 0 {
		return nil
	}
	mediaType := r.header.Get(typeProperty)
	if mediaType == "" {
		mediaType = "application/json"
		if _, ok := wireBytes(wire); ok {
			mediaType = "application/octet-stream"
		}
	}
	body, contentType, err := (&apiMedia{mediaType: mediaType, kind: kindOf(mediaType)}).encode(wire)
	if err != nil {
		return err
	}
	r.body = body
	r.header.Set(typeProperty, contentType)
	return nil
}
