package workflows

import (
	"time"

	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/temporal-codemode/codemode/signals"
)

// Catalogue asks the catalogue of a worker, for clients of servers without standalone activities.
func Catalogue(ctx workflow.Context, in signals.CatalogueInput) (converter.RawValue, error) {
	ctx = workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{
		StartToCloseTimeout: 30 * time.Second, RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 1},
	})
	var answer converter.RawValue
	err := workflow.ExecuteLocalActivity(ctx, signals.CatalogueActivity, in).Get(ctx, &answer)
	return answer, err
}
