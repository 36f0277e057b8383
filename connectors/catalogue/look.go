package catalogue

import (
	"encoding/json"
	"slices"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/connectors/search"
	"github.com/temporal-codemode/codemode/internal/tokens"
)

// One answer of a search ought to be enough: the best are shown with how they are called, and the likely rest by name.
const (
	// lookBudget bounds an answer for which no number of results was asked, in tokens.
	lookBudget = 1500
	// best is how many results such an answer has, as far as bestBudget reaches, and how many come with a signature.
	best       = 6
	bestBudget = 800
	// briefLimit is in bytes, for descriptions in such an answer.
	briefLimit = 140
	// headCost is what an answer costs beside its results and names.
	headCost = 30
)

// Notes for searches that find nothing.
const (
	noteNearest = "No method has all of these words. more lists the nearest; try other words."
	noteNothing = "No method has any of these words. Try others, or codemode.describe(\"<connector>\")."
)

// look is an answer while it is put together.
type look struct {
	out   SearchOutput
	room  int
	shown map[string]bool
}

// result shows a hit if there is room for it.
func (l *look) result(r SearchResult, room int) bool {
	text, err := json.Marshal(r)
	cost := tokens.Count(string(text)) + 1
	if err != nil || cost > room {
		return false
	}
	l.room -= cost
	l.shown[r.Path] = true
	l.out.Results = append(l.out.Results, r)
	return true
}

// costOf is what naming a method costs.
func (l *look) costOf(connector, name string) int {
	cost := tokens.Count(name) + 1
	if len(l.out.More[connector]) == 0 {
		cost += tokens.Count(connector) + 2
	}
	return cost
}

// name names a method if there is room for it.
func (l *look) name(connector, name, path string) bool {
	if l.shown[path] {
		return true
	}
	cost := l.costOf(connector, name)
	if cost > l.room {
		return false
	}
	if l.out.More == nil {
		l.out.More = map[string][]string{}
	}
	l.room -= cost
	l.shown[path] = true
	l.out.More[connector] = append(l.out.More[connector], name)
	return true
}

// all names all of a connector's methods, or none when there is no room for all.
func (l *look) all(connector string, methods []*connectors.Bound) {
	cost := tokens.Count(connector) + 2
	for _, m := range methods {
		if !l.shown[m.Path()] {
			cost += tokens.Count(m.Method.Name) + 1
		}
		if cost > l.room {
			return
		}
	}
	for _, m := range methods {
		l.name(connector, m.Method.Name, m.Path())
	}
}

// fill names what else was found, and then what there is beside it: first in the connectors of the hits, in their
// order, then in the others. Where the query is a name there is nothing to add to it.
func (c *Catalogue) fill(l *look, hits []search.Hit, connector string) {
	var spaces []string
	isName := slices.ContainsFunc(hits, func(h search.Hit) bool { return h.Literal })
	for _, h := range hits {
		if isName && h.Weak {
			continue
		}
		if !l.name(h.Connector, h.Name, h.Path) {
			break
		}
		if !slices.Contains(spaces, h.Connector) {
			spaces = append(spaces, h.Connector)
		}
	}
	if isName {
		return
	}
	for _, space := range append(spaces, c.order...) {
		if s := c.spaces[space]; s != nil && (connector == "" || connector == space) {
			l.all(space, s.Methods)
		}
	}
}
