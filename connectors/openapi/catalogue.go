package openapi

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/connectors/internal/web"
)

// apiCatalogue is a document as it was when it was read, and what was made of it.
type apiCatalogue struct {
	api    *openAPIConnector
	digest [sha256.Size]byte
	at     *url.URL // where the document came from, nil for a file
	spec   []byte   // the document itself, if programs may ask for it
	// several tells that other files were looked for.
	several bool

	title, about string
	ownServers   openapi3.Servers
	required     openapi3.SecurityRequirements
	schemes      map[string]*apiScheme
	operations   []*apiOperation
	warnings     []connectors.Warning
	definitions  *definitions
}

// apiOperation is one operation of the document.
type apiOperation struct {
	catalogue *apiCatalogue
	verb      string // in upper case
	path      string // with its braces
	name      string
	id        string
	about     string
	tags      []string
	servers   openapi3.Servers
	security  *openapi3.SecurityRequirements
	plan      apiPlan
	// input and output describe the argument and the result.
	input, output json.RawMessage
}

// newCatalogue keeps nothing of the tree that kin-openapi makes of the document,
// which takes up many times its size.
func newCatalogue(c *openAPIConnector, data []byte) (*apiCatalogue, error) {
	turns <- struct{}{}
	defer func() { <-turns }()
	files, name, at := c.origin()
	document, err := parse(data, files, name)
	if err != nil {
		return nil, fmt.Errorf("its OpenAPI document cannot be used: %w", err)
	}
	catalogue := &apiCatalogue{
		api: c, at: at, several: len(files.opened) > 1, ownServers: document.Servers, required: document.Security,
	}
	if c.opts.ExposeSpec {
		catalogue.spec = document.raw
	}
	if info := document.Info; info != nil {
		catalogue.title, catalogue.about = info.Title, info.Description
	}
	var elsewhere *originError
	if _, err := catalogue.baseURL(nil); errors.As(err, &elsewhere) {
		catalogue.warn(connectors.WarnCredential, "requests cannot be sent: %v", err)
	}
	catalogue.readSchemes(document.Components.SecuritySchemes)
	for _, path := range document.paths {
		catalogue.listItem(path, document.Paths.Value(path))
	}
	catalogue.nameOperations()
	names := newDefinitionNames()
	for _, op := range catalogue.operations {
		op.writeSchemas(names)
		for _, w := range op.plan.warnings {
			catalogue.warn(w.Kind, "%s: %s", op, w.Text)
		}
		op.plan.warnings = nil
	}
	catalogue.definitions = writeDefinitions(names)
	for _, ref := range document.broken {
		catalogue.warn(connectors.WarnUnknown, "the reference %q leads nowhere: what it stands for is unknown", ref)
	}
	return catalogue, nil
}

func (c *apiCatalogue) warn(kind connectors.WarningKind, format string, args ...any) {
	text := fmt.Sprintf("OpenAPI connector %q: ", c.api.name) + fmt.Sprintf(format, args...)
	c.warnings = append(c.warnings, connectors.Warning{Connector: c.api.name, Kind: kind, Text: text})
}

// apiVerbs are in the order of their methods.
var apiVerbs = []string{"get", "put", "post", "delete", "patch", "options", "head"}

func (c *apiCatalogue) listItem(path string, item *openapi3.PathItem) {
	if reason := whyLeftOut(item.Extensions); reason != "" {
		c.warn(connectors.WarnLeftOut, "the path %s is left out: %s", path, reason)
		return
	}
	for _, verb := range apiVerbs {
		if from := item.GetOperation(strings.ToUpper(verb)); from != nil && c.api.wants(verb) {
			c.listOperation(strings.ToUpper(verb), path, item, from)
		}
	}
}

