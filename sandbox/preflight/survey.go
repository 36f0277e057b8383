package preflight

import (
	"context"
	"encoding/json"

	"github.com/temporal-codemode/codemode/sandbox"
	"github.com/temporal-codemode/codemode/signals"
)

// Surveyor is an executor that can read a program without running it. A program that is passed over for its size has no
// survey.
type Surveyor interface {
	Survey(ctx context.Context, pass sandbox.Pass) (*Survey, error)
}

// Survey is what the text of a program says. Places in Values count from 1; 0 is a value of which nothing is known.
type Survey struct {
	Uses   []Use
	Values []Value
	Reads  []Field
	Notes  []Note
	// Partial says that the program may do more than is listed: it hands namespaces on, names methods when it runs,
	// runs snippets, or is larger than what is looked at.
	Partial bool
	// Failure is why there is nothing to survey.
	Failure *sandbox.Failure `json:"-"`
}

// Use is a place where the program calls a method of a namespace, or of what may be one.
type Use struct {
	Name   string // of the namespace
	Method string
	Args   *Argument // nil: called without
	// Spread says that the arguments cannot be told.
	Spread bool
	At     *signals.Position
	// Always says that no run of the program to its end goes without this call, Guarded that it stands in a try, and
	// Fatal that no run goes on if it fails.
	Always, Guarded, Fatal bool
	// Reference says that the method is named and not called here.
	Reference bool
	Loop      Loop
}

// Loop is what a call is repeated by.
type Loop uint8

// The kinds of loop.
const (
	Once    Loop = iota
	Bounded      // by a list or a counter
	Open         // as long as something else says so
)

// ValueKind is how a value came to be.
type ValueKind uint8

// The kinds of value.
const (
	ResultOf  ValueKind = iota + 1 // what the promise of use Of resolves to
	FieldOf                        // of value Of
	ElementOf                      // of the list Of
	ListOf                         // of values like Of
	MethodOf                       // what the method Name of value Of returns
)

// Value is something that the program got from a result.
type Value struct {
	Kind ValueKind
	Of   int
	Name string
}

// Field is a read of the field Name of a value.
type Field struct {
	Of   int
	Name string
	At   *signals.Position
	// Optional says that the program goes on without the field, as in value.name?.more.
	Optional bool
}

// NoteKind is a mistake that the text alone shows.
type NoteKind string

// The kinds of note.
const (
	Dropped NoteKind = "dropped" // nothing awaits the promise
	Taken   NoteKind = "taken"   // a promise is used in place of its value
	Listed  NoteKind = "listed"  // a list of promises is used, or awaited, in place of its values
	Endless NoteKind = "endless" // a loop without an end
)

// Note is such a mistake. Use is the call whose promise it is about, Into the one that is given it, both counted
// from 1.
type Note struct {
	Kind NoteKind
	Use  int
	Into int
	At   *signals.Position
}

// Shape is what is known of an argument.
type Shape uint8

// The shapes of arguments.
const (
	Anything Shape = iota
	Literal        // JSON
	Object
	List
	Absent // undefined
	Text   // a string, and so on
	Number
	Boolean
)

// Argument is what is known of a call's argument, or of a part of it.
type Argument struct {
	Shape Shape
	JSON  json.RawMessage
	Keys  []string
	Parts []Argument // of the keys, or of the list
	// More says that there may be others.
	More bool
}

// Literal gives the JSON of an argument all of which is known.
func (a *Argument) Literal() (json.RawMessage, bool) {
	if a == nil {
		return nil, true
	}
	value, ok := a.value()
	if !ok {
		return nil, false
	}
	text, err := json.Marshal(value)
	return text, err == nil
}

func (a *Argument) value() (any, bool) {
	if a.More {
		return nil, false
	}
	switch a.Shape {
	case Literal:
		return a.JSON, true
	case Object:
		object := map[string]any{}
		for i, key := range a.Keys {
			if a.Parts[i].Shape == Absent {
				delete(object, key)
				continue
			}
			v, ok := a.Parts[i].value()
			if !ok {
				return nil, false
			}
			object[key] = v
		}
		return object, true
	case List:
		list := []any{}
		for i := range a.Parts {
			v, ok := a.Parts[i].value()
			if !ok {
				return nil, false
			}
			list = append(list, v)
		}
		return list, true
	}
	return nil, false
}
