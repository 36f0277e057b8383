package config

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/signals"
)

func TestApprovalByProgram(t *testing.T) {
	program := &signals.Program{Writes: 3, WritesInLoops: 1, Approvals: 2, Methods: []signals.ProgramMethod{
		{Connector: "crm", Method: "delete"}}}
	for expr, want := range map[string]bool{
		`program.writes > 2`: true, `program.writes > 3`: false, `program.writesInLoops > 0 && args.n > 1`: true,
		`program.approvals == 2`: true, `"crm.delete" in program.methods`: true, `"crm.get" in program.methods`: false,
		`program.partial`: false, `program.methods.exists(m, m.startsWith("crm."))`: true,
	} {
		config, err := load(t, tools("a: { requiresApproval: '"+expr+"' }"))
		require.NoError(t, err)
		rule := config.Connectors[0].Rules[0]
		yes, err := rule.ApprovalFor(connectors.Asked{Program: program}, json.RawMessage(`{"n":2}`))
		require.NoError(t, err, expr)
		require.Equal(t, want, yes, expr)
		require.Subset(t, []string{"n"}, rule.ApprovalNames, "names of program are not the arguments'")
		yes, err = rule.ApprovalFor(connectors.Asked{}, json.RawMessage(`{"n":2}`))
		require.NoError(t, err)
		require.True(t, yes, "a person is asked about a program that nobody looked at: %s", expr)
	}
	_, err := load(t, tools(`a: { requiresApproval: 'program.calls > 1' }`))
	require.ErrorContains(t, err, "program has writes, writesInLoops, approvals, methods and partial")
}

func TestPreflightModes(t *testing.T) {
	config, err := load(t, "preflight: deny\n"+tools("a: { preflight: hint }"))
	require.NoError(t, err)
	require.Equal(t, signals.PreflightHint, config.Connectors[0].Rules[0].Preflight)
	o, err := config.Options()
	require.NoError(t, err)
	require.Equal(t, signals.PreflightDeny, o.Preflight)
	_, err = load(t, "preflight: maybe")
	require.ErrorContains(t, err, "deny or hint or off or stop")
}
