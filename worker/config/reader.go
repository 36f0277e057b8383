package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"

	"github.com/temporal-codemode/codemode/internal/words"
	"github.com/temporal-codemode/codemode/signals"
)

// reader walks the nodes of a configuration and collects every mistake with its line.
type reader struct {
	file     string
	dir      string // of the file, absolute
	lookup   func(string) (string, bool)
	expanded []string // what variables stood for
	mistakes []configMistake
}

type configMistake struct {
	line int
	text string
}

// take reads the value of a key.
type take func(key string, n *yaml.Node)

func (r *reader) fail(n *yaml.Node, format string, args ...any) {
	r.mistakes = append(r.mistakes, configMistake{n.Line, fmt.Sprintf(format, args...)})
}

// err reports the mistakes in the order of their lines.
func (r *reader) err() error {
	slices.SortStableFunc(r.mistakes, func(a, b configMistake) int { return cmp.Compare(a.line, b.line) })
	var errs []error
	for _, m := range r.mistakes {
		errs = append(errs, fmt.Errorf("%s:%d: %s", r.file, m.line, m.text))
	}
	return errors.Join(errs...)
}

// parse gives the root node; nil for an empty file and for one that is not YAML.
func (r *reader) parse(data []byte) *yaml.Node {
	d := yaml.NewDecoder(bytes.NewReader(data))
	var document, second yaml.Node
	err := d.Decode(&document)
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err != nil {
		r.syntax(err)
		return nil
	}
	switch err := d.Decode(&second); {
	case err == nil:
		r.fail(&second, "a second document begins here: the configuration is one document")
	case !errors.Is(err, io.EOF):
		r.syntax(err)
	}
	return document.Content[0]
}

var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

// yamlBehind matches the errors for which yaml.v3 counts lines from 0, those of its parser proper.
var yamlBehind = regexp.MustCompile(`did not find expected (<|node content|'-' indicator|key$|',')`)

func (r *reader) syntax(err error) {
	line := 1
	if found := yamlLine.FindStringSubmatch(err.Error()); found != nil && found[1] != "" {
		line, _ = strconv.Atoi(found[1])
		if yamlBehind.MatchString(err.Error()) {
			line++
		}
	}
	r.fail(&yaml.Node{Line: line}, "not valid YAML: %s", yamlLine.ReplaceAllString(err.Error(), ""))
}

// entry is a key of a mapping and its value.
type entry struct {
	key   string
	name  *yaml.Node
	value *yaml.Node
}

// entries lists a mapping in its order. Nothing at all counts as an empty mapping, so that all entries can be commented
// out.
func (r *reader) entries(key string, n *yaml.Node) []entry {
	if n = resolve(n); n.Tag == "!!null" {
		return nil
	}
	if n.Kind != yaml.MappingNode {
		r.fail(n, "%s must be a mapping, but is %s", key, shown(n))
		return nil
	}
	var list []entry
	lines := map[string]int{}
	for i := 0; i < len(n.Content); i += 2 {
		name := resolve(n.Content[i])
		first, twice := lines[name.Value]
		switch {
		case name.Kind != yaml.ScalarNode:
			r.fail(name, "a key must be text, but is %s", shown(name))
		case name.Tag == "!!merge":
			r.fail(name, "merge keys (<<) are not supported: write the keys out")
		case twice:
			r.fail(name, "duplicate key %q, first on line %d", name.Value, first)
		default:
			lines[name.Value] = name.Line
			list = append(list, entry{name.Value, name, resolve(n.Content[i+1])})
		}
	}
	return list
}

// fields reads a mapping whose keys are known, and reports which were there.
func (r *reader) fields(n *yaml.Node, what string, known map[string]take) map[string]*yaml.Node {
	found := map[string]*yaml.Node{}
	for _, e := range r.entries(what, n) {
		read, ok := known[e.key]
		if !ok {
			r.fail(e.name, "unknown key %q%s", e.key, near(e.key, known))
			continue
		}
		found[e.key] = e.value
		read(strconv.Quote(e.key), e.value)
	}
	return found
}

// resolve follows aliases.
func resolve(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

// shown tells what a node is, as it stands in the file: never what its variables stand for.
func shown(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.Tag == "!!null":
		return "empty"
	case n.Tag == "!!str":
		return strconv.Quote(signals.Cut(n.Value, 100))
	}
	return n.Value
}

// near suggests the known name that was probably meant.
func near[V any](name string, known map[string]V) string {
	if list := words.Nearest(name, slices.Sorted(maps.Keys(known))); len(list) > 0 {
		return fmt.Sprintf("; did you mean %q?", list[0])
	}
	return ""
}
