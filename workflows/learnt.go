package workflows

import (
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/workflow"

	"github.com/temporal-codemode/codemode/signals/learnt"
	"github.com/temporal-codemode/codemode/signals/payload"
)

// Learnt keeps what workers learn of the results of one connector's methods, until somebody terminates it. It commands
// nothing: its state is in its input, so that its history can begin anew.
func Learnt(ctx workflow.Context, state learnt.State) error {
	ask := func(have int) (converter.RawValue, error) {
		if have == state.Version {
			return payload.Raw(learnt.State{Version: have})
		}
		return payload.Raw(state)
	}
	if err := workflow.SetQueryHandler(ctx, learnt.Query, ask); err != nil {
		return err
	}
	batches := workflow.GetSignalChannel(ctx, learnt.SignalLearn)
	for {
		err := workflow.Await(ctx, func() bool {
			return batches.Len() > 0 || workflow.GetInfo(ctx).GetContinueAsNewSuggested()
		})
		if err != nil {
			return err // cancelled
		}
		for batches.Len() > 0 {
			var b learnt.Batch
			if batches.ReceiveAsync(&b) {
				state.Add(b)
			}
		}
		if workflow.GetInfo(ctx).GetContinueAsNewSuggested() {
			return workflow.NewContinueAsNewError(ctx, learnt.Workflow, payload.MustRaw(state))
		}
	}
}
