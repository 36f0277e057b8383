package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/signals"
	"github.com/temporal-codemode/codemode/testenv/tracker"
)

// run runs a program and gives its outcome.
func run(t *testing.T, code int, program string, args ...string) signals.Outcome {
	t.Helper()
	r := starter(t, program, append([]string{"run", "-", "--json"}, args...)...)
	require.Equal(t, code, r.code, r.stdout+r.stderr)
	return decode[signals.Outcome](t, r)
}

func outcome(t *testing.T, code int, args ...string) signals.Outcome {
	t.Helper()
	r := starter(t, "", append(args, "--json")...)
	require.Equal(t, code, r.code, r.stdout+r.stderr)
	return decode[signals.Outcome](t, r)
}

// fresh makes a name that no earlier run of the test used on the same server.
func fresh(name string) string { return fmt.Sprintf("%s-%d", name, names.Add(1)) }

var names atomic.Int64

// text runs a verb for people.
func text(t *testing.T, code int, args ...string) string {
	t.Helper()
	r := starter(t, "", args...)
	require.Equal(t, code, r.code, r.stdout+r.stderr)
	return r.stdout
}

const creates = `const issue = await tracker.create_issue({title: %q}); return issue.title`

func create(title string) string { return strings.Replace(creates, "%q", `"`+title+`"`, 1) }

// effects counts the issues of a title that exist or did.
func effects(t *testing.T, title string) int {
	t.Helper()
	s, err := tracker.Load(state)
	require.NoError(t, err)
	n := 0
	for _, e := range s.Effects {
		if e.Tool == "create_issue" && strings.Contains(string(e.Args), `"`+title+`"`) {
			n++
		}
	}
	return n
}

func TestRunCompletes(t *testing.T) {
	o := run(t, 0, `console.log("hi"); const {issues} = await tracker.list_issues({state: "closed"}); return issues.map(i => i.id)`)
	require.Equal(t, signals.Completed, o.Status)
	require.JSONEq(t, `[7, 8]`, string(o.Result))
	require.Equal(t, []string{"hi"}, o.Logs)
	require.Len(t, o.Calls, 1)
	require.Equal(t, "list_issues", o.Calls[0].Method)
	require.Regexp(t, `^exec_\d{16}_`, o.ExecutionID)
}

func TestRunFileForPeople(t *testing.T) {
	id := fresh("people")
	file := filepath.Join(t.TempDir(), "program.ts")
	require.NoError(t, os.WriteFile(file,
		[]byte("console.log('hello');\nconst i: {title: string} = await tracker.issue({id: 8});\nreturn {title: "+
			"i.title}"), 0o600))
	out := text(t, 0, "run", file, "--id", id)
	require.Equal(t, "✓ completed  "+
		id+"\n{\n  \"title\": \"Keyboard shortcuts\"\n}\nconsole:\n  hello\n1 call: 1 applied\n", out)
}

func TestRunWithoutResult(t *testing.T) {
	o := run(t, 0, "const issue = await tracker.issue({id: 1})")
	require.Empty(t, o.Result)
	require.Contains(t, text(t, 0, "wait", o.ExecutionID), "no result\n")
}

func TestRunFails(t *testing.T) {
	id := fresh("fails")
	o := run(t, 1, "console.log('before')\nconst a = 1;\n  nowhere.get_item({})\n", "--id", id)
	require.Equal(t, signals.Failed, o.Status)
	require.Equal(t, "Code execution failed: nowhere is not defined (the only globals available in the sandbox "+
		"are: tracker, codemode)\n\nConsole output:\nbefore", o.Error)
	require.Equal(t, 3, o.Position.Line)
	out := text(t, 1, "wait", id)
	require.Contains(t, out, "✗ error  "+id+"\n"+o.Error+"\nat 3:")
	require.Regexp(t, `\n    3 \|   nowhere.get_item\({}\)\n +\^\n$`, out)
}

