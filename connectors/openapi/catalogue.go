package openapi

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/connectors/internal/web"
	"github.com/temporal-codemode/codemode/internal/rawjson"
)

// apiCatalogue is a document as it was when it was read, and what was made of it.
type apiCatalogue struct {
	api    *openAPIConnector
	doc    *apiDocument
	digest [sha256.Size]byte
	at     *url.URL // where the document came from, nil for a file

	operations []*apiOperation
	warnings   []string
	schemes    map[string]*apiScheme
	names      *definitionNames
	// definitions are all that the methods' schemas refer to.
	definitions func() json.RawMessage
}

// apiOperation is one operation of the document, hardly read yet.
type apiOperation struct {
	catalogue *apiCatalogue
	verb      string // in upper case
	path      string // with its braces
	name      string
	item      apiNode
	node      apiNode
	plan      func() *apiPlan
}

func newCatalogue(c *openAPIConnector, data []byte) (*apiCatalogue, error) {
	files, name, at := c.origin()
	doc, err := parseDocument(data, name, files)
	if err == nil {
		err = doc.checkVersion()
	}
	if err != nil {
		return nil, fmt.Errorf("its OpenAPI document cannot be used: %w", err)
	}
	files.begin(doc)
	catalogue := &apiCatalogue{api: c, doc: doc, at: at, names: newDefinitionNames()}
	catalogue.definitions = sync.OnceValue(catalogue.writeDefinitions)
	catalogue.readSchemes()
	catalogue.listOperations()
	catalogue.nameOperations()
	return catalogue, nil
}

func (c *apiCatalogue) warn(format string, args ...any) {
	c.warnings = append(c.warnings, fmt.Sprintf("OpenAPI connector %q: ", c.api.name)+fmt.Sprintf(format, args...))
}

// apiVerbs are in the order of their methods.
var apiVerbs = []string{"get", "put", "post", "delete", "patch", "options", "head"}

func (c *apiCatalogue) listOperations() {
	for path, raw := range rawjson.Members(c.doc.top["paths"]) {
		if strings.HasPrefix(path, "x-") {
			continue
		}
		item, ref, ok := apiNode{c.doc, raw}.deref()
		if !ok || !rawjson.IsObject(item.raw) {
			c.warn("the path %s is left out: %s", path, missingReason(ref))
			continue
		}
		c.listItem(path, apiNode{c.doc, raw}, item)
	}
}

func missingReason(ref string) string {
	if ref == "" {
		return "it is not an object"
	}
	return fmt.Sprintf("its reference %q leads nowhere", ref)
}

// listItem lists the operations of a path item. What stands beside its
// reference, if it has one, counts for more than what that leads to.
func (c *apiCatalogue) listItem(path string, items ...apiNode) {
	owners := map[string]apiNode{}
	for _, item := range items {
		for key := range rawjson.Members(item.raw) {
			if _, taken := owners[key]; !taken && slices.Contains(apiVerbs, key) {
				owners[key] = item
			}
		}
	}
	for _, verb := range apiVerbs {
		item, ok := owners[verb]
		node := item.get(verb)
		switch {
		case !ok || !c.api.wants(verb):
		case !rawjson.IsObject(node.raw):
			c.warn("%s %s is left out: it is not an object", strings.ToUpper(verb), path)
		default:
			op := &apiOperation{catalogue: c, verb: strings.ToUpper(verb), path: path, item: item, node: node}
			op.plan = sync.OnceValue(op.makePlan)
			c.operations = append(c.operations, op)
		}
	}
}

func (c *openAPIConnector) wants(verb string) bool {
	return len(c.opts.Verbs) == 0 || slices.ContainsFunc(c.opts.Verbs, func(v string) bool { return strings.EqualFold(v, verb) })
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
			c.warn("%s is named %q, since %q is reserved", op, op.name, wanted)
		} else {
			c.warn("%s is named %q, since %s is named %q already", op, op.name, owner, wanted)
		}
	}
}

func (op *apiOperation) String() string { return op.verb + " " + op.path }

func (op *apiOperation) id() string { return op.node.text("operationId") }

func (op *apiOperation) naturalName() string {
	if id := op.id(); id != "" {
		return connectors.SanitizeToolName(id)
	}
	return connectors.SanitizeToolName(strings.ToLower(op.verb) + "_" + op.path)
}

// origin is the operationId, or for one without the verb and path, when that
// differs from the name.
func (op *apiOperation) origin() string {
	switch id := op.id(); id {
	case "":
		return op.String()
	case op.name:
		return ""
	default:
		return id
	}
}

func (op *apiOperation) description() string {
	for _, key := range []string{"summary", "description"} {
		if text := strings.TrimSpace(op.node.text(key)); text != "" {
			return text
		}
	}
	return op.String()
}

func (op *apiOperation) class() connectors.Class { return web.ClassOfVerb(op.verb) }

func (op *apiOperation) method() connectors.Method {
	return connectors.Method{
		Name: op.name, Origin: op.origin(), Description: op.description(), Class: op.class(), ClassFrom: op.verb,
		Tags:    rawjson.Texts(rawjson.Member(op.node.raw, "tags")),
		Timeout: op.catalogue.api.opts.Timeout, Execute: op.execute,
	}
}

func (c *apiCatalogue) largeMethods() []connectors.Method {
	list := c.ownMethods()
	for _, op := range c.operations {
		m := op.method()
		m.InputSchema = op.input(c.sharing(asInput), false)
		m.OutputSchema = op.output(c.sharing(asOutput))
		m.Arguments = op.arguments
		list = append(list, m)
	}
	return list
}

func (c *apiCatalogue) methods() []connectors.Method {
	list := c.ownMethods()
	for _, op := range c.operations {
		m := op.method()
		m.InputSchema, m.OutputSchema = op.arguments(), op.output(c.complete(asOutput, maxEagerDefs))
		list = append(list, m)
	}
	return list
}

// allWarnings reads every operation.
func (c *apiCatalogue) allWarnings() []string {
	all := apiCatalogue{api: c.api, warnings: slices.Clone(c.warnings)}
	for _, op := range c.operations {
		for _, text := range op.plan().warnings {
			all.warn("%s: %s", op, text)
		}
	}
	for _, ref := range c.doc.brokenReferences() {
		all.warn("the reference %q leads nowhere: what it stands for is unknown", ref)
	}
	return all.warnings
}
