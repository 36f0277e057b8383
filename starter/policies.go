package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/temporal-codemode/codemode/signals"
	"github.com/temporal-codemode/codemode/worker/config"
)

// checkConnectors loads the connectors of a configuration, as a worker does.
func checkConnectors(ctx context.Context, file string) (checks []check, ownQueues []string, err error) {
	cfg, err := config.Load(file)
	if err != nil {
		return nil, nil, err
	}
	connectors, warnings, err := cfg.Policies(ctx)
	if err != nil {
		return nil, nil, err
	}
	for _, c := range connectors {
		result := check{Check: "connector " + c.Connector, OK: c.Err == nil, Methods: c.Methods}
		if result.Detail = methodCount(c.Methods); c.Err != nil {
			result.Detail = "not available"
		}
		if c.OwnQueue != "" {
			result.Detail += ", calls on task queue " + c.OwnQueue
			ownQueues = append(ownQueues, c.Connector)
		}
		checks = append(checks, result)
	}
	for _, warning := range warnings {
		checks = append(checks, check{Check: "configuration", Detail: warning, Fix: "see " + file})
	}
	return checks, ownQueues, nil
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
