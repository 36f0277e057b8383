package connectors

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/temporal-codemode/codemode/internal/words"
	"github.com/temporal-codemode/codemode/signals"
)

// Set is the namespaces of one runtime: names checked, methods loaded, rules
// applied. Its names do not change. The methods of one connector may: they are
// loaded again when it says that they changed ([Changer]), and when they could
// not be loaded, until they can.
type Set struct {
	names   []string
	slots   map[string]*slot
	version atomic.Int64
	loading chan struct{} // a place for each connector that is being loaded

	life context.Context // ends when the set is closed
	end  context.CancelFunc
	work sync.WaitGroup
}

// maxLoading bounds how many connectors load at the same time, and so what that takes in memory.
const maxLoading = 64

// loadPatience is how long [NewSet] waits for connectors that take their time.
const loadPatience = 20 * time.Second

// NewSet checks the connectors' names, loads their methods, all at the same
// time, and applies the rules, which are keyed by connector name.
//
// A connector that fails to load, or takes long, does not fail the set: its
// namespace stays, [Set.Lookup] says why it cannot be used, and loading goes on
// in the background. NewSet itself fails only for mistakes in the configuration,
// with a [*ConfigError], and leaves the connectors open then. The context bounds
// the waiting, no more.
func NewSet(ctx context.Context, cs []Connector, rules map[string][]Rule) (*Set, error) {
	s := &Set{slots: map[string]*slot{}, loading: make(chan struct{}, maxLoading)}
	for _, c := range cs {
		if err := s.admit(c); err != nil {
			return nil, err
		}
	}
	for name, list := range rules {
		at, ok := s.slots[name]
		if !ok {
			return nil, ConfigErrorf("rules are given for the connector %q, which is not configured", name)
		}
		var err error
		if at.rules, err = newRuleBook(name, list); err != nil {
			return nil, err
		}
	}
	s.life, s.end = context.WithCancel(context.Background())
	if err := s.load(ctx); err != nil {
		s.stop()
		return nil, err
	}
	return s, nil
}

// admit gives a connector its place, if its name may have one.
func (s *Set) admit(c Connector) error {
	if c == nil {
		return ConfigErrorf("a connector is nil")
	}
	name := c.Name()
	if err := checkConnectorName(name); err != nil {
		return err
	}
	if s.Has(name) {
		return ConfigErrorf("%s", signals.DuplicateConnector(name))
	}
	s.names = append(s.names, name)
	s.slots[name] = &slot{connector: c, rules: &ruleBook{connector: name}}
	return nil
}

// Names lists the namespaces in the order in which they were given.
func (s *Set) Names() []string { return append([]string(nil), s.names...) }

// Has tells whether there is such a namespace, available or not.
func (s *Set) Has(name string) bool {
	_, ok := s.slots[name]
	return ok
}

// Err says why a namespace is not available: nil when it is, and an
// [*UnavailableError] when it is not or does not exist.
func (s *Set) Err(connector string) error {
	_, err := s.snapshot(connector)
	return err
}

// snapshot is the current state of a namespace. Related fields are read from one snapshot, so that a reload in between
// cannot mix two versions.
func (s *Set) snapshot(connector string) (*namespace, error) {
	at, ok := s.slots[connector]
	if !ok {
		return &namespace{},
			&UnavailableError{Connector: connector, Err: errors.New("it is not configured on this runtime")}
	}
	space := at.space.Load()
	if space.err != nil {
		return space, &UnavailableError{Connector: connector, Err: space.err}
	}
	return space, nil
}

// Version changes whenever the methods of a connector were loaded again.
func (s *Set) Version() int64 { return s.version.Load() }

// Lookup finds a method by the names that programs use. Its error is a
// [*NotFoundError] or an [*UnavailableError].
func (s *Set) Lookup(connector, method string) (*Bound, error) {
	space, err := s.snapshot(connector)
	if err != nil {
		return nil, err
	}
	if b, ok := space.byName[method]; ok {
		return b, nil
	}
	var names []string
	for _, b := range space.methods {
		names = append(names, b.Method.Name)
	}
	return nil, &NotFoundError{Connector: connector, Method: method, Near: words.Nearest(method, names)}
}

// Check looks up a call of an execution of which asked tells, checks its arguments, and tells whether it needs a
// person's approval.
func (s *Set) Check(asked Asked, connector, method string, args json.RawMessage) (b *Bound, approval bool,
	err error) {
	if b, err = s.Lookup(connector, method); err != nil {
		return nil, false, err
	}
	if err = b.Validate(args); err != nil {
		return nil, false, err
	}
	approval, err = b.NeedsApproval(asked, args)
	return b, approval, err
}

// Methods lists a connector's methods in the order in which it gave them; none
// when it is not available.
func (s *Set) Methods(connector string) []*Bound {
	space, err := s.snapshot(connector)
	if err != nil {
		return nil
	}
	return append([]*Bound(nil), space.methods...)
}

// Hidden lists the methods that rules hide: programs cannot call or find them, but a [RevertRule] may name them.
func (s *Set) Hidden(connector string) []*Bound {
	space, _ := s.snapshot(connector)
	return slices.Clone(space.hidden)
}

// Instructions are the connector's, empty for an unknown one.
func (s *Set) Instructions(connector string) string {
	space, _ := s.snapshot(connector)
	return space.instructions
}

// Definitions gives the JSON object that references in the schemas of a
// connector's methods lead into, nil when they hold all they refer to.
func (s *Set) Definitions(connector string) json.RawMessage {
	if space, err := s.snapshot(connector); err == nil && space.definitions != nil {
		return space.definitions()
	}
	return nil
}

// Close closes all connectors and reports every failure.
func (s *Set) Close() error {
	s.end()
	var errs []error
	for _, name := range s.names {
		if err := s.slots[name].connector.Close(); err != nil {
			errs = append(errs, fmt.Errorf("closing connector %q: %w", name, err))
		}
	}
	s.stop()
	return errors.Join(errs...)
}
