package connectors

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
)

// Set is the namespaces of one runtime: names checked, methods loaded, rules
// applied. It does not change; when catalogues may have changed or a connector
// was unavailable, make a new one from the same connectors and use that.
type Set struct {
	names      []string
	spaces     map[string]*namespace
	connectors []Connector
}

// namespace is one connector as it was when the set was made.
type namespace struct {
	instructions string
	methods      []*Bound
	byName       map[string]*Bound
	warnings     []string
	definitions  func() json.RawMessage // nil when the methods' schemas share none
	err          error
}

// NewSet checks the connectors' names, loads their methods, all at the same
// time, and applies the rules, which are keyed by connector name.
//
// A connector that fails to load does not fail the set: its namespace stays, and
// [Set.Lookup] says why it cannot be used. NewSet itself fails only for mistakes
// in the configuration, with a [*ConfigError], and leaves the connectors open then.
func NewSet(ctx context.Context, cs []Connector, rules map[string][]Rule) (*Set, error) {
	s := &Set{spaces: map[string]*namespace{}, connectors: cs}
	for _, c := range cs {
		if err := s.admit(c); err != nil {
			return nil, err
		}
	}
	books := map[string]*ruleBook{}
	for name, list := range rules {
		if !s.Has(name) {
			return nil, configErrorf("Rules are given for the connector %q, which is not configured.", name)
		}
		book, err := newRuleBook(name, list)
		if err != nil {
			return nil, err
		}
		books[name] = book
	}
	if err := s.load(ctx, books); err != nil {
		return nil, err
	}
	return s, nil
}

// admit gives a connector its place, if its name may have one.
func (s *Set) admit(c Connector) error {
	if c == nil {
		return configErrorf("A connector is nil.")
	}
	name := c.Name()
	if err := checkConnectorName(name); err != nil {
		return err
	}
	if s.Has(name) {
		return configErrorf("Duplicate connector name %q — each connector needs a unique namespace (pass a distinct `name` option).", name)
	}
	s.names = append(s.names, name)
	s.spaces[name] = nil
	return nil
}

func (s *Set) load(ctx context.Context, books map[string]*ruleBook) error {
	spaces := make([]*namespace, len(s.connectors))
	var wg sync.WaitGroup
	for i, c := range s.connectors {
		book := books[s.names[i]]
		if book == nil {
			book = &ruleBook{connector: s.names[i]}
		}
		wg.Go(func() { spaces[i] = loadNamespace(ctx, c, book) })
	}
	wg.Wait()
	var mistakes []error
	for i, space := range spaces {
		s.spaces[s.names[i]] = space
		var config *ConfigError
		if errors.As(space.err, &config) {
			mistakes = append(mistakes, space.err)
		}
	}
	return errors.Join(mistakes...)
}

func loadNamespace(ctx context.Context, c Connector, book *ruleBook) (space *namespace) {
	defer func() {
		if r := recover(); r != nil {
			space = &namespace{err: fmt.Errorf("panic while its methods were loaded: %v", r)}
		}
	}()
	methods, definitions, err := listMethods(ctx, c)
	if err != nil {
		return &namespace{instructions: c.Instructions(), err: err}
	}
	space = newNamespace(book, methods)
	space.instructions, space.definitions = c.Instructions(), definitions
	return space
}

func listMethods(ctx context.Context, c Connector) ([]Method, func() json.RawMessage, error) {
	large, ok := c.(LargeConnector)
	if !ok {
		methods, err := c.Methods(ctx)
		return methods, nil, err
	}
	catalogue, err := large.Large(ctx)
	if err != nil {
		return nil, nil, err
	}
	return catalogue.Methods, catalogue.Definitions, nil
}

// Definitions gives the JSON object that references in the schemas of a
// connector's methods lead into, nil when they hold all they refer to.
func (s *Set) Definitions(connector string) json.RawMessage {
	if space, ok := s.spaces[connector]; ok && space.definitions != nil {
		return space.definitions()
	}
	return nil
}

func newNamespace(book *ruleBook, methods []Method) *namespace {
	space := &namespace{byName: map[string]*Bound{}}
	rules := make([]Rule, len(methods))
	all := make([]*Bound, len(methods))
	origins := map[string]*Bound{} // by the name before any rename
	for i, m := range methods {
		rules[i] = book.match(m)
		all[i] = bind(book.connector, m.Name, rules[i].apply(m))
		origins[m.Name] = all[i]
	}
	for i, b := range all {
		if rules[i].Hidden {
			continue
		}
		if err := space.add(b); err != nil {
			return &namespace{err: err}
		}
		if err := bindRevert(b, rules[i].Revert, origins); err != nil {
			return &namespace{err: err}
		}
	}
	space.warnings = book.unused()
	return space
}

