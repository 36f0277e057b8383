// Package lookup answers what a program, or a client, asks codemode itself: search, describe, the tool's text, the
// methods.
//
// Its rule: the answers are the same with and without Temporal.
package lookup

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/connectors/catalogue"
	"github.com/temporal-codemode/codemode/internal/tool"
	"github.com/temporal-codemode/codemode/internal/validate"
	"github.com/temporal-codemode/codemode/sandbox"
	"github.com/temporal-codemode/codemode/signals"
	"github.com/temporal-codemode/codemode/signals/learnt"
)

// SnippetReader reads the runtime's snippets; lists come without code.
type SnippetReader interface {
	Get(ctx context.Context, name string, version int) (*signals.Snippet, error)
	List(ctx context.Context) ([]signals.Snippet, error)
}

// Lookups answers what a program, or a client, asks codemode itself.
type Lookups struct {
	Connectors *connectors.Set
	Catalogue  *catalogue.Catalogue
	Snippets   SnippetReader
	Hints      map[string]string
	// Learnt tells what results of a connector's methods look like; nil knows nothing.
	Learnt func(ctx context.Context, connector string) func(method string) *learnt.Shape
}

// runMethod finds the snippet that a program runs; it is no look-up of clients.
const runMethod = "run"

// Call answers a look-up of a program.
func (l Lookups) Call(ctx context.Context, c sandbox.Call) sandbox.Settlement {
	var in struct {
		signals.CatalogueInput
		Name  string          `json:"name"`
		Input json.RawMessage `json:"input"`
	}
	err := json.Unmarshal(c.Args, &in)
	var value any
	switch {
	case err != nil:
	case c.Method == runMethod:
		value, err = l.run(ctx, in.Name, in.Input)
	default:
		in.Kind = c.Method
		value, err = l.Answer(ctx, in.CatalogueInput)
	}
	if err != nil {
		return sandbox.Fail(fmt.Errorf("codemode.%s: %w", c.Method, err))
	}
	text, err := signals.Marshal(value)
	if err != nil {
		return sandbox.Fail(err)
	}
	return sandbox.Settlement{Value: text}
}

func (l Lookups) Answer(ctx context.Context, in signals.CatalogueInput) (any, error) {
	switch in.Kind {
	case signals.CatalogueSearch:
		return l.search(ctx, in)
	case signals.CatalogueDescribe:
		return l.describe(ctx, in.Target)
	case signals.CatalogueTool:
		return l.tool(in), nil
	case signals.CatalogueMethod:
		return l.method(in.Target), nil
	case signals.CatalogueMethods:
		return l.methods(in.From), nil
	case signals.CatalogueValue:
		return l.checkValue(in), nil
	}
	if answer, ok := l.utcp(ctx, in); ok {
		return answer, nil
	}
	return nil, fmt.Errorf("this worker's catalogue does not answer %q: update the worker", in.Kind)
}

// maxSchema bounds the schema that a client gets for a form.
const maxSchema = 256 * 1024

func (l Lookups) method(target string) *signals.Method {
	connector, name, _ := strings.Cut(target, ".")
	b, err := l.Connectors.Lookup(connector, name)
	if err != nil {
		return nil
	}
	m := &signals.Method{
		Connector: b.Connector, Method: b.Method.Name, Description: b.Description, Class: b.Class,
		RequiresApproval: b.MayNeedApproval(), Revertable: b.Revert != nil, InputSchema: b.InputSchema,
	}
	if b.Arguments != nil {
		m.InputSchema = b.Arguments()
	}
	if len(m.InputSchema) > maxSchema {
		m.InputSchema = nil
	}
	return m
}

// checkValue says what is wrong with arguments or a result that a person wrote, in the words of the
// activity that uses them.
func (l Lookups) checkValue(in signals.CatalogueInput) string {
	connector, name, _ := strings.Cut(in.Target, ".")
	method, err := l.Connectors.Lookup(connector, name)
	if err != nil {
		return "" // another worker may have it
	}
	if len(in.Args) > 0 {
		err = method.Validate(in.Args)
	} else {
		err = method.ValidateResult(in.Result)
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

func (l Lookups) tool(in signals.CatalogueInput) signals.Tool {
	hints := maps.Clone(l.Hints)
	if hints == nil {
		hints = map[string]string{}
	}
	maps.Copy(hints, in.Hints)
	return signals.Tool{
		Name: signals.ToolName, InputSchema: json.RawMessage(tool.InputSchema),
		Description: tool.Description(l.Connectors.Names(), hints, in.Description),
	}
}

func (l Lookups) search(ctx context.Context, in signals.CatalogueInput) (any, error) {
	saved, err := l.Snippets.List(ctx)
	if err != nil {
		return nil, err
	}
	list := make([]catalogue.Snippet, len(saved))
	for i, s := range saved {
		list[i] = catalogue.Snippet{Name: s.Name, Description: s.Description}
	}
	return l.Catalogue.With(list...).Search(in.Query,
		catalogue.SearchOptions{Connector: in.Connector, Limit: in.Limit}), nil
}

// catalogue knows what is learnt of results.
func (l Lookups) catalogue(ctx context.Context) *catalogue.Catalogue {
	if l.Learnt == nil {
		return l.Catalogue
	}
	return l.Catalogue.WithLearnt(func(connector string) func(string) *learnt.Shape { return l.Learnt(ctx, connector) })
}

func (l Lookups) describe(ctx context.Context, target string) (any, error) {
	s, err := l.Snippets.Get(ctx, target, 0)
	if err != nil {
		return nil, err
	}
	if s == nil {
		return l.catalogue(ctx).Describe(target), nil
	}
	return l.Catalogue.With(catalogue.Snippet{Name: s.Name, Description: s.Description, Code: s.Code}).Describe(target),
		nil
}

// run answers with the snippet's source, or with why it cannot be run, in the reference's words.
func (l Lookups) run(ctx context.Context, name string, input json.RawMessage) (any, error) {
	s, err := l.Snippets.Get(ctx, name, 0)
	if err != nil {
		return nil, err
	}
	if s == nil {
		return map[string]string{"error": signals.SnippetNotFound(name)}, nil
	}
	var missing []string
	for _, c := range s.Connectors {
		if !l.Connectors.Has(c) {
			missing = append(missing, c)
		}
	}
	if len(missing) > 0 {
		return map[string]string{"error": signals.SnippetNeeds(name, missing)}, nil
	}
	if problems := validate.Value(s.InputSchema, input); problems != "" {
		return nil, fmt.Errorf("the input of snippet %q is invalid: %s", name, problems)
	}
	return map[string]any{"source": s.Code, "version": s.Version}, nil
}

// methodsBytes bounds one page of methods; history takes less than 2 MiB.
const methodsBytes = 1_000_000

// methods lists all methods, a page at a time, as far as their schemas leave room.
func (l Lookups) methods(from int) signals.Methods {
	page := signals.Methods{Methods: []signals.Method{}}
	size, at := 0, 0
	for _, connector := range l.Connectors.Names() {
		for _, b := range l.Connectors.Methods(connector) {
			if at++; at <= from {
				continue
			}
			m := l.method(b.Path())
			if m == nil {
				continue // gone since
			}
			if size += len(m.Description) + len(m.InputSchema) + 200; size > methodsBytes && len(page.Methods) > 0 {
				page.Next = at - 1
				return page
			}
			page.Methods = append(page.Methods, *m)
		}
	}
	return page
}
