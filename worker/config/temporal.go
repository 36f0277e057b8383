package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"cel.dev/cel-go/cel"
	"go.yaml.in/yaml/v3"

	temporalconnector "github.com/temporal-codemode/codemode/connectors/temporal"
)

// temporal reads a connector over a team's own activities and workflows. What an entry says of how calls are treated is
// a rule for that tool, before those of "tools".
func (r *reader) temporal(key string, n *yaml.Node, c *Connector) {
	o := c.Temporal
	found := r.fields(n, key, map[string]take{
		"taskQueue": func(key string, n *yaml.Node) {
			t, _ := r.text(key, n)
			o.TaskQueue = t.value
		},
		"activities": func(key string, n *yaml.Node) {
			for _, e := range r.entries(key, n) {
				o.Activities = append(o.Activities, r.activity(e, c))
			}
		},
		"workflows": func(key string, n *yaml.Node) {
			for _, e := range r.entries(key, n) {
				o.Workflows = append(o.Workflows, r.workflow(e, c))
			}
		},
	})
	if found["taskQueue"] == nil {
		r.fail(n, `%s needs "taskQueue", that of the team's workers`, key)
	}
	if len(o.Activities)+len(o.Workflows) == 0 {
		r.fail(n, `%s names neither "activities" nor "workflows"`, key)
	}
}

func (r *reader) activity(e entry, c *Connector) temporalconnector.Activity {
	a := temporalconnector.Activity{Tool: temporalconnector.Tool{Type: e.key}}
	r.targetRule(e, c, &a.Tool, map[string]take{
		"heartbeat": func(key string, n *yaml.Node) { a.Heartbeat = r.duration(key, n) },
	})
	return a
}

func (r *reader) workflow(e entry, c *Connector) temporalconnector.Workflow {
	w := temporalconnector.Workflow{Tool: temporalconnector.Tool{Type: e.key}}
	r.targetRule(e, c, &w.Tool, map[string]take{
		"id":   func(key string, n *yaml.Node) { w.ID = r.workflowID(key, n) },
		"wait": func(key string, n *yaml.Node) { w.NoWait = !r.bool(key, n) },
	})
	return w
}

// targetRule reads what activities and workflows have in common, and the keys of a rule.
func (r *reader) targetRule(e entry, c *Connector, tool *temporalconnector.Tool, more map[string]take) {
	own := map[string]take{
		"description": func(key string, n *yaml.Node) {
			t, _ := r.text(key, n)
			tool.Description = t.value
		},
		"input":  func(key string, n *yaml.Node) { tool.Input = r.schema(key, n) },
		"output": func(key string, n *yaml.Node) { tool.Output = r.schema(key, n) },
		"idempotencyKey": func(key string, n *yaml.Node) {
			tool.KeyArgument = choice(r, key, n, map[string]bool{"argument": true})
		},
	}
	maps.Copy(own, more)
	c.Rules = append(c.Rules, r.rule(e, own))
}

// checkTemporal refuses what only calls that a worker of ours makes could obey.
func (r *reader) checkTemporal(e entry, c Connector, found map[string]*yaml.Node) {
	if n := found["taskQueue"]; n != nil {
		r.fail(n, `"taskQueue" stands inside "temporal": the calls are made by the team's workers`)
	}
	for _, rule := range c.Rules {
		if rule.MaxConcurrent > 0 || rule.RatePerSecond > 0 {
			r.fail(e.name, `the rule for %q limits calls that the team's workers make: set limits at those, or at `+
				`their task queue`, rule.Pattern)
		}
	}
}

var idEnv = sync.OnceValues(func() (*cel.Env, error) { return newCELEnv(nil, "args") })

