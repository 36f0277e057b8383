package signals

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// A decision that is misspelt must not mean more than its sender meant: {"seq": 0} without its s would approve all that
// waits. So the messages of clients are read strictly: a field that they do not have is an error, and so is a null
// where a value would be used.

// UnmarshalJSON refuses what an approval does not have.
func (a *Approve) UnmarshalJSON(text []byte) error {
	type plain Approve
	return readStrictly(SignalApprove, text, (*plain)(a), "seqs", "args")
}

// UnmarshalJSON refuses what a rejection does not have.
func (r *Reject) UnmarshalJSON(text []byte) error {
	type plain Reject
	return readStrictly(SignalReject, text, (*plain)(r))
}

// UnmarshalJSON refuses what a retry does not have.
func (r *Retry) UnmarshalJSON(text []byte) error {
	type plain Retry
	return readStrictly(SignalRetry, text, (*plain)(r))
}

// UnmarshalJSON refuses what a resolution does not have.
func (r *Resolve) UnmarshalJSON(text []byte) error {
	type plain Resolve
	return readStrictly(SignalResolve, text, (*plain)(r))
}

// RollbackMessage is a Rollback as clients send it.
type RollbackMessage struct{ Rollback }

// UnmarshalJSON refuses what a rollback does not have.
func (m *RollbackMessage) UnmarshalJSON(text []byte) error {
	return readStrictly(SignalRollback, text, &m.Rollback)
}

// UnmarshalJSON refuses what an expiry does not have.
func (x *Expire) UnmarshalJSON(text []byte) error {
	type plain Expire
	return readStrictly(SignalExpire, text, (*plain)(x))
}

// UnmarshalJSON refuses what a decision among several does not have.
func (d *OneDecision) UnmarshalJSON(text []byte) error {
	type plain OneDecision
	return readStrictly("decision", text, (*plain)(d))
}

// readStrictly reads a message of the kind what. Fields are matched by their exact names; the required ones may be
// absent, but not null.
func readStrictly(what string, text []byte, into any, required ...string) error {
	var given map[string]json.RawMessage
	if err := json.Unmarshal(text, &given); err != nil {
		return fmt.Errorf("%s takes an object: %w", what, err)
	}
	known := fieldsOf(reflect.TypeOf(into).Elem())
	for _, name := range sortedKeys(given) {
		switch {
		case !slices.Contains(known, name):
			return fmt.Errorf("%s has no field %q: it has %s", what, name, strings.Join(known, ", "))
		case slices.Contains(required, name) && string(given[name]) == "null":
			return fmt.Errorf("%s: %s is null: leave it out, or give it a value", what, name)
		}
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	if list, is := given["seqs"]; is && strings.TrimSpace(string(list)) == "[]" {
		return fmt.Errorf("%s: seqs is empty: name the calls, or leave it out for all that is pending", what)
	}
	return nil
}

func sortedKeys(m map[string]json.RawMessage) []string {
	var keys []string
	//workflowcheck:ignore sorted below
	for name := range m {
		keys = append(keys, name)
	}
	slices.Sort(keys)
	return keys
}

var messageFields sync.Map // type to its fields' JSON names

// fieldsOf are the JSON names of a message's fields, in the order in which they stand.
func fieldsOf(t reflect.Type) []string {
	if names, ok := messageFields.Load(t); ok {
		return names.([]string)
	}
	var names []string
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		names = append(names, name)
	}
	messageFields.Store(t, names)
	return names
}
