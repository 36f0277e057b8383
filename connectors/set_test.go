package connectors

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// remote is a connector whose catalogue is not checked by its author.
type remote struct {
	name    string
	methods []Method
	err     error
	load    func()
}

func (r remote) Name() string         { return r.name }
func (r remote) Instructions() string { return "about " + r.name }
func (r remote) Close() error         { return r.err }
func (r remote) Methods(context.Context) ([]Method, error) {
	if r.load != nil {
		r.load()
	}
	return r.methods, r.err
}

func method(name string) Method { return Method{Name: name, Execute: nothing} }

func newSet(t *testing.T, rules map[string][]Rule, cs ...Connector) *Set {
	t.Helper()
	set, err := NewSet(context.Background(), cs, rules)
	require.NoError(t, err)
	return set
}

func TestSetKeepsGivenOrder(t *testing.T) {
	set := newSet(t, nil,
		New("b", "B.", method("z"), method("dash-name"), method("a")),
		New("a", ""))
	assert.Equal(t, []string{"b", "a"}, set.Names())
	assert.True(t, set.Has("a"))
	assert.False(t, set.Has("c"))
	assert.Equal(t, "B.", set.Instructions("b"))
	assert.Equal(t, []string{"z", "dash-name", "a"}, methodNames(set, "b"))
	assert.Empty(t, set.Methods("a"))
	assert.Empty(t, set.Methods("c"))
	b, err := set.Lookup("b", "dash-name")
	require.NoError(t, err)
	assert.Equal(t, "b.dash-name", b.Path())
	assert.Equal(t, Write, b.Class)
	assert.Empty(t, set.Warnings())
}

func methodNames(set *Set, connector string) (names []string) {
	for _, b := range set.Methods(connector) {
		names = append(names, b.Method.Name)
	}
	return names
}

func TestLookupErrors(t *testing.T) {
	set := newSet(t, map[string][]Rule{"store": {{Pattern: "secret_*", Hidden: true}}},
		New("store", "", method("get_item"), method("secret_item")))
	for _, c := range []struct{ connector, method, want string }{
		{"store", "getItem", `Tool "getItem" not found on store. Did you mean: get_item?`},
		{"store", "zzzzzz", `Tool "zzzzzz" not found on store. Find it with codemode.search("what it does").`},
		{"store", "secret_item", `Tool "secret_item" not found on store. ` +
			`Find it with codemode.search("what it does").`},
		{"shop", "x", `Connector "shop" is not available: it is not configured on this runtime`},
	} {
		_, err := set.Lookup(c.connector, c.method)
		assert.EqualError(t, err, c.want)
	}
	_, err := set.Lookup("store", "zzzzzz")
	var missing *NotFoundError
	require.ErrorAs(t, err, &missing)
	assert.Equal(t, &NotFoundError{Connector: "store", Method: "zzzzzz"}, missing)
}

