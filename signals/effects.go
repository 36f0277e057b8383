package signals

import (
	"fmt"
	"strings"
)

// How many methods a line about effects names, and how many bytes of each name.
const (
	maxEffects    = 5
	maxEffectName = 80
)

// Effects tells in one line which calls took effect and stand; empty where none did, or the calls are left out. Those
// of unknown outcome are told apart.
func (o Outcome) Effects() string {
	var took, may counted
	for _, c := range o.Calls {
		switch name := Cut(c.Connector+"."+c.Method, maxEffectName); {
		case c.Class != Write && c.Class != Idempotent:
		case c.State == Applied:
			took.add(name)
		case c.State == Errored && c.ErrorName == OutcomeUnknown:
			may.add(name)
		}
	}
	var parts []string
	if took.total > 0 {
		parts = append(parts, took.String()+" took effect")
	}
	if may.total > 0 {
		parts = append(parts, may.String()+" may have taken effect: nobody knows")
	}
	return strings.Join(parts, "; ")
}

// counted are names in the order in which they came, with how often.
type counted struct {
	names []string
	times map[string]int
	total int
}

func (c *counted) add(name string) {
	if c.times == nil {
		c.times = map[string]int{}
	}
	if c.times[name] == 0 {
		c.names = append(c.names, name)
	}
	c.times[name]++
	c.total++
}

func (c *counted) String() string {
	var list []string
	rest := c.total
	for _, name := range c.names[:min(len(c.names), maxEffects)] {
		n := c.times[name]
		rest -= n
		if n > 1 {
			name += fmt.Sprintf(" ×%d", n)
		}
		list = append(list, name)
	}
	if rest > 0 {
		list = append(list, fmt.Sprintf("%d more calls", rest))
	}
	if last := len(list) - 1; last > 0 {
		return strings.Join(list[:last], ", ") + " and " + list[last]
	}
	return list[0]
}

// HowToGoOn tells a model in one line what took effect, and how to correct a program that has run; empty where there is
// nothing to correct.
func (o Outcome) HowToGoOn() string {
	if o.Status != Failed && o.Status != Rejected {
		return ""
	}
	effects := o.Effects()
	how := "calls that were made are not made again."
	if effects != "" {
		how, effects = "that is not done again.", effects+". "
	}
	how = fmt.Sprintf("run the corrected code with \"continues\": %q: %s", o.ExecutionID, how)
	switch {
	case o.Pass == 0 && effects == "": // nothing has run
		return ""
	case o.Pass == 0: // nothing is kept of it
		return effects + "Leave it out of the corrected code, which would do it again."
	case o.Status == Failed:
		return effects + "To go on, " + how
	}
	return effects + "Ask the user what is wanted. To go on then, " + how
}
