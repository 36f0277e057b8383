package activities

import (
	"cmp"
	"context"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/worker"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/connectors/catalogue"
	"github.com/temporal-codemode/codemode/internal/learner"
	"github.com/temporal-codemode/codemode/internal/lookup"
	"github.com/temporal-codemode/codemode/sandbox"
	"github.com/temporal-codemode/codemode/sandbox/engine"
	"github.com/temporal-codemode/codemode/signals"
	"github.com/temporal-codemode/codemode/signals/payload"
)

// Options configure the activities of one runtime's worker.
type Options struct {
	// Connectors are the namespaces of the runtime. Required.
	Connectors *connectors.Set
	// Executor runs the passes; nil runs them in this process.
	Executor sandbox.Executor
	// Modules are what programs may import: source by name.
	Modules map[string]string
	// DataConverter must be the client's own; nil is the SDK's default.
	DataConverter converter.DataConverter
	// Preflight is what follows from mistakes that are found in a program before it runs.
	Preflight signals.PreflightMode
	// PassTimeout bounds the wall clock of one pass; 0 is 60 s.
	PassTimeout time.Duration
	// OwnQueues names the connectors whose calls are made on a task queue of their own.
	OwnQueues []string
	// LocalPass is how long a pass may run inside its workflow task; 0 is 500 ms, negative runs none there. Programs
	// that may end their worker must not: a workflow task is tried again for ever.
	LocalPass time.Duration
	// Attempts tells which workflow tasks are tried again; passes do not run inside these. Nil knows of none.
	Attempts *Attempts
	// Limits bound an execution; they are fixed by its first pass.
	Limits signals.Limits
	// SearchAttributes tells which of our search attributes the server knows; nil is none.
	SearchAttributes func(context.Context) Attributes
	// RetryPolicy decides what follows failed attempts of calls; nil repeats what asks for it.
	RetryPolicy connectors.RetryPolicy
	// AuthenticatedApprovers lets only those count whom a door authenticated, where several people have to approve.
	AuthenticatedApprovers bool
	// Runtime is the runtime's name; empty is "default".
	Runtime string
	// NoLearning keeps the worker from learning what results look like.
	NoLearning bool
	// Hints are what the tool's description says of connectors, by name.
	Hints map[string]string
}

// Attributes are those of our search attributes that a server knows.
type Attributes struct {
	// Status says that it knows CodemodeRuntime and CodemodeStatus, Labels that it knows CodemodeLabels.
	Status, Labels bool
}

// Activities are the activities of one runtime's worker.
type Activities struct {
	Options
	memory    memory
	jobs      jobs
	patience  time.Duration // aheadWithin, but for tests
	effects   effects
	carried   effects // the log that is being carried
	offered   offered
	catalogue func() *catalogue.Catalogue
	snippets  *lookup.Recent
	learner   *learner.Learner // nil learns nothing
}

// New fills in defaults.
func New(o Options) *Activities {
	if o.Executor == nil {
		o.Executor = &engine.InProcess{}
	}
	o.DataConverter = payload.Reader(o.DataConverter)
	if o.SearchAttributes == nil {
		o.SearchAttributes = func(context.Context) Attributes { return Attributes{} }
	}
	if o.LocalPass == 0 {
		o.LocalPass = defaultLocalPass
	}
	o.LocalPass = min(o.LocalPass, maxLocalPass)
	a := &Activities{
		Options: o, patience: aheadWithin, catalogue: catalogue.Follow(o.Connectors).Current,
		snippets: lookup.NewRecent(),
	}
	if !o.NoLearning {
		a.learner = learner.New(cmp.Or(o.Runtime, signals.DefaultRuntime))
	}
	return a
}

// RegisterCalls adds only what makes gated calls, for the worker of a connector's own task queue.
func (a *Activities) RegisterCalls(w worker.ActivityRegistry) {
	w.RegisterDynamicActivity(a.Call, activity.DynamicRegisterOptions{})
}

// While a workflow task is open its execution takes no signal, update or query: longer would be felt. The maximum stays
// below the time after which the workflow gives the local activity up.
const (
	defaultLocalPass = 500 * time.Millisecond
	maxLocalPass     = 5 * time.Second
)

// Register adds the activities to a worker.
func (a *Activities) Register(w worker.ActivityRegistry) {
	w.RegisterActivityWithOptions(a.Pass, activity.RegisterOptions{Name: signals.PassActivity})
	w.RegisterActivityWithOptions(a.Catalogue, activity.RegisterOptions{Name: signals.CatalogueActivity})
	a.RegisterCalls(w)
	w.RegisterActivityWithOptions(a.RollbackPlan, activity.RegisterOptions{Name: signals.RollbackPlanActivity})
	w.RegisterActivityWithOptions(a.Outcome, activity.RegisterOptions{Name: signals.OutcomeActivity})
	w.RegisterActivityWithOptions(a.Carry, activity.RegisterOptions{Name: signals.CarryActivity})
	w.RegisterActivityWithOptions(a.Continue, activity.RegisterOptions{Name: signals.ContinueActivity})
	w.RegisterActivityWithOptions(a.UndoOnce, activity.RegisterOptions{Name: signals.UndoActivity})
	w.RegisterActivityWithOptions(a.PassEnd, activity.RegisterOptions{Name: signals.PassEndActivity})
	w.RegisterActivityWithOptions(a.Dispose, activity.RegisterOptions{Name: signals.DisposeActivity})
}
