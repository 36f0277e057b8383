package config

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/connectors/outbound"
	"github.com/temporal-codemode/codemode/signals"
)

// Policy is how calls of one method are treated, and why: all that its rule says, and what its connector says beside.
type Policy struct {
	Method    string `json:"method"`
	Class     string `json:"class"`
	ClassFrom string `json:"classFrom"`
	// Approval is always, never, or "by arguments"; ApprovalIf is the expression then.
	Approval   string `json:"approval"`
	ApprovalIf string `json:"approvalIf,omitempty"`
	// Additional is "allow" where the rule lets arguments through that the tool does not declare.
	Additional string `json:"additional,omitempty"`
	// Approvals is how many different people have to approve, where that is said.
	Approvals int `json:"approvals,omitempty"`
	// Approvers says who may approve, where the rule does.
	Approvers *signals.ApproverRule `json:"approvers,omitempty"`
	// Rule is the pattern of the rule that applies.
	Rule string `json:"rule,omitempty"`
	// RenamedFrom is the name by which a revert names the method.
	RenamedFrom string `json:"renamedFrom,omitempty"`
	// Hidden methods cannot be called or found.
	Hidden bool `json:"hidden,omitempty"`
	// ResolvedBy is "client" for a method that a worker never makes, Unknown "ask" where a person decides about a call
	// whose outcome is unknown.
	ResolvedBy string `json:"resolvedBy,omitempty"`
	Unknown    string `json:"unknown,omitempty"`
	// Preflight is what follows from mistakes about the tool, where a rule says so.
	Preflight  string `json:"preflight,omitempty"`
	Revertable bool   `json:"revertable,omitempty"`
	// Revert is the tool that undoes a call, by the rule.
	Revert    string `json:"revert,omitempty"`
	Reexecute bool   `json:"reexecute,omitempty"`
	// NoLearning says that workers do not learn what results look like.
	NoLearning bool  `json:"noLearning,omitempty"`
	TimeoutMs  int64 `json:"timeoutMs,omitempty"`
	// MaxConcurrent and RatePerSecond are shared by all methods under the rule.
	MaxConcurrent int                  `json:"maxConcurrent,omitempty"`
	RatePerSecond float64              `json:"ratePerSecond,omitempty"`
	Retry         *signals.RetryLimits `json:"retry,omitempty"`
}

// ConnectorPolicies are those of a connector's methods, or why they cannot be told.
type ConnectorPolicies struct {
	Connector string
	// Methods are those that programs can call, and after them the hidden ones.
	Methods []Policy
	// OwnQueue is the task queue of the connector's calls, if it has its own: workers that serve it make them.
	OwnQueue string
	Err      error
}

// Policies loads the connectors, as a worker does, and tells how calls of their methods are treated, and what is
// probably not meant.
func (c *Config) Policies(ctx context.Context) (list []ConnectorPolicies, warnings []connectors.Warning, err error) {
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
		each := ConnectorPolicies{Connector: name, Err: set.Err(name)}
		if slices.Contains(o.OwnQueues, name) {
			each.OwnQueue = signals.ConnectorTaskQueue(c.Runtime, name)
		}
		for _, m := range set.Methods(name) {
			each.Methods = append(each.Methods, c.policyOf(m, false))
		}
		for _, m := range set.Hidden(name) {
			each.Methods = append(each.Methods, c.policyOf(m, true))
		}
		list = append(list, each)
	}
	return list, set.WarningList(), nil
}

func (c *Config) policyOf(m *connectors.Bound, hidden bool) Policy {
	rule := c.rule(m.Connector, m.Rule)
	p := Policy{
		Method: m.Path(), Class: string(m.Class), ClassFrom: cmp.Or(m.ClassFrom, "the connector"), Approval: "never",
		Rule:   m.Rule,
		Hidden: hidden, Revertable: m.Revert != nil, Reexecute: m.Reexecute, TimeoutMs: m.Timeout.Milliseconds(),
		Approvals:     m.Approvals,
		Approvers:     m.Approvers,
		MaxConcurrent: rule.MaxConcurrent, RatePerSecond: rule.RatePerSecond,
	}
	switch {
	case m.ResolvedByClient:
		p.ResolvedBy = "client"
	case m.ApprovalFor != nil:
		p.Approval, p.ApprovalIf = "by arguments", rule.ApprovalIf
		if m.AllowAdditional {
			p.Additional = "allow"
		}
	case m.RequiresApproval:
		p.Approval = "always"
	}
	if rule.Rename != "" && m.Original() != m.Name {
		p.RenamedFrom = m.Original()
	}
	p.Preflight = string(m.Preflight)
	p.NoLearning = m.NoLearning || c.NoLearning
	if m.AskWhenUnknown {
		p.Unknown = "ask"
	}
	if rule.Revert != nil {
		p.Revert = rule.Revert.Method
	}
	if r := m.Retry; r != (connectors.RetryLimits{}) {
		p.Retry = &signals.RetryLimits{Attempts: r.Attempts, InitialMs: r.Backoff.Milliseconds(),
			MaxMs: r.MaxBackoff.Milliseconds()}
	}
	return p
}

// rule finds the rule of a connector by its pattern; there is only one.
func (c *Config) rule(connector, pattern string) connectors.Rule {
	var rules []connectors.Rule
	if c.Outbound != nil && connector == outbound.Name {
		rules = c.Outbound.Rules
	}
	for _, each := range c.Connectors {
		if each.Name == connector {
			rules = each.Rules
		}
	}
	at := slices.IndexFunc(rules, func(r connectors.Rule) bool { return r.Pattern == pattern })
	if at < 0 {
		return connectors.Rule{}
	}
	return rules[at]
}

// More tells in words what of the policy stands in no column of its own.
func (p Policy) More() (list []string) {
	say := func(is bool, format string, args ...any) {
		if is {
			list = append(list, fmt.Sprintf(format, args...))
		}
	}
	say(p.Hidden, "hidden")
	say(p.RenamedFrom != "", "renamed from %s", p.RenamedFrom)
	say(p.ApprovalIf != "", "approval if %s", p.ApprovalIf)
	say(p.Additional != "", "other arguments allowed")
	say(p.Approvals > 0, "approvals %d", p.Approvals)
	if p.Approvers != nil {
		say(true, "approved by %s", p.Approvers)
	}
	say(p.ResolvedBy != "", "resolved by a %s", p.ResolvedBy)
	say(p.Preflight != "", "preflight %s", p.Preflight)
	say(p.Unknown != "", "an unknown outcome asks a person")
	say(p.Revert != "", "can be reverted by %s", p.Revert)
	say(p.Revertable && p.Revert == "", "can be reverted")
	say(p.Reexecute, "made again in each pass")
	say(p.NoLearning, "results are not learnt from")
	say(p.TimeoutMs > 0, "timeout %v", millis(p.TimeoutMs))
	say(p.MaxConcurrent > 0, "at most %d at once", p.MaxConcurrent)
	say(p.RatePerSecond > 0, "at most %v a second", p.RatePerSecond)
	if p.Retry != nil {
		r := p.Retry.WithDefaults()
		say(true, "%d attempts, %v to %v between", r.Attempts, millis(r.InitialMs), millis(r.MaxMs))
	}
	return list
}

func millis(n int64) time.Duration { return time.Duration(n) * time.Millisecond }