func TestMistakesInConfiguration(t *testing.T) {
	yes := true
	for _, c := range []struct {
		name  string
		cs    []Connector
		rules []Rule
		want  string
	}{
		{"nil", []Connector{nil}, nil, `a connector is nil`},
		{"duplicate", []Connector{New("a", ""), New("a", "")}, nil,
			"Duplicate connector name \"a\" — each connector needs a unique namespace (pass a distinct `name` " +
				"option)."},
		{"then", []Connector{New("a", "", method("then"))}, nil,
			`connector "a" tool "then" cannot have this name: awaiting or serializing the connector would call it — rename the tool`},
		{"toJSON", []Connector{New("a", "", method("toJSON"))}, nil,
			`connector "a" tool "toJSON" cannot have this name: awaiting or serializing the connector would call it — rename the tool`},
		{"no name", []Connector{New("a", "", method(""))}, nil, `connector "a" has a tool without a name`},
		{"same method twice", []Connector{New("a", "", method("x"), method("x"))}, nil,
			`connector "a" has two tools named "x" — rename one of them`},
		{"no Execute", []Connector{New("a", "", Method{Name: "x"})}, nil,
			`connector "a" tool "x" has no Execute function`},
		{"class", []Connector{New("a", "", Method{Name: "x", Class: "raed", Execute: nothing})},
			nil, `connector "a" tool "x" has the unknown class "raed" — use "read", "idempotent" or "write"`},
		{"approval and reexecute",
			[]Connector{New("c", "",
				Method{Name: "t", Class: Read, Reexecute: true, RequiresApproval: true, Execute: nothing})}, nil,
			`Connector "c" tool "t" cannot combine requiresApproval with replay: "reexecute" — approved actions must be logged, not re-executed.`},
		{"the same at a distance",
			[]Connector{remote{name: "c",
				methods: []Method{{Name: "t", Class: Read, Reexecute: true, RequiresApproval: true, Execute: nothing}}}},
			nil,
			`Connector "c" tool "t" cannot combine requiresApproval with replay: "reexecute" — approved actions must be logged, not re-executed.`},
		{"approval by rule",
			[]Connector{New("c", "", Method{Name: "t", Class: Read, Reexecute: true, Execute: nothing})},
			[]Rule{{Pattern: "*", RequiresApproval: &yes}},
			`Connector "c" tool "t" cannot combine requiresApproval with replay: "reexecute" — approved actions must be logged, not re-executed.`},
		{"approval by argument", []Connector{New("c", "", Method{Name: "t", Class: Read, Execute: nothing})},
			[]Rule{{Pattern: "t", Reexecute: &yes,
				ApprovalFor: func(Asked, json.RawMessage) (bool, error) { return false, nil }}},
			`Connector "c" tool "t" cannot combine requiresApproval with replay: "reexecute" — approved actions must be logged, not re-executed.`},
		{"write that reexecutes", []Connector{New("c", "", method("t"))}, []Rule{{Pattern: "t", Reexecute: &yes}},
			`connector "c" tool "t" cannot combine class "write" with replay: "reexecute" — only a tool of class "read" may run again`},
		{"rule without pattern", []Connector{New("c", "")}, []Rule{{}},
			`connector "c" has a rule without a pattern — name a tool, or use "*" for all`},
		{"rule's class", []Connector{New("c", "")}, []Rule{{Pattern: "x", Class: "none"}},
			`rule "x" of connector "c" has the unknown class "none" — use "read", "idempotent" or "write"`},
		{"rename to then", []Connector{New("c", "", method("t"))}, []Rule{{Pattern: "t", Rename: "then"}},
			`connector "c" tool "then" cannot have this name: awaiting or serializing the connector would call it — rename the tool`},
		{"rename onto another", []Connector{New("c", "", method("t"), method("u"))},
			[]Rule{{Pattern: "t", Rename: "u"}}, `Tools "t" and "u" on c both map to "u" — rename one of them.`},
		{"revert by nothing", []Connector{New("c", "", method("t"))},
			[]Rule{{Pattern: "t", Revert: &RevertRule{Method: "undo"}}},
			`connector "c" has no tool "undo", which a rule names to undo "t"`},
	} {
		rules := map[string][]Rule{}
		if c.rules != nil {
			rules["c"] = c.rules
		}
		set, err := NewSet(context.Background(), c.cs, rules)
		assert.Nil(t, set, c.name)
		require.EqualError(t, err, c.want, c.name)
		var config *ConfigError
		assert.ErrorAs(t, err, &config, c.name)
	}
}

func TestRulesForUnknownConnector(t *testing.T) {
	_, err := NewSet(context.Background(), nil, map[string][]Rule{"shop": nil})
	assert.EqualError(t, err, `rules are given for the connector "shop", which is not configured`)
}

