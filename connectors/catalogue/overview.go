package catalogue

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/connectors/search"
	"github.com/temporal-codemode/codemode/connectors/types"
	"github.com/temporal-codemode/codemode/internal/tokens"
)

// instructionsLimit is in bytes, for connectors too large to show.
const instructionsLimit = 1500

// group is the methods about one thing.
type group struct {
	label   string
	methods []string
	shown   int
}

func (g *group) line() string {
	line := "- " + g.label + " (" + tokens.Thousands(len(g.methods)) + "): " + strings.Join(g.methods[:g.shown], ", ")
	if g.shown < len(g.methods) {
		line += ", …"
	}
	return line
}

// overview tells what a connector is about when its methods are too many to
// show: groups, the largest first, with examples while there is room.
func (c *Catalogue) overview(s *types.Connector, instructions string) string {
	head := fmt.Sprintf("%s has %s methods, too many to show here.\n"+
		"Find one: codemode.search(\"what you want\", { connector: %q }). See its types: "+
		"codemode.describe(\"%s.<method>\").\n\n"+
		"Methods by subject, with examples:", s.Name, tokens.Thousands(len(s.Methods)), s.Name, s.Name)
	if instructions != "" {
		head = instructions + "\n\n" + head
	}
	groups := c.groups(s)
	room := connectorBudget - tokens.Count(head) - tokens.Count(tail(groups))
	n := fill(groups, room)
	lines := []string{head}
	for _, g := range groups[:n] {
		lines = append(lines, g.line())
	}
	if rest := tail(groups[n:]); rest != "" {
		lines = append(lines, rest)
	}
	return strings.Join(lines, "\n")
}

// fill gives as many groups as fit one example, and then more examples to each in turn.
func fill(groups []*group, room int) (n int) {
	for _, g := range groups {
		g.shown = 1
		if cost := tokens.Count(g.line()) + 1; cost <= room {
			room -= cost
			n++
			continue
		}
		break
	}
	for more := true; more; {
		more = false
		for _, g := range groups[:n] {
			if g.shown == len(g.methods) || g.shown == maxExamples {
				continue
			}
			if cost := tokens.Count(g.methods[g.shown]) + 2; cost <= room {
				room -= cost
				g.shown++
				more = true
			}
		}
	}
	return n
}

const maxExamples = 12

// tail sums up the groups that are not shown.
func tail(groups []*group) string {
	if len(groups) == 0 {
		return ""
	}
	methods := 0
	for _, g := range groups {
		methods += len(g.methods)
	}
	return fmt.Sprintf("- %s methods on %s other subjects", tokens.Thousands(methods), tokens.Thousands(len(groups)))
}

func (c *Catalogue) groups(s *types.Connector) []*group {
	var list []*group
	byKey := map[string]*group{}
	for _, m := range s.Methods {
		label := c.subject(m)
		key := search.Stem(strings.ToLower(label))
		g := byKey[key]
		if g == nil {
			g = &group{label: label}
			byKey[key] = g
			list = append(list, g)
		}
		g.methods = append(g.methods, m.Method.Name)
	}
	for _, g := range list {
		slices.SortStableFunc(g.methods, func(a, b string) int { return cmp.Compare(len(a), len(b)) })
	}
	slices.SortStableFunc(list, func(a, b *group) int { return cmp.Compare(len(b.methods), len(a.methods)) })
	return list
}

// subject is a method's first tag, or the first word of its name that is no verb.
func (c *Catalogue) subject(m *connectors.Bound) string {
	if tags := m.Tags; len(tags) > 0 && tags[0] != "" {
		return tags[0]
	}
	name := m.Origin
	if name == "" {
		name = m.Method.Name
	}
	var first string
	for _, w := range search.WordsOf(name) {
		for _, part := range w.Parts {
			if !search.Verbs[search.Stem(part)] {
				return part
			}
			first = cmp.Or(first, part)
		}
	}
	return cmp.Or(first, m.Method.Name)
}
