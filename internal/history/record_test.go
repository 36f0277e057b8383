package history

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/signals"
)

// TestOmittedArgumentsAreThoseOfTheDigest: an approver is never shown others than those that will run.
func TestOmittedArgumentsAreThoseOfTheDigest(t *testing.T) {
	issued, edited := json.RawMessage(`"issued"`), json.RawMessage(`"edited"`)
	for name, c := range map[string]struct {
		action  signals.PendingAction
		call    signals.Call
		current json.RawMessage
		omitted bool
	}{
		"as issued": {signals.PendingAction{ArgsDigest: signals.Digest(issued)}, signals.Call{Args: issued},
			issued, false},
		"an edit was refused": {signals.PendingAction{ArgsDigest: signals.Digest(issued)},
			signals.Call{Args: issued, EditedArgs: edited}, issued, false},
		"an edit is known": {signals.PendingAction{ArgsDigest: signals.Digest(edited), EditedArgs: edited},
			signals.Call{Args: issued}, edited, false},
		"an edit is in the log": {signals.PendingAction{ArgsDigest: signals.Digest(edited)},
			signals.Call{Args: issued, EditedArgs: edited}, edited, false},
		"an edit is unknown": {signals.PendingAction{ArgsDigest: signals.Digest(edited)}, signals.Call{Args: issued},
			nil, true},
	} {
		c.action.Omitted = true
		actions := []signals.PendingAction{c.action}
		FillActions(actions, []signals.Call{c.call})
		require.Equal(t, c.current, actions[0].Current(), name)
		require.Equal(t, c.omitted, actions[0].Omitted, name)
	}
}