// One connector that cannot be loaded leaves the others alone.
func TestUnavailableConnectors(t *testing.T) {
	broken := errors.New("no route to host")
	set := newSet(t, nil,
		remote{name: "down", err: broken},
		remote{name: "twins", methods: []Method{method("a"), {Name: "then", Execute: nothing}}},
		remote{name: "panics", load: func() { panic("oh no") }},
		New("up", "", method("x")))
	assert.Equal(t, []string{"down", "twins", "panics", "up"}, set.Names())
	assert.True(t, set.Has("down"))

	_, err := set.Lookup("down", "x")
	assert.EqualError(t, err, `Connector "down" is not available: no route to host`)
	assert.ErrorIs(t, err, broken)
	var unavailable *UnavailableError
	assert.ErrorAs(t, err, &unavailable)
	assert.Equal(t, "about down", set.Instructions("down"))
	assert.Empty(t, set.Methods("down"))

	_, err = set.Lookup("twins", "a")
	assert.ErrorContains(t,
		err, `Connector "twins" is not available: connector "twins" tool "then" cannot have this name`)
	_, err = set.Lookup("panics", "a")
	assert.ErrorContains(t, err, "panic while its methods were loaded: oh no")
	_, err = set.Lookup("up", "x")
	assert.NoError(t, err)
	assert.Len(t, set.Warnings(), 3)
	assert.EqualError(t, set.Close(), `closing connector "down": no route to host`)
}

func TestConnectorsLoadTogether(t *testing.T) {
	var here sync.WaitGroup
	here.Add(2)
	meet := func() {
		here.Done()
		here.Wait()
	}
	done := make(chan *Set, 1)
	go func() { done <- newSet(t, nil, remote{name: "a", load: meet}, remote{name: "b", load: meet}) }()
	select {
	case set := <-done:
		assert.Equal(t, []string{"a", "b"}, set.Names())
	case <-time.After(10 * time.Second):
		t.Fatal("one waits for the other")
	}
}

func TestRules(t *testing.T) {
	yes, no := true, false
	always := func(Asked, json.RawMessage) (bool, error) { return true, nil }
	dotted := Method{Name: "list_prs", Origin: "list.prs", Class: Read, Execute: nothing}
	for _, c := range []struct {
		name   string
		method Method
		rules  []Rule
		check  func(t *testing.T, b *Bound)
	}{
		{"none", method("create_item"), nil, func(t *testing.T, b *Bound) {
			assert.Equal(t, Write, b.Class)
			assert.False(t, b.MayNeedApproval())
		}},
		{"by name", method("create_item"), []Rule{{Pattern: "create_item", Class: Idempotent}},
			func(t *testing.T, b *Bound) {
				assert.Equal(t, Idempotent, b.Class)
			}},
		{"by glob", method("create_item"), []Rule{{Pattern: "c*_?tem", Timeout: time.Minute}},
			func(t *testing.T, b *Bound) {
				assert.Equal(t, time.Minute, b.Timeout)
			}},
		{"glob is the whole name", method("create_item"),
			[]Rule{{Pattern: "create", Class: Read}, {Pattern: "item*", Class: Read}}, func(t *testing.T, b *Bound) {
				assert.Equal(t, Write, b.Class)
			}},
		{"dots are dots", method("create_item"), []Rule{{Pattern: "create.item", Class: Read}},
			func(t *testing.T, b *Bound) {
				assert.Equal(t, Write, b.Class)
			}},
		{"by the name at the source", dotted, []Rule{{Pattern: "list.*", Timeout: time.Second}},
			func(t *testing.T, b *Bound) {
				assert.Equal(t, time.Second, b.Timeout)
			}},
		{"first match wins, as a whole", method("create_item"),
			[]Rule{{Pattern: "create_*", Class: Read}, {Pattern: "*", RequiresApproval: &yes}},
			func(t *testing.T, b *Bound) {
				assert.Equal(t, Read, b.Class)
				assert.False(t, b.RequiresApproval)
			}},
		{"approval on", method("create_item"), []Rule{{Pattern: "*", RequiresApproval: &yes}},
			func(t *testing.T, b *Bound) {
				assert.True(t, b.RequiresApproval)
			}},
		{"approval off", Method{Name: "x", RequiresApproval: true, ApprovalFor: always, Execute: nothing},
			[]Rule{{Pattern: "*", RequiresApproval: &no}}, func(t *testing.T, b *Bound) {
				assert.False(t, b.MayNeedApproval())
			}},
		{"approval by argument", method("create_item"), []Rule{{Pattern: "*", ApprovalFor: always}},
			func(t *testing.T, b *Bound) {
				needed, err := b.NeedsApproval(Asked{}, nil)
				assert.NoError(t, err)
				assert.True(t, needed)
			}},
		{"reexecute on", dotted, []Rule{{Pattern: "*", Reexecute: &yes}}, func(t *testing.T, b *Bound) {
			assert.True(t, b.Reexecute)
		}},
		{"reexecute off", Method{Name: "x", Class: Read, Reexecute: true, Execute: nothing},
			[]Rule{{Pattern: "*", Reexecute: &no, RequiresApproval: &yes}}, func(t *testing.T, b *Bound) {
				assert.False(t, b.Reexecute)
			}},
		{"rename", method("create_item"), []Rule{{Pattern: "create_item", Rename: "make"}},
			func(t *testing.T, b *Bound) {
				assert.Equal(t, "s.make", b.Path())
			}},
	} {
		t.Run(c.name, func(t *testing.T) {
			set := newSet(t, map[string][]Rule{"s": c.rules}, remote{name: "s", methods: []Method{c.method}})
			require.NoError(t, set.Err("s"))
			require.Len(t, set.Methods("s"), 1)
			c.check(t, set.Methods("s")[0])
		})
	}
}

