package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/temporal-codemode/codemode/connectors"
)

// store is the connector of most scenarios. Its record is what they read back.
type store struct {
	mu     sync.Mutex
	kept   storeRecord
	throws bool // its hooks fail
}

type storeRecord struct {
	Items     []json.RawMessage `json:"items"`
	Notes     []string          `json:"notes"`
	Seen      []json.RawMessage `json:"seen"`
	Counts    map[string]int    `json:"counts"`
	Deleted   []json.RawMessage `json:"deleted"`
	UndoOrder []string          `json:"undoOrder"`
	Disposed  []string          `json:"disposed"`
	PassEnds  []string          `json:"passEnds"`
}

func newStore() *store {
	return &store{kept: storeRecord{
		Items: []json.RawMessage{}, Notes: []string{}, Seen: []json.RawMessage{}, Counts: map[string]int{},
		Deleted: []json.RawMessage{}, UndoOrder: []string{}, Disposed: []string{}, PassEnds: []string{},
	}}
}

// record is a copy, as JSON.
func (s *store) record() json.RawMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	raw, err := json.Marshal(s.kept)
	if err != nil {
		panic(err)
	}
	return raw
}

// set makes the hooks fail, or no longer.
func (s *store) set(throwHooks bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.throws = throwHooks
	return nil
}

// hooked is the connector of a store with its hooks.
type hooked struct {
	connectors.Connector
	*store
}

func (h hooked) PassEnd(_ context.Context, _, status string) error {
	return h.hook(&h.kept.PassEnds, status)
}

func (h hooked) Dispose(_ context.Context, _, status string) error {
	return h.hook(&h.kept.Disposed, status)
}

func (s *store) hook(list *[]string, status string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.throws {
		return errors.New("the hook fails")
	}
	*list = append(*list, status)
	return nil
}

// uncounted methods leave no trace in counts.
var uncounted = []string{"whoami", "echo", "type_of", "typeOf", "dash-name", "boom_str"}

type execute = func(connectors.Context, json.RawMessage) (any, error)

func (s *store) connector() connectors.Connector { return hooked{s.namespace(), s} }

func (s *store) namespace() connectors.Connector {
	write := connectors.Write
	return connectors.New("store", "Use store for items.",
		s.method("list_items", "List all items.", s.listItems),
		with(s.method("get_item", "Get one item by id.", s.getItem), func(m *connectors.Method) {
			m.InputSchema = schema(`{"id":{"type":"number","description":"Item id"}}`, "id")
		}),
		with(s.method("add_note", "Add a note at once.", s.addNote), func(m *connectors.Method) {
			m.Class, m.Revert = write, s.undoNote
		}),
		with(s.method("create_item", "Create an item. Needs approval.", s.createItem), func(m *connectors.Method) {
			m.Class, m.RequiresApproval, m.Revert = write, true, s.undoItem
			m.InputSchema = schema(`{"title":{"type":"string"}}`, "title")
		}),
		with(s.method("publish", "Publish. Needs approval, can't be undone.", publish), func(m *connectors.Method) {
			m.Class, m.RequiresApproval = write, true
		}),
		with(s.method("bad_revert", "Write whose undo fails.", publish), func(m *connectors.Method) {
			m.Class, m.Revert = write,
				func(connectors.Context, json.RawMessage, json.RawMessage) error { return errors.New("undo failed") }
		}),
		with(s.method("fresh", "Counter read, never stored.", s.fresh),
			func(m *connectors.Method) { m.Reexecute = true }),
		s.method("bytes", "Binary.",
			func(connectors.Context, json.RawMessage) (any, error) { return []byte{1, 2, 3}, nil }),
		s.method("big", "A long string.", longText),
		s.method("whoami", "Execution id.", whoami),
		s.method("nothing", "Returns nothing.",
			func(connectors.Context, json.RawMessage) (any, error) { return nil, nil }),
		s.method("odd", "Odd values.", odd),
		s.method("boom", "Always throws.", fails("kaput")),
		s.method("flaky", "Throws the first time.", s.flaky),
		s.method("slow", "Waits, then returns.", s.slow),
		s.method("echo", "Echo.", s.echo),
		s.method("type_of", "Host-side type.", typeOf),
		s.method("dash-name", "A tool with a dash.",
			func(connectors.Context, json.RawMessage) (any, error) { return "dashed", nil }),
		s.method("boom_str", "Throws a string.", fails("kaput")),
		s.method("typeOf", "Host-side view of the args.", typeOf),
	)
}

