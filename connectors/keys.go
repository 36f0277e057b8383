package connectors

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/temporal-codemode/codemode/internal/rawjson"
	"github.com/temporal-codemode/codemode/internal/words"
)

// Who decides about a call and who makes it may read its arguments differently: some decoders ignore case, and of a
// repeated key some take the first and some the last. So a call is refused whose keys two readers could take for each
// other; there is no honest use for them.

// place is where a value of the arguments stands, in a schema or in a Go type. Nil: nothing is known of it.
type place interface {
	// member is where the value of a key stands, or what is wrong with the key. A declared key is the place's own.
	member(key string) (inside place, declared bool, problem string)
	// element is where the elements of an array stand.
	element() place
}

// keyWalk looks at all keys of a JSON value once.
type keyWalk struct {
	raw      []byte
	folds    bool // keys that fold to each other are a problem
	path     []step
	problems []string
}

// step leads into a member, or into the element of an array.
type step struct {
	name  string
	index int // from 1; 0 for a member
}

// keyProblems lists what is wrong with the keys of plain JSON, which is valid.
func keyProblems(plain json.RawMessage, at place, folds bool) []string {
	w := &keyWalk{raw: bytes.TrimSpace(plain), folds: folds}
	if len(w.raw) > 0 {
		w.value(0, at)
	}
	return w.problems
}

// value gives the index behind the value at i.
func (w *keyWalk) value(i int, at place) int {
	switch {
	case i >= len(w.raw):
		return i
	case w.raw[i] == '{':
		return w.object(i, at)
	case w.raw[i] == '[':
		return w.array(i, at)
	case w.raw[i] == '"':
		return rawjson.SkipString(w.raw, i)
	}
	return rawjson.SkipLiteral(w.raw, i)
}

func (w *keyWalk) object(i int, at place) int {
	seen := map[string]key{}
	for i = rawjson.SkipSpace(w.raw, i+1); i < len(w.raw) && w.raw[i] == '"'; {
		end := rawjson.SkipString(w.raw, i)
		name := rawjson.Text(w.raw[i:end])
		w.path = append(w.path, step{name: name})
		inside := w.member(name, at, seen)
		i = w.value(rawjson.SkipSpace(w.raw, rawjson.SkipSpace(w.raw, end)+1), inside)
		w.path = w.path[:len(w.path)-1]
		i = w.next(i)
	}
	return i + 1
}

func (w *keyWalk) array(i int, at place) int {
	var inside place
	if at != nil {
		inside = at.element()
	}
	n := 0
	for i = rawjson.SkipSpace(w.raw, i+1); i < len(w.raw) && w.raw[i] != ']'; {
		n++
		w.path = append(w.path, step{index: n})
		i = w.next(w.value(i, inside))
		w.path = w.path[:len(w.path)-1]
	}
	return i + 1
}

// next steps over what separates two values.
func (w *keyWalk) next(i int) int {
	if i = rawjson.SkipSpace(w.raw, i); i < len(w.raw) && w.raw[i] == ',' {
		i = rawjson.SkipSpace(w.raw, i+1)
	}
	return i
}

// key is one that was seen in an object.
type key struct {
	name     string
	declared bool
}

// member looks at one key, and gives where its value stands.
func (w *keyWalk) member(name string, at place, seen map[string]key) place {
	var inside place
	var problem string
	now := key{name: name}
	if at != nil {
		inside, now.declared, problem = at.member(name)
	}
	as := name
	if w.folds {
		as = fold(name)
	}
	other, taken := seen[as]
	switch {
	case problem != "":
		w.report(problem)
	case taken && other.name == name:
		w.report("given twice")
	case taken && !(now.declared && other.declared):
		w.report(fmt.Sprintf("differs from %s only in case, so give one of them", shown(other.name)))
	}
	seen[as] = now
	return inside
}

// maxKeyProblems is how many are remembered; a few of them are told.
const maxKeyProblems = 100

func (w *keyWalk) report(problem string) {
	if len(w.problems) < maxKeyProblems {
		w.problems = append(w.problems, pathOf(w.path)+": "+problem)
	}
}

// pathOf writes a place as JavaScript would: items[0].name, labels["a-b"].
func pathOf(path []step) string {
	var b strings.Builder
	for _, s := range path {
		switch {
		case s.index > 0:
			fmt.Fprintf(&b, "[%d]", s.index-1)
		case !words.Identifier.MatchString(s.name):
			b.WriteString("[" + shown(s.name) + "]")
		case b.Len() > 0:
			b.WriteString("." + s.name)
		default:
			b.WriteString(s.name)
		}
	}
	return b.String()
}

// shown is a name that a program chose, on one line and with all its characters to be seen.
func shown(name string) string {
	if words.Identifier.MatchString(name) {
		return name
	}
	return words.Shorten(fmt.Sprintf("%+q", name), words.MaxValue)
}

// unlike words a key that folds to another one.
func unlike(name string) string {
	return fmt.Sprintf("not a known property, but %s is: names are case-sensitive", shown(name))
}

const unknownKey = "not a known property"

// fold makes equal what strings.EqualFold calls equal, as decoders do that ignore case: the Kelvin sign is a k, and the
// long ſ is an s.
func fold(name string) string {
	if strings.IndexFunc(name, func(r rune) bool { return r >= utf8.RuneSelf }) < 0 {
		return strings.ToUpper(name)
	}
	return strings.Map(func(r rune) rune {
		least := r
		for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
			least = min(least, other)
		}
		return least
	}, name)
}

// checkKeys lists what is wrong with the keys of arguments, given as plain JSON. Where a rule looks at them, those that
// could be taken for others are, and at the top those that the schema does not name.
func (b *Bound) checkKeys(plain json.RawMessage) []string {
	if b.ApprovalFor == nil {
		return keyProblems(plain, nil, b.revertReads)
	}
	compiled, err := b.compile()
	schema := compiled.Schema()
	// A method without a schema takes any argument. One whose schema cannot be used is not such a method.
	closed := !b.AllowAdditional && (schema != nil || err != nil)
	top := newSchemaPlace(schema, b.ApprovalNames, closed)
	var problems []string
	within := compiled.Within(plain, func() { problems = keyProblems(plain, top, true) })
	if !within || top.budget.steps < 0 {
		problems = append(problems, "too many names for the rule that decides about approval: send less at once")
	}
	return problems
}

// declares is the schema that names the arguments, nil where any are taken.
func (b *Bound) declares() (*jsonschema.Schema, error) {
	compiled, err := b.compile()
	return compiled.Schema(), err
}

// takesNothing reports whether the rule that looks at arguments leaves none but those that it names itself.
func (b *Bound) takesNothing() bool {
	if b.ApprovalFor == nil || b.AllowAdditional {
		return false
	}
	schema, err := b.declares()
	if schema == nil {
		return err != nil
	}
	top := newSchemaPlace(schema, nil, true)
	return !slices.ContainsFunc(top.schemas, func(s *jsonschema.Schema) bool {
		return len(s.Properties)+len(s.PatternProperties) > 0
	})
}
