package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/temporal-codemode/codemode"
)

// checkConnectors loads the connectors of a configuration, as a worker does.
func checkConnectors(ctx context.Context, file string) ([]check, error) {
	cfg, err := codemode.LoadConfig(file)
	if err != nil {
		return nil, err
	}
	connectors, warnings, err := cfg.Policies(ctx)
	if err != nil {
		return nil, err
	}
	var checks []check
	for _, c := range connectors {
		result := check{Check: "connector " + c.Connector, OK: c.Err == nil, Methods: c.Methods}
		if result.Detail = fmt.Sprintf("%d methods", len(c.Methods)); c.Err != nil {
			result.Detail = "not available"
		}
		checks = append(checks, result)
	}
	for _, warning := range warnings {
		checks = append(checks, check{Check: "configuration", Detail: warning, Fix: "see " + file})
	}
	return checks, nil
}

func showPolicies(p *page, list []codemode.Policy) {
	rows := [][]string{{"  METHOD", "CLASS", "FROM", "APPROVAL", "RULE", "MORE"}}
	for _, m := range list {
		var more []string
		if m.Revertable {
			more = append(more, "can be reverted")
		}
		if m.Reexecute {
			more = append(more, "made again in each pass")
		}
		if m.TimeoutMs > 0 {
			more = append(more, "timeout "+(time.Duration(m.TimeoutMs)*time.Millisecond).String())
		}
		rows = append(rows, []string{"  " + m.Method, m.Class, m.ClassFrom, m.Approval, cmp.Or(m.Rule, "-"), strings.Join(more, ", ")})
	}
	p.table(rows)
}