func TestRunSyntaxError(t *testing.T) {
	o := run(t, 1, "const a = 1;\nconst b = (2;\nreturn a")
	require.Equal(t, signals.Failed, o.Status)
	require.NotNil(t, o.Position, o.Error)
	require.Equal(t, 2, o.Position.Line, o.Error)
}

func TestRunTooLarge(t *testing.T) {
	o := run(t, 1, "// "+strings.Repeat("x", 1_000_000), "--id", "too-large")
	require.Equal(t, signals.Failed, o.Status)
	require.Contains(t, o.Error,
		"The execution code is too large to record durably (1000003 bytes > 1000000 byte limit).")
	require.Equal(t, "", o.ExecutionID)
	require.Equal(t, 4, starter(t, "", "show", "too-large").code, "nothing was started")
	r := starter(t, "// "+strings.Repeat("x", 1_000_000), "run", "-", "--no-wait", "--json")
	require.Equal(t, 1, r.code)
	require.Equal(t, o.Error, decode[signals.Outcome](t, r).Error)
}

func TestRunExistingID(t *testing.T) {
	id := fresh("once")
	first := run(t, 0, "return 1", "--id", id, "--purpose", "count")
	again := run(t, 0, "return 2", "--id", id)
	require.Equal(t, first, again)
	r := starter(t, "return 3", "run", "-", "--id", id, "--no-wait", "--json")
	require.Equal(t, 0, r.code)
	require.Equal(t, `{"executionId":"`+id+`","status":"completed"}`+"\n", r.stdout)
	record := decode[signals.Record](t, starter(t, "", "show", id, "--json"))
	require.Equal(t, "return 1", record.Code)
	require.Equal(t, "count", record.Purpose)
}

func TestRunNoWait(t *testing.T) {
	id := fresh("no-wait")
	r := starter(t, create("no wait"), "run", "-", "--id", id, "--no-wait", "--json")
	require.Equal(t, 0, r.code, r.stderr)
	require.Regexp(t, `^\{"executionId":"`+id+`","status":"(running|paused)"\}\n$`, r.stdout,
		"it may be paused by then")
	require.Equal(t, signals.Paused, outcome(t, 3, "wait", id).Status)
	r = starter(t, "", "run", "-", "--id", id, "--no-wait", "--json")
	require.Equal(t, `{"executionId":"`+id+`","status":"paused"}`+"\n", r.stdout)
	require.Equal(t, 0, r.code)
	require.Equal(t, "true\n", starter(t, "", "cancel", id, "--json").stdout)
}

const sleeps = "await new Promise(done => setTimeout(done, 3_600_000)); return 1"

func TestRunTimeoutBoundsTheWaiting(t *testing.T) {
	id := fresh("sleeper")
	o := run(t, 3, sleeps, "--id", id, "--timeout", "1s")
	require.Equal(t, signals.Running, o.Status)
	require.Equal(t, id, o.ExecutionID)
	require.Equal(t, []signals.Call{}, o.Calls)
	require.Equal(t, signals.Running, decode[signals.Record](t, starter(t, "", "show", id, "--json")).Status)
	require.Equal(t, signals.Running, outcome(t, 3, "wait", id, "--timeout", "100ms").Status)
	require.Contains(t, text(t, 3, "wait", id, "--timeout", "100ms"), "it goes on; wait for it: ")

	r := starter(t, "", "cancel", id, "--json")
	require.Equal(t, "true\n", r.stdout)
	require.Equal(t, 0, r.code)
	ended := outcome(t, 1, "wait", id)
	require.Equal(t, signals.Failed, ended.Status)
	require.Equal(t, "Execution cancelled", ended.Error)
	r = starter(t, "", "cancel", id, "--json")
	require.Equal(t, "false\n", r.stdout)
	require.Equal(t, 1, r.code)
	require.Equal(t, "Execution \""+id+"\" has ended already (status: error).\n", text(t, 1, "cancel", id))
}

