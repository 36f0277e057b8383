package utcp

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/connectors/catalogue"
)

// Catalogue answers what the bridge's tools answer. It does not change and may be used by many goroutines at once.
type Catalogue struct {
	set   *connectors.Set
	found *catalogue.Catalogue
}

// New makes a catalogue of a set and what finds methods in it.
func New(set *connectors.Set, found *catalogue.Catalogue) *Catalogue {
	return &Catalogue{set: set, found: found}
}

// Tool is one of the tools that a search finds.
type Tool struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Interface   string `json:"typescript_interface"`
}

// SearchOutput is what search_tools answers.
type SearchOutput struct {
	Tools []Tool `json:"tools"`
}

// defaultLimit is how many tools a search gives that asks for no number.
const defaultLimit = 10

// Search finds tools for a task, the best first. Like the bridge's it has no threshold: what fits nothing fills up to
// the limit; nil is 10 and 0 all. A budget in characters shortens types first, then drops tools from the end.
func (c *Catalogue) Search(task string, limit *int, budget int) SearchOutput {
	n := defaultLimit
	if limit != nil {
		n = *limit
	}
	list, matched := c.rank(task, n)
	if budget <= 0 {
		return c.output(list, 0)
	}
	if out := c.output(list, 0); fits(out, budget) {
		return out
	}
	list = list[:max(1, matched)] // what was only filled up goes first
	for at := range details {
		if out := c.output(list, at); fits(out, budget) {
			return out
		}
	}
	out := c.output(list, len(details)-1)
	for len(out.Tools) > 0 && !fits(out, budget) {
		out.Tools = out.Tools[:len(out.Tools)-1]
	}
	return out
}

func (c *Catalogue) rank(task string, limit int) (list []*connectors.Bound, matched int) {
	all := c.all()
	if len(all) == 0 {
		return nil, 0
	}
	if limit <= 0 || limit > len(all) {
		limit = len(all)
	}
	for _, r := range c.found.Search(task, catalogue.SearchOptions{Limit: min(limit, catalogue.MaxResults)}).Results {
		if b, err := c.set.Lookup(r.Connector, r.Method); err == nil {
			list = append(list, b)
		}
	}
	matched = len(list)
	for _, b := range all {
		if len(list) >= limit {
			break
		}
		if !slices.Contains(list[:matched], b) {
			list = append(list, b)
		}
	}
	return list, matched
}

func (c *Catalogue) all() []*connectors.Bound {
	var list []*connectors.Bound
	for _, name := range c.set.Names() {
		list = append(list, c.set.Methods(name)...)
	}
	return list
}

func (c *Catalogue) output(list []*connectors.Bound, at int) SearchOutput {
	out := SearchOutput{Tools: make([]Tool, len(list))}
	for i, b := range list {
		out.Tools[i] = Tool{Name: callable(b), Description: b.Description, Interface: c.write(b, at)}
		if details[at].depth == 1 {
			out.Tools[i].Description, _, _ = strings.Cut(b.Description, "\n")
		}
	}
	return out
}

func fits(out SearchOutput, budget int) bool {
	text, err := json.Marshal(out)
	return err == nil && len(text) <= budget
}

func (c *Catalogue) write(b *connectors.Bound, at int) string {
	return write(b, c.found.Connector(b.Connector), at)
}

// ListOutput is what list_tools answers.
type ListOutput struct {
	Tools []string `json:"tools"`
}

// List names all tools.
func (c *Catalogue) List() ListOutput {
	out := ListOutput{Tools: []string{}}
	for _, b := range c.all() {
		out.Tools = append(out.Tools, callable(b))
	}
	return out
}

// InfoOutput is what tools_info answers: the text, and how many of the names were found.
type InfoOutput struct {
	Text  string `json:"text"`
	Found int    `json:"found"`
}

// Info gives the interfaces of tools by name, with shorter types where a budget in characters asks for it.
func (c *Catalogue) Info(names []string, budget int) InfoOutput {
	var out InfoOutput
	for at := range details {
		out = c.info(names, at)
		if budget <= 0 || len(out.Text) <= budget {
			break
		}
	}
	return out
}

func (c *Catalogue) info(names []string, at int) InfoOutput {
	var out InfoOutput
	parts := make([]string, len(names))
	for i, name := range names {
		b := c.find(name)
		if b == nil {
			parts[i] = "// Tool '" + name + "' not found"
			continue
		}
		out.Found++
		parts[i] = c.write(b, at)
	}
	out.Text = strings.Join(parts, "\n\n")
	return out
}

// KeysOutput is what get_required_keys_for_tool answers.
type KeysOutput struct {
	Success  bool     `json:"success"`
	ToolName string   `json:"tool_name"`
	Required []string `json:"required_variables"`
	Error    string   `json:"error,omitempty"`
}

// Keys says which variables a tool needs: none, since connectors hold their own secrets.
func (c *Catalogue) Keys(name string) KeysOutput {
	out := KeysOutput{Success: true, ToolName: name, Required: []string{}}
	if c.find(name) == nil {
		out.Success, out.Error = false, "Tool '"+name+"' not found"
	}
	return out
}

// Interface is one tool's interface; nil for an unknown tool.
func (c *Catalogue) Interface(name string) *string {
	b := c.find(name)
	if b == nil {
		return nil
	}
	text := c.write(b, 0)
	return &text
}

// Interfaces are those of all tools, as far as a budget in characters goes.
func (c *Catalogue) Interfaces(budget int) string {
	var text strings.Builder
	for _, b := range c.all() {
		part := c.write(b, 0)
		if budget > 0 && text.Len()+len(part) > budget {
			text.WriteString("\n// More tools exist: search_tools({task_description}) finds them.\n")
			break
		}
		text.WriteString(part + "\n")
	}
	return text.String()
}
