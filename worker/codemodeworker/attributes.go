package codemodeworker

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"

	"github.com/temporal-codemode/codemode/activities"
	"github.com/temporal-codemode/codemode/internal/namespace"
	"github.com/temporal-codemode/codemode/signals"
)

// EnsureSearchAttributes registers CodemodeRuntime and CodemodeStatus where that is allowed. An error means that the
// server does not have them: executions work all the same, lists are slower.
func EnsureSearchAttributes(ctx context.Context, c client.Client) error {
	_, err := register(ctx, c, statusAttributes())
	return err
}

// EnsureLabels registers CodemodeLabels, for clients that have IndexLabels. An error means that the server does not
// have it: lists by label read records.
func EnsureLabels(ctx context.Context, c client.Client) error {
	_, err := register(ctx, c, labelAttributes())
	return err
}

func statusAttributes() map[string]enums.IndexedValueType {
	return map[string]enums.IndexedValueType{
		signals.AttributeRuntime: enums.INDEXED_VALUE_TYPE_KEYWORD,
		signals.AttributeStatus:  enums.INDEXED_VALUE_TYPE_KEYWORD,
	}
}

func labelAttributes() map[string]enums.IndexedValueType {
	return map[string]enums.IndexedValueType{signals.AttributeLabels: enums.INDEXED_VALUE_TYPE_KEYWORD_LIST}
}

// register adds those of the wanted search attributes that the server does not have, and tells whether there were any.
func register(ctx context.Context, c client.Client, wanted map[string]enums.IndexedValueType) (bool, error) {
	space, err := namespace.Of(c)
	if err != nil {
		return false, err
	}
	known, err := c.OperatorService().ListSearchAttributes(ctx,
		&operatorservice.ListSearchAttributesRequest{Namespace: space})
	for name := range known.GetCustomAttributes() {
		delete(wanted, name)
	}
	if err == nil && len(wanted) == 0 {
		return false, nil
	}
	_, err = c.OperatorService().AddSearchAttributes(ctx,
		&operatorservice.AddSearchAttributesRequest{Namespace: space, SearchAttributes: wanted})
	if err != nil {
		return false, fmt.Errorf("register the search attributes %s: %w",
			strings.Join(slices.Sorted(maps.Keys(wanted)), " and "), err)
	}
	return true, nil
}

// newAttribute is how long a server may take to know everywhere what was registered: executions fail workflow tasks
// that set it sooner.
const newAttribute = time.Minute

// ensured are the search attributes that a worker has registered, or found.
type ensured struct {
	at                       time.Time
	known                    activities.Attributes
	newStatus, newLabels     bool
	statusError, labelsError error
}

func ensure(ctx context.Context, c client.Client, labels bool) *ensured {
	e := &ensured{at: time.Now()}
	e.newStatus, e.statusError = register(ctx, c, statusAttributes())
	e.known.Status = e.statusError == nil
	if labels {
		e.newLabels, e.labelsError = register(ctx, c, labelAttributes())
		e.known.Labels = e.labelsError == nil
	}
	return e
}

func (e *ensured) attributes(context.Context) activities.Attributes {
	everywhere := time.Since(e.at) > newAttribute
	return activities.Attributes{Status: e.known.Status && (everywhere || !e.newStatus),
		Labels: e.known.Labels && (everywhere || !e.newLabels)}
}

// asked are the search attributes of a server that the first pass asks, on a worker whose client only activities see.
type asked struct {
	labels bool // wanted
	mu     sync.Mutex
	done   bool
	known  activities.Attributes
}

// attributes asks until there is an answer.
func (a *asked) attributes(ctx context.Context) activities.Attributes {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.done {
		return a.known
	}
	answer, err := activity.GetClient(ctx).OperatorService().ListSearchAttributes(ctx,
		&operatorservice.ListSearchAttributesRequest{Namespace: activity.GetInfo(ctx).Namespace})
	if err != nil {
		activity.GetLogger(ctx).Warn("cannot tell which search attributes the server has", "error", err)
		return activities.Attributes{}
	}
	has := func(name string) bool { _, ok := answer.GetCustomAttributes()[name]; return ok }
	a.done = true
	a.known = activities.Attributes{Status: has(signals.AttributeRuntime) && has(signals.AttributeStatus),
		Labels: a.labels && has(signals.AttributeLabels)}
	return a.known
}
