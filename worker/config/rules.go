package config

import (
	"maps"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/signals"
)

// tools reads the rules of a connector, in their order.
func (r *reader) tools(key string, n *yaml.Node) []connectors.Rule {
	var rules []connectors.Rule
	renamed := map[string]string{}
	for _, e := range r.entries(key, n) {
		if e.key == "" {
			r.fail(e.name, `a rule needs the name of a tool, or "*" for all`)
		}
		rule := r.rule(e, nil)
		r.checkRename(e, rule, renamed)
		rules = append(rules, rule)
	}
	return rules
}

// checkRename finds two tools that would have one name. Of globs only the server can tell.
func (r *reader) checkRename(e entry, rule connectors.Rule, renamed map[string]string) {
	if rule.Rename == "" || rule.Hidden || strings.ContainsAny(e.key, "*?") {
		return
	}
	other, taken := renamed[rule.Rename]
	if taken && connectors.SanitizeToolName(other) != connectors.SanitizeToolName(e.key) {
		r.fail(e.name, "%q and %q are both renamed to %q", other, e.key, rule.Rename)
	}
	renamed[rule.Rename] = e.key
}

var preflightModes = map[string]signals.PreflightMode{"stop": signals.PreflightStop, "deny": signals.PreflightDeny,
	"hint": signals.PreflightHint, "off": signals.PreflightOff}

var classes = map[string]connectors.Class{"read": connectors.Read, "idempotent": connectors.Idempotent,
	"write": connectors.Write}

// rule reads the keys of a rule, and more that stand beside them.
func (r *reader) rule(e entry, more map[string]take) connectors.Rule {
	rule := connectors.Rule{Pattern: e.key}
	yes := true
	known := map[string]take{
		"class":            func(key string, n *yaml.Node) { rule.Class = choice(r, key, n, classes) },
		"requiresApproval": func(key string, n *yaml.Node) { r.approval(key, n, &rule) },
		"replay": func(key string, n *yaml.Node) {
			rule.Reexecute = choice(r, key, n, map[string]*bool{"reexecute": &yes})
		},
		"hidden":        func(key string, n *yaml.Node) { rule.Hidden = r.bool(key, n) },
		"rename":        func(key string, n *yaml.Node) { rule.Rename = r.rename(key, n) },
		"timeout":       func(key string, n *yaml.Node) { rule.Timeout = r.duration(key, n) },
		"maxConcurrent": func(key string, n *yaml.Node) { rule.MaxConcurrent = r.count(key, n) },
		"ratePerSecond": func(key string, n *yaml.Node) { rule.RatePerSecond = r.rate(key, n) },
		"revert":        func(key string, n *yaml.Node) { rule.Revert = r.revert(key, n) },
		"approvals":     func(key string, n *yaml.Node) { rule.Approvals = r.count(key, n) },
		"approvers":     func(key string, n *yaml.Node) { rule.Approvers = r.approvers(key, n) },
		"additional": func(key string, n *yaml.Node) {
			rule.AllowAdditional = choice(r, key, n, map[string]bool{"allow": true, "refuse": false})
		},
		"resolvedBy": func(key string, n *yaml.Node) {
			rule.ResolvedByClient = choice(r, key, n, map[string]bool{"client": true})
		},
		"unknown": func(key string, n *yaml.Node) {
			rule.AskWhenUnknown = choice(r, key, n, map[string]bool{"ask": true, "error": false})
		},
		"preflight": func(key string, n *yaml.Node) { rule.Preflight = choice(r, key, n, preflightModes) },
		"learn":     func(key string, n *yaml.Node) { rule.NoLearning = !r.bool(key, n) },
		"retry":     func(key string, n *yaml.Node) { rule.Retry = r.retry(key, n) },
	}
	maps.Copy(known, more)
	found := r.fields(e.value, "the rule for "+strconv.Quote(e.key), known)
	r.checkReplay(found["replay"], rule)
	r.checkApprovals("approvals", found["approvals"], rule)
	r.checkApprovals("approvers", found["approvers"], rule)
	if n := found["additional"]; n != nil && rule.ApprovalIf == "" {
		r.fail(n, `"additional" is for a rule whose "requiresApproval" is an expression: no other looks at arguments`)
	}
	return rule
}

