package workflows

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"github.com/temporal-codemode/codemode/signals"
)

// localRig answers local passes with local, and notes of each pass whether it was one.
func localRig(t *testing.T, pinned bool, local func() (signals.PassResult, error)) (*rig, *[]bool) {
	r := newRig(t)
	r.passes = []func(signals.PassInput) signals.PassResult{
		blocked(signals.Blocked{Seq: 0, Connector: "store", Method: "put", Class: signals.Write}),
		func(signals.PassInput) signals.PassResult {
			return signals.PassResult{End: signals.PassCompleted, Value: json.RawMessage("1")}
		},
	}
	var ran []bool
	r.env.OnActivity(signals.PassActivity, mock.Anything,
		mock.Anything).Return(func(ctx context.Context, in signals.PassInput) (signals.PassResult, error) {
		isLocal := activity.GetInfo(ctx).IsLocalActivity
		ran = append(ran, isLocal)
		if isLocal && local != nil {
			return local()
		}
		result, err := r.pass(ctx, in)
		if result.Pinned != nil {
			result.Pinned.LocalPasses = pinned
		}
		return result, err
	})
	return r, &ran
}

func TestLocalPassesThatAnswerElsewhere(t *testing.T) {
	for name, local := range map[string]func() (signals.PassResult, error){
		"elsewhere": func() (signals.PassResult, error) { return signals.PassResult{End: signals.PassElsewhere}, nil },
		"failed": func() (signals.PassResult, error) {
			return signals.PassResult{}, temporal.NewApplicationError("no", "")
		},
	} {
		t.Run(name, func(t *testing.T) {
			r, ran := localRig(t, true, local)
			result := r.run()
			require.Equal(t, signals.Completed, result.Status, result.Error)
			require.Equal(t, 2, result.Passes, "a local pass that gives up is none")
			require.Equal(t, []bool{true, false}, (*ran)[:2], "one attempt, then an activity of its own")
		})
	}
}

func TestExecutionsWithoutLocalPasses(t *testing.T) {
	r, ran := localRig(t,
		false, func() (signals.PassResult, error) { return signals.PassResult{End: signals.PassElsewhere}, nil })
	require.Equal(t, signals.Completed, r.run().Status)
	require.Equal(t, []bool{true, false, false}, *ran, "only the first pass asks")
}

func TestLocalPassThatCompletes(t *testing.T) {
	r, ran := localRig(t, true, nil)
	r.passes = r.passes[1:]
	require.JSONEq(t, "1", string(r.run().Result))
	require.Equal(t, []bool{true}, *ran)
}