func (c *apiCatalogue) listOperation(verb, path string, item *openapi3.PathItem, from *openapi3.Operation) {
	op := &apiOperation{
		catalogue: c, verb: verb, path: path, id: from.OperationID, tags: from.Tags,
		about:    cmp.Or(strings.TrimSpace(from.Summary), strings.TrimSpace(from.Description)),
		security: from.Security, servers: item.Servers,
	}
	if reason := whyLeftOut(from.Extensions); reason != "" {
		c.warn(connectors.WarnLeftOut, "%s is left out: %s", op, reason)
		return
	}
	if from.Servers != nil && len(*from.Servers) > 0 {
		op.servers = *from.Servers
	}
	var elsewhere *originError
	if _, err := c.baseURL(op); len(op.servers) > 0 && errors.As(err, &elsewhere) {
		c.warn(connectors.WarnLeftOut, "%s is left out: %v", op, err)
		return
	}
	op.plan.op = op
	op.plan.read(item, from)
	c.operations = append(c.operations, op)
}

func (c *openAPIConnector) wants(verb string) bool {
	return len(c.opts.Verbs) == 0 ||
		slices.ContainsFunc(c.opts.Verbs, func(v string) bool { return strings.EqualFold(v, verb) })
}

// reservedOperations are names that the connector itself may need, or that
// JavaScript would call on its own.
var reservedOperations = []string{"request", "spec", "then", "toJSON"}

// nameOperations gives a name to the first who has it; the others get a number,
// which makes no name that an operation has by itself.
func (c *apiCatalogue) nameOperations() {
	natural, owners := map[string]bool{}, map[string]*apiOperation{}
	for _, op := range c.operations {
		op.name = op.naturalName()
		natural[op.name] = true
	}
	for _, op := range c.operations {
		wanted, reserved := op.name, slices.Contains(reservedOperations, op.name)
		owner := owners[wanted]
		if owner == nil && !reserved {
			owners[wanted] = op
			continue
		}
		for n := 2; owners[op.name] != nil || natural[op.name]; n++ {
			op.name = fmt.Sprintf("%s_%d", wanted, n)
		}
		owners[op.name] = op
		if reserved {
			c.warn(connectors.WarnRenamed, "%s is named %q, since %q is reserved", op, op.name, wanted)
		} else {
			c.warn(connectors.WarnRenamed, "%s is named %q, since %s is named %q already", op, op.name, owner, wanted)
		}
	}
}

func (op *apiOperation) String() string { return op.verb + " " + op.path }

func (op *apiOperation) naturalName() string {
	if op.id != "" { // a slash separates words, as in issues/list-for-repo
		return connectors.SanitizeToolName(strings.ReplaceAll(op.id, "/", "_"))
	}
	return connectors.SanitizeToolName(strings.ToLower(op.verb) + "_" + op.path)
}

// origin is the operationId, or for one without the verb and path, when that
// differs from the name.
func (op *apiOperation) origin() string {
	switch op.id {
	case "":
		return op.String()
	case op.name:
		return ""
	}
	return op.id
}

func (op *apiOperation) description() string { return cmp.Or(op.about, op.String()) }

func (op *apiOperation) class() connectors.Class { return web.ClassOfVerb(op.verb) }

func (op *apiOperation) method() connectors.Method {
	return connectors.Method{
		Name: op.name, Origin: op.origin(), Description: op.description(), Class: op.class(), ClassFrom: op.verb,
		Tags: op.tags, Timeout: op.catalogue.api.opts.Timeout, Execute: op.execute,
	}
}

func (c *apiCatalogue) largeMethods() []connectors.Method {
	list := c.ownMethods()
	for _, op := range c.operations {
		m := op.method()
		m.InputSchema, m.OutputSchema, m.Arguments = op.input, op.output, op.arguments
		list = append(list, m)
	}
	return list
}

func (c *apiCatalogue) methods() []connectors.Method {
	list := c.ownMethods()
	for _, op := range c.operations {
		m := op.method()
		m.InputSchema, m.OutputSchema = op.arguments(), completed(op.output, c.definitions.output, maxEagerDefs)
		list = append(list, m)
	}
	return list
}