// retry reads how often and after which pauses a call is made again that asks for it.
func (r *reader) retry(key string, n *yaml.Node) connectors.RetryLimits {
	var limits connectors.RetryLimits
	r.fields(n, key, map[string]take{
		"attempts": func(key string, n *yaml.Node) {
			if limits.Attempts = r.count(key, n); limits.Attempts > connectors.MaxAttempts {
				r.fail(n, "%s can be %d at most, but is %s", key, connectors.MaxAttempts, shown(n))
			}
		},
		"backoff":    func(key string, n *yaml.Node) { limits.Backoff = r.duration(key, n) },
		"maxBackoff": func(key string, n *yaml.Node) { limits.MaxBackoff = r.duration(key, n) },
	})
	return limits
}

// checkReplay finds early, and with a line, what a connector would refuse once its tools are known.
func (r *reader) checkReplay(n *yaml.Node, rule connectors.Rule) {
	switch {
	case n == nil || rule.Reexecute == nil:
	case rule.ApprovalFor != nil || rule.RequiresApproval != nil && *rule.RequiresApproval || rule.Approvals > 0 ||
		rule.Approvers != nil:
		r.fail(n, `"replay" cannot be reexecute beside "requiresApproval": what was approved is replayed from the log, never made again`)
	case rule.Class != "" && rule.Class != connectors.Read:
		r.fail(n, `"replay" cannot be reexecute beside class %s: only a tool of class read may be made again`,
			rule.Class)
	}
}

// approvers reads who may approve.
func (r *reader) approvers(key string, n *yaml.Node) *signals.ApproverRule {
	rule := &signals.ApproverRule{}
	r.fields(n, key, map[string]take{
		"notRequester": func(key string, n *yaml.Node) { rule.NotRequester = r.bool(key, n) },
		"groups":       func(key string, n *yaml.Node) { rule.Groups = r.args(key, n) },
	})
	if !rule.NotRequester && len(rule.Groups) == 0 {
		r.fail(n, `"approvers" needs "notRequester: true", "groups", or both`)
	}
	return rule
}

// checkApprovals refuses to say how many approve, or who, where nobody is asked.
func (r *reader) checkApprovals(key string, n *yaml.Node, rule connectors.Rule) {
	switch {
	case n == nil:
	case rule.RequiresApproval != nil && !*rule.RequiresApproval:
		r.fail(n, `%q cannot stand beside "requiresApproval: false": leave one of the two out`, key)
	case rule.ResolvedByClient:
		r.fail(n, `%q cannot stand beside "resolvedBy: client": nothing is done that could be approved`, key)
	}
}

// approval reads true, false, or an expression that decides by the arguments.
func (r *reader) approval(key string, n *yaml.Node, rule *connectors.Rule) {
	if n.Kind == yaml.ScalarNode && n.Tag == "!!str" {
		if text, ok := r.expand(n); ok {
			rule.ApprovalFor, rule.ApprovalNames = r.predicate(key, n, text)
			rule.ApprovalIf = n.Value
		}
		return
	}
	if n.Kind != yaml.ScalarNode || n.Tag != "!!bool" {
		r.fail(n, `%s must be true, false or an expression such as "args.amount > 100", but is %s`, key, shown(n))
		return
	}
	required := r.bool(key, n)
	rule.RequiresApproval = &required
}

func (r *reader) rename(key string, n *yaml.Node) string {
	name, ok := r.text(key, n)
	if !ok {
		return ""
	}
	if name.value != connectors.SanitizeToolName(name.value) {
		r.reject(n, name, "%s must be a name that programs can call, such as %q, but is %s", key,
			connectors.SanitizeToolName(name.value), shown(n))
		return ""
	}
	if err := checkConnector("x", connectors.Rule{Pattern: "*", Rename: name.value}); err != nil {
		r.reject(n, name, "%s cannot be %s: awaiting or serializing the connector would call it", key, shown(n))
	}
	return name.value
}

func (r *reader) revert(key string, n *yaml.Node) *connectors.RevertRule {
	rule := &connectors.RevertRule{}
	found := r.fields(n, key, map[string]take{
		"tool": func(key string, n *yaml.Node) {
			t, _ := r.text(key, n)
			rule.Method = t.value
		},
		"args": func(key string, n *yaml.Node) { rule.Args = r.revertArgs(key, n) },
	})
	if found["tool"] == nil {
		r.fail(n, `%s needs "tool", which undoes the call`, key)
	}
	return rule
}

func (r *reader) revertArgs(key string, n *yaml.Node) revertArgs {
	exprs := map[string]*expression{}
	for _, e := range r.entries(key, n) {
		// Numbers and booleans are expressions just as they stand.
		text, ok := r.scalar(strconv.Quote(e.key), e.value)
		if !ok {
			continue
		}
		if x := r.compile(strconv.Quote(e.key), e.value, text, true); x != nil {
			exprs[e.key] = x
		}
	}
	return evalRevert(exprs)
}
