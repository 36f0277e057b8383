package types

import (
	"maps"
	"slices"
	"strings"

	"github.com/temporal-codemode/codemode/internal/tokens"
)

// sheet is a page of declarations: some types, and those they need.
type sheet struct {
	connector string
	roots     []declaration
	// sources are the definitions that the roots may refer to, by type name.
	sources map[string]source
	claim   func(name string) string
	cache   map[string]*typ
}

type declaration struct {
	name string
	t    *typ
	// results is how many a learnt type was observed in, 0 for a declared one.
	results int
}

type source struct {
	doc *document
	raw []byte
}

func newSheet(connector string, claim func(string) string) *sheet {
	return &sheet{connector: connector, claim: claim, sources: map[string]source{}, cache: map[string]*typ{}}
}

// add declares a node of a document, whose names are bound.
func (s *sheet) add(doc *document, raw []byte, name string) {
	s.offer(doc)
	s.roots = append(s.roots, declaration{name: name, t: s.convert(doc, raw, name)})
}

func (s *sheet) convert(doc *document, raw []byte, name string) *typ {
	c := converter{doc: doc, claim: s.claim}
	return c.root(raw, name)
}

// offer makes a document's definitions known.
func (s *sheet) offer(doc *document) {
	for _, def := range doc.defs {
		if len(def.raw) > 0 {
			if name := doc.names[&def.raw[0]]; name != "" {
				s.sources[name] = source{doc, def.raw}
			}
		}
	}
}

// definition is the type that a reference stands for, nil for a root.
func (s *sheet) definition(name string) *typ {
	if t, ok := s.cache[name]; ok {
		return t
	}
	from, ok := s.sources[name]
	if !ok {
		return nil
	}
	t := s.convert(from.doc, from.raw, name)
	s.cache[name] = t
	return t
}

// view is a choice of what to show on a sheet.
type view struct {
	detail detail
	all    bool
	open   map[string]detail // what is shown when not all is, and how
	limit  int               // in tokens, 0 for none
}

func (v view) shows(name string) bool {
	_, open := v.open[name]
	return v.all || open
}

func (v view) level(name string) detail {
	if level, open := v.open[name]; open {
		return level
	}
	return v.detail
}

// bytesPerToken is more than a token ever has on average.
const bytesPerToken = 12

// page is a sheet as printed.
type page struct {
	texts    []string
	declared map[string]*typ
	// hidden are the types that are named but not shown, in order.
	hidden []string
	cost   int
}

// print writes the roots and the definitions shown. It ends early, with ok
// false, when the limit is passed.
func (s *sheet) print(v view, broken map[*typ]bool) (pg page, ok bool) {
	pg.declared = map[string]*typ{}
	queue := slices.Clone(s.roots)
	for _, d := range queue {
		pg.declared[d.name] = d.t
	}
	hidden := map[string]bool{}
	mention := func(name string, t *typ) {
		if pg.declared[name] != nil || hidden[name] {
			return
		}
		if t == nil && v.shows(name) {
			t = s.definition(name)
		}
		if t == nil || !v.shows(name) {
			hidden[name] = true
			pg.hidden = append(pg.hidden, name)
			return
		}
		pg.declared[name] = t
		queue = append(queue, declaration{name: name, t: t})
	}
	p := printer{detail: v.detail, level: v.level, most: v.limit * bytesPerToken, broken: broken, mention: mention}
	p.folded = func(t *typ) bool { return t.declared || !v.shows(t.name) }
	for i := 0; i < len(queue); i++ {
		text := p.declaration(queue[i].name, queue[i].t)
		if n := queue[i].results; n > 0 {
			text = observed(n) + "\n" + text
		}
		pg.texts = append(pg.texts, text)
		pg.cost += tokens.Count(text) + 1
		if v.limit > 0 && pg.cost+s.hiddenCost(pg.hidden) > v.limit {
			return pg, false
		}
	}
	pg.cost += s.hiddenCost(pg.hidden)
	return pg, true
}

// hiddenCost is that of the stubs that stand for what is not shown.
func (s *sheet) hiddenCost(names []string) (n int) {
	if len(names) > 0 {
		n = tokens.Count(s.note()) + 2
	}
	for _, name := range names {
		n += tokens.Count(name) + declarationCost
	}
	return n
}

func (s *sheet) note() string {
	return `// Left out for length; codemode.describe("` + s.connector + `.<type>") shows one:`
}

func (s *sheet) text(v view) (string, bool) {
	pg, ok := s.print(v, nil)
	if !ok {
		return "", false
	}
	if broken := circular(pg.declared); len(broken) > 0 {
		v.limit = 0
		pg, _ = s.print(v, broken)
	}
	lines := pg.texts
	if len(pg.hidden) > 0 {
		lines = append(lines, s.note())
	}
	for _, name := range pg.hidden {
		lines = append(lines, "type "+name+" = unknown")
	}
	return strings.Join(lines, "\n"), true
}

// within prints as much as a number of tokens allows: everything, else with
// shorter docs, else with the innermost types left out.
func (s *sheet) within(limit int) string {
	for _, level := range []detail{whole, short} {
		if text, ok := s.text(view{all: true, detail: level, limit: limit}); ok {
			return text
		}
	}
	text, _ := s.text(s.choose(limit))
	return text
}

// inputShare of the limit is for the first root and what it needs, when the
// others need more than the rest.
const inputShare = 0.6

func (s *sheet) choose(limit int) view {
	v := view{open: map[string]detail{}}
	for _, v.detail = range []detail{short, terse, bare} {
		if pg, _ := s.print(v, nil); pg.cost <= int(inputShare*float64(limit)) {
			break
		}
	}
	first, rest := s.leads(v)
	refused := s.unfold(&v, first, int(inputShare*float64(limit)))
	s.unfold(&v, rest, limit)
	s.unfold(&v, refused, limit)
	return v
}

// leads are the names that the first root and the others begin with.
func (s *sheet) leads(v view) (first, rest []string) {
	only := *s
	only.roots = s.roots[:1]
	pg, _ := only.print(v, nil)
	all, _ := s.print(v, nil)
	for _, name := range all.hidden {
		if !slices.Contains(pg.hidden, name) {
			rest = append(rest, name)
		}
	}
	return pg.hidden, rest
}

// maxRefused is after how many types that do not fit the search for more ends.
const maxRefused = 24

// unfold shows types, outermost first, while they fit, and gives those that did not.
func (s *sheet) unfold(v *view, names []string, limit int) (refused []string) {
	for i := 0; i < len(names) && len(refused) < maxRefused; i++ {
		if v.shows(names[i]) {
			continue
		}
		pg, ok := s.show(v, names[i], limit)
		if !ok {
			refused = append(refused, names[i])
		}
		for _, hidden := range pg.hidden {
			if ok && !slices.Contains(names, hidden) {
				names = append(names, hidden)
			}
		}
	}
	return refused
}

// show adds a type to a view, in as much detail as fits.
func (s *sheet) show(v *view, name string, limit int) (pg page, ok bool) {
	wider := view{detail: v.detail, open: maps.Clone(v.open), limit: limit}
	for level := v.detail; level <= bare && !ok; level++ {
		wider.open[name] = level
		pg, ok = s.print(wider, nil)
	}
	if ok {
		v.open = wider.open
	}
	return pg, ok
}
