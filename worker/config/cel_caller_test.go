package config

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/signals"
)

func TestApprovalByCaller(t *testing.T) {
	caller := signals.Caller{StartedBy: "bot", StartedAs: "svc@example.com", OnBehalfOf: "ada@example.com",
		Conversation: "c1", Labels: map[string]string{"team": "billing"}}
	for _, c := range []struct {
		expr     string
		caller   signals.Caller
		want     bool
		failure  string
		comments string
	}{
		{expr: `caller.startedAs != "svc@example.com"`, caller: caller},
		{expr: `caller.startedAs != "svc@example.com"`, want: true, comments: "nobody was authenticated"},
		{expr: `caller.startedBy == "bot" && caller.conversation == "c1" && args.n > 1`, caller: caller, want: true},
		{expr: `!caller.onBehalfOf.endsWith("@example.com")`, caller: caller},
		{expr: `caller.labels.team == "billing"`, caller: caller, want: true},
		{expr: `caller.labels["team"] == "billing"`, caller: caller, want: true},
		{expr: `has(caller.labels.team) && caller.labels.team != "billing"`},
		{expr: `caller.labels[?"team"].orValue("") != "billing"`, want: true},
		{expr: `"team" in caller.labels`, caller: caller, want: true},
		{expr: `caller.labels.team == "billing"`, want: true, failure: "no such key: team"},
	} {
		t.Run(c.expr+c.comments, func(t *testing.T) {
			config, err := load(t, tools("a: { requiresApproval: '"+c.expr+"' }"))
			require.NoError(t, err)
			rule := config.Connectors[0].Rules[0]
			yes, err := rule.ApprovalFor(connectors.Asked{Caller: c.caller}, json.RawMessage(`{"n":2}`))
			require.Equal(t, c.want, yes)
			if c.failure != "" {
				require.ErrorContains(t, err, c.failure)
				return
			}
			require.NoError(t, err)
			require.Subset(t, []string{"n"}, rule.ApprovalNames, "names of caller are not the arguments'")
		})
	}
}

func TestUnknownFieldsOfCallerAreFoundAtLoad(t *testing.T) {
	for _, expr := range []string{`caller.team == "x"`, `caller.startedby == "x"`, `has(caller.team)`, `caller == null`,
		`caller["startedBy"] == "x"`} {
		_, err := load(t, tools("a: { requiresApproval: '"+expr+"' }"))
		require.ErrorContains(t, err, "caller has startedBy, startedAs, onBehalfOf, conversation and labels", expr)
	}
	_, err := load(t, tools(`a: { requiresApproval: 'caller.labels == "x"' }`))
	require.ErrorContains(t, err, "is not a CEL expression", "types are checked")
	_, err = load(t, tools(`a: { requiresApproval: 'args.team ==' }`))
	require.NotContains(t, err.Error(), "caller has")
}

func TestRulesWithoutCallerDoNotLookAtIt(t *testing.T) {
	r := &reader{}
	require.False(t, r.compile("x", nil, configText{value: `args.caller.startedBy == "x"`}, false).caller)
	require.True(t, r.compile("x", nil, configText{value: `caller.startedBy == "x"`}, false).caller)
}

func TestIndexLabelsAreAskedFor(t *testing.T) {
	for text, want := range map[string]bool{"{}": false, "indexLabels: true": true} {
		config, err := load(t, text)
		require.NoError(t, err)
		options, err := config.Options()
		require.NoError(t, err)
		require.Equal(t, want, options.IndexLabels)
	}
}
