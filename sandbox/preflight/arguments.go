package preflight

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/temporal-codemode/codemode/internal/rawjson"
	"github.com/temporal-codemode/codemode/internal/schema"
	"github.com/temporal-codemode/codemode/internal/words"
	"github.com/temporal-codemode/codemode/signals"
)

// arguments finds what a method will refuse, and names that it does not know. Arguments that are all written down are
// checked as the call will be; of others, what is written down.
func (j *judge) arguments(u *Use, m *Method) {
	if u.Spread {
		return
	}
	path := u.Name + "." + u.Method
	if text, ok := u.Args.Literal(); ok {
		if err := m.Validate(text); err != nil {
			thrown := ""
			if u.Fatal {
				thrown = err.Error()
			}
			j.hint(signals.Hint{Kind: signals.HintArgument, Position: u.At, Message: err.Error()}, m, thrown)
			return
		}
	}
	input := m.Input()
	if len(input) == 0 {
		return
	}
	c := checker{roots: [][]byte{input, m.definitions()}}
	argument := u.Args
	if argument == nil {
		argument = &Argument{Shape: Object}
	}
	c.check(input, *argument, "", 0)
	h := signals.Hint{Kind: signals.HintArgument, Position: u.At, Near: c.near}
	switch {
	case len(c.problems) > 0:
		shown := c.problems[:min(3, len(c.problems))]
		h.Message = fmt.Sprintf("Invalid arguments for %s: %s", path, strings.Join(shown, "; "))
	case len(c.strangers) > 0:
		h.Message = fmt.Sprintf("%s declares no argument %s", path, c.strangers[0])
	default:
		return
	}
	j.hint(h, m, "")
}

func (m *Method) definitions() json.RawMessage {
	if m.Definitions == nil {
		return nil
	}
	return m.Definitions()
}

// checker compares what is known of an argument with a schema. What it does not know by name it lets pass.
type checker struct {
	roots    [][]byte
	problems []string
	near     []string
	// strangers are names that nothing declares, and that the method may let pass.
	strangers []string
}

const deepest = 12

// loose are the keywords that say more of a value than is looked at here.
var loose = []string{"not", "if", "then", "else", "dependentSchemas", "dependencies", "patternProperties",
	"unevaluatedProperties", "$dynamicRef", "$recursiveRef", "allOf", "anyOf", "oneOf", "propertyNames",
	"discriminator"}

func (c *checker) check(raw []byte, a Argument, path string, depth int) {
	s, ok := schema.Follow(raw, c.roots...)
	if !ok || depth > deepest || s.Has(loose...) || a.Shape == Anything || a.Shape == Absent {
		return
	}
	kind := kindOf(a)
	if types := s.Types(true); len(types) > 0 && !accepts(types, kind, a) && !s.IsTrue("nullable") {
		if kind == "object" && a.More && len(a.Keys) == 0 {
			return // {...something}
		}
		c.problem(path, fmt.Sprintf("expected %s, but got %s", strings.Join(types, " or "), kind))
		return
	}
	switch {
	case a.Shape == Literal && s.Has("enum"):
		c.enum(s, a, path)
	case a.Shape == Object:
		c.object(s, a, path, depth)
	case a.Shape == List && s.Has("items"):
		for i, part := range a.Parts {
			if a.More {
				break // places cannot be told
			}
			c.check(s.Get("items"), part, fmt.Sprintf("%s[%d]", path, i), depth+1)
		}
	}
}

func (c *checker) enum(s schema.Schema, a Argument, path string) {
	list, _ := rawjson.List(s.Get("enum"))
	for _, one := range list {
		if sameJSON(one, a.JSON) {
			return
		}
	}
	c.problem(path, fmt.Sprintf("expected one of %s, but got %s",
		words.Shorten(strings.Trim(string(s.Get("enum")), "[]"), 4*words.MaxValue),
		words.Shorten(string(a.JSON), words.MaxValue)))
}

func sameJSON(a, b []byte) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}

func (c *checker) object(s schema.Schema, a Argument, path string, depth int) {
	properties := s.Properties()
	var known []string
	for _, p := range properties {
		known = append(known, p.Key)
	}
	for i, key := range a.Keys {
		at := slices.Index(known, key)
		if at >= 0 {
			c.check(properties[at].Value, a.Parts[i], joined(path, key), depth+1)
			continue
		}
		near := words.Nearest(key, known)
		switch additional := s.Get("additionalProperties"); {
		case string(additional) == "false":
			c.problem(joined(path, key), "not a known property"+suggestion(near))
		case additional == nil && len(known) > 0:
			c.strangers = append(c.strangers, joined(path, key)+suggestion(near))
		default:
			continue
		}
		c.near = append(c.near, near...)
	}
	if a.More {
		return
	}
	for _, name := range rawjson.Texts(s.Get("required")) {
		i := slices.Index(a.Keys, name)
		if i < 0 || a.Parts[i].Shape == Absent {
			c.problem(joined(path, name), "required, but missing")
		}
	}
}

func joined(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

func (c *checker) problem(path, text string) {
	if path != "" {
		text = path + ": " + text
	}
	c.problems = append(c.problems, text)
}

func kindOf(a Argument) string {
	switch a.Shape {
	case Object:
		return "object"
	case List:
		return "array"
	case Text:
		return "string"
	case Number:
		return "number"
	case Boolean:
		return "boolean"
	}
	switch a.JSON[0] {
	case '"':
		return "string"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	}
	return "number"
}

func accepts(types []string, kind string, a Argument) bool {
	if slices.Contains(types, kind) {
		return true
	}
	if kind != "number" || !slices.Contains(types, "integer") {
		return false
	}
	n, err := strconv.ParseFloat(string(a.JSON), 64)
	return err != nil || n == float64(int64(n))
}
