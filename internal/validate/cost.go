package validate

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/temporal-codemode/codemode/internal/rawjson"
)

// Checking a value may take time that grows exponentially with the schema or with the value: the validator evaluates
// each reference and each alternative anew. So evaluations are counted, and a value whose check would take too many is
// refused. One costs some hundred nanoseconds, and as many bytes where the value does not fit.
const (
	baseBudget       = 100_000
	budgetPerElement = 10
	bytesPerBudget   = 4
	// heavyAfter is from where on a check waits until no other takes as much, so that many at once do not add up.
	heavyAfter = 20_000

	// Bounds of a value. What history can hold is at most a million characters.
	maxElements = 100_000
	maxDepth    = 500
	maxDigits   = 1_000

	// Bounds of a schema.
	maxSchemaElements = 50_000
	maxSubschemas     = 10_000
)

// problemTooCostly is what a model is told of arguments that cannot be checked.
const problemTooCostly = "they take too long to check against the schema: pass less at once, or nest it less deeply"

// Shape says why a value is not looked at more closely; empty when it may be.
func Shape(plain []byte) string {
	switch size := rawjson.Measure(plain); {
	case size.Elements > maxElements:
		return fmt.Sprintf("%d values are too many: at most %d can be passed at once", size.Elements, maxElements)
	case size.Depth > maxDepth:
		return fmt.Sprintf("values are nested %d levels deep: at most %d can be passed", size.Depth, maxDepth)
	case size.Digits > maxDigits:
		return fmt.Sprintf("a number has %d digits: at most %d can be passed", size.Digits, maxDigits)
	case rawjson.HasHugeNumber(plain):
		return "a number is out of range"
	}
	return ""
}

// Compiled is a schema by which values are checked, one at a time.
type Compiled struct {
	schema *jsonschema.Schema
	mu     sync.Mutex
	meter  *meter
}

// Schema is what was compiled; nil of nothing.
func (c *Compiled) Schema() *jsonschema.Schema {
	if c == nil {
		return nil
	}
	return c.schema
}

// meter counts what the check under way has cost.
type meter struct {
	left  int
	spent int
	heavy bool
}

var heavy = make(chan struct{}, 1)

// tooCostly is what a check is ended with by a panic: the validator has no other way out.
type tooCostly struct{}

func (m *meter) spend(n int) {
	if m.spent += n; m.spent > m.left {
		panic(tooCostly{})
	}
	if m.spent > heavyAfter && !m.heavy {
		heavy <- struct{}{}
		m.heavy = true
	}
}

// check checks one value; false says that this would take too much.
func (c *Compiled) check(doc any, plain []byte) (err error, ok bool) {
	ok = c.Within(plain, func() { err = c.schema.Validate(doc) })
	return err, ok
}

