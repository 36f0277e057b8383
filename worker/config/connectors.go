package config

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/temporal-codemode/codemode/connectors"
	mcpconnector "github.com/temporal-codemode/codemode/connectors/mcp"
	"github.com/temporal-codemode/codemode/connectors/openapi"
	"github.com/temporal-codemode/codemode/connectors/outbound"
	temporalconnector "github.com/temporal-codemode/codemode/connectors/temporal"
)

func (r *reader) connectors(key string, n *yaml.Node) []Connector {
	var list []Connector
	for _, e := range r.entries(key, n) {
		if err := checkConnector(e.key); err != nil {
			r.fail(e.name, "%v", err)
		} else if e.key == outbound.Name {
			r.fail(e.name, `the name "outbound" is that of fetch: give its hosts in a section "outbound" beside "connectors"`)
		}
		list = append(list, r.connector(e))
	}
	return list
}

// checkConnector asks the connectors package, which alone knows the rules for names.
func checkConnector(name string, rules ...connectors.Rule) error {
	_, err := connectors.NewSet(context.Background(), []connectors.Connector{connectors.New(name, "")},
		map[string][]connectors.Rule{name: rules})
	return err
}

func (r *reader) connector(e entry) Connector {
	c := Connector{Name: e.key, MCP: &mcpconnector.Options{}, OpenAPI: &openapi.Options{},
		Temporal: &temporalconnector.Options{}}
	var tools []connectors.Rule
	found := r.fields(e.value, "connector "+strconv.Quote(e.key), map[string]take{
		"mcp":      func(key string, n *yaml.Node) { r.mcp(key, n, c.MCP) },
		"openapi":  func(key string, n *yaml.Node) { r.openAPI(key, n, c.OpenAPI) },
		"temporal": func(key string, n *yaml.Node) { r.temporal(key, n, &c) },
		"instructions": func(key string, n *yaml.Node) {
			t, _ := r.text(key, n)
			c.MCP.Instructions, c.OpenAPI.Instructions, c.Temporal.Instructions = t.value, t.value, t.value
		},
		"annotations": func(key string, n *yaml.Node) {
			c.MCP.IgnoreAnnotations = choice(r, key, n, map[string]bool{"trust": false, "ignore": true})
		},
		"hint": func(key string, n *yaml.Node) {
			t, _ := r.text(key, n)
			c.Hint = t.value
		},
		"taskQueue": func(key string, n *yaml.Node) {
			c.OwnQueue = choice(r, key, n, map[string]bool{"shared": false, "own": true})
		},
		"tools": func(key string, n *yaml.Node) { tools = r.tools(key, n) },
	})
	c.Rules = append(c.Rules, tools...)
	r.checkKind(e, &c, found)
	return c
}

// checkKind wants a connector to be of one kind, and leaves the options of that one.
func (r *reader) checkKind(e entry, c *Connector, found map[string]*yaml.Node) {
	var kinds []string
	for _, kind := range []string{"mcp", "openapi", "temporal"} {
		if found[kind] != nil {
			kinds = append(kinds, strconv.Quote(kind))
		}
	}
	switch len(kinds) {
	case 0:
		r.fail(e.name, `connector %q says neither "mcp" nor "openapi" nor "temporal"`, e.key)
	case 1:
	default:
		r.fail(e.name, "connector %q says both %s: make one connector of each", e.key, strings.Join(kinds, " and "))
	}
	if found["temporal"] == nil {
		c.Temporal = nil
	} else {
		r.checkTemporal(e, *c, found)
	}
	if found["openapi"] == nil {
		c.OpenAPI = nil
	}
	if found["mcp"] == nil {
		c.MCP = nil
	}
}

func (r *reader) mcp(key string, n *yaml.Node, o *mcpconnector.Options) {
	before := len(r.expanded)
	found := r.fields(n, key, map[string]take{
		"command": func(key string, n *yaml.Node) {
			t, _ := r.text(key, n)
			o.Command = r.path(t.value)
		},
		"args": func(key string, n *yaml.Node) { o.Args = r.args(key, n) },
		"env":  func(key string, n *yaml.Node) { o.Env = r.strings(key, n) },
		"url": func(key string, n *yaml.Node) {
			t, _ := r.text(key, n)
			o.URL = t.value
		},
		"headers": func(key string, n *yaml.Node) { o.Headers = r.strings(key, n) },
		"transport": func(key string, n *yaml.Node) {
			o.SSE = choice(r, key, n, map[string]bool{"streamable-http": false, "sse": true})
		},
		"startTimeout": func(key string, n *yaml.Node) { o.StartTimeout = r.duration(key, n) },
		"maxResponse":  func(key string, n *yaml.Node) { o.MaxResponseBytes = r.size(key, n) },
	})
	o.Secrets = slices.Clone(r.expanded[before:])
	r.checkMCP(key, n, found)
}