// add makes a method callable.
func (space *namespace) add(b *Bound) error {
	if err := checkMethod(b.Connector, b.Method); err != nil {
		return err
	}
	if err := checkPolicy(b.Connector, b.Method); err != nil {
		return err
	}
	name := b.Method.Name
	if other, taken := space.byName[name]; taken {
		return configErrorf("Tools %q and %q on %s both map to %q — rename one of them.",
			other.original, b.original, b.Connector, name)
	}
	space.byName[name] = b
	space.methods = append(space.methods, b)
	return nil
}

// bindRevert makes a method undo itself by another one.
func bindRevert(b *Bound, rule *RevertRule, methods map[string]*Bound) error {
	if rule == nil {
		return nil
	}
	target, ok := methods[rule.Method]
	if !ok {
		return configErrorf("Connector %q has no tool %q, which a rule names to undo %q.", b.Connector, rule.Method, b.Method.Name)
	}
	b.Revert = func(ctx Context, args, result json.RawMessage) error {
		var undoing json.RawMessage
		if rule.Args != nil {
			var err error
			if undoing, err = rule.Args(args, result); err != nil {
				return fmt.Errorf("arguments for %s, which undoes %s: %w", target.Path(), b.Path(), err)
			}
		}
		if err := target.Validate(undoing); err != nil {
			return err
		}
		_, err := target.Invoke(ctx, undoing)
		return err
	}
	return nil
}

// Names lists the namespaces in the order in which they were given.
func (s *Set) Names() []string { return append([]string(nil), s.names...) }

// Has tells whether there is such a namespace, available or not.
func (s *Set) Has(name string) bool {
	_, ok := s.spaces[name]
	return ok
}

// Err says why a namespace is not available: nil when it is, and an
// [*UnavailableError] when it is not or does not exist.
func (s *Set) Err(connector string) error {
	space, ok := s.spaces[connector]
	switch {
	case !ok:
		return &UnavailableError{Connector: connector, Err: errors.New("it is not configured on this runtime")}
	case space.err != nil:
		return &UnavailableError{Connector: connector, Err: space.err}
	}
	return nil
}

// Lookup finds a method by the names that programs use. Its error is a
// [*NotFoundError] or an [*UnavailableError].
func (s *Set) Lookup(connector, method string) (*Bound, error) {
	if err := s.Err(connector); err != nil {
		return nil, err
	}
	space := s.spaces[connector]
	if b, ok := space.byName[method]; ok {
		return b, nil
	}
	var names []string
	for _, b := range space.methods {
		names = append(names, b.Method.Name)
	}
	return nil, &NotFoundError{Connector: connector, Method: method, Near: nearest(method, names)}
}

// Methods lists a connector's methods in the order in which it gave them; none
// when it is not available.
func (s *Set) Methods(connector string) []*Bound {
	if s.Err(connector) != nil {
		return nil
	}
	return append([]*Bound(nil), s.spaces[connector].methods...)
}

// Instructions are the connector's, empty for an unknown one.
func (s *Set) Instructions(connector string) string {
	if space, ok := s.spaces[connector]; ok {
		return space.instructions
	}
	return ""
}

// Warnings tell the operator what was accepted but is probably not meant:
// connectors that are not available, rules without effect, unusable schemas. It
// compiles those that methods bring along, but none of [Method.Arguments].
func (s *Set) Warnings() []string {
	var list []string
	for i, name := range s.names {
		if err := s.Err(name); err != nil {
			list = append(list, err.Error())
			continue
		}
		list = append(list, s.spaces[name].warnings...)
		if w, ok := s.connectors[i].(Warner); ok {
			list = append(list, w.Warnings()...)
		}
		for _, b := range s.spaces[name].methods {
			if b.Arguments != nil {
				continue // made by its connector, and costly to make
			}
			if err := b.SchemaError(); err != nil {
				list = append(list, fmt.Sprintf("%s takes any argument, since its input schema is unusable: %v", b.Path(), err))
			}
		}
	}
	return list
}

// Close closes all connectors and reports every failure.
func (s *Set) Close() error {
	var errs []error
	for i, c := range s.connectors {
		if err := c.Close(); err != nil {
			errs = append(errs, fmt.Errorf("closing connector %q: %w", s.names[i], err))
		}
	}
	return errors.Join(errs...)
}
