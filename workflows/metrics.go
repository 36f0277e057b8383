package workflows

import (
	"time"

	"github.com/temporal-codemode/codemode/signals"
)

// What executions count, through the SDK's metrics handler; it is silent while history is replayed.
const (
	metricExecutions   = "codemode_executions"    // by status
	metricPasses       = "codemode_passes"        // by end
	metricCalls        = "codemode_calls"         // by connector, class and outcome
	metricApprovalWait = "codemode_approval_wait" // by decision
)

func (e *execution) countExecution(status signals.Status) {
	e.metrics.WithTags(map[string]string{"status": string(status)}).Counter(metricExecutions).Inc(1)
}

func (e *execution) countPass(end signals.PassEnd) {
	e.metrics.WithTags(map[string]string{"end": string(end)}).Counter(metricPasses).Inc(1)
}

func (e *execution) countCall(c signals.Call) {
	outcome := string(c.State)
	switch {
	case c.ErrorName == signals.OutcomeUnknown:
		outcome = "unknown"
	case c.State == signals.Reverted: // by a person: calls are counted before any rollback
		outcome = "refused"
	}
	e.metrics.WithTags(map[string]string{"connector": c.Connector, "class": string(c.Class),
		"outcome": outcome}).Counter(metricCalls).Inc(1)
}

// countWait measures how long a person was waited for.
func (e *execution) countWait(c *call, d signals.Decision) {
	name := map[string]string{
		signals.SignalApprove: "approved", signals.SignalReject: "rejected", signals.SignalExpire: "expired",
		signals.SignalRetry: "retried", signals.SignalResolve: "resolved",
	}[d.Kind]
	wait := time.Duration(d.At-c.requestedAt) * time.Millisecond
	e.metrics.WithTags(map[string]string{"decision": name}).Timer(metricApprovalWait).Record(wait)
}
