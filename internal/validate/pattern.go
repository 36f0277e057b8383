package validate

import (
	"regexp"
	"regexp/syntax"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// patterns compiles the patterns of one schema. Matching takes time with the length of the text and the states of the
// pattern, which a repetition multiplies: they count.
type patterns struct {
	meter  *meter
	states int
}

const (
	maxStates = 10_000 // of a schema's patterns together
	// statesPerUnit is how many states of a pattern can be tried for the cost of one evaluation of a schema.
	statesPerUnit = 200
)

// compile accepts every string where a pattern uses what only JavaScript has, such as lookahead, or is too large:
// refusing the whole schema would check nothing at all.
func (p *patterns) compile(pattern string) (jsonschema.Regexp, error) {
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return anyString(pattern), nil
	}
	states := statesOf(parsed)
	if states > maxStates-p.states {
		return anyString(pattern), nil
	}
	p.states += states
	re, err := regexp.Compile(pattern)
	if err != nil {
		return anyString(pattern), nil
	}
	return &counted{re, states, p.meter}, nil
}

// statesOf is about how many instructions a pattern compiles to, at most somewhat more than maxStates.
func statesOf(re *syntax.Regexp) int {
	n := 1
	for _, sub := range re.Sub {
		n += statesOf(sub)
		if n > maxStates {
			return n
		}
	}
	switch re.Op {
	case syntax.OpLiteral:
		n += len(re.Rune)
	case syntax.OpRepeat:
		n *= max(re.Min, re.Max, 1)
	}
	return n
}

// counted is a pattern whose use costs.
type counted struct {
	*regexp.Regexp
	states int
	meter  *meter
}

func (c *counted) MatchString(s string) bool {
	c.meter.spend(1 + len(s)*c.states/statesPerUnit)
	return c.Regexp.MatchString(s)
}

type anyString string

func (anyString) MatchString(string) bool { return true }
func (p anyString) String() string        { return string(p) }
