package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/temporal-codemode/codemode/signals"
	"github.com/temporal-codemode/codemode/worker/config"
)

// configured is what a configuration says.
type configured struct {
	checks    []check
	ownQueues []string // connectors that have one
	runtime   string
}

// checkConnectors loads the connectors of a configuration, as a worker does.
func checkConnectors(ctx context.Context, file string) (configured, error) {
	cfg, err := config.Load(file)
	if err != nil {
		return configured{}, err
	}
	connectors, warnings, err := cfg.Policies(ctx)
	if err != nil {
		return configured{}, err
	}
	c := configured{runtime: cfg.Runtime}
	for _, p := range connectors {
		result := check{Check: "connector " + p.Connector, OK: p.Err == nil, Methods: p.Methods}
		if result.Detail = methodCount(p.Methods); p.Err != nil {
			result.Detail = "not available"
		}
		if p.OwnQueue != "" {
			result.Detail += ", calls on task queue " + p.OwnQueue
			c.ownQueues = append(c.ownQueues, p.Connector)
		}
		c.checks = append(c.checks, result)
	}
	for _, warning := range warnings {
		mistake := warning.Kind.Mistake()
		c.checks = append(c.checks, check{Check: "configuration", OK: !mistake, Warning: !mistake,
			Connector: warning.Connector, Kind: string(warning.Kind), Detail: warning.Text, Fix: "see " + file})
	}
	return c, nil
}

func methodCount(list []config.Policy) string {
	hidden := 0
	for _, m := range list {
		if m.Hidden {
			hidden++
		}
	}
	text := fmt.Sprintf("%d methods", len(list)-hidden)
	if hidden > 0 {
		text += fmt.Sprintf(" and %d hidden", hidden)
	}
	return text
}

// checkServed looks for the workers of connectors that have a task queue of their own.
func (c *connection) checkServed(ctx context.Context, runtime string, names []string) (checks []check) {
	for _, name := range names {
		result := check{Check: "worker of " + name, Detail: "task queue " + signals.ConnectorTaskQueue(runtime, name)}
		switch served, err := c.Served(ctx, name); {
		case err != nil:
			result.Detail += fmt.Sprintf(" cannot be described: %v", err)
		case !served:
			result.Detail += " is polled by nobody"
			result.Fix = "start a worker whose configuration says serve: [" + name + "]"
		default:
			result.OK, result.Detail = true, result.Detail+" is polled"
		}
		checks = append(checks, result)
	}
	return checks
}

func showPolicies(p *page, list []config.Policy) {
	rows := [][]string{{"  METHOD", "CLASS", "FROM", "APPROVAL", "RULE", "MORE"}}
	for _, m := range list {
		rows = append(rows, []string{"  " + m.Method, m.Class, m.ClassFrom, m.Approval, cmp.Or(m.Rule, "-"),
			strings.Join(m.More(), ", ")})
	}
	p.table(rows)
}
