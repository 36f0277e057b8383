package config

import (
	"cmp"
	"context"
	"slices"

	"github.com/temporal-codemode/codemode/connectors"
)

// Policy is how calls of one method are treated, and why.
type Policy struct {
	Method    string `json:"method"`
	Class     string `json:"class"`
	ClassFrom string `json:"classFrom"`
	// Approval is always, never, or "by arguments".
	Approval string `json:"approval"`
	// Rule is the pattern of the rule that applies.
	Rule       string `json:"rule,omitempty"`
	Revertable bool   `json:"revertable,omitempty"`
	Reexecute  bool   `json:"reexecute,omitempty"`
	TimeoutMs  int64  `json:"timeoutMs,omitempty"`
}

// ConnectorPolicies are those of a connector's methods, or why they cannot be told.
type ConnectorPolicies struct {
	Connector string
	Methods   []Policy
	// OwnQueue: calls are made by workers that serve the connector.
	OwnQueue bool
	Err      error
}

// Policies loads the connectors, as a worker does, and tells how calls of their methods are treated, and what is
// probably not meant.
func (c *Config) Policies(ctx context.Context) (list []ConnectorPolicies, warnings []string, err error) {
	o, err := c.Options()
	if err != nil {
		return nil, nil, err
	}
	set, err := connectors.NewSet(ctx, o.Connectors, o.Rules)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = set.Close() }()
	for _, name := range set.Names() {
		each := ConnectorPolicies{Connector: name, Err: set.Err(name), OwnQueue: slices.Contains(o.OwnQueues, name)}
		for _, m := range set.Methods(name) {
			each.Methods = append(each.Methods, policyOf(m))
		}
		list = append(list, each)
	}
	return list, set.Warnings(), nil
}

func policyOf(m *connectors.Bound) Policy {
	p := Policy{
		Method: m.Path(), Class: string(m.Class), ClassFrom: cmp.Or(m.ClassFrom, "the connector"), Approval: "never", Rule: m.Rule,
		Revertable: m.Revert != nil, Reexecute: m.Reexecute, TimeoutMs: m.Timeout.Milliseconds(),
	}
	switch {
	case m.ApprovalFor != nil:
		p.Approval = "by arguments"
	case m.RequiresApproval:
		p.Approval = "always"
	}
	return p
}
