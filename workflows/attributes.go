package workflows

import (
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/temporal-codemode/codemode/signals"
)

var (
	runtimeKey = temporal.NewSearchAttributeKeyKeyword(signals.AttributeRuntime)
	statusKey  = temporal.NewSearchAttributeKeyKeyword(signals.AttributeStatus)
	labelsKey  = temporal.NewSearchAttributeKeyKeywordList(signals.AttributeLabels)
)

// setAttributes gives an execution the search attributes that whoever started it did not, such as a parent workflow:
// lists find it by them as they find any other. What the server knows is pinned.
func (e *execution) setAttributes(ctx workflow.Context) {
	if !e.since(attributed) {
		return
	}
	known := workflow.GetTypedSearchAttributes(ctx)
	var set []temporal.SearchAttributeUpdate
	if _, ok := known.GetKeyword(runtimeKey); !ok && e.pinned.SearchAttributes {
		set = append(set, runtimeKey.ValueSet(e.in.Runtime))
	}
	labels := e.in.IndexedLabels()
	if _, ok := known.GetKeywordList(labelsKey); !ok && e.pinned.LabelAttribute && len(labels) > 0 {
		set = append(set, labelsKey.ValueSet(labels))
	}
	if len(set) > 0 {
		_ = workflow.UpsertTypedSearchAttributes(ctx, set...)
	}
}
