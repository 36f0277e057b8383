package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode"
	"github.com/temporal-codemode/codemode/signals"
)

// rendered is what a terminal, or with color off a pipe, is sent.
func rendered(color bool, show func(p *page)) string {
	var b strings.Builder
	p := (&screen{Writer: &b, color: color, terminal: color}).page()
	show(p)
	p.flush()
	return b.String()
}

func testCLI(color bool) (*cli, *strings.Builder, *strings.Builder) {
	var out, errs strings.Builder
	return &cli{out: &screen{Writer: &out, color: color}, err: &screen{Writer: &errs, color: color}, name: "starter",
		runtime: "default"}, &out, &errs
}

var samples = []signals.Outcome{
	{Status: signals.Completed, ExecutionID: "e", Result: json.RawMessage(`{"a":[1,2]}`),
		Logs:  []string{"one", "two\nthree"},
		Calls: []signals.Call{{State: signals.Applied}, {State: signals.Errored}, {State: signals.Applied}}},
	{Status: signals.Failed, ExecutionID: "e", Error: "Code execution failed: x",
		Position: &signals.Position{Line: 2, Column: 4}},
	{Status: signals.Paused, ExecutionID: "e",
		Pending: []signals.PendingAction{{ExecutionID: "e", Seq: 1, Connector: "c", Method: "m",
			Args: json.RawMessage(`{"a":1}`)}}},
	{Status: signals.Rejected, ExecutionID: "e", Error: "no"},
	{Status: signals.RolledBack, ExecutionID: "e"},
	{Status: signals.Running, ExecutionID: "e"},
}

const sampleSource = "one\nab\tcd\nthree"

func TestShowSaysWhoStartedAnExecution(t *testing.T) {
	c, _, _ := testCLI(false)
	text := rendered(false, func(p *page) {
		c.showRecord(p, &signals.Record{ID: "e", Caller: signals.Caller{StartedAs: "svc", OnBehalfOf: "ada"}})
	})
	require.Contains(t, text, "started by \"svc\" (authenticated), on behalf of \"ada\"\n")
	text = rendered(false, func(p *page) { c.showRecord(p, &signals.Record{ID: "e"}) })
	require.NotContains(t, text, "started by")
}

func TestColours(t *testing.T) {
	c, _, _ := testCLI(true)
	want := []string{
		"\x1b[32m✓ completed\x1b[0m  e\n{\n  \"a\": [\n    1,\n    2\n  ]\n}\n\x1b[2mconsole:\x1b[0m\n  one\n  " +
			"two\n  three\n\x1b[2m3 calls: 1 error, 2 applied\x1b[0m\n",
		"\x1b[31m✗ error\x1b[0m  e\n\x1b[31mCode execution failed: x\x1b[0m\n\x1b[2mat 2:4\x1b[0m\n    2 | ab " +
			"cd\n\x1b[31m           ^\x1b[0m\n",
		"\x1b[33m‖ paused\x1b[0m  e\n\n\x1b[2mSEQ  CALL  ARGUMENTS  EXPIRES\x1b[0m\n1    c.m   " +
			"{\"a\":1}\n\napprove 1:  starter approve e --seq 1\n\x1b[2mrefuse:     starter reject e --seq 1\x1b[0m\n",
		"\x1b[31m✗ rejected\x1b[0m  e\n\x1b[31mno\x1b[0m\n",
		"\x1b[33m↩ rolled_back\x1b[0m  e\n",
		"\x1b[33m… running\x1b[0m  e\n\x1b[2mit goes on; wait for it: starter wait e\x1b[0m\n",
	}
	for i, o := range samples {
		require.Equal(t, want[i], rendered(true, func(p *page) { c.showOutcome(p, o, sampleSource) }))
	}
}

func TestNoColoursInPipes(t *testing.T) {
	c, out, errs := testCLI(false)
	for _, o := range samples {
		require.NotContains(t, rendered(false, func(p *page) { c.showOutcome(p, o, sampleSource) }), "\x1b")
	}
	c.showsEverything(t)
	require.NotContains(t, out.String()+errs.String(), "\x1b")
	require.NotEmpty(t, out.String())
	require.NotEmpty(t, errs.String())
}

