package config

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/temporal-codemode/codemode/sandbox/harden"
)

func (r *reader) sandbox(key string, n *yaml.Node, c *Config) {
	o := &c.Sandbox
	r.fields(n, key, map[string]take{
		"reuse":    func(key string, n *yaml.Node) { o.Reuse = r.reuse(key, n) },
		"children": func(key string, n *yaml.Node) { o.Children = r.count(key, n) },
		"modules":  func(key string, n *yaml.Node) { c.Modules = r.modules(key, n) },
		"require":  func(key string, n *yaml.Node) { o.Require = r.layers(key, n) },
	})
}

// modules reads the files that programs may import.
func (r *reader) modules(key string, n *yaml.Node) map[string]string {
	modules := map[string]string{}
	for _, e := range r.entries(key, n) {
		t, ok := r.scalar(strconv.Quote(e.key), e.value)
		if !ok {
			continue
		}
		file := t.value
		if !filepath.IsAbs(file) {
			file = filepath.Join(r.dir, file)
		}
		source, err := os.ReadFile(file)
		if err != nil {
			r.fail(e.value, "module %q cannot be read: %v", e.key, errors.Unwrap(err))
		}
		modules[e.key] = string(source)
	}
	return modules
}

// reuse reads how many passes a child serves; off is one child per pass.
func (r *reader) reuse(key string, n *yaml.Node) int {
	switch {
	case isOff(n):
		return off
	case isZero(n):
		r.fail(n, "%s cannot be 0: leave it out for the default, or write off for one child per pass", key)
		return 0
	}
	return r.count(key, n)
}

func (r *reader) layers(key string, n *yaml.Node) []string {
	if n.Kind != yaml.SequenceNode {
		r.fail(n, "%s must be a list, but is %s", key, shown(n))
		return nil
	}
	var names []string
	for i, item := range n.Content {
		t, ok := r.scalar("item "+strconv.Itoa(i+1)+" of "+key, resolve(item))
		if ok && !knownLayer(t.value) {
			r.fail(item, "%s is not a layer of the sandbox: use %s", shown(resolve(item)),
				strings.Join(harden.LayerNames, ", "))
		}
		names = append(names, t.value)
	}
	return names
}

func knownLayer(name string) bool {
	for _, known := range harden.LayerNames {
		if name == known {
			return true
		}
	}
	return false
}
