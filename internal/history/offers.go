package history

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/temporal-codemode/codemode/signals"
	"github.com/temporal-codemode/codemode/signals/payload"
)

// Open reports whether the run has not ended.
func (h *History) Open() bool { return h.Result == nil && h.Closed == "" }

// NeverBegan reports whether the execution was to continue another and did not come to that.
func (h *History) NeverBegan() bool {
	return h.Input.Continues != nil && h.Input.Continued == nil && len(h.earlier) == 0
}

// Final folds the log of a closed run to its end.
func (h *History) Final() (*signals.Log, []signals.Call, error) {
	log, err := h.Log()
	if err != nil {
		return nil, nil, err
	}
	settled := h.Loose(log)
	if h.Result != nil {
		settled = h.Result.Final
	}
	if err := log.Give(settled, h.Source); err != nil {
		return nil, nil, err
	}
	calls := log.Calls()
	if h.Result != nil {
		signals.End(calls, h.Result.Ended)
	}
	return log, calls, nil
}

// Offers are what the closed execution offers to one that continues it.
func (h *History) Offers(executionID string) (*signals.Log, []signals.Offer, error) {
	log, calls, err := h.Final()
	if err != nil {
		return nil, nil, fmt.Errorf("fold the log of %s: %w", executionID, err)
	}
	for i := range calls {
		if in, ok := h.made(calls[i].Seq); ok { // what it was made with, whatever people decided before
			if calls[i].EditedArgs = nil; in.Edited {
				calls[i].EditedArgs = in.Args
			}
		}
	}
	return log, log.OffersOf(executionID, calls, h.tookEffect(log, executionID)), nil
}

// tookEffect tells of calls that failed why they must not be made again all the same; nil of others.
func (h *History) tookEffect(log *signals.Log, executionID string) func(signals.Call) *signals.CallError {
	failed := map[int]*signals.CallError{}
	for _, e := range log.Order {
		if !e.Timer && e.Error != nil {
			failed[e.ID] = e.Error
		}
	}
	if h.Result != nil {
		for _, ended := range h.Result.Ended {
			failed[ended.Seq] = ended.Error
		}
	}
	return func(c signals.Call) *signals.CallError {
		err := failed[c.Seq]
		switch {
		case err != nil && err.Name == signals.OutcomeUnknown:
			return err
		case c.State == signals.Errored && (h.failedAs(c.Seq) == signals.ErrorTooLarge || h.answeredByTarget(c.Seq)):
			return &signals.CallError{Message: fmt.Sprintf("%s.%s took effect before and is not made again, but what "+
				"it answered was too large to record: %s", c.Connector, c.Method, c.Error)}
		case h.Closed != "" && !log.Settled(c.Seq):
			return h.interrupted(c, executionID)
		}
		return nil
	}
}

// failedAs is the type of the error that the newest attempt of a call failed with.
func (h *History) failedAs(seq int) string {
	a := h.newest(seq)
	if a == nil || a.failure == nil {
		return ""
	}
	return a.failure.GetApplicationFailureInfo().GetType()
}

// newest is the last activity that was to make a call.
func (h *History) newest(seq int) *activity {
	var last *activity
	for try := 1; ; try++ {
		a := h.attempt(seq, try)
		if a == nil {
			return last
		}
		last = a
	}
}

// interrupted is the error of a call that ran when its workflow was ended from outside; nil if it did not.
func (h *History) interrupted(c signals.Call, executionID string) *signals.CallError {
	in, made := h.made(c.Seq)
	final := []string{signals.ErrorConnector, signals.ErrorInvalid, signals.ErrorRetryable, signals.ErrorUnavailable}
	if !made || slices.Contains(final, h.failedAs(c.Seq)) {
		return nil
	}
	if a := h.newest(c.Seq); signals.IsTargetID(a.id) && a.failure != nil &&
		payload.TargetError(a.failure, h.dc.FromPayloads) != nil {
		return nil
	}
	key := cmp.Or(in.Key, signals.IdempotencyKey(executionID, c.Seq, c.Connector, c.Method, in.Args))
	return signals.UnknownOutcome(c.Connector+"."+c.Method, key)
}
