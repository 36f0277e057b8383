package connectors

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/temporal-codemode/codemode/signals"
)

// Rule changes what a connector says about the methods it matches. Fields left
// at their zero value change nothing.
type Rule struct {
	// Pattern is a method name or a glob, where * is any run of characters and
	// ? any one. It is matched against the method's name and its name at the
	// source. Of several rules only the first that matches counts.
	Pattern string
	Class   Class
	// RequiresApproval set to false also takes away a decision call by call.
	RequiresApproval *bool
	// ApprovalFor decides call by call; see [Method.ApprovalFor].
	ApprovalFor func(asked Asked, args json.RawMessage) (bool, error)
	// ApprovalIf is what ApprovalFor decides by, in words for the operator.
	ApprovalIf string
	Reexecute  *bool
	// Hidden methods cannot be called or found, but a [RevertRule] may name them.
	Hidden bool
	// Rename is the name for programs instead of the connector's own.
	Rename  string
	Timeout time.Duration
	// MaxConcurrent bounds how many calls of all methods under the rule run at the
	// same time in this process, RatePerSecond how many begin in a second. Calls
	// beyond that wait. Zero: no limit.
	MaxConcurrent int
	RatePerSecond float64
	Revert        *RevertRule
	Policy
}

// RevertRule undoes a call by calling another method of the same connector.
type RevertRule struct {
	// Method is the name before any Rename.
	Method string
	// Args makes the undoing call's arguments from the arguments and the result
	// of the call to undo, all of them wire JSON. Nil: called without argument.
	Args func(args, result json.RawMessage) (json.RawMessage, error)
}

// ruleBook is the rules of one connector, ready to match.
type ruleBook struct {
	connector string
	rules     []Rule
	patterns  []*regexp.Regexp
	limiters  []*limiter
}

func newRuleBook(connector string, rules []Rule) (*ruleBook, error) {
	book := &ruleBook{connector: connector, rules: rules}
	for _, r := range rules {
		if r.Pattern == "" {
			return nil, ConfigErrorf("connector %q has a rule without a pattern — name a tool, or use \"*\" for all",
				connector)
		}
		if r.Class != "" && !validClass(r.Class) {
			return nil, ConfigErrorf("rule %q of connector %q has the unknown class %q — use %q, %q or %q",
				r.Pattern, connector, r.Class, Read, Idempotent, Write)
		}
		if r.MaxConcurrent < 0 || r.RatePerSecond < 0 {
			return nil, ConfigErrorf("rule %q of connector %q has a limit below zero", r.Pattern, connector)
		}
		if err := r.Policy.check(fmt.Sprintf("rule %q of connector %q", r.Pattern, connector)); err != nil {
			return nil, &ConfigError{Message: err.Error()}
		}
		if r.Approvals > 0 && r.RequiresApproval != nil && !*r.RequiresApproval {
			return nil, ConfigErrorf("rule %q of connector %q asks for %d approvals and says that none is required "+
				"— leave one of the two out",
				r.Pattern, connector, r.Approvals)
		}
		if r.Approvers != nil && r.RequiresApproval != nil && !*r.RequiresApproval {
			return nil, ConfigErrorf("rule %q of connector %q says who approves and that no approval is required — "+
				"leave one of the two out", r.Pattern, connector)
		}
		if r.Rename != "" {
			if err := checkMethodName(connector, r.Rename); err != nil {
				return nil, &ConfigError{Message: err.Error()}
			}
		}
		book.patterns = append(book.patterns, globPattern(r.Pattern))
		book.limiters = append(book.limiters, newLimiter(r))
	}
	return book, nil
}

func globPattern(glob string) *regexp.Regexp {
	quoted := regexp.QuoteMeta(glob)
	quoted = strings.ReplaceAll(quoted, `\*`, `.*`)
	quoted = strings.ReplaceAll(quoted, `\?`, `.`)
	return regexp.MustCompile(`^(?s:` + quoted + `)$`)
}

// matched is the rule that counts for a method.
type matched struct {
	Rule
	at    int // its place in the book, -1 for a rule that changes nothing
	limit *limiter
}

// match gives the first rule for each method.
func (b *ruleBook) match(methods []Method) []matched {
	list := make([]matched, len(methods))
	for i, m := range methods {
		list[i].at = slices.IndexFunc(b.patterns, func(p *regexp.Regexp) bool {
			return p.MatchString(m.Name) || m.Origin != "" && p.MatchString(m.Origin)
		})
		if list[i].at >= 0 {
			list[i].Rule, list[i].limit = b.rules[list[i].at], b.limiters[list[i].at]
		}
	}
	return list
}

// unused tells of the rules that decided about no method: usually a misspelt
// name, and so a method without the protection it was meant to have.
func (b *ruleBook) unused(list []matched) (warnings []Warning) {
	for i, rule := range b.rules {
		if !slices.ContainsFunc(list, func(m matched) bool { return m.at == i }) {
			warnings = append(warnings, Warning{b.connector, WarnRule,
				fmt.Sprintf("rule %q of connector %q applies to none of its tools: "+
					"none has such a name, or earlier rules match them all", rule.Pattern, b.connector)})
		}
	}
	return warnings
}

// apply lays the rule over a method. The revert is bound later, when all methods are known.
func (r Rule) apply(m Method) Method {
	if r.Class != "" {
		m.Class, m.ClassFrom, m.ClassAssumed = r.Class, fmt.Sprintf("rule %q", r.Pattern), false
	}
	if m.Class == "" {
		m.Class, m.ClassAssumed = Write, true
	}
	said := r.Approvals+m.Approvals > 0 || r.Approvers != nil || m.Approvers != nil
	if said && m.ApprovalFor == nil { // who says how many approvals, or whose, wants one at least
		m.RequiresApproval = true
	}
	if r.RequiresApproval != nil {
		m.RequiresApproval, m.ApprovalFor = *r.RequiresApproval, nil
	}
	if r.ApprovalFor != nil {
		m.ApprovalFor = r.ApprovalFor
	}
	if r.Reexecute != nil {
		m.Reexecute = *r.Reexecute
	}
	if r.Rename != "" {
		m.Name = r.Rename
	}
	if r.Timeout > 0 {
		m.Timeout = r.Timeout
	}
	m.Policy = r.Policy.over(m.Policy)
	return m
}

// checkPolicy refuses what would run an approved or effective call more than once.
func checkPolicy(connector string, m Method) error {
	switch {
	case !m.Reexecute:
		return nil
	case m.RequiresApproval || m.ApprovalFor != nil:
		return ConfigErrorf("%s", signals.ApprovedAnew(connector, m.Name))
	case m.Class != Read:
		return ConfigErrorf("connector %q tool %q cannot combine class %q with replay: \"reexecute\" — only a tool "+
			"of class \"read\" may run again",
			connector, m.Name, m.Class)
	}
	return nil
}