// workflowID reads an expression that makes a workflow id of the arguments.
func (r *reader) workflowID(key string, n *yaml.Node) func(args json.RawMessage) (string, error) {
	text, ok := r.text(key, n)
	if !ok {
		return nil
	}
	env, err := idEnv()
	if err != nil {
		r.fail(n, "CEL cannot be used: %v", err)
		return nil
	}
	ast, issues := env.Compile(text.value)
	if issues.Err() != nil {
		r.reject(n, text, "%s is not a CEL expression: %s", key, celIssues(issues))
		return nil
	}
	if out := ast.OutputType(); !out.IsExactType(cel.StringType) && !out.IsExactType(cel.DynType) {
		r.reject(n, text, "%s must give text, but this expression gives %s", key, cel.FormatCELType(out))
		return nil
	}
	program, err := env.Program(ast, cel.CostLimit(celCost))
	if err != nil {
		r.reject(n, text, "%s is not a CEL expression: %v", key, err)
		return nil
	}
	return evalID(&expression{program: program})
}

func evalID(x *expression) func(args json.RawMessage) (string, error) {
	return func(args json.RawMessage) (string, error) {
		out, err := x.eval(map[string]any{}, map[string]json.RawMessage{"args": args})
		if err != nil {
			return "", fmt.Errorf("the expression for its id: %w", err)
		}
		id, ok := out.Value().(string)
		if !ok || id == "" {
			return "", fmt.Errorf("the expression for its id gave %s instead of a text", out.Type().TypeName())
		}
		return id, nil
	}
}

// schema reads a JSON Schema: written out, or the name of a file with a JSON Pointer into it.
func (r *reader) schema(key string, n *yaml.Node) json.RawMessage {
	var schema any
	if n.Kind == yaml.MappingNode {
		if err := n.Decode(&schema); err != nil {
			r.fail(n, "%s is no JSON Schema: %v", key, err)
			return nil
		}
	} else {
		text, ok := r.text(key, n)
		if !ok {
			return nil
		}
		var err error
		if schema, err = r.schemaFile(text.value); err != nil {
			r.reject(n, text, "%s: %v", key, err)
			return nil
		}
	}
	raw, err := json.Marshal(schema)
	if err != nil {
		r.fail(n, "%s is no JSON Schema: %v", key, err)
	}
	return raw
}

// schemaFile reads a part of a file, with the definitions that references in it lead to.
func (r *reader) schemaFile(name string) (any, error) {
	path, pointer, _ := strings.Cut(name, "#")
	if !filepath.IsAbs(path) {
		path = filepath.Join(r.dir, path)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var root any
	if err := yaml.Unmarshal(data, &root); err != nil { // JSON is YAML
		return nil, fmt.Errorf("%s is neither JSON nor YAML: %w", path, err)
	}
	part, err := follow(root, pointer)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	schema, ok := part.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%s has no JSON Schema at %q", path, "#"+pointer)
	}
	whole, _ := root.(map[string]any)
	schema = maps.Clone(schema)
	for _, key := range []string{"$defs", "definitions"} {
		if definitions, ok := whole[key]; ok && schema[key] == nil && refersTo(schema, "#/"+key+"/") {
			schema[key] = definitions
		}
	}
	return schema, nil
}

var errPointer = errors.New("the JSON Pointer leads nowhere")

// follow takes the way of a JSON Pointer.
func follow(value any, pointer string) (any, error) {
	if pointer == "" || pointer == "/" {
		return value, nil
	}
	for _, step := range strings.Split(strings.TrimPrefix(pointer, "/"), "/") {
		step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		switch v := value.(type) {
		case map[string]any:
			next, ok := v[step]
			if !ok {
				return nil, fmt.Errorf("%w: there is no %q", errPointer, step)
			}
			value = next
		case []any:
			at, err := strconv.Atoi(step)
			if err != nil || at < 0 || at >= len(v) {
				return nil, fmt.Errorf("%w: there is no item %q", errPointer, step)
			}
			value = v[at]
		default:
			return nil, fmt.Errorf("%w: nothing is below %q", errPointer, step)
		}
	}
	return value, nil
}

// refersTo reports whether a reference in a schema begins so.
func refersTo(value any, prefix string) bool {
	switch v := value.(type) {
	case map[string]any:
		if ref, ok := v["$ref"].(string); ok && strings.HasPrefix(ref, prefix) {
			return true
		}
		for _, each := range v {
			if refersTo(each, prefix) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, func(each any) bool { return refersTo(each, prefix) })
	}
	return false
}
