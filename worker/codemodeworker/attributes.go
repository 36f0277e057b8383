package codemodeworker

import (
	"context"
	"fmt"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/sdk/client"

	"github.com/temporal-codemode/codemode/internal/namespace"
	"github.com/temporal-codemode/codemode/signals"
)

// EnsureSearchAttributes registers CodemodeRuntime and CodemodeStatus where that is allowed. An error means that the
// server does not have them: executions work all the same, lists are slower.
func EnsureSearchAttributes(ctx context.Context, c client.Client) error {
	space, err := namespace.Of(c)
	if err != nil {
		return err
	}
	known, err := c.OperatorService().ListSearchAttributes(ctx,
		&operatorservice.ListSearchAttributesRequest{Namespace: space})
	missing := map[string]enums.IndexedValueType{}
	for _, name := range []string{signals.AttributeRuntime, signals.AttributeStatus} {
		if _, ok := known.GetCustomAttributes()[name]; !ok {
			missing[name] = enums.INDEXED_VALUE_TYPE_KEYWORD
		}
	}
	if err == nil && len(missing) == 0 {
		return nil
	}
	_, err = c.OperatorService().AddSearchAttributes(ctx,
		&operatorservice.AddSearchAttributesRequest{Namespace: space, SearchAttributes: missing})
	if err != nil {
		return fmt.Errorf("register the search attributes %s and %s: %w", signals.AttributeRuntime,
			signals.AttributeStatus, err)
	}
	return nil
}
