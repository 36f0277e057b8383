package utcp

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/connectors/catalogue"
	"github.com/temporal-codemode/codemode/internal/words"
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
		budget = defaultBudget
	}
	if out, all := c.output(list, 0, budget); all {
		return out
	}
	list = list[:max(1, min(matched, len(list)))] // what was only filled up goes first
	var out SearchOutput
	for at := range details {
		var all bool
		if out, all = c.output(list, at, budget); all {
			break
		}
	}
	return out
}

// defaultBudget bounds answers for which nobody asks for less, in characters.
const defaultBudget = 200_000

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

// output describes tools as far as a budget goes, and tells whether that was all of them.
func (c *Catalogue) output(list []*connectors.Bound, at, budget int) (out SearchOutput, all bool) {
	out = SearchOutput{Tools: []Tool{}}
	size := len(`{"tools":[]}`)
	for _, b := range list {
		tool := Tool{Name: callable(b), Description: b.Description, Interface: c.write(b, at)}
		if details[at].depth == 1 {
			tool.Description, _, _ = strings.Cut(b.Description, "\n")
		}
		text, err := json.Marshal(tool)
		if size += len(text) + len(","); err != nil || size > budget+len(",") {
			return out, false
		}
		out.Tools = append(out.Tools, tool)
	}
	return out, true
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

	looked int // names that it tells of
}

// maxNames is how many tools one tools_info tells of.
const maxNames = 100

// Info gives the interfaces of tools by name, with shorter types where a budget in characters asks for it, and fewer
// where that does not help.
func (c *Catalogue) Info(names []string, budget int) InfoOutput {
	if budget <= 0 {
		budget = defaultBudget
	}
	var out InfoOutput
	for at := range details {
		var all bool
		if out, all = c.info(names[:min(len(names), maxNames)], at, budget); all {
			break
		}
	}
	if more := len(names) - out.looked; more > 0 {
		out.Text += fmt.Sprintf("\n\n// %d more names were not looked up: ask for fewer at once, %d at most.",
			more, maxNames)
	}
	return out
}

// info tells of tools as far as a budget goes, and whether that was all of them.
func (c *Catalogue) info(names []string, at, budget int) (out InfoOutput, all bool) {
	var text strings.Builder
	for _, name := range names {
		b := c.find(name)
		part := "// Tool '" + words.Shorten(name, longestName) + "' not found"
		if b != nil {
			part = c.write(b, at)
		}
		if text.Len()+len(part) > budget && out.looked > 0 {
			out.Text = text.String()
			return out, false
		}
		if out.looked > 0 {
			text.WriteString("\n\n")
		}
		text.WriteString(part)
		if out.looked++; b != nil {
			out.Found++
		}
	}
	out.Text = text.String()
	return out, len(out.Text) <= budget
}

// longestName is more than any tool's name takes.
const longestName = 300

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