func TestApprove(t *testing.T) {
	title := fresh("approved")
	o := run(t, 3, create(title))
	require.Equal(t, signals.Paused, o.Status)
	require.Len(t, o.Pending, 1)
	require.Equal(t, 0, effects(t, title))
	done := outcome(t, 0, "approve", o.ExecutionID, "--note", "fine")
	require.Equal(t, signals.Completed, done.Status)
	require.Equal(t, `"`+title+`"`, string(done.Result))
	require.Equal(t, 1, effects(t, title))
	call := done.Calls[0]
	require.Equal(t, "ada", call.DecidedBy, "by $USER where nobody is named")
	require.Equal(t, "fine", call.Note)

	again := outcome(t, 1, "approve", o.ExecutionID)
	require.Equal(t, signals.Failed, again.Status)
	require.Equal(t, `Execution "`+o.ExecutionID+
		`" is not paused (status: completed); only a paused run can be approved.`, again.Error)
	require.Equal(t, 1, effects(t, title))
}

const createsTwo = `const [a, b] = await Promise.all([tracker.create_issue({title: "A-%"}), tracker.create_issue({title: "B-%"})]); return [a.title, b.title]`

func two(name string) string { return strings.ReplaceAll(createsTwo, "%", name) }

func TestApproveAllOfSeveral(t *testing.T) {
	name := fresh("all")
	o := run(t, 3, two(name))
	require.Len(t, o.Pending, 2)
	done := outcome(t, 0, "approve", o.ExecutionID, "--by", "eve")
	require.JSONEq(t, `["A-`+name+`", "B-`+name+`"]`, string(done.Result))
	require.Equal(t, "eve", done.Calls[0].DecidedBy)
	require.Equal(t, "eve", done.Calls[1].DecidedBy)
	require.Equal(t, 1, effects(t, "A-"+name))
	require.Equal(t, 1, effects(t, "B-"+name))
}

func TestApproveBySeq(t *testing.T) {
	name := fresh("seq")
	o := run(t, 3, two(name))
	wrong := outcome(t, 1, "approve", o.ExecutionID, "--seq", "1", "--seq", "7")
	require.Equal(t, `Call 7 of execution "`+o.ExecutionID+`" is not pending.`, wrong.Error)
	require.Len(t, decode[[]signals.PendingAction](t, starter(t, "", "pending", o.ExecutionID, "--json")), 2,
		"a wrong number approves nothing")
	half := outcome(t, 3, "approve", o.ExecutionID, "--seq", "1")
	require.Len(t, half.Pending, 1)
	require.Equal(t, 0, half.Pending[0].Seq)
	require.Equal(t, 1, effects(t, "B-"+name))
	r := starter(t, "", "approve", o.ExecutionID, "--seq", "0", "--no-wait", "--json")
	require.Equal(t, `{"executionId":"`+o.ExecutionID+`","status":"running"}`+"\n", r.stdout)
	require.Equal(t, 0, r.code)
	require.Equal(t, signals.Completed, outcome(t, 0, "wait", o.ExecutionID, "--after", "3").Status)
}

func TestApproveWithEditedArguments(t *testing.T) {
	name := fresh("edit")
	o := run(t, 3, two(name))
	r := starter(t, "", "approve", o.ExecutionID, "--args", `{"title": "edited-`+name+`"}`, "--json")
	require.Equal(t, 2, r.code)
	require.Contains(t, decode[signals.Outcome](t, r).Error,
		"--args edits one call, and several are pending (0 tracker.create_issue, 1 tracker.create_issue): say "+
			"which with --seq")
	half := outcome(t, 3, "approve", o.ExecutionID, "--seq", "0", "--args", `{"title": "edited-`+name+`"}`)
	require.JSONEq(t, `{"title": "edited-`+name+`"}`, string(half.Calls[0].EditedArgs))
	require.Equal(t, 1, effects(t, "edited-"+name))
	require.Equal(t, 0, effects(t, "A-"+name))
	bad := outcome(t, 1, "approve", o.ExecutionID, "--seq", "1", "--args", `{"title": 5}`)
	require.Contains(t, bad.Error, "Invalid arguments for tracker.create_issue: title")
	require.Equal(t, "true\n", starter(t, "", "reject", o.ExecutionID, "--json").stdout)
}

