// Package config reads codemode.yaml, which says what the worker of one runtime serves.
//
// Its rule: every mistake is found and told with its line, and none of the texts shows what a ${VARIABLE} stood for.
package config

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/temporal-codemode/codemode/connectors"
	mcpconnector "github.com/temporal-codemode/codemode/connectors/mcp"
	"github.com/temporal-codemode/codemode/connectors/openapi"
	"github.com/temporal-codemode/codemode/connectors/outbound"
	temporalconnector "github.com/temporal-codemode/codemode/connectors/temporal"
	"github.com/temporal-codemode/codemode/sandbox/child"
	"github.com/temporal-codemode/codemode/signals"
	"github.com/temporal-codemode/codemode/worker/codemodeworker"
)

// Config is what a codemode.yaml says about the worker of one runtime. How to reach Temporal is not part of it: that is
// the environment's, as for every other Temporal program.
type Config struct {
	Runtime string
	// Serve makes this a worker that only makes the calls of these connectors.
	Serve []string
	// Connectors stand in the order of the file, which is the one that programs and models see.
	Connectors []Connector
	// Outbound lets programs fetch; nil: they cannot.
	Outbound *Outbound
	Limits   Limits
	Sandbox  child.Options
	// Modules are what programs may import: source by name.
	Modules map[string]string
	// Preflight is what follows from mistakes that are found before a program runs.
	Preflight signals.PreflightMode
	// AuthenticatedApprovers lets only those count whom a door authenticated, where several people have to approve.
	AuthenticatedApprovers bool
	// NoLearning keeps the worker from learning what results look like.
	NoLearning bool
	// IndexLabels has the server index the labels of executions.
	IndexLabels bool
	// Encryption required means that the worker does not start without keys; where they are, the environment says.
	EncryptionRequired bool
}

// Connector is one entry of connectors.
type Connector struct {
	Name string
	// One of these is set.
	MCP      *mcpconnector.Options
	OpenAPI  *openapi.Options
	Temporal *temporalconnector.Options
	// Rules stand in the order of the file: of several that match a tool, the first counts.
	Rules []connectors.Rule
	// OwnQueue has the connector's calls made by workers that Serve it.
	OwnQueue bool
	// Hint says in a few words what the connector is for, in the tool's description.
	Hint string
}

// Outbound is the section outbound: where a program's fetch may go, and the rules for it.
type Outbound struct {
	outbound.Options
	Rules []connectors.Rule
}

// Limits are the entries of limits; zero fields have their defaults.
type Limits struct {
	signals.Limits
	PassTimeout time.Duration
	// LocalPass is how long a pass may run inside its workflow task; negative: none does.
	LocalPass time.Duration
	// Memory is what one pass may use, in bytes.
	Memory int64
}

// Load reads a configuration in YAML or JSON. Its error lists every mistake, each with file and line; it never
// shows what a ${VARIABLE} stood for.
func Load(path string) (*Config, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the configuration: %w", err)
	}
	dir, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return nil, fmt.Errorf("find the directory of %s: %w", path, err)
	}
	r := &reader{file: path, dir: dir, lookup: os.LookupEnv}
	c := &Config{Runtime: signals.DefaultRuntime}
	if root := r.parse(data); root != nil {
		r.config(root, c)
	}
	return c, r.err()
}

func (r *reader) config(root *yaml.Node, c *Config) {
	found := r.fields(root, "the configuration", map[string]take{
		"runtime":    func(key string, n *yaml.Node) { r.runtime(key, n, c) },
		"serve":      func(key string, n *yaml.Node) { c.Serve = r.args(key, n) },
		"connectors": func(key string, n *yaml.Node) { c.Connectors = r.connectors(key, n) },
		"outbound":   func(key string, n *yaml.Node) { c.Outbound = r.outbound(key, n) },
		"limits":     func(key string, n *yaml.Node) { r.limits(key, n, &c.Limits) },
		"encryption": func(key string, n *yaml.Node) { r.encryption(key, n, c) },
		"approvers": func(key string, n *yaml.Node) {
			c.AuthenticatedApprovers = choice(r, key, n, map[string]bool{"authenticated": true, "named": false})
		},
		"preflight":   func(key string, n *yaml.Node) { c.Preflight = choice(r, key, n, preflightModes) },
		"learn":       func(key string, n *yaml.Node) { c.NoLearning = !r.bool(key, n) },
		"indexLabels": func(key string, n *yaml.Node) { c.IndexLabels = r.bool(key, n) },
		"sandbox":     func(key string, n *yaml.Node) { r.sandbox(key, n, c) },
	})
	for _, name := range c.Serve {
		if !slices.ContainsFunc(c.Connectors, func(o Connector) bool { return o.Name == name && o.OwnQueue }) {
			r.fail(found["serve"], `"serve" names %q, which is no connector with "taskQueue: own"`, name)
		}
	}
}

func (r *reader) runtime(key string, n *yaml.Node, c *Config) {
	name, ok := r.text(key, n)
	if !ok {
		return
	}
	if err := signals.CheckRuntime(name.value); err != nil {
		r.reject(n, name, "%v", err)
	}
	c.Runtime = name.value
}

func (r *reader) encryption(key string, n *yaml.Node, c *Config) {
	r.fields(n, key, map[string]take{
		"required": func(key string, n *yaml.Node) { c.EncryptionRequired = r.bool(key, n) },
	})
}

// Options makes the options of a worker. The connectors start nothing before they are used.
func (c *Config) Options() (codemodeworker.Options, error) {
	o := codemodeworker.Options{
		Runtime:            c.Runtime,
		Serve:              c.Serve,
		PassTimeout:        c.Limits.PassTimeout,
		LocalPass:          c.Limits.LocalPass,
		Limits:             c.Limits.Limits,
		Rules:              map[string][]connectors.Rule{},
		Sandbox:            c.Sandbox,
		Modules:            c.Modules,
		Hints:              map[string]string{},
		EncryptionRequired: c.EncryptionRequired,
		IndexLabels:        c.IndexLabels,
		NoLearning:         c.NoLearning,

		AuthenticatedApprovers: c.AuthenticatedApprovers,
		Preflight:              c.Preflight,
	}
	o.Sandbox.Memory = c.Limits.Memory
	for _, connector := range c.Connectors {
		switch {
		case connector.MCP != nil:
			o.Connectors = append(o.Connectors, mcpconnector.New(connector.Name, *connector.MCP))
		case connector.OpenAPI != nil:
			o.Connectors = append(o.Connectors, openapi.New(connector.Name, *connector.OpenAPI))
		case connector.Temporal != nil:
			o.Connectors = append(o.Connectors, temporalconnector.New(connector.Name, *connector.Temporal))
		default:
			return codemodeworker.Options{}, fmt.Errorf("connector %q names neither an MCP server, nor an OpenAPI "+
				"document, nor what a team's Temporal workers have", connector.Name)
		}
		if connector.OwnQueue {
			o.OwnQueues = append(o.OwnQueues, connector.Name)
		}
		if connector.Hint != "" {
			o.Hints[connector.Name] = connector.Hint
		}
		if len(connector.Rules) > 0 {
			o.Rules[connector.Name] = connector.Rules
		}
	}
	if c.Outbound != nil {
		o.Connectors = append(o.Connectors, outbound.New(c.Outbound.Options))
		o.Rules[outbound.Name] = c.Outbound.Rules
		o.Hints[outbound.Name] = "fetch(url, init) reaches " + signals.Cut(strings.Join(c.Outbound.Hosts, ", "), 100)
	}
	return o, nil
}
