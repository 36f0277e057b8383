package workflows

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"github.com/temporal-codemode/codemode/signals"
)

// counted is a metrics handler that keeps what it is told as one line each.
type counted struct {
	client.MetricsHandler
	tags  map[string]string
	lines *[]string
}

func (c counted) WithTags(tags map[string]string) client.MetricsHandler {
	c.tags = tags
	return c
}

func (c counted) Counter(name string) client.MetricsCounter { return counter{c, name} }

func (c counted) Timer(name string) client.MetricsTimer { return timer{c, name} }

type counter struct {
	counted
	name string
}

func (c counter) Inc(int64) {
	*c.lines = append(*c.lines, c.name+" "+c.tags["outcome"]+c.tags["status"]+c.tags["end"])
}

type timer struct {
	counted
	name string
}

func (c timer) Record(d time.Duration) {
	*c.lines = append(*c.lines, c.name+" "+c.tags["decision"]+" "+d.String())
}

func TestWhatIsCounted(t *testing.T) {
	var lines []string
	e := &execution{metrics: counted{lines: &lines}, calls: map[int]*call{}, updatedAt: 90_000}
	e.countPass(signals.PassBlocked)
	e.addInlineCall(signals.Entry{ID: 0, Connector: "c", Method: "m", Class: signals.Read})
	e.settle(&call{phase: running, rec: signals.Call{Seq: 1, Class: signals.Write}},
		signals.Given{ID: 1, Error: &signals.CallError{Name: signals.OutcomeUnknown}})
	e.settle(&call{phase: asking, rec: signals.Call{Seq: 2}},
		signals.Given{ID: 2, Error: &signals.CallError{Name: signals.RejectedError}})
	waited := &call{requestedAt: 30_000}
	e.countWait(waited, signals.Decision{Kind: signals.SignalApprove, Approved: true, At: 60_000})
	e.countWait(waited, signals.Decision{Kind: signals.SignalReject, At: 31_000})
	e.countWait(waited, signals.Decision{Kind: signals.SignalExpire, At: 90_000})
	e.countExecution(signals.Completed)
	require.Equal(t, []string{
		"codemode_passes blocked", "codemode_calls applied", "codemode_calls unknown", "codemode_calls refused",
		"codemode_approval_wait approved 30s", "codemode_approval_wait rejected 1s",
		"codemode_approval_wait expired 1m0s",
		"codemode_executions completed",
	}, lines)
}