// A rule that matches nothing is usually a misspelt protection.
func TestRulesWithoutEffectAreTold(t *testing.T) {
	set := newSet(t, map[string][]Rule{"s": {{Pattern: "refund"}, {Pattern: "refnd"}, {Pattern: "*"},
		{Pattern: "list"}}},
		New("s", "", method("refund"), method("list")))
	require.Len(t, set.Warnings(), 2)
	assert.Contains(t, set.Warnings()[0], `rule "refnd" of connector "s" applies to none of its tools`)
	assert.Contains(t, set.Warnings()[1], `rule "list"`)

	set = newSet(t, nil,
		remote{name: "s",
			methods: []Method{{Name: "x", InputSchema: json.RawMessage(`{"type":"strange"}`), Execute: nothing}}})
	require.Len(t, set.Warnings(), 1)
	assert.Contains(t, set.Warnings()[0], "s.x takes any argument, since its input schema is unusable: ")
}

// sharing is a connector whose methods share definitions, and that complains.
type sharing struct{ remote }

func (c sharing) Warnings() []string { return []string{"left something out"} }
func (c sharing) Large(context.Context) (*LargeCatalogue, error) {
	return &LargeCatalogue{Methods: c.methods, Definitions: func() json.RawMessage {
		return json.RawMessage(`{"$defs":{"Id":{"type":"number"}}}`)
	}}, nil
}

func TestSetOfSharedDefinitions(t *testing.T) {
	made := 0
	m := method("get")
	m.InputSchema = json.RawMessage(`{"$ref":"#/$defs/Id"}`)
	m.Tags = []string{"things"}
	m.Arguments = func() json.RawMessage {
		made++
		return json.RawMessage(`{"properties":{"id":{"type":"number"}}}`)
	}
	set := newSet(t, nil, sharing{remote{name: "api", methods: []Method{m}}}, New("plain", ""))
	assert.JSONEq(t, `{"$defs":{"Id":{"type":"number"}}}`, string(set.Definitions("api")))
	assert.Nil(t, set.Definitions("plain"))
	assert.Nil(t, set.Definitions("none"))
	assert.Equal(t, []string{"left something out"}, set.Warnings())
	assert.Zero(t, made, "no schema is made before it is needed")

	b, err := set.Lookup("api", "get")
	require.NoError(t, err)
	assert.Equal(t, []string{"things"}, b.Tags)
	assert.EqualError(t, b.Validate(json.RawMessage(`{"id":"x"}`)),
		"Invalid arguments for api.get: id: expected number, but got string")
	assert.NoError(t, b.Validate(json.RawMessage(`{"id":1}`)))
	assert.Equal(t, 1, made)
}
