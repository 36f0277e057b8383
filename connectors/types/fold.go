package types

import (
	"cmp"
	"slices"

	"github.com/temporal-codemode/codemode/internal/tokens"
)

const (
	// worthNaming is the size below which a part is shown in its place: the
	// name would cost as much.
	worthNaming = 25
	// largestPart bounds what cannot be folded any further.
	largestPart = 350
)

// nameable lets a part be folded to a name of its own.
func (c *converter) nameable(t *typ, scope string) *typ {
	if c.exact || t.name != "" || !slices.Contains([]op{record, union, both, tuple}, t.op) {
		return t
	}
	if flatCost(t) > worthNaming {
		t.name = c.claim(scope)
	}
	return t
}

// flatCost is what a type costs at least: all that can be folded folded, no docs.
func flatCost(t *typ) int {
	p := printer{detail: bare, folded: func(inner *typ) bool { return inner != t && inner.name != "" }}
	p.body(t, "")
	return tokens.Count(p.b.String()) + declarations(t)
}

// declarations is what naming the folded parts costs once more.
func declarations(t *typ) (n int) {
	t.each(func(inner *typ) {
		switch {
		case inner.name != "":
			n += tokens.Count(inner.name) + declarationCost
		case inner.op == named:
			n += tokens.Count(inner.text) + declarationCost
		default:
			n += declarations(inner)
		}
	})
	return n
}

// declarationCost is that of "type = unknown" on a line.
const declarationCost = 5

// split bounds a long block or list: its tail becomes a part of its own.
func (c *converter) split(t *typ, scope string) *typ {
	if c.exact || t.rest != nil || flatCost(t) <= largestPart {
		return t
	}
	switch t.op {
	case record:
		return c.splitProps(t, scope)
	case union, both:
		return c.splitParts(t, scope)
	}
	return t
}

// splitProps puts first what a caller cannot leave out.
func (c *converter) splitProps(t *typ, scope string) *typ {
	slices.SortStableFunc(t.props, func(a, b prop) int { return cmp.Compare(order(a), order(b)) })
	n := fitting(len(t.props), func(i int) int { return flatCost(&typ{op: record, props: t.props[i : i+1]}) })
	if n == len(t.props) {
		return t
	}
	rest := &typ{op: record, props: t.props[n:], index: t.index, name: c.claim(scope + "More")}
	t.props, t.index, t.rest = t.props[:n:n], nil, c.split(rest, scope)
	return t
}

func order(p prop) int {
	if p.optional {
		return 1
	}
	return 0
}

func (c *converter) splitParts(t *typ, scope string) *typ {
	n := fitting(len(t.parts), func(i int) int { return flatCost(&typ{op: t.op, parts: t.parts[i : i+1]}) })
	if n == len(t.parts) {
		return t
	}
	rest := &typ{op: t.op, parts: t.parts[n:], name: c.claim(scope + "More")}
	t.parts, t.rest = t.parts[:n:n], c.split(rest, scope)
	return t
}

// fitting is how many of n fit one part: one at least.
func fitting(n int, cost func(i int) int) int {
	left := largestPart
	for i := range n {
		if left -= cost(i); left < 0 && i > 0 {
			return i
		}
	}
	return n
}
