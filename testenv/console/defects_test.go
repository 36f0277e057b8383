package console

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/signals"
	"github.com/temporal-codemode/codemode/starter/console"
)

func (d *desk) decide(decisions ...string) []map[string]any {
	d.t.Helper()
	status, body := d.request("POST", "/api/v1/decide", `{"decisions":[`+strings.Join(decisions, ",")+`]}`,
		map[string]string{"Authorization": "Bearer " + string(d.console.Key), "Content-Type": "application/json"})
	require.Equal(d.t, 200, status, body)
	var answer struct{ Results []map[string]any }
	require.NoError(d.t, json.Unmarshal([]byte(body), &answer))
	return answer.Results
}

// Calls that never ran, and calls that were undone, have words of their own, and the end of an execution a name.
func TestThePageSaysHowCallsEnded(t *testing.T) {
	d := open(t, console.Options{})
	o := d.pause(`await Promise.all([bank.pay({ to: "Ann", amount: 1 }), bank.post({ n: 1 })])`)
	d.decide(fmt.Sprintf(`{"action":"cancel","executionId":%q,"note":"wrong month"}`, o.ExecutionID))
	d.ended(o.ExecutionID)
	p := d.tab("/executions/" + d.runtime + "/" + o.ExecutionID)
	p.sees("wrong month")
	p.sees("by ada")
	require.Contains(t, p.text("#call-0"), "not made")
	require.NotContains(t, eval[string](p, "document.body.innerText"), "reverted")

	o = d.pause(`await bank.post({ n: 1 })`)
	d.decide(fmt.Sprintf(`{"action":"reject","executionId":%q,"seq":0,"reason":"not this one"}`, o.ExecutionID))
	d.ended(o.ExecutionID)
	p.open("/executions/" + d.runtime + "/" + o.ExecutionID)
	require.Contains(t, p.text("#call-0"), "rejected")
	require.Contains(t, p.text(".timeline"), "ended by ada")
	require.Contains(t, p.text(".timeline"), "not this one")

	o = d.pause(`return await bank.pay({ to: "Ann", amount: 1 })`)
	_, err := d.client.Approve(d.context(), o.ExecutionID, signals.Approve{By: "ada"})
	require.NoError(t, err)
	_, err = d.client.Rollback(d.context(), o.ExecutionID, signals.Rollback{By: "ada"})
	require.NoError(t, err)
	p.open("/executions/" + d.runtime + "/" + o.ExecutionID)
	require.Contains(t, p.text("#call-0"), "undone")
	require.Contains(t, p.text(".timeline"), "approved #0 bank.pay by ada")
}

// A person's answer is told as one.
func TestTheTimelineTellsWhoGaveAResult(t *testing.T) {
	d := open(t, console.Options{})
	o := d.pause(`return await bank.ask({ question: "Which colour?" })`)
	d.decide(fmt.Sprintf(`{"action":"resolve","executionId":%q,"seq":0,"result":"green"}`, o.ExecutionID))
	d.ended(o.ExecutionID)
	p := d.tab("/executions/" + d.runtime + "/" + o.ExecutionID)
	story := p.text(".timeline")
	require.Contains(t, story, "given its result #0 bank.ask by ada")
	require.Contains(t, story, "a person gave the result of #0")
	require.NotContains(t, story, "the workflow made #0")
}

// Edited arguments that do not match the schema are refused by the API, too.
func TestTheAPIRefusesInvalidEdits(t *testing.T) {
	d := open(t, console.Options{})
	o := d.pause(`return await bank.pay({ to: "Ann", amount: 1 })`)
	results := d.decide(fmt.Sprintf(`{"action":"approve","executionId":%q,"seq":0,"argsDigest":%q,"args":{"to":"x"}}`,
		o.ExecutionID, o.Pending[0].ArgsDigest))
	require.Equal(t, false, results[0]["accepted"])
	require.Contains(t, results[0]["error"], "amount")
	require.Empty(t, d.lab.list())
}

// The first of two who have to approve is told that another one has to, and is not offered to approve again.
func TestTheFirstOfTwoIsToldSo(t *testing.T) {
	d := open(t, console.Options{})
	o := d.pause(`return await bank.vault({ open: true })`)
	p := d.tab("/")
	p.click(`[data-act="approve"]`)
	p.click("#ask-yes")
	p.sees("your approval counts, 1 person has more to approve")
	p.sees("You approved it")
	require.Zero(t, eval[int](p, `document.querySelectorAll('[data-act="approve"]').length`))
	require.Empty(t, d.lab.list())
	p.open("/executions/" + d.runtime + "/" + o.ExecutionID + "/calls/0")
	p.sees("You approved it")
}

// Without scripts the same question is a page, and what came of it is told once: a reload decides nothing again.
func TestWithoutScriptsDecisionsAreAskedAndToldOnce(t *testing.T) {
	d := open(t, console.Options{})
	o := d.pause(`return await bank.post({ n: 1 })`)
	p := d.tab("/executions/" + d.runtime + "/" + o.ExecutionID)
	p.wait(".card")
	plain := func(form, button string) { // as a browser without scripts sends it
		p.run(fmt.Sprintf(`{ const f = document.querySelector(%q), b = f.querySelector(%q);
			const h = document.createElement("input");
			h.type = "hidden"; h.name = b.name; h.value = b.value; f.append(h); f.submit() }`, form, button))
	}
	plain(`form[action="/ask"]`, `[data-act="approve"]`)
	p.sees("Approve bank.post?")
	require.Equal(t, "/ask", eval[string](p, "location.pathname"))
	plain("#ask-form", "#ask-yes")
	p.sees("approved")
	require.Equal(t, "/executions/"+d.runtime+"/"+o.ExecutionID, eval[string](p, "location.pathname"))
	d.ended(o.ExecutionID)
	p.run("location.reload()")
	p.until("document.readyState === 'complete' && !document.querySelector('.telling')")
	require.NotContains(t, eval[string](p, "document.body.innerText"), "not pending")
	require.Len(t, d.lab.list(), 1)
}

// Without a worker the page of an execution shows what lists tell: edited arguments, approvals so far; and says so.
func TestWithoutAWorkerThePageShowsWhatListsTell(t *testing.T) {
	d := open(t, console.Options{})
	o := d.pause(`return await bank.vault({ amount: 12500 })`)
	_, err := d.client.Decide(d.context(), o.ExecutionID, signals.Approve{Seqs: []int{0}, By: "grace",
		Args: json.RawMessage(`{"amount":1250.5}`)})
	require.NoError(t, err)
	p := d.tab("/")
	p.sees("1250.5")
	d.worker.Stop()
	p.open("/executions/" + d.runtime + "/" + o.ExecutionID)
	p.sees("No worker answers")
	p.sees("1250.5")
	p.sees("1 of 2 approvals: grace")
	require.NotContains(t, p.text(".card"), "12500")
}
