package types

import (
	"bytes"
	"crypto/sha256"
	"slices"
	"strconv"
	"strings"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/internal/rawjson"
)

// side is one of a method's two types.
type side int

const (
	input side = iota
	output
)

func (s side) String() string { return [...]string{"Input", "Output"}[s] }

// names are the types of one connector. No two have the same name, whatever
// methods, definitions and properties are called.
type names struct {
	methods map[string]string // "get_item" to "GetItem"
	taken   map[string]bool
	defs    map[[sha256.Size]byte]string
	// found says where to look for the definition that a name stands for.
	found map[string]place
}

// place is where a definition lies: in a method's schema, or in the document
// that all methods share.
type place struct {
	method *connectors.Bound
	side   side
}

// builtin names would be hidden by a type of that name.
var builtin = []string{"Record", "Promise"}

func newNames(methods []*connectors.Bound, shared *document) *names {
	n := &names{
		methods: map[string]string{}, taken: map[string]bool{},
		defs: map[[sha256.Size]byte]string{}, found: map[string]place{},
	}
	for _, name := range builtin {
		n.taken[name] = true
	}
	for _, m := range methods {
		n.addMethod(m.Method.Name)
	}
	n.addShared(shared)
	for _, m := range methods {
		n.addDefinitions(m, input, m.InputSchema)
		n.addDefinitions(m, output, m.OutputSchema)
	}
	return n
}

func (n *names) addMethod(method string) {
	base := numbered(pascal(method), func(s string) bool { return n.taken[s+"Input"] || n.taken[s+"Output"] })
	n.taken[base+"Input"], n.taken[base+"Output"] = true, true
	n.methods[method] = base
}

// numbered gives the first of name, name2, name3 … that is free.
func numbered(name string, taken func(string) bool) string {
	free := name
	for i := 2; taken(free); i++ {
		free = name + strconv.Itoa(i)
	}
	return free
}

func (n *names) claim(name string) string {
	name = numbered(name, func(s string) bool { return n.taken[s] })
	n.taken[name] = true
	return name
}

func (n *names) addShared(shared *document) {
	if shared == nil {
		return
	}
	shorter := shortNames(shared.defs)
	for i, def := range shared.defs {
		name := n.claim(pascal(shorter[i]))
		shared.names[&def.raw[0]] = name
		n.found[name] = place{}
	}
}

// shortNames drops from names like io.k8s.api.core.v1.Pod what all could do without.
func shortNames(defs []definition) []string {
	count := map[string]int{}
	for _, def := range defs {
		for _, suffix := range suffixes(def.key) {
			count[strings.ToLower(suffix)]++
		}
	}
	short := make([]string, len(defs))
	for i, def := range defs {
		short[i] = def.key
		for _, suffix := range suffixes(def.key) {
			if count[strings.ToLower(suffix)] == 1 {
				short[i] = suffix
				break
			}
		}
	}
	return short
}

// suffixes are the dotted tails of a name, the shortest first.
func suffixes(key string) []string {
	parts := strings.Split(key, ".")
	list := make([]string, len(parts))
	for i := range parts {
		list[i] = strings.Join(parts[len(parts)-1-i:], ".")
	}
	return list
}

// addDefinitions names what a method's schema defines. Equal definitions of
// several methods are one type.
func (n *names) addDefinitions(m *connectors.Bound, s side, raw []byte) {
	if !mayDefine(raw) {
		return
	}
	doc, err := newDocument(raw, nil)
	if err != nil {
		return
	}
	for i, key := range doc.keys() {
		if _, known := n.defs[key]; !known {
			name := n.claim(pascal(doc.defs[i].key))
			n.defs[key] = name
			n.found[name] = place{m, s}
		}
	}
}

// mayDefine saves reading schemas that have no definitions.
func mayDefine(raw []byte) bool {
	return bytes.Contains(raw, []byte(`"$defs"`)) || bytes.Contains(raw, []byte(`"definitions"`)) ||
		bytes.Contains(raw, []byte(`"schemas"`))
}

// bind gives a method's document the names of its definitions.
func (n *names) bind(doc *document, rootName string) {
	if len(doc.root) > 0 {
		doc.names[&doc.root[0]] = rootName
	}
	for i, key := range doc.keys() {
		if raw := doc.defs[i].raw; len(raw) > 0 {
			doc.names[&raw[0]] = n.defs[key]
		}
	}
}

// keys tells definitions apart by what they and all they refer to say.
func (d *document) keys() [][sha256.Size]byte {
	refs := map[*byte][][]byte{}
	keys := make([][sha256.Size]byte, len(d.defs))
	for i, def := range d.defs {
		hash := sha256.New()
		hash.Write([]byte(def.key))
		for _, raw := range d.closure(def.raw, refs) {
			hash.Write([]byte{0})
			hash.Write(raw)
		}
		hash.Sum(keys[i][:0])
	}
	return keys
}

// closure lists a node and what it leads to, in the order of the document.
func (d *document) closure(raw []byte, refs map[*byte][][]byte) [][]byte {
	seen := map[*byte]bool{}
	var list [][]byte
	var visit func(raw []byte)
	visit = func(raw []byte) {
		if len(raw) == 0 || seen[&raw[0]] {
			return
		}
		seen[&raw[0]] = true
		list = append(list, raw)
		targets, known := refs[&raw[0]]
		if !known {
			targets = d.targets(raw)
			refs[&raw[0]] = targets
		}
		for _, target := range targets {
			visit(target)
		}
	}
	visit(raw)
	slices.SortFunc(list[1:], bytes.Compare)
	return list
}

// targets are the nodes that a text refers to.
func (d *document) targets(raw []byte) (list [][]byte) {
	for _, word := range []string{`"$ref"`, `"$dynamicRef"`, `"$recursiveRef"`} {
		for at := raw; ; {
			i := bytes.Index(at, []byte(word))
			if i < 0 {
				break
			}
			at = at[i+len(word):]
			start := rawjson.SkipSpace(at, 0)
			if start >= len(at) || at[start] != ':' {
				continue
			}
			start = rawjson.SkipSpace(at, start+1)
			if start >= len(at) || at[start] != '"' {
				continue
			}
			ref, _ := rawjson.String(at[start:rawjson.SkipString(at, start)])
			if target, ok := d.local(ref); ok {
				list = append(list, target)
			}
		}
	}
	return list
}
