package validate

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/temporal-codemode/codemode/internal/rawjson"
	"github.com/temporal-codemode/codemode/internal/words"
)

// problem is one thing wrong with one value of the arguments.
type problem struct {
	path []string
	text string
	// wanted and got are set when the value has the wrong type.
	wanted []string
	got    string
	// choice is set when the value is not among those listed, which is how
	// alternatives tell themselves apart.
	choice bool
}

// problemsOf flattens the validator's tree to what a caller can act on.
func problemsOf(e *jsonschema.ValidationError) []problem {
	at := e.InstanceLocation
	switch k := e.ErrorKind.(type) {
	case *kind.Type:
		return []problem{{path: at, wanted: k.Want, got: k.Got, text: expected(k.Want, k.Got)}}
	case *kind.Required:
		return eachMember(at, k.Missing, "required, but missing")
	case *kind.AdditionalProperties:
		return eachMember(at, k.Properties, "not a known property")
	case *kind.Enum:
		return []problem{{path: at, choice: true,
			text: fmt.Sprintf("expected one of %s, but got %s", values(k.Want), value(k.Got))}}
	case *kind.Const:
		return []problem{{path: at, choice: true,
			text: fmt.Sprintf("expected %s, but got %s", value(k.Want), value(k.Got))}}
	case *kind.AnyOf, *kind.OneOf:
		if len(e.Causes) > 0 {
			return alternatives(e)
		}
	}
	if len(e.Causes) == 0 {
		return []problem{{path: at, text: describe(e)}}
	}
	var list []problem
	for _, cause := range e.Causes {
		list = append(list, problemsOf(cause)...)
	}
	return list
}

func expected(wanted []string, got string) string {
	wanted = slices.Clone(wanted)
	slices.Sort(wanted)
	wanted = slices.Compact(wanted)
	if i := slices.Index(wanted, "null"); i >= 0 {
		wanted = append(slices.Delete(wanted, i, i+1), "null")
	}
	return fmt.Sprintf("expected %s, but got %s", strings.Join(wanted, " or "), got)
}

func eachMember(at, names []string, text string) []problem {
	var list []problem
	for _, name := range names {
		list = append(list, problem{path: append(slices.Clone(at), name), text: text})
	}
	return list
}

// alternatives reports the branch that the value was probably meant for. When it
// has the type of none, the types of all are reported as one problem.
func alternatives(e *jsonschema.ValidationError) []problem {
	var (
		best   []problem
		wanted []string
		got    string
	)
	for _, branch := range e.Causes {
		list := problemsOf(branch)
		if p, ok := wrongType(list, e.InstanceLocation); ok {
			wanted, got = append(wanted, p.wanted...), p.got
			continue
		}
		if best == nil || distance(list) < distance(best) {
			best = list
		}
	}
	if best != nil {
		return best
	}
	return []problem{{path: e.InstanceLocation, wanted: wanted, got: got, text: expected(wanted, got)}}
}

func wrongType(list []problem, at []string) (problem, bool) {
	for _, p := range list {
		if p.wanted != nil && len(p.path) == len(at) {
			return p, true
		}
	}
	return problem{}, false
}

// distance grows with what separates a value from a branch; a wrong discriminator separates most.
func distance(list []problem) (n int) {
	for _, p := range list {
		if n++; p.choice {
			n += 3
		}
	}
	return n
}

// describe words the rarer keywords as the validator does.
func describe(e *jsonschema.ValidationError) string {
	bare := jsonschema.ValidationError{ErrorKind: e.ErrorKind}
	return words.Shorten(strings.TrimPrefix(bare.Error(), "at '': "), 4*words.MaxValue)
}

func value(v any) string {
	raw, err := rawjson.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return words.Shorten(string(raw), words.MaxValue)
}

func values(list []any) string {
	var texts []string
	for _, v := range list {
		texts = append(texts, value(v))
	}
	return words.Shorten(strings.Join(texts, ", "), 4*words.MaxValue)
}

// maxWorded is how many problems are put into words; MaxProblems of them are shown.
const maxWorded = 1000

// problemTexts orders problems by place, since the validator walks maps, and
// writes each with its path.
func problemTexts(doc any, list []problem) []string {
	var texts []string
	slices.SortStableFunc(list, func(a, b problem) int {
		return cmp.Or(slices.Compare(a.path, b.path), cmp.Compare(a.text, b.text))
	})
	for _, p := range list[:min(len(list), maxWorded)] {
		text := p.text
		if path := pathText(doc, p.path); path != "" {
			text = path + ": " + text
		}
		if len(texts) == 0 || texts[len(texts)-1] != text {
			texts = append(texts, text)
		}
	}
	return texts
}

// pathText writes a place as JavaScript would: items[0].name, labels["a-b"].
func pathText(doc any, path []string) string {
	var b strings.Builder
	for _, step := range path {
		switch container := doc.(type) {
		case []any:
			fmt.Fprintf(&b, "[%s]", step)
			i, err := strconv.Atoi(step)
			if doc = nil; err == nil && i < len(container) {
				doc = container[i]
			}
		case map[string]any:
			writeMember(&b, step)
			doc = container[step]
		default:
			writeMember(&b, step)
		}
	}
	return b.String()
}

func writeMember(b *strings.Builder, name string) {
	switch {
	case !words.Identifier.MatchString(name):
		fmt.Fprintf(b, "[%q]", name)
	case b.Len() > 0:
		b.WriteString("." + name)
	default:
		b.WriteString(name)
	}
}

const MaxProblems = 5
