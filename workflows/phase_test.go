package workflows

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/signals"
)

// What is not in the table does not happen.
func TestPhases(t *testing.T) {
	for from := range transitions {
		for to := range transitions {
			c := &call{phase: from}
			allowed := false
			for _, next := range transitions[from] {
				allowed = allowed || next == to
			}
			if allowed {
				require.NotPanics(t, func() { c.enter(to) })
				require.Equal(t, to, c.phase)
			} else {
				require.Panics(t, func() { c.enter(to) }, "%q to %q", from, to)
				require.Equal(t, from, c.phase)
			}
		}
	}
}

func TestPhasesTellTheState(t *testing.T) {
	for p, want := range map[phase]signals.CallState{asking: signals.Pending, awaiting: signals.Pending,
		ready: signals.Executing} {
		c := &call{}
		c.enter(p)
		require.Equal(t, want, c.rec.State)
	}
}

// missing is what a worker answers that lacks the execution's connectors.
func missing(in signals.PassInput) signals.PassResult {
	return signals.PassResult{End: signals.PassMissing, Missing: []string{"store"}, Given: in.Given}
}

// A timer of the program fires though a pass in between ran nothing.
func TestTimersSurviveAPassWithoutConnectors(t *testing.T) {
	r := newRig(t)
	due := r.env.Now().Add(2 * time.Hour).UnixMilli()
	r.passes = append(r.passes, func(signals.PassInput) signals.PassResult {
		p := blocked(ask(0))(signals.PassInput{})
		p.Timers = []signals.Timer{{ID: 5, Due: due}}
		return p
	}, missing, ends(`"timer"`))
	v := r.update(time.Hour, signals.SignalApprove, signals.Approve{By: "ada"})
	result := r.run()
	require.True(t, v.Accepted)
	require.Equal(t, signals.Completed, result.Status, result.Error)
	require.Equal(t, signals.GivenTimer, r.inputs[2].Given[0].Kind)
	require.Less(t, r.env.Now().UnixMilli(), due+60_000)
}

// Whoever is asked again has all the time that anybody has.
func TestACallThatIsPendingAgainHasAllTheTime(t *testing.T) {
	r := newRig(t)
	began := r.env.Now()
	r.passes = append(r.passes, blocked(ask(0)), missing)
	r.update(20*time.Hour, signals.SignalApprove, signals.Approve{By: "ada"})
	require.Equal(t, signals.ExecutionExpired, r.run().Error)
	require.Greater(t, r.env.Now().Sub(began), 43*time.Hour)
}

// A decision that led to nothing stays in the record, and says so.
func TestADecisionThatLedToNothingStaysInTheRecord(t *testing.T) {
	log := signals.NewLog()
	require.NoError(t, log.Fold(signals.PassResult{Pass: 1, Blocked: []signals.Blocked{{Connector: "store",
		Method: "ask", Approval: true, Args: json.RawMessage(`{}`)}}}, nil))
	given := []signals.Given{{Kind: signals.GivenDecision, Decision: &signals.Decision{Kind: "approve", By: "ada"}}}
	require.NoError(t, log.Fold(signals.PassResult{Pass: 2, End: signals.PassMissing, Given: given}, nil))
	call := log.Calls()[0]
	require.Equal(t, signals.Pending, call.State)
	require.True(t, call.Decisions[0].Void)
	require.Empty(t, call.DecidedBy)
}
