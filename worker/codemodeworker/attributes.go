package codemodeworker

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

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
	return register(ctx, c, space, map[string]enums.IndexedValueType{
		signals.AttributeRuntime: enums.INDEXED_VALUE_TYPE_KEYWORD,
		signals.AttributeStatus:  enums.INDEXED_VALUE_TYPE_KEYWORD,
	})
}

// EnsureLabels registers CodemodeLabels, for clients that have IndexLabels. An error means that the server does not
// have it: lists by label read records.
func EnsureLabels(ctx context.Context, c client.Client) error {
	space, err := namespace.Of(c)
	if err != nil {
		return err
	}
	return register(ctx, c, space, map[string]enums.IndexedValueType{
		signals.AttributeLabels: enums.INDEXED_VALUE_TYPE_KEYWORD_LIST,
	})
}

// register adds those of the wanted search attributes that the server does not have.
func register(ctx context.Context, c client.Client, space string, wanted map[string]enums.IndexedValueType) error {
	known, err := c.OperatorService().ListSearchAttributes(ctx,
		&operatorservice.ListSearchAttributesRequest{Namespace: space})
	for name := range known.GetCustomAttributes() {
		delete(wanted, name)
	}
	if err == nil && len(wanted) == 0 {
		return nil
	}
	_, err = c.OperatorService().AddSearchAttributes(ctx,
		&operatorservice.AddSearchAttributesRequest{Namespace: space, SearchAttributes: wanted})
	if err != nil {
		return fmt.Errorf("register the search attributes %s: %w",
			strings.Join(slices.Sorted(maps.Keys(wanted)), " and "), err)
	}
	return nil
}
