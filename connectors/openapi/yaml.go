package openapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/temporal-codemode/codemode/internal/rawjson"
)

const (
	maxYAMLDepth = 1000
	// yamlGrowth is how many times its own size a document may grow to by its
	// aliases, which can multiply without end.
	yamlGrowth     = 20
	yamlGrowthFree = 1 << 20
)

// yamlToJSON keeps the order of keys and the digits of numbers, which decoding
// into Go values would lose.
func yamlToJSON(data []byte) ([]byte, error) {
	var root yaml.Node
	if err := yaml.Unmarshal(data, &root); err != nil {
		return nil, fmt.Errorf("it is neither valid JSON nor valid YAML: %w", err)
	}
	if root.Kind != yaml.DocumentNode || len(root.Content) == 0 {
		return nil, errors.New("it is empty")
	}
	w := yamlWriter{limit: yamlGrowthFree + yamlGrowth*len(data)}
	if err := w.write(root.Content[0], 0); err != nil {
		return nil, err
	}
	return w.out, nil
}

type yamlWriter struct {
	out    []byte
	merges int
	limit  int
}

func (w *yamlWriter) check(depth int) error {
	switch {
	case depth > maxYAMLDepth:
		return errors.New("its YAML is nested too deeply")
	case len(w.out)+w.merges > w.limit:
		return errors.New("its YAML aliases make it too large")
	}
	return nil
}

func (w *yamlWriter) write(n *yaml.Node, depth int) error {
	if err := w.check(depth); err != nil {
		return err
	}
	switch n.Kind {
	case yaml.AliasNode:
		return w.write(n.Alias, depth+1)
	case yaml.MappingNode:
		return w.mapping(n, depth)
	case yaml.SequenceNode:
		return w.sequence(n, depth)
	}
	w.out = append(w.out, yamlScalar(n)...)
	return nil
}

func (w *yamlWriter) sequence(n *yaml.Node, depth int) error {
	w.out = append(w.out, '[')
	for i, item := range n.Content {
		if i > 0 {
			w.out = append(w.out, ',')
		}
		if err := w.write(item, depth+1); err != nil {
			return err
		}
	}
	w.out = append(w.out, ']')
	return nil
}

func (w *yamlWriter) mapping(n *yaml.Node, depth int) error {
	members, err := w.members(n, map[string]bool{}, depth)
	if err != nil {
		return err
	}
	w.out = append(w.out, '{')
	for i, m := range members {
		if i > 0 {
			w.out = append(w.out, ',')
		}
		w.out = append(append(w.out, rawjson.Quote(m.key)...), ':')
		if err := w.write(m.value, depth+1); err != nil {
			return err
		}
	}
	w.out = append(w.out, '}')
	return nil
}

type yamlMember struct {
	key   string
	value *yaml.Node
}

// members lists a mapping's own members and then those merged into it by "<<"
// that it does not have.
func (w *yamlWriter) members(n *yaml.Node, taken map[string]bool, depth int) (list []yamlMember, err error) {
	w.merges++
	if err := w.check(depth); err != nil {
		return nil, err
	}
	if n = unaliased(n); n.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("line %d: its YAML merges what is not a mapping", n.Line)
	}
	var merged []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := unaliased(n.Content[i]), n.Content[i+1]
		switch {
		case key.Tag == "!!merge":
			merged = append(merged, yamlSources(value)...)
		case key.Kind != yaml.ScalarNode:
			return nil, fmt.Errorf("line %d: its YAML has a key that is not text", key.Line)
		case !taken[key.Value]:
			taken[key.Value] = true
			list = append(list, yamlMember{key.Value, value})
		}
	}
	for _, source := range merged {
		more, err := w.members(source, taken, depth+1)
		if err != nil {
			return nil, err
		}
		list = append(list, more...)
	}
	return list, nil
}

func unaliased(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// yamlSources are the mappings that "<<" names: one or a list.
func yamlSources(n *yaml.Node) []*yaml.Node {
	if n = unaliased(n); n.Kind == yaml.SequenceNode {
		return n.Content
	}
	return []*yaml.Node{n}
}

// yamlScalar takes what JSON has no word for, such as dates and infinities, as text.
func yamlScalar(n *yaml.Node) []byte {
	switch n.ShortTag() {
	case "!!null":
		return []byte("null")
	case "!!bool":
		if strings.HasPrefix(strings.ToLower(n.Value), "t") {
			return []byte("true")
		}
		return []byte("false")
	case "!!int":
		if i, ok := new(big.Int).SetString(n.Value, 0); ok {
			return []byte(i.String())
		}
	case "!!float":
		if json.Valid([]byte(n.Value)) {
			return []byte(n.Value)
		}
		f, err := strconv.ParseFloat(n.Value, 64)
		if err == nil && !math.IsInf(f, 0) && !math.IsNaN(f) {
			return strconv.AppendFloat(nil, f, 'g', -1, 64)
		}
	}
	return rawjson.Quote(n.Value)
}