// showsEverything says one of each.
func (c *cli) showsEverything(t *testing.T) {
	t.Helper()
	record := signals.Record{ID: "e", Status: signals.Paused, Code: "return 1", Purpose: "p", Error: "x",
		Log: samples[0].Calls}
	for _, a := range []answer{
		c.startedAnswer(samples[5]), booleanAnswer(true, "done", 0), booleanAnswer(false, "not done", 1),
		checksAnswer([]check{{Check: "server", OK: true, Detail: "d"}, {Check: "worker", Detail: "d", Fix: "f"}}),
		{text: func(p *page) { showList(p, []signals.Record{record}, time.Now()) }},
		{text: func(p *page) { c.showRecord(p, &record) }},
		{text: func(p *page) {
			c.showAllPending(p, append(samples[2].Pending, signals.PendingAction{ExecutionID: "f", Refused: "r"}))
		}},
	} {
		c.say(a)
	}
	c.fail(c.root(), usagef("wrong"))
	stop := c.err.live("nothing to see")
	stop()
}

func TestPagesHideNothingThatSteersATerminal(t *testing.T) {
	o := signals.Outcome{Status: signals.Paused, Logs: []string{"\x1b[2Jgone\r\u202e\u200btxt"},
		Pending: []signals.PendingAction{{Args: json.RawMessage("\"\u009b31m\"")}}}
	c, _, _ := testCLI(true)
	out := rendered(false, func(p *page) { c.showOutcome(p, o, "") })
	require.Contains(t, out, `\u001b[2Jgone\u000d\u202e\u200btxt`)
	require.Contains(t, out, `"\u009b31m"`)
}

func TestLongArgumentsAreShownInFull(t *testing.T) {
	c, _, _ := testCLI(false)
	long := strings.Repeat("ä", 100)
	out := rendered(false, func(p *page) {
		c.showPending(p, []signals.PendingAction{{ExecutionID: "e", Seq: 3, Connector: "c", Method: "m",
			Args: json.RawMessage(`{"a":"` + long + `"}`)}})
	})
	require.Contains(t, out, `{"a":"`+strings.Repeat("ä", 53)+"…\n")
	require.Contains(t, out, "arguments of 3 c.m:\n{\n  \"a\": \""+long+"\"\n}\n")
}

func TestHintsNameTheRuntime(t *testing.T) {
	c, _, _ := testCLI(false)
	c.runtime = "other"
	require.Equal(t, "starter approve e --seq 2 --runtime other", c.hint("approve", "e", "--seq", 2))
}

func TestFailureWithoutSource(t *testing.T) {
	at := &signals.Position{Line: 5, Column: 1}
	for _, source := range []string{"", "one line", strings.Repeat("\n", 4) + strings.Repeat("x", 301)} {
		require.Equal(t, "m\nat 5:1\n", rendered(false, func(p *page) { p.failure("m", at, source) }))
	}
}

func TestLiveLine(t *testing.T) {
	var b strings.Builder
	s := &screen{Writer: &b, terminal: true}
	ticks := make(chan time.Time)
	stop := s.liveOn(func() string { return "running e" }, ticks, func() {})
	began := time.Now()
	ticks <- began // too early to show
	ticks <- began.Add(2 * time.Second)
	ticks <- began.Add(3 * time.Second)
	stop()
	stop()
	require.Equal(t, "\r\x1b[K⠙ running e · 2s\r\x1b[K⠹ running e · 3s\r\x1b[K", b.String())
}

func TestLiveLineOfShortWaits(t *testing.T) {
	var b strings.Builder
	s := &screen{Writer: &b, terminal: true}
	ticks := make(chan time.Time)
	stop := s.liveOn(func() string { return "running e" }, ticks, func() {})
	ticks <- time.Now()
	stop()
	require.Empty(t, b.String())
}