// method counts what really runs, also what fails then.
func (s *store) method(name, description string, fn execute) connectors.Method {
	counted := func(ctx connectors.Context, args json.RawMessage) (any, error) {
		if !slices.Contains(uncounted, name) {
			s.mu.Lock()
			s.kept.Counts[name]++
			s.mu.Unlock()
		}
		return fn(ctx, args)
	}
	return connectors.Method{Name: name, Description: description, Class: connectors.Read, Execute: counted}
}

func with(m connectors.Method, change func(*connectors.Method)) connectors.Method {
	change(&m)
	return m
}

func schema(properties, required string) json.RawMessage {
	return json.RawMessage(fmt.Sprintf(`{"type":"object","properties":%s,"required":[%q]}`, properties, required))
}

func (s *store) listItems(connectors.Context, json.RawMessage) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.kept.Items), nil
}

func (s *store) getItem(_ connectors.Context, args json.RawMessage) (any, error) {
	in := get[struct{ ID float64 }](args)
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, item := range s.kept.Items {
		if float64(i+1) == in.ID {
			return item, nil
		}
	}
	return nil, nil
}

func (s *store) addNote(_ connectors.Context, args json.RawMessage) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept.Notes = append(s.kept.Notes, get[struct{ Text string }](args).Text)
	return map[string]int{"index": len(s.kept.Notes) - 1}, nil
}

func (s *store) undoNote(_ connectors.Context, _, result json.RawMessage) error {
	index := get[struct{ Index int }](result).Index
	s.mu.Lock()
	defer s.mu.Unlock()
	if index >= len(s.kept.Notes) {
		return fmt.Errorf("there is no note %d", index)
	}
	s.kept.Notes[index] = "(undone)"
	s.kept.UndoOrder = append(s.kept.UndoOrder, fmt.Sprintf("note:%d", index))
	return nil
}

func (s *store) createItem(_ connectors.Context, args json.RawMessage) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept.Items = append(s.kept.Items, args)
	return map[string]any{"id": len(s.kept.Items), "title": get[struct{ Title string }](args).Title}, nil
}

func (s *store) undoItem(_ connectors.Context, _, result json.RawMessage) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept.Deleted = append(s.kept.Deleted, result)
	s.kept.UndoOrder = append(s.kept.UndoOrder, fmt.Sprintf("item:%d", get[struct{ ID int }](result).ID))
	return nil
}

func (s *store) fresh(connectors.Context, json.RawMessage) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return map[string]int{"n": s.kept.Counts["fresh"]}, nil
}

func (s *store) flaky(connectors.Context, json.RawMessage) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept.Counts["flaky"] == 1 {
		return nil, errors.New("try later")
	}
	return "ok", nil
}

func (s *store) slow(ctx connectors.Context, args json.RawMessage) (any, error) {
	ms := get[struct{ MS float64 }](args).MS
	select {
	case <-time.After(milliseconds(ms)):
		s.see(args)
		return map[string]float64{"waited": ms}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (s *store) echo(_ connectors.Context, args json.RawMessage) (any, error) {
	s.see(args)
	return args, nil
}

// see records arguments. An absent one is null there, as lists have no undefined.
func (s *store) see(args json.RawMessage) {
	if args == nil {
		args = json.RawMessage("null")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept.Seen = append(s.kept.Seen, args)
}
