package discovery

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/temporal-codemode/codemode/connectors"
)

// apiSet makes methods of an OpenAPI document in the plainest way that gives
// their schemas: references stay, and lead into the document.
func apiSet(t testing.TB, name, file string) (*connectors.Set, Options) {
	t.Helper()
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	doc, err := newDocument(raw, nil)
	require.NoError(t, err)
	r := apiReader{doc: doc, seen: map[string]bool{}, tags: map[string][]string{}}
	for _, path := range object(newSchema(doc.root).get("paths")) {
		for _, op := range object(path.raw) {
			if strings.Contains(" get put post delete patch options head ", " "+op.key+" ") {
				r.add(path, op)
			}
		}
	}
	set, err := connectors.NewSet(t.Context(), []connectors.Connector{catalogueOnly{name, r.methods}}, nil)
	require.NoError(t, err)
	return set, Options{
		Definitions: func(string) json.RawMessage { return raw },
		Tags:        func(m *connectors.Bound) []string { return r.tags[m.Method.Name] },
	}
}

// catalogueOnly is a connector whose schemas nobody compiles.
type catalogueOnly struct {
	name    string
	methods []connectors.Method
}

func (c catalogueOnly) Name() string                                         { return c.name }
func (c catalogueOnly) Instructions() string                                 { return "" }
func (c catalogueOnly) Methods(context.Context) ([]connectors.Method, error) { return c.methods, nil }
func (c catalogueOnly) Close() error                                         { return nil }

type apiReader struct {
	doc     *document
	methods []connectors.Method
	seen    map[string]bool
	tags    map[string][]string
}

func (r *apiReader) open(raw []byte) schema {
	for range 10 {
		s := newSchema(raw)
		if s.ref() == "" {
			return s
		}
		raw, _ = r.doc.resolve(s.ref())
	}
	return schema{}
}

func (r *apiReader) add(path, op member) {
	s := newSchema(op.raw)
	origin := s.text("operationId")
	if origin == "" {
		origin = op.key + "_" + path.key
	}
	name := numbered(connectors.SanitizeToolName(origin), func(n string) bool { return r.seen[n] })
	r.seen[name] = true
	r.tags[name] = texts(s.get("tags"))
	class := connectors.Write
	if op.key == "get" {
		class = connectors.Read
	}
	description := s.text("summary")
	if long := s.text("description"); long != "" && description != "" {
		description += ". " + long
	} else if description == "" {
		description = long
	}
	m := method(name, description, class)
	m.Origin = origin
	m.InputSchema = r.input(newSchema(path.raw), s)
	m.OutputSchema = r.output(s)
	r.methods = append(r.methods, m)
}

func (r *apiReader) input(path, op schema) json.RawMessage {
	var properties, required []string
	put := func(name string, raw []byte, must bool) {
		key, _ := json.Marshal(name)
		properties = append(properties, string(key)+":"+string(raw))
		if must {
			required = append(required, string(key))
		}
	}
	for _, list := range [][][]byte{path.list("parameters"), op.list("parameters")} {
		for _, raw := range list {
			p := r.open(raw)
			if p.text("in") == "body" {
				put("body", p.get("schema"), p.isTrue("required"))
				continue
			}
			put(p.text("name"), parameterSchema(p), p.isTrue("required"))
		}
	}
	body := r.open(op.get("requestBody"))
	for _, media := range object(body.get("content")) {
		if inner := newSchema(media.raw).get("schema"); inner != nil {
			put("body", inner, body.isTrue("required"))
			break
		}
	}
	return json.RawMessage(`{"type":"object","properties":{` + strings.Join(properties, ",") + `},"required":[` + strings.Join(required, ",") + `]}`)
}

func parameterSchema(p schema) []byte {
	raw := p.get("schema")
	if raw == nil {
		raw = p.raw // Swagger 2.0
	}
	if d := p.get("description"); d != nil && raw[0] == '{' && newSchema(raw).get("description") == nil {
		rest := strings.TrimPrefix(string(raw), "{")
		comma := ","
		if strings.TrimSpace(rest) == "}" {
			comma = ""
		}
		raw = []byte(`{"description":` + string(d) + comma + rest)
	}
	return raw
}

func (r *apiReader) output(op schema) json.RawMessage {
	for _, response := range object(op.get("responses")) {
		if !strings.HasPrefix(response.key, "2") {
			continue
		}
		s := r.open(response.raw)
		if inner := s.get("schema"); inner != nil {
			return json.RawMessage(inner)
		}
		for _, media := range object(s.get("content")) {
			if inner := newSchema(media.raw).get("schema"); inner != nil {
				return json.RawMessage(inner)
			}
		}
	}
	return nil
}