// checkMCP wants one way to the server, and no keys of the other.
func (r *reader) checkMCP(key string, n *yaml.Node, found map[string]*yaml.Node) {
	command, url := found["command"], found["url"]
	switch {
	case command == nil && url == nil:
		r.fail(n, `%s needs "command", which starts the server, or the "url" where it is`, key)
	case command != nil && url != nil:
		r.fail(url, `%s has both "command" and "url": the server is started, or it is there`, key)
	case command != nil && command.Value == "":
		r.fail(command, `"command" is empty`)
	case url != nil && url.Value == "":
		r.fail(url, `"url" is empty`)
	}
	for _, pair := range [][2]string{{"headers", "url"}, {"transport", "url"}, {"args", "command"},
		{"env", "command"}} {
		name, other := pair[0], pair[1]
		if wrong := found[name]; wrong != nil && found[other] == nil && (command != nil || url != nil) {
			r.fail(wrong, "%q belongs to a server that is reached by %q", name, other)
		}
	}
}

func (r *reader) openAPI(key string, n *yaml.Node, o *openapi.Options) {
	text := func(to *string) take {
		return func(key string, n *yaml.Node) {
			t, _ := r.text(key, n)
			*to = t.value
		}
	}
	flag := func(to *bool) take { return func(key string, n *yaml.Node) { *to = r.bool(key, n) } }
	found := r.fields(n, key, map[string]take{
		"document": func(key string, n *yaml.Node) {
			t, _ := r.text(key, n)
			if o.Document = t.value; !strings.Contains(t.value, "://") && !filepath.IsAbs(t.value) {
				o.Document = filepath.Join(r.dir, t.value)
			}
		},
		"baseURL": text(&o.BaseURL),
		"origins": func(key string, n *yaml.Node) { o.Origins = r.args(key, n) },
		"headers": func(key string, n *yaml.Node) {
			before := len(r.expanded)
			o.Headers = r.strings(key, n)
			o.Secrets = slices.Clone(r.expanded[before:])
		},
		"credentials":   func(key string, n *yaml.Node) { o.Credentials = r.credentials(key, n) },
		"verbs":         func(key string, n *yaml.Node) { o.Verbs = r.verbs(key, n) },
		"rawRequest":    flag(&o.RawRequest),
		"exposeSpec":    flag(&o.ExposeSpec),
		"fullResponses": flag(&o.FullResponses),
		"timeout":       func(key string, n *yaml.Node) { o.Timeout = r.duration(key, n) },
		"maxResponse":   func(key string, n *yaml.Node) { o.MaxResponseBytes = r.size(key, n) },
	})
	if found["document"] == nil {
		r.fail(n, `%s needs "document", the file or URL of the OpenAPI document`, key)
	}
}

var httpVerbs = []string{"GET", "PUT", "POST", "DELETE", "PATCH", "OPTIONS", "HEAD"}

func (r *reader) verbs(key string, n *yaml.Node) []string {
	list := r.args(key, n)
	for _, verb := range list {
		if !slices.Contains(httpVerbs, strings.ToUpper(verb)) {
			r.fail(n, "%s must be a list of %s, but is %s", key, strings.Join(httpVerbs, ", "), shown(n))
			break
		}
	}
	return list
}

// credentials reads what the document's security schemes are filled with.
func (r *reader) credentials(key string, n *yaml.Node) map[string]openapi.Credential {
	all := map[string]openapi.Credential{}
	for _, e := range r.entries(key, n) {
		var c openapi.Credential
		text := func(to *string) take {
			return func(key string, n *yaml.Node) {
				t, _ := r.text(key, n)
				*to = t.value
			}
		}
		r.fields(e.value, "credential "+strconv.Quote(e.key), map[string]take{
			"token": text(&c.Token), "username": text(&c.Username), "password": text(&c.Password),
			"clientId": text(&c.ClientID), "clientSecret": text(&c.ClientSecret), "tokenURL": text(&c.TokenURL),
			"scopes": func(key string, n *yaml.Node) { c.Scopes = r.args(key, n) },
		})
		all[e.key] = c
	}
	return all
}

func (r *reader) args(key string, n *yaml.Node) []string {
	if n.Kind != yaml.SequenceNode {
		r.fail(n, "%s must be a list, but is %s", key, shown(n))
		return nil
	}
	var list []string
	for i, item := range n.Content {
		t, _ := r.scalar("item "+strconv.Itoa(i+1)+" of "+key, resolve(item))
		list = append(list, r.path(t.value))
	}
	return list
}

func (r *reader) strings(key string, n *yaml.Node) map[string]string {
	values := map[string]string{}
	for _, e := range r.entries(key, n) {
		t, _ := r.scalar(strconv.Quote(e.key), e.value)
		values[e.key] = t.value
	}
	return values
}

func wordList[T any](words map[string]T) string {
	return strings.Join(slices.Sorted(maps.Keys(words)), " or ")
}
