// Package connectorstest holds what the tests of several connectors need. Its rule: nothing in it is specific to one
// kind of connector.
package connectorstest

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/connectors"
)

// NewSet makes a set, which has to succeed.
func NewSet(t *testing.T, rules map[string][]connectors.Rule, cs ...connectors.Connector) *connectors.Set {
	t.Helper()
	set, err := connectors.NewSet(context.Background(), cs, rules)
	require.NoError(t, err)
	return set
}

// CallContext is that of a first attempt.
func CallContext() connectors.Context {
	return connectors.Context{
		Context: context.Background(), ExecutionID: "exec_1", Seq: 3, IdempotencyKey: "k", Attempt: 1,
	}
}

// MethodNames lists what a connector has.
func MethodNames(set *connectors.Set, connector string) (names []string) {
	for _, b := range set.Methods(connector) {
		names = append(names, b.Method.Name)
	}
	return names
}