func TestApprovalByExpression(t *testing.T) {
	o := run(t, 3, "await tracker.delete_issue({id: 3}); return await tracker.delete_issue({id: 5})")
	require.Equal(t, signals.Applied, o.Calls[0].State, "3 is not above 4")
	require.Len(t, o.Pending, 1)
	require.JSONEq(t, `{"id": 5}`, string(o.Pending[0].Args))
	require.Equal(t, signals.Completed, outcome(t, 0, "approve", o.ExecutionID).Status)
}

func TestHiddenAndRenamed(t *testing.T) {
	o := run(t, 1, "return await tracker.list_comments({id: 1})")
	require.Contains(t, o.Error, `Tool "list_comments" not found on tracker`)
	o = run(t, 1, "return await tracker.get_issue({id: 1})")
	require.Contains(t, o.Error, `Tool "get_issue" not found on tracker`)
}

func TestReject(t *testing.T) {
	title := fresh("rejected")
	o := run(t, 3, create(title))
	r := starter(t, "", "reject", o.ExecutionID, "--reason", "too vague", "--by", "eve", "--json")
	require.Equal(t, "true\n", r.stdout)
	require.Equal(t, 0, r.code)
	ended := outcome(t, 1, "wait", o.ExecutionID)
	require.Equal(t, signals.Rejected, ended.Status)
	require.Contains(t, ended.Error, "too vague")
	require.Equal(t, "eve", ended.Calls[0].DecidedBy)
	require.Equal(t, 0, effects(t, title))
	r = starter(t, "", "reject", o.ExecutionID, "--json")
	require.Equal(t, "false\n", r.stdout)
	require.Equal(t, 1, r.code)
	require.Contains(t, text(t, 1, "reject", o.ExecutionID), "is not paused (status: rejected)")
}

func TestRejectOneOfSeveral(t *testing.T) {
	o := run(t, 3, two("one"))
	r := starter(t, "", "reject", o.ExecutionID, "--json")
	require.Equal(t, 2, r.code)
	require.Equal(t, "false\n", r.stdout)
	require.Contains(t, r.stderr,
		"several calls are pending (0 tracker.create_issue, 1 tracker.create_issue): say which with --seq")
	r = starter(t, "", "reject", o.ExecutionID, "--seq", "9", "--json")
	require.Equal(t, "false\n", r.stdout)
	require.Equal(t, 1, r.code)
	require.Equal(t, "rejected\n", text(t, 0, "reject", o.ExecutionID, "--seq", "1"))
	require.Equal(t, signals.Rejected, outcome(t, 1, "wait", o.ExecutionID).Status)
}

func TestRejectAndContinue(t *testing.T) {
	o := run(t, 3, `try { await tracker.create_issue({title: "no"}) } catch (e) { return e.name }`)
	require.Equal(t, "true\n", starter(t, "", "reject", o.ExecutionID, "--continue", "--json").stdout)
	done := outcome(t, 0, "wait", o.ExecutionID, "--after", "1")
	require.Equal(t, `"RejectedError"`, string(done.Result))
}

func TestUnknownExecution(t *testing.T) {
	for _, id := range []string{"exec_none", "a/b"} {
		want := `No execution "` + id + `" to resume.`
		for _, verb := range []string{"approve", "wait"} {
			o := outcome(t, 4, verb, id)
			require.Equal(t, signals.ErrorOutcome(id, want), o)
			require.Contains(t, starter(t, "", verb, id).stderr, `there is no execution "`+id+`"`)
		}
		for verb, document := range map[string]string{"reject": "false\n", "cancel": "false\n", "show": "null\n",
			"pending": "[]\n"} {
			r := starter(t, "", verb, id, "--json")
			require.Equal(t, 4, r.code, verb)
			require.Equal(t, document, r.stdout, verb)
			require.Contains(t, starter(t, "", verb, id).stderr, `there is no execution "`+id+`"`)
		}
	}
}

