package connectors

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/temporal-codemode/codemode/internal/validate"
	"github.com/temporal-codemode/codemode/signals"
)

// Class says how often a method may run for one call.
type Class = signals.Class

const (
	// Read has no effect: it may run any number of times.
	Read = signals.Read
	// Idempotent has an effect that repeating under the same key does not add to.
	Idempotent = signals.Idempotent
	// Write is everything else. It runs at most once for one call.
	Write = signals.Write
)

func validClass(c Class) bool { return c == Read || c == Idempotent || c == Write }

// Context is what a method is given beside its arguments. It is cancelled when
// nobody waits for the result any more.
type Context struct {
	context.Context
	// ExecutionID is the same in every pass and attempt of one program.
	ExecutionID string
	// Seq numbers the calls of an execution from 0, in the order in which the program issued them.
	Seq int
	// IdempotencyKey is the same in every attempt of one call and differs
	// between calls. It may be empty for reads.
	IdempotencyKey string
	// Caller is who started the execution, for whom and in which conversation, as far as that is known. Of it only
	// StartedAs was authenticated.
	Caller signals.Caller
	// Attempt counts from 1.
	Attempt int
	// Progress takes word of how far the call has come, from any goroutine. Nil: nobody listens.
	Progress func(Progress)
}

// Progress is how far a call has come.
type Progress struct {
	// Done of Total; Total is 0 when that is not known.
	Done    float64 `json:"done,omitempty"`
	Total   float64 `json:"total,omitempty"`
	Message string  `json:"message,omitempty"`
}

// Asked is what decides about a call beside its arguments: who started the execution, and what the text of its program
// shows of the calls to come, nil where that was not looked at.
type Asked struct {
	signals.Caller
	Program *signals.Program
}

// Method is one function of a connector.
type Method struct {
	// Name is the JavaScript name, as programs call it.
	Name string
	// Origin is the name at the source when that differs, such as an MCP
	// tool's. Rules match it too.
	Origin      string
	Description string
	// InputSchema is a JSON Schema of the single argument, as plain JSON. Empty takes any argument.
	InputSchema json.RawMessage
	// OutputSchema describes the result to the model. Results are not checked against it.
	OutputSchema json.RawMessage
	// Arguments gives the schema to validate arguments against in place of
	// InputSchema, when that refers to definitions outside of it or is stricter
	// than the method. It is asked for once, when it is first needed.
	Arguments func() json.RawMessage
	// Tags are the groups that the source puts the method in.
	Tags []string
	// Class is Write when empty.
	Class Class
	// ClassFrom tells the operator what the class was taken from, such as "GET".
	ClassFrom string
	// ClassAssumed says that nobody told the class: a write, to be on the safe side.
	ClassAssumed     bool
	RequiresApproval bool
	// ApprovalFor decides call by call when set, and RequiresApproval is not
	// looked at then. It is given who started the execution, and the arguments
	// as plain JSON, "{}" for a call without argument.
	ApprovalFor func(asked Asked, args json.RawMessage) (bool, error)
	// Reexecute runs the method anew in each pass instead of replaying its
	// result. Only a method of class Read without approval may ask for it.
	Reexecute bool
	// Timeout bounds one attempt. Zero: the caller's default.
	Timeout time.Duration
	Policy
	// Execute does one attempt of a call. Arguments are wire JSON, nil when the
	// program gave none. Of the result, nil is JavaScript's undefined, a
	// json.RawMessage is wire JSON already, []byte becomes a Uint8Array and all
	// else is encoded by [EncodeValue].
	Execute func(ctx Context, args json.RawMessage) (any, error)
	// Target names the team's own activity or workflow that makes a call, given its arguments as wire JSON. Executions
	// on Temporal schedule that, and do not use Execute.
	Target func(args json.RawMessage) (*signals.Target, error)
	// Revert undoes a call that took effect, given its arguments and result as
	// wire JSON. Nil: cannot be undone.
	Revert func(ctx Context, args, result json.RawMessage) error
}

// Connector is a namespace of methods.
type Connector interface {
	// Name is the namespace, a JavaScript identifier.
	Name() string
	// Instructions tell the model when and how to use the connector. They are
	// read after Methods.
	Instructions() string
	// Methods lists the methods in the order in which they are shown. An error
	// makes the connector unavailable; a [*ConfigError] is the operator's to
	// correct and fails [NewSet].
	Methods(ctx context.Context) ([]Method, error)
	// Close releases what the connector holds. Calls in flight may fail.
	Close() error
}

// New makes a connector from methods written in Go.
func New(name, instructions string, methods ...Method) Connector {
	return &goConnector{name: name, instructions: instructions, methods: methods}
}

type goConnector struct {
	name, instructions string
	methods            []Method
}

func (c *goConnector) Name() string         { return c.name }
func (c *goConnector) Instructions() string { return c.instructions }
func (c *goConnector) Close() error         { return nil }

// Methods checks what its author can correct, so that it fails at start and not
// in the first call.
func (c *goConnector) Methods(context.Context) ([]Method, error) {
	seen := map[string]bool{}
	for _, m := range c.methods {
		if err := checkMethod(c.name, m); err != nil {
			return nil, &ConfigError{Message: err.Error()}
		}
		if seen[m.Name] {
			return nil, ConfigErrorf("connector %q has two tools named %q — rename one of them", c.name, m.Name)
		}
		seen[m.Name] = true
		if _, err := validate.Compile(m.InputSchema); err != nil {
			return nil, ConfigErrorf("connector %q tool %q has an unusable input schema: %v", c.name, m.Name, err)
		}
	}
	return c.methods, nil
}

// checkMethod finds what makes a single method unusable, whoever wrote it.
func checkMethod(connector string, m Method) error {
	if err := checkMethodName(connector, m.Name); err != nil {
		return err
	}
	if err := m.Policy.check(fmt.Sprintf("connector %q tool %q", connector, m.Name)); err != nil {
		return err
	}
	if m.Execute == nil && !m.ResolvedByClient {
		return fmt.Errorf("connector %q tool %q has no Execute function", connector, m.Name)
	}
	if m.Class != "" && !validClass(m.Class) {
		return fmt.Errorf("connector %q tool %q has the unknown class %q — use %q, %q or %q",
			connector, m.Name, m.Class, Read, Idempotent, Write)
	}
	return nil
}
