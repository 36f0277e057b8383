package workflows

import (
	"time"

	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/workflow"

	"github.com/temporal-codemode/codemode/signals"
	"github.com/temporal-codemode/codemode/signals/payload"
)

// Outcome answers with what the activity of the same name does, for clients that cannot run activities.
func Outcome(ctx workflow.Context, in signals.OutcomeInput) (converter.RawValue, error) {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: time.Minute,
		ScheduleToCloseTimeout: 5 * time.Minute})
	var answer converter.RawValue
	err := workflow.ExecuteActivity(ctx, signals.OutcomeActivity, payload.MustRaw(in)).Get(ctx, &answer)
	return answer, err
}