func TestPending(t *testing.T) {
	id := fresh("pending-1")
	long := strings.Repeat("long ", 30)
	o := run(t, 3, create(long), "--id", id)
	list := decode[[]signals.PendingAction](t, starter(t, "", "pending", id, "--json"))
	require.Equal(t, o.Pending, list)
	require.NotEmpty(t, list[0].ArgsDigest)
	require.InDelta(t, time.Now().Add(24*time.Hour).UnixMilli(), list[0].ExpiresAt, float64(time.Minute.Milliseconds()))
	require.Eventually(t, func() bool {
		all := decode[[]signals.PendingAction](t, starter(t, "", "pending", "--json"))
		for _, a := range all {
			if a.ExecutionID == id {
				return true
			}
		}
		return false
	}, 10*time.Second, 50*time.Millisecond, "lists lag")
	out := text(t, 0, "pending", id)
	require.Contains(t, out, "‖ paused  "+id+"\nSEQ  CALL                  ARGUMENTS")
	require.Contains(t, out, `{"title":"long`)
	require.Contains(t, out, strings.TrimSpace(long), "nobody approves what was not shown")
	require.Contains(t, out, "approve 0:  "+filepath.Join(binaries, "starter")+" approve "+id+" --seq 0\n")
	require.Equal(t, 0, starter(t, "", "cancel", id).code)
	r := starter(t, "", "pending", id, "--json")
	require.Equal(t, "[]\n", r.stdout)
	require.Equal(t, 0, r.code)
	require.Equal(t, "nothing is pending\n", text(t, 0, "pending", id))
}

func TestListAndShow(t *testing.T) {
	waits := fresh("listed-paused")
	done := fresh("listed")
	run(t, 0, "return await tracker.issue({id: 2})", "--id", done, "--purpose", "look at issue 2")
	paused := run(t, 3, create(done), "--id", waits)
	list := func(args ...string) (ids []string) {
		r := starter(t, "", append([]string{"list", "--json"}, args...)...)
		require.Equal(t, 0, r.code, r.stderr)
		for _, record := range decode[[]signals.Record](t, r) {
			require.Empty(t, record.Log)
			ids = append(ids, record.ID)
		}
		return ids
	}
	require.Eventually(t, func() bool {
		ids := list("--limit", "2")
		return len(ids) == 2 && ids[0] == waits && ids[1] == done
	}, 10*time.Second, 50*time.Millisecond, "newest first")
	require.Eventually(t, func() bool { ids := list("--status", "paused"); return len(ids) > 0 && ids[0] == waits },
		10*time.Second, 50*time.Millisecond)
	require.NotContains(t, list("--status", "completed"), waits)
	require.Len(t, list("--limit", "1"), 1)
	require.Equal(t, []signals.Record{},
		decode[[]signals.Record](t, starter(t, "", "list", "--status", "rolled_back", "--json")))

	record := decode[signals.Record](t, starter(t, "", "show", done, "--json"))
	require.Equal(t, signals.Completed, record.Status)
	require.Equal(t, []string{"tracker"}, record.Connectors)
	require.Equal(t, "default", record.Runtime)
	require.Len(t, record.Log, 1)
	var issue tracker.Issue
	require.NoError(t, json.Unmarshal(record.Log[0].Result, &issue))
	require.Equal(t, "Export to CSV loses umlauts", issue.Title)
	out := text(t, 0, "show", done)
	require.Contains(t, out, "look at issue 2")
	require.Contains(t, out, "    1 | return await tracker.issue({id: 2})\n")
	require.Contains(t, out, "tracker.issue")
	require.Contains(t, text(t, 0, "list"), "look at issue 2")
	require.Contains(t, text(t, 0, "show", waits), "decide: ")
	require.Equal(t, signals.Pending,
		decode[signals.Record](t, starter(t, "", "show", paused.ExecutionID, "--json")).Log[0].State)
	require.Equal(t, "no executions\n", text(t, 0, "list", "--runtime", "empty"))
	require.Equal(t, "true\n", starter(t, "", "cancel", waits, "--json").stdout)
}