// Within does something with the schema for a value, its patterns included; false says that this would take too much.
func (c *Compiled) Within(plain []byte, do func()) (ok bool) {
	if c == nil {
		do()
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	*c.meter = meter{left: baseBudget + budgetPerElement*rawjson.Measure(plain).Elements + len(plain)/bytesPerBudget}
	defer func() {
		if c.meter.heavy {
			<-heavy
		}
		if r := recover(); r == (tooCostly{}) {
			ok = false
		} else if r != nil {
			panic(r)
		}
	}()
	do()
	return true
}

// vocabularyURL names no keywords: its only use is that the compiler tells it of each schema.
const vocabularyURL = "urn:codemode:cost"

var errTooLarge = errors.New("it is too large")

// census counts the schemas that a compiler meets, and keeps those that others may lead to by a name that only
// validation resolves.
type census struct {
	met   int
	named []*jsonschema.Schema
}

func (n *census) of(c *jsonschema.Compiler) {
	c.AssertVocabs()
	c.RegisterVocabulary(&jsonschema.Vocabulary{URL: vocabularyURL, Compile: n.meet})
}

func (n *census) meet(c *jsonschema.CompilerContext, s map[string]any) (jsonschema.SchemaExt, error) {
	if n.met++; n.met > maxSubschemas {
		return nil, errTooLarge
	}
	if s["$dynamicAnchor"] != nil || s["$recursiveAnchor"] != nil {
		n.named = append(n.named, c.Enqueue(nil))
	}
	return nil, nil
}

// meterAll makes all schemas that these lead to count their evaluations.
func (m *meter) meterAll(from []*jsonschema.Schema) {
	seen := map[*jsonschema.Schema]bool{nil: true}
	for len(from) > 0 {
		s := from[len(from)-1]
		from = from[:len(from)-1]
		if seen[s] {
			continue
		}
		seen[s] = true
		m.metered(s)
		from = append(append(from, alongside(s)...), within(s)...)
	}
}

// metered makes a schema count its evaluations. The check of a format is what the validator does first with a value
// that has the right type and is among those listed.
func (m *meter) metered(s *jsonschema.Schema) {
	self, each := costs(s)
	format := jsonschema.Format{Validate: func(any) error { return nil }}
	if s.Format != nil {
		format = *s.Format
	}
	validate := format.Validate
	format.Validate = func(v any) error {
		cost := self
		switch v := v.(type) {
		case map[string]any:
			cost += each * len(v)
		case []any:
			cost += each * len(v)
			if s.UniqueItems {
				cost += comparisons * sizeOf(v)
			}
		case string:
			cost += len(v) / charactersPerUnit
		case json.Number:
			cost += numberCost
		}
		m.spend(cost)
		return validate(v)
	}
	s.Format = &format
}

const (
	charactersPerUnit = 1_000
	// comparisons are at most how often an element is compared to find one that is there twice.
	comparisons = 20
	// numberCost is for fractions that are exact.
	numberCost = 2
)

// costs tells what it takes to evaluate a schema for a value, but for what its subschemas count by themselves, and what
// more for each of the value's members or elements.
func costs(s *jsonschema.Schema) (self, each int) {
	self, each = 1, 2+len(s.PatternProperties)
	for _, sub := range alongside(s) {
		if sub != nil {
			self += 1 + listed(sub)
		}
	}
	for _, sub := range within(s) {
		each = max(each, 2+len(s.PatternProperties)+listed(sub))
	}
	return self, each
}

// alongside are the subschemas for the same value.
func alongside(s *jsonschema.Schema) []*jsonschema.Schema {
	all := []*jsonschema.Schema{s.Ref, s.RecursiveRef, s.Not, s.If, s.Then, s.Else}
	if s.DynamicRef != nil {
		all = append(all, s.DynamicRef.Ref)
	}
	all = append(append(append(all, s.AllOf...), s.AnyOf...), s.OneOf...)
	for _, sub := range s.DependentSchemas {
		all = append(all, sub)
	}
	for _, d := range s.Dependencies {
		if sub, ok := d.(*jsonschema.Schema); ok {
			all = append(all, sub)
		}
	}
	return all
}

// within are the subschemas for members and elements.
func within(s *jsonschema.Schema) []*jsonschema.Schema {
	all := []*jsonschema.Schema{s.Items2020, s.Contains, s.UnevaluatedItems, s.UnevaluatedProperties, s.PropertyNames}
	for _, either := range []any{s.Items, s.AdditionalItems, s.AdditionalProperties} {
		switch sub := either.(type) {
		case *jsonschema.Schema:
			all = append(all, sub)
		case []*jsonschema.Schema:
			all = append(all, sub...)
		}
	}
	all = append(all, s.PrefixItems...)
	for _, sub := range s.Properties {
		all = append(all, sub)
	}
	for _, sub := range s.PatternProperties {
		all = append(all, sub)
	}
	return all
}

// listed is what it costs to compare a value with those that a schema lists: it comes before the format.
func listed(s *jsonschema.Schema) (n int) {
	if s == nil {
		return 0
	}
	if s.Const != nil {
		n += sizeOf(*s.Const)
	}
	if s.Enum != nil {
		n += sizeOf(s.Enum.Values)
	}
	return n / 4
}

// sizeOf counts a value's parts.
func sizeOf(v any) int {
	n := 1
	switch v := v.(type) {
	case map[string]any:
		for _, member := range v {
			n += sizeOf(member)
		}
	case []any:
		for _, element := range v {
			n += sizeOf(element)
		}
	case string:
		n += len(v) / charactersPerUnit
	}
	return n
}
