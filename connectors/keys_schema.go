package connectors

import (
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// schemaPlace is a place in arguments whose approval a rule decides: all schemas that may apply there, alternatives and
// references included. A name is known if any of them declares it.
type schemaPlace struct {
	*budget
	schemas []*jsonschema.Schema
	closed  bool // no other names are taken
	// folded is the declared names by what they fold to, members the places below; both are made when they are needed.
	folded   map[string]string
	members  map[string]*schemaPlace
	elements *schemaPlace
}

// budget is shared by all places of one check.
type budget struct {
	// rule is the names that the rule itself looks for, by what they fold to.
	rule  map[string]string
	steps int // that may still be made; below 0 names are no longer compared, and the call is refused
}

// maxKeySteps bounds the work, which grows with the arguments and with the schema; it is some tenths of a second.
const maxKeySteps = 4_000_000

func newSchemaPlace(schema *jsonschema.Schema, names []string, closed bool) *schemaPlace {
	top := &schemaPlace{budget: &budget{rule: map[string]string{}, steps: maxKeySteps}, closed: closed}
	for _, name := range names {
		top.rule[fold(name)] = name
	}
	top.add(map[*jsonschema.Schema]bool{}, schema)
	return top
}

// inside is the place below, of other schemas.
func (p *schemaPlace) inside(schemas ...*jsonschema.Schema) *schemaPlace {
	below := &schemaPlace{budget: p.budget}
	below.add(map[*jsonschema.Schema]bool{}, schemas...)
	return below
}

// add takes in schemas with all that apply to the same value.
func (p *schemaPlace) add(seen map[*jsonschema.Schema]bool, schemas ...*jsonschema.Schema) {
	for _, s := range schemas {
		if s == nil || seen[s] || p.steps < 0 {
			continue
		}
		p.steps--
		seen[s] = true
		p.schemas = append(p.schemas, s)
		p.add(seen, s.Ref, s.RecursiveRef, s.If, s.Then, s.Else)
		if s.DynamicRef != nil {
			p.add(seen, s.DynamicRef.Ref)
		}
		p.add(seen, s.AllOf...)
		p.add(seen, s.AnyOf...)
		p.add(seen, s.OneOf...)
		for _, other := range s.DependentSchemas {
			p.add(seen, other)
		}
		for _, other := range s.Dependencies {
			p.add(seen, asSchema(other))
		}
	}
}

// asSchema is the schema that a keyword of several forms holds, nil for its other forms.
func asSchema(keyword any) *jsonschema.Schema {
	s, _ := keyword.(*jsonschema.Schema)
	return s
}

func (p *schemaPlace) member(name string) (inside place, declared bool, problem string) {
	if p.steps < 0 {
		return nil, false, ""
	}
	below, declared := p.below(name)
	if declared {
		return below, true, ""
	}
	if known, ok := p.known(name); ok && known != name {
		return below, false, unlike(known)
	} else if !ok && p.closed {
		return below, false, unknownKey
	}
	return below, false, ""
}

// below is the place of a member, and whether a schema declares its name.
func (p *schemaPlace) below(name string) (*schemaPlace, bool) {
	if at, ok := p.members[name]; ok {
		return at, true
	}
	var found, others []*jsonschema.Schema
	for _, s := range p.schemas {
		p.steps--
		named := len(found)
		if inner, ok := s.Properties[name]; ok {
			found = append(found, inner)
		}
		for pattern, inner := range s.PatternProperties {
			p.steps--
			if pattern.MatchString(name) {
				found = append(found, inner)
			}
		}
		if named == len(found) {
			others = append(others, asSchema(s.AdditionalProperties), s.UnevaluatedProperties)
		}
	}
	at := p.inside(append(others, found...)...)
	if len(found) == 0 {
		return at, false
	}
	if p.members == nil {
		p.members = map[string]*schemaPlace{}
	}
	p.members[name] = at
	return at, true
}

// known finds the name, of the schemas or of the rule, that another one folds to.
func (p *schemaPlace) known(name string) (string, bool) {
	if p.folded == nil {
		p.folded = map[string]string{}
		for _, s := range p.schemas {
			for declared := range s.Properties {
				p.steps--
				p.folded[fold(declared)] = declared
			}
		}
	}
	folded := fold(name)
	if declared, ok := p.folded[folded]; ok {
		return declared, true
	}
	named, ok := p.rule[folded]
	return named, ok
}

func (p *schemaPlace) element() place {
	if p.steps < 0 {
		return nil
	}
	if p.elements == nil {
		var schemas []*jsonschema.Schema
		for _, s := range p.schemas {
			schemas = append(schemas, asSchema(s.Items), s.Items2020, asSchema(s.AdditionalItems), s.UnevaluatedItems,
				s.Contains)
			schemas = append(schemas, s.PrefixItems...)
			if list, ok := s.Items.([]*jsonschema.Schema); ok {
				schemas = append(schemas, list...)
			}
		}
		p.elements = p.inside(schemas...)
	}
	return p.elements
}
