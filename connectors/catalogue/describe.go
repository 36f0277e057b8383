package catalogue

import (
	"fmt"
	"strings"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/connectors/types"
	"github.com/temporal-codemode/codemode/internal/tokens"
	"github.com/temporal-codemode/codemode/internal/words"
)

// Budgets, in tokens, of what a model is given at once.
const (
	typesBudget     = 1050
	connectorBudget = 2000
	// descriptionLimit is in bytes.
	descriptionLimit = 600
)

// Kinds of what can be found and described.
const (
	KindMethod    = "method"
	KindConnector = "connector"
	KindSnippet   = "snippet"
	KindType      = "type"
)

// DescribeOutput is what codemode.describe answers.
type DescribeOutput struct {
	Path        string `json:"path"`
	Description string `json:"description"`
	Kind        string `json:"kind"`
	Types       string `json:"types"`
	// RequiresApproval is set when any call may have to be approved.
	RequiresApproval bool `json:"requiresApproval,omitempty"`
	// Signature is how a method is called.
	Signature string `json:"signature,omitempty"`
	// Docs say how a call of a method behaves.
	Docs string `json:"docs,omitempty"`
	// Similar are paths that may have been meant, for a target that does not exist.
	Similar []string `json:"similar,omitempty"`
}

// Describe explains a connector, a method, a type or a snippet. It never fails:
// types says that a target was not found.
//
// As in the reference a method may be named without its connector or with a
// wrong one, and what follows a second dot does not count.
func (c *Catalogue) Describe(target string) DescribeOutput {
	if out, ok := c.describeSnippet(target); ok {
		return out
	}
	space, member := split(strings.TrimSpace(target))
	s, known := c.spaces[space]
	switch {
	case known && member == "":
		return c.describeConnector(c.Connector(space))
	case known && c.set.Err(space) != nil:
		return DescribeOutput{Path: target, Kind: KindMethod, Types: notFound(target) + " " + c.set.Err(space).Error()}
	}
	if member == "" {
		s, member = nil, space
	}
	if s, m := c.lookup(s, member); m != nil {
		return describeMethod(c.Connector(s.Name), m)
	}
	if out, ok := c.describeType(s, member); ok {
		return out
	}
	return DescribeOutput{Path: target, Kind: KindMethod, Types: notFound(target), Similar: c.similar(s, member)}
}

func notFound(target string) string { return fmt.Sprintf("%q not found.", target) }

func split(target string) (space, member string) {
	space, member, _ = strings.Cut(target, ".")
	member, _, _ = strings.Cut(member, ".")
	return space, member
}

func (c *Catalogue) describeSnippet(name string) (DescribeOutput, bool) {
	for _, s := range c.snippets {
		if s.Name == name {
			types := s.Description + "\n\n" + fenced(s.Code)
			return DescribeOutput{Path: s.Name, Description: s.Description, Kind: KindSnippet, Types: types}, true
		}
	}
	return DescribeOutput{}, false
}

// fenced puts code in a fence longer than any within.
func fenced(code string) string {
	fence := "```"
	for strings.Contains(code, fence) {
		fence += "`"
	}
	return fence + "ts\n" + code + "\n" + fence
}

// lookup finds a method by its name, in the connector meant or else in the
// first that has it, and then by its name written otherwise.
func (c *Catalogue) lookup(s *types.Connector, name string) (*types.Connector, *connectors.Bound) {
	for _, equal := range []func(*types.Connector) *connectors.Bound{
		func(s *types.Connector) *connectors.Bound { return s.Method(name) },
		func(s *types.Connector) *connectors.Bound { return s.LikeNamed(name) },
	} {
		if s != nil {
			if m := equal(s); m != nil {
				return s, m
			}
		}
		for _, other := range c.order {
			if m := equal(c.spaces[other]); m != nil {
				return c.spaces[other], m
			}
		}
	}
	return nil, nil
}

func describeMethod(s *types.Connector, m *connectors.Bound) DescribeOutput {
	return DescribeOutput{
		Path:             m.Path(),
		Description:      abridged(m.Description),
		Kind:             KindMethod,
		Types:            s.MethodTypes(m, typesBudget),
		RequiresApproval: m.MayNeedApproval(),
		Signature:        s.Signature(m),
		Docs:             behaviour(m) + contradictions(s, m),
	}
}

// abridged leaves a description alone unless it is long or carries markup.
func abridged(s string) string {
	if len(s) <= descriptionLimit && !words.Markup.MatchString(s) {
		return s
	}
	return words.Abridge(words.Plain(s), descriptionLimit)
}

// behaviour tells a model what a call does beside answering.
func behaviour(m *connectors.Bound) string {
	said := map[connectors.Class]string{
		connectors.Read:       "Reads only.",
		connectors.Idempotent: "Makes a change; repeating it changes no more.",
		connectors.Write:      "Makes a change.",
	}[m.Class]
	switch {
	case m.ApprovalFor != nil:
		said += " A person approves some calls, depending on the arguments."
	case m.RequiresApproval:
		said += " A person approves each call."
	}
	if m.Revert != nil {
		said += " Can be undone."
	}
	return said
}

// contradictions tell a model what it must not rely on.
func contradictions(s *types.Connector, m *connectors.Bound) string {
	list := s.Contradictions(m)
	if len(list) == 0 {
		return ""
	}
	return " Its results differ from the declared type: " + strings.Join(list, "; ") + "."
}

func (c *Catalogue) describeConnector(s *types.Connector) DescribeOutput {
	out := DescribeOutput{Path: s.Name, Description: c.set.Instructions(s.Name), Kind: KindConnector}
	if err := c.set.Err(s.Name); err != nil {
		out.Types = err.Error()
		return out
	}
	intro := ""
	if out.Description != "" {
		intro = out.Description + "\n\n"
	}
	if text, ok := s.Declarations(connectorBudget - tokens.Count(intro)); ok {
		out.Types = intro + text
		return out
	}
	out.Description = words.Abridge(out.Description, instructionsLimit)
	out.Types = c.overview(s, out.Description)
	return out
}

// describeType shows a type of the connector, or of the first that has it.
func (c *Catalogue) describeType(s *types.Connector, name string) (DescribeOutput, bool) {
	spaces := c.order
	if s != nil {
		spaces = []string{s.Name}
	}
	for _, space := range spaces {
		if text, ok := c.Connector(space).TypeNamed(name, typesBudget); ok {
			return DescribeOutput{Path: space + "." + name, Kind: KindType, Types: text}, true
		}
	}
	return DescribeOutput{}, false
}

// similar suggests methods for a name that does not exist.
func (c *Catalogue) similar(s *types.Connector, name string) []string {
	var o SearchOptions
	if s != nil {
		o.Connector = s.Name
	}
	o.Limit = maxSimilar
	var paths []string
	for _, r := range c.Search(name, o).Results {
		paths = append(paths, r.Path)
	}
	return paths
}

const maxSimilar = 3
