package signals

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func made(method string, class Class, state CallState) Call {
	return Call{Connector: "tracker", Method: method, Class: class, State: state}
}

// What a model reads after a program that did not complete: what took effect, and how to go on.
func TestHowToGoOn(t *testing.T) {
	write, unknown := made("create", Write, Applied), made("pay", Write, Errored)
	unknown.ErrorName = OutcomeUnknown
	read, failed := made("list", Read, Applied), made("close", Write, Errored)
	const (
		on   = `To go on, run the corrected code with "continues": "exec_1": `
		ask  = `Ask the user what is wanted. To go on then, run the corrected code with "continues": "exec_1": `
		done = "that is not done again."
	)
	var many []Call
	for n := range 8 {
		many = append(many, made(fmt.Sprint("m", n), Idempotent, Applied), made(fmt.Sprint("m", n), Write, Applied))
	}
	for name, c := range map[string]struct {
		status Status
		calls  []Call
		pass   int
		want   string
	}{
		"nothing made": {Failed, nil, 1, on + "calls that were made are not made again."},
		"reads and failed": {
			Failed, []Call{read, failed}, 1, on + "calls that were made are not made again.",
		},
		"one write": {
			Failed, []Call{read, write}, 1, "tracker.create took effect. " + on + done,
		},
		"three of one": {
			Failed, []Call{write, write, write}, 1, "tracker.create ×3 took effect. " + on + done,
		},
		"unknown": {
			Failed, []Call{unknown}, 1, "tracker.pay may have taken effect: nobody knows. " + on + done,
		},
		"both": {Failed, []Call{write, unknown}, 1, "tracker.create took effect; " +
			"tracker.pay may have taken effect: nobody knows. " + on + done},
		"many": {Failed, many, 1, "tracker.m0 ×2, tracker.m1 ×2, tracker.m2 ×2, " +
			"tracker.m3 ×2, tracker.m4 ×2 and 6 more calls took effect. " + on + done},
		"rejected": {
			Rejected, []Call{write, made("refund", Write, Reverted)}, 2, "tracker.create took effect. " + ask + done,
		},
		"rejected at once": {
			Rejected, []Call{made("refund", Write, Reverted)}, 2, ask + "calls that were made are not made again.",
		},
		"nothing has run": {Failed, nil, 0, ""},
		"nothing is kept": {Failed, []Call{write}, 0, "tracker.create took effect. " +
			"Leave it out of the corrected code, which would do it again."},
		"completed": {Completed, []Call{write}, 1, ""},
		"two names": {Failed, []Call{write, made("x", Write, Applied)}, 1,
			"tracker.create and tracker.x took effect. " + on + done},
		"a step is no call": {Failed, []Call{{Connector: "__step", Method: "s", Class: Read, State: Applied}}, 1,
			on + "calls that were made are not made again."},
	} {
		t.Run(name, func(t *testing.T) {
			got := Outcome{Status: c.status, ExecutionID: "exec_1", Pass: c.pass, Calls: c.calls}.HowToGoOn()
			require.Equal(t, c.want, got)
		})
	}
	long := made(strings.Repeat("é", 200), Write, Applied)
	require.Less(t, len(Outcome{Calls: []Call{long}}.Effects()), 100)
}
