package signals

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Caller is who started an execution, for whom, and what it belongs to. It reaches connectors, rules, the record and
// lists; every field is optional.
type Caller struct {
	// StartedBy is who says to have started the execution: a claim. StartedAs is who a front door authenticated.
	StartedBy string `json:"startedBy,omitempty"`
	StartedAs string `json:"startedAs,omitempty"`
	// StartedSubject is the digest of who that is at the provider at which they signed in, whatever name they go by.
	StartedSubject string `json:"startedSubject,omitempty"`
	// OnBehalfOf is for whom it was started, where that is somebody else.
	OnBehalfOf string `json:"onBehalfOf,omitempty"`
	// Conversation names the conversation, or session, of the agent.
	Conversation string `json:"conversation,omitempty"`
	// Labels are up to MaxLabels short pairs to find executions by.
	Labels map[string]string `json:"labels,omitempty"`
}

// IsZero reports whether nothing is known.
func (c Caller) IsZero() bool {
	return c.StartedBy == "" && c.StartedAs == "" && c.OnBehalfOf == "" && c.Conversation == "" && len(c.Labels) == 0
}

// MaxLabels is how many labels an execution may have.
const MaxLabels = 16

var labelName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_./-]{0,62}$`)

// Check refuses what is too long to stand in every record, or cannot be shown.
func (c Caller) Check() error {
	for what, text := range map[string]string{"startedBy": c.StartedBy, "startedAs": c.StartedAs,
		"startedSubject": c.StartedSubject, "onBehalfOf": c.OnBehalfOf, "conversation": c.Conversation} {
		if err := checkShort(what, text); err != nil {
			return err
		}
	}
	if len(c.Labels) > MaxLabels {
		return fmt.Errorf("%d labels are too many: %d is the most", len(c.Labels), MaxLabels)
	}
	for name, value := range c.Labels {
		if !labelName.MatchString(name) {
			return fmt.Errorf(`label %q: a name has 1 to 63 letters, digits, "_", ".", "/" or "-"`, name)
		}
		if err := checkShort("label "+name, value); err != nil {
			return err
		}
	}
	return nil
}

func checkShort(what, text string) error {
	switch {
	case len(text) > maxIdentity:
		return fmt.Errorf("%s has %d bytes: %d is the most", what, len(text), maxIdentity)
	case strings.ContainsFunc(text, unicode.IsControl):
		return fmt.Errorf("%s has control characters", what)
	}
	return nil
}

// String says all that is known in one line, in quotes, so that no claim reads like more: started by "svc"
// (authenticated), on behalf of "ada", conversation "c1", label team="billing".
func (c Caller) String() string {
	var parts []string
	add := func(before, text, after string) {
		if text != "" {
			parts = append(parts, before+strconv.Quote(text)+after)
		}
	}
	add("started by ", c.StartedAs, " (authenticated)")
	add("started by ", c.StartedBy, " (a claim)")
	add("on behalf of ", c.OnBehalfOf, "")
	add("conversation ", c.Conversation, "")
	for _, name := range slices.Sorted(maps.Keys(c.Labels)) {
		parts = append(parts, "label "+name+"="+strconv.Quote(c.Labels[name]))
	}
	return strings.Join(parts, ", ")
}

// LabelList is the labels as the search attribute holds them, sorted: "team=billing".
func (c Caller) LabelList() []string {
	var list []string
	//workflowcheck:ignore sorted below
	for name, value := range c.Labels {
		list = append(list, name+"="+value)
	}
	slices.Sort(list)
	return list
}

// maxIndexed is how many bytes of a keyword a server's index takes.
const maxIndexed = 255

// IndexedLabels are those of the LabelList that a search attribute can hold.
func (c Caller) IndexedLabels() []string {
	return slices.DeleteFunc(c.LabelList(), func(label string) bool { return len(label) > maxIndexed })
}
