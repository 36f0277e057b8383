package activities

import (
	"context"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"

	"github.com/temporal-codemode/codemode/signals/learnt"
)

// testNamespace is that of the SDK's test environment. It has no server, and a call of its client after a test has
// ended ends all of them.
const testNamespace = "default-test-namespace"

// teller is the client by which the learner tells other workers; nil where there are none.
func teller(ctx context.Context) client.Client {
	if activity.GetInfo(ctx).Namespace == testNamespace {
		return nil
	}
	return activity.GetClient(ctx)
}

// results is what describe knows beside what is declared.
func (a *Activities) results(c client.Client) func(ctx context.Context, connector string) func(string) *learnt.Shape {
	return func(ctx context.Context, connector string) func(string) *learnt.Shape {
		return a.learner.Results(ctx, c, connector)
	}
}

// Close tells other workers what this one has learnt last. No activity runs any more.
func (a *Activities) Close() { a.learner.Close() }
