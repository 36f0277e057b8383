package signals

import (
	"fmt"
	"slices"
	"strings"
)

// ApproverRule says who may approve a call: only people whom a door authenticated, and of them not all.
type ApproverRule struct {
	// NotRequester keeps those from approving who started the execution, or for whom it was started.
	NotRequester bool `json:"notRequester,omitempty"`
	// Groups are those of which an approver has to be in one.
	Groups []string `json:"groups,omitempty"`
}

// Of are the groups of a person that the rule asks for.
func (r *ApproverRule) Of(groups []string) (list []string) {
	if r == nil {
		return nil
	}
	for _, group := range r.Groups {
		if slices.Contains(groups, group) {
			list = append(list, group)
		}
	}
	return list
}

// String says who may approve, in words: somebody else than the requester, of group finance or audit.
func (r *ApproverRule) String() string {
	text := "somebody who is authenticated"
	if r.NotRequester {
		text += ", other than whom the program runs for"
	}
	if len(r.Groups) > 0 {
		text += ", of group " + strings.Join(r.Groups, " or ")
	}
	return text
}

// Refuses tells why an approval of an execution that caller started does not satisfy the rule; empty where it does.
func (r *ApproverRule) Refuses(caller Caller, a Approve) string {
	switch {
	case r == nil:
		return ""
	case strings.TrimSpace(a.AssertedBy) == "":
		return "nobody was authenticated with this approval: approve at a door where people sign in"
	case len(r.Groups) > 0 && len(r.Of(a.AssertedGroups)) == 0:
		return fmt.Sprintf("%s is not of group %s", a.AssertedBy, strings.Join(r.Groups, " or "))
	case !r.NotRequester:
		return ""
	case strings.TrimSpace(caller.StartedAs) == "":
		return "nobody was authenticated when the execution was started, so nobody can tell that its approver is " +
			"somebody else: start it at a door where people sign in"
	case caller.isBy(a.AssertedBy, a.AssertedSubject):
		return fmt.Sprintf("%s started the execution, or it was started for them: somebody else has to approve",
			a.AssertedBy)
	}
	return ""
}

// isBy reports whether an execution is of a person, in any of the names that it was started with.
func (c Caller) isBy(name, subject string) bool {
	if subject != "" && subject == c.StartedSubject {
		return true
	}
	return slices.ContainsFunc([]string{c.StartedAs, c.StartedBy, c.OnBehalfOf}, func(other string) bool {
		return strings.EqualFold(strings.TrimSpace(other), strings.TrimSpace(name))
	})
}