func TestExpiry(t *testing.T) {
	now := time.UnixMilli(1_000_000)
	for at, want := range map[time.Duration]string{
		-time.Second: "now", 90 * time.Second: "in 90 s", 5 * time.Minute: "in 5 min",
		23*time.Hour + 59*time.Minute: "in 24 h", 72 * time.Hour: "in 3 d",
	} {
		require.Equal(t, want, expiry(now.Add(at).UnixMilli(), now))
	}
	require.Empty(t, expiry(0, now))
}

func TestAsksJSON(t *testing.T) {
	for args, want := range map[string]bool{
		"list --json": true, "list": false, "--json=false list": false, "--json=true": true, "--json=x": true,
		"run -- --json": false, "--json --json=0": false,
	} {
		require.Equal(t, want, asksJSON(strings.Fields(args)), args)
	}
}

func TestApprovalsAreBoundToWhatWasSeen(t *testing.T) {
	pending := []signals.PendingAction{
		{Seq: 2, ArgsDigest: "d2"}, {Seq: 3, ArgsDigest: "d3", Resolution: signals.ByClient},
		{Seq: 4, ArgsDigest: "d4", Reason: signals.ReasonUnknown}, {Seq: 5, ArgsDigest: "d5"},
	}
	approved := func(f approveFlags) []signals.Approve {
		m, err := f.message(pending)
		require.NoError(t, err)
		var list []signals.Approve
		for _, d := range m.Decisions {
			list = append(list, *d.Approve)
		}
		return list
	}
	require.Equal(t, []signals.Approve{{Seqs: []int{2}, ArgsDigest: "d2", By: "b"},
		{Seqs: []int{5}, ArgsDigest: "d5", By: "b"}},
		approved(approveFlags{by: "b"}), "what waits for something else is left out")
	require.Equal(t, []signals.Approve{{Seqs: []int{5}, ArgsDigest: "d5"}, {Seqs: []int{7}, ArgsDigest: unseen}},
		approved(approveFlags{seqs: []int{7, 5, 5}}))
	require.Equal(t, []signals.Approve{{Seqs: []int{5}, ArgsDigest: "d5", Args: json.RawMessage(`{}`)}},
		approved(approveFlags{seqs: []int{5}, args: `{}`}))
	_, err := approveFlags{args: `{}`}.message(pending)
	require.ErrorContains(t, err, "say which with --seq")
}

func TestPendingCallsSayWhatTheyWaitFor(t *testing.T) {
	out := &bytes.Buffer{}
	c := &cli{name: "starter", runtime: signals.DefaultRuntime, out: &screen{Writer: out}}
	p := c.out.page()
	c.showPending(p, []signals.PendingAction{
		{ExecutionID: "e", Seq: 0, Connector: "c", Method: "ask", ApprovalsNeeded: 2, ApprovedBy: []string{"ada"}},
		{ExecutionID: "e", Seq: 1, Connector: "c", Method: "pick", Resolution: signals.ByClient},
		{ExecutionID: "e", Seq: 2, Connector: "c", Method: "pay", Reason: signals.ReasonUnknown,
			Error: &signals.CallError{Message: "The outcome is unknown."}},
	})
	p.flush()
	for _, want := range []string{
		"0 needs 2 approvals by different people; so far: ada\napprove 0:  starter approve e --seq 0\n",
		"resolve 1:  starter resolve e --seq 1 --result JSON\n",
		"The outcome is unknown.\nretry 2:    starter retry e --seq 2\n",
	} {
		require.Contains(t, out.String(), want)
	}
}

func TestExitCodes(t *testing.T) {
	for want, err := range map[int]error{
		exitUsage: usagef("x"), exitNobody: &codemode.NoWorkerError{}, exitNotFound: codemode.ErrNotFound,
		exitError: json.Unmarshal([]byte("{"), new(any)),
	} {
		require.Equal(t, want, exitCode(err))
	}
	require.Equal(t, exitDone, outcomeCode(signals.Outcome{Status: signals.RolledBack}))
	require.Equal(t, exitError, outcomeCode(signals.Outcome{Status: signals.Rejected}))
	require.Equal(t, exitPaused, outcomeCode(signals.Outcome{Status: signals.Running}))
}
