package connectors

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/temporal-codemode/codemode/signals"
)

// namespace is a connector's methods as they were when they were loaded.
type namespace struct {
	instructions string
	methods      []*Bound
	hidden       []*Bound
	byName       map[string]*Bound
	warnings     []Warning
	definitions  func() json.RawMessage // nil when the methods' schemas share none
	err          error
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

func newNamespace(book *ruleBook, methods []Method) *namespace {
	space := &namespace{byName: map[string]*Bound{}}
	matched := book.match(methods)
	all := make([]*Bound, len(methods))
	origins := map[string]*Bound{} // by the name before any rename
	for i, m := range methods {
		all[i] = bind(book.connector, m.Name, matched[i].apply(m))
		all[i].Rule, all[i].limit = matched[i].Pattern, matched[i].limit
		origins[m.Name] = all[i]
	}
	for i, b := range all {
		if matched[i].Hidden {
			space.hidden = append(space.hidden, b)
			continue
		}
		if err := space.add(b); err != nil {
			return &namespace{err: err}
		}
		if err := bindRevert(b, matched[i].Revert, origins); err != nil {
			return &namespace{err: err}
		}
	}
	space.warnings = book.unused(matched)
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
		return ConfigErrorf("%s", signals.SameTool(other.original, b.original, b.Connector, name))
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
		return ConfigErrorf("connector %q has no tool %q, which a rule names to undo %q", b.Connector, rule.Method,
			b.Method.Name)
	}
	b.revertReads = rule.Args != nil
	b.undoing = func(args, result json.RawMessage) (*Bound, json.RawMessage, error) {
		var undoing json.RawMessage
		if rule.Args != nil {
			var err error
			if undoing, err = rule.Args(args, result); err != nil {
				return nil, nil, fmt.Errorf("arguments for %s, which undoes %s: %w", target.Path(), b.Path(), err)
			}
		}
		return target, undoing, target.Validate(undoing)
	}
	b.Revert = func(ctx Context, args, result json.RawMessage) error {
		target, undoing, err := b.undoing(args, result)
		if err != nil {
			return err
		}
		_, err = target.Invoke(ctx, undoing)
		return err
	}
	return nil
}

// schemaWarnings tells of the schemas that methods brought along and that cannot be used.
func (space *namespace) schemaWarnings() (list []Warning) {
	for _, b := range space.methods {
		if b.Arguments != nil {
			continue // made by its connector, and costly to make
		}
		if err := b.SchemaError(); err != nil {
			list = append(list, Warning{b.Connector, WarnSchema,
				fmt.Sprintf("%s takes any argument, since its input schema is unusable: %v", b.Path(), err)})
		}
		if b.takesNothing() {
			list = append(list, Warning{b.Connector, WarnRule,
				fmt.Sprintf("every argument of %s that rule %q does not name is refused, since its "+
					"input schema declares none: give it one, or allow additional arguments in the rule",
					b.Path(), b.Rule)})
		}
	}
	return list
}
