package workflows

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"

	"github.com/temporal-codemode/codemode/signals"
)

func asks(kind string, after time.Duration) error {
	return temporal.NewApplicationErrorWithOptions("not now", kind, temporal.ApplicationErrorOptions{
		Details: []any{signals.RetryAdvice{AfterMs: after.Milliseconds(), MaxAttempts: 100}},
	})
}

// TestNoCallIsRepeatedOnceTheExecutionEnds: nor does the end wait for the time at which it would have been.
func TestNoCallIsRepeatedOnceTheExecutionEnds(t *testing.T) {
	for _, kind := range []string{signals.ErrorRetryable, signals.ErrorUnavailable} {
		for name, stop := range map[string]func(r *rig){
			"cancel": func(r *rig) { r.env.CancelWorkflow() },
			"reject": func(r *rig) { r.env.SignalWorkflow(signals.SignalReject, signals.Reject{All: true}) },
		} {
			t.Run(kind+" "+name, func(t *testing.T) {
				r := newRig(t)
				r.passes = append(r.passes, blocked(write(0), ask(1)))
				r.call = func(signals.CallInput, int) (json.RawMessage, error) { return nil, asks(kind, time.Hour) }
				r.env.RegisterDelayedCallback(func() { stop(r) }, 100*time.Millisecond)
				began := r.env.Now()
				result := r.run()
				require.NotEqual(t, signals.Completed, result.Status)
				require.Len(t, r.calls, 1)
				require.Less(t, r.env.Now().Sub(began), time.Second)
				require.Equal(t, "call-0.1", result.Final[0].Source, "the error is the call's result")
			})
		}
	}
}

func TestRepeatedCallsEndWithTheBudgets(t *testing.T) {
	for _, kind := range []string{signals.ErrorRetryable, signals.ErrorUnavailable} {
		t.Run(kind, func(t *testing.T) {
			r := newRig(t)
			r.limits.RunTimeMs = time.Minute.Milliseconds()
			r.passes = append(r.passes, blocked(write(0)))
			r.call = func(signals.CallInput, int) (json.RawMessage, error) { return nil, asks(kind, 2*time.Second) }
			began := r.env.Now()
			result := r.run()
			require.Contains(t, result.Error, "This execution reached its time limit of 1m0s (limits.runTime). "+
				"Nothing that it did has taken effect.")
			require.Less(t, r.env.Now().Sub(began), 2*time.Minute)
		})
	}
}

func TestPausesBeforeAMissingConnectorGrow(t *testing.T) {
	r := newRig(t)
	r.passes = append(r.passes, blocked(write(0)), ends(`1`))
	r.call = func(_ signals.CallInput, n int) (json.RawMessage, error) {
		if n == 10 {
			return nil, nil
		}
		return nil, asks(signals.ErrorUnavailable, 0)
	}
	began := r.env.Now()
	r.run()
	require.Equal(t, (1+2+4+8+16+4*30)*time.Second, r.env.Now().Sub(began).Round(time.Second))
}

// TestFailureWithoutAReason: a child that was taken over may claim what the engine never does.
func TestFailureWithoutAReason(t *testing.T) {
	r := newRig(t)
	r.passes = append(r.passes,
		func(signals.PassInput) signals.PassResult { return signals.PassResult{End: signals.PassFailed} })
	require.Equal(t, "Code execution failed", r.run().Error)
}
