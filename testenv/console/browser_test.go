package console

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode"
	"github.com/temporal-codemode/codemode/signals"
	"github.com/temporal-codemode/codemode/starter/console"
)

const payOnce = `await bank.read({ a: 1 });
const paid = await bank.pay({ to: "Bob", amount: 7 });
console.log("paid");
return paid.args;`

func TestPendingAppearsByItselfAndIsApproved(t *testing.T) {
	d := open(t, console.Options{})
	p := d.tab("/")
	p.sees("Nothing waits for you")
	o := d.pause(payOnce)
	p.wait(".card")
	require.Contains(t, p.text(".card"), "Bob")
	require.Contains(t, p.text(".card"), "Pay the bills")
	require.Empty(t, d.lab.list())
	p.click(".card button.yes")
	p.set("#ask-note", "fine")
	p.click("#ask-yes")
	p.sees("Nothing waits for you")
	r := d.ended(o.ExecutionID)
	require.Equal(t, signals.Completed, r.Status)
	require.Equal(t, []string{`pay {"to":"Bob","amount":7}`}, d.lab.list())
	require.Equal(t, []string{"ada", "", "fine"}, []string{r.Log[1].DecidedBy, r.Log[1].AssertedBy, r.Log[1].Note})
}

func TestEditChangesTheEffect(t *testing.T) {
	d := open(t, console.Options{})
	o := d.pause(`return await bank.pay({ to: "Bob", amount: 7, api_token: "k-1", address: { city: "Bonn" } })`)
	p := d.tab("/")
	p.click(".card .edit")
	p.set(`[name="field:/amount"]`, "7000")
	p.set(`[name="field:/memo"]`, "corrected")
	p.set(`[name="field:/address/city"]`, "Köln")
	p.click("#edit button.yes")
	p.sees("These arguments cannot be used")
	p.set(`[name="field:/amount"]`, "9")
	p.click("#edit button.yes")
	p.wait(".diff")
	diff := p.text(".diff")
	for _, want := range []string{"amount", "7", "9", "memo", "corrected", "address.city", "Bonn", "Köln"} {
		require.Contains(t, diff, want)
	}
	require.NotContains(t, eval[string](p, "document.documentElement.outerHTML"), "k-1")
	p.click("button.yes")
	p.sees("approved")
	r := d.ended(o.ExecutionID)
	require.Equal(t, signals.Completed, r.Status, r.Error)
	require.Len(t, d.lab.list(), 1)
	require.JSONEq(t, `{"to":"Bob","amount":9,"memo":"corrected","api_token":"k-1","address":{"city":"Köln"}}`,
		strings.TrimPrefix(d.lab.list()[0], "pay "))
}

func TestRejectWithReasonAndBatch(t *testing.T) {
	d := open(t, console.Options{})
	var ids []string
	for range 3 {
		ids = append(ids, d.pause(`return await Promise.all([bank.post({ n: 1 }), bank.post({ n: 2 })])`).ExecutionID)
	}
	p := d.tab("/")
	p.until("document.querySelectorAll('.card').length === 6")
	p.run(`document.querySelector(".card[data-execution$='` + ids[0] + `'] [data-act=reject]").click()`)
	p.set("#ask-note", "not today")
	p.click("#ask-yes")
	p.until("document.querySelectorAll('.card').length === 4")
	r := d.ended(ids[0])
	require.Equal(t, []any{signals.Rejected, "Action bank.post rejected by user: not today"}, []any{r.Status, r.Error})
	p.run(`document.querySelectorAll(".card input[name=item]").forEach((box) => box.click())`)
	p.sees("4 selected")
	p.click("#tray button.yes")
	p.sees("Approve 4 calls?")
	p.click("#ask-yes")
	p.sees("Nothing waits for you")
	for _, id := range ids[1:] {
		require.Equal(t, signals.Completed, d.ended(id).Status)
	}
	require.Len(t, d.lab.list(), 4)
}

func TestKeyboardOnly(t *testing.T) {
	d := open(t, console.Options{})
	first := d.pause(`return await bank.post({ n: 1 })`).ExecutionID
	second := d.pause(`return await bank.post({ n: 2 })`).ExecutionID
	p := d.tab("/")
	p.until("document.querySelectorAll('.card').length === 2")
	p.keys("j")
	require.Equal(t, "/executions/"+d.runtime+"/"+first, eval[string](p, "document.activeElement.dataset.execution"))
	p.keys("j")
	p.keys("k")
	p.keys("a")
	p.wait("#ask")
	p.keys("\r")
	p.until("document.querySelectorAll('.card').length === 1")
	require.Equal(t, signals.Completed, d.ended(first).Status)
	p.until("document.activeElement.matches('.card')")
	p.keys("x")
	p.sees("1 selected")
	p.keys("r")
	p.wait("#ask")
	p.keys("no\r")
	p.sees("Nothing waits for you")
	require.Equal(t, "Action bank.post rejected by user: no", d.ended(second).Error)
	p.keys("?")
	p.wait("#help")
}

// TestNothingIsMarkup puts markup wherever programs, tools and people write.
func TestNothingIsMarkup(t *testing.T) {
	d := open(t, console.Options{User: `<img src=x onerror="window.hit=1">`})
	const evil = `<img src=x onerror="window.hit=1"><script>window.hit=1</script>"'</script><svg onload="window.hit=1">`
	o := d.pause(`// <script>window.hit=1</script><img src=x onerror="window.hit=1">
const evil = ` + "`" + strings.ReplaceAll(evil, "</script>", `</scr\`+"ipt>") + "`" + `;
console.log(evil);
await bank.read({ evil });
try { await bank.post({ [evil]: evil, list: [evil], nested: { [evil]: evil } }); } catch (e) { console.log(e.message) }
throw new Error(evil);`)
	p := d.tab("/")
	p.wait(".card")
	check := func() {
		t.Helper()
		require.Equal(t, "undefined", eval[string](p, "typeof window.hit"))
		require.Zero(t, eval[int](p, `document.querySelectorAll("img, svg, main script, [onerror], [onload]").length`))
		require.Contains(t, eval[string](p, "document.body.innerText"), "onerror=")
	}
	check()
	p.click(".card .edit")
	p.wait("#edit")
	check()
	p.set(`textarea`, `{"x":"`+strings.ReplaceAll(evil, `"`, `\"`)+`"}`)
	p.run(`document.querySelector("#edit button").click()`)
	p.until(`document.querySelector(".diff, #problem")`)
	p.open("/")
	p.wait(".card")
	p.click(".card button.no")
	p.set("#ask-note", evil)
	p.run(`document.querySelector("#ask-go-on").click()`)
	check()
	p.click("#ask-yes")
	p.sees("Nothing waits for you")
	d.ended(o.ExecutionID)
	p.open("/executions/" + d.runtime + "/" + o.ExecutionID)
	p.wait("#record")
	p.run(`document.querySelectorAll("details").forEach((d) => { d.open = true })`)
	check()
	p.open("/executions")
	p.sees("Pay the bills")
	require.Equal(t, "undefined", eval[string](p, "typeof window.hit"))
}

func TestNoRequestsElsewhereAndNoErrors(t *testing.T) {
	d := open(t, console.Options{})
	o := d.pause(payOnce)
	p := d.tab("/")
	var problems, hosts []string
	listen(p, &problems, &hosts)
	for _, path := range []string{"/", "/executions", "/snippets", "/executions/" + d.runtime + "/" + o.ExecutionID,
		"/executions/" + d.runtime + "/" + o.ExecutionID + "/calls/1"} {
		p.open(path)
		p.wait("h1")
		p.until("document.readyState === 'complete'")
	}
	require.Empty(t, problems, "nothing is refused by the policy, no script fails")
	for _, host := range hosts {
		require.Equal(t, strings.TrimPrefix(d.site.URL, "http://"), host)
	}
}

func TestViewerLooksButDoesNotDecide(t *testing.T) {
	tokens, err := console.ParseTokens(
		[]byte(`[{name: ada@example.com, role: approver, token: approver-token-0123456789}, {name: vic, role: viewer, token: viewer-token-0123456789abc}]`))
	require.NoError(t, err)
	d := open(t, console.Options{Tokens: tokens})
	o := d.pause(payOnce)
	p := d.tab("/")
	p.set("#token", "wrong-token-0123456789abc")
	p.click("form button.yes")
	p.sees("not known here")
	p.set("#token", "viewer-token-0123456789abc")
	p.click("form button.yes")
	p.wait(".card")
	require.Zero(t, eval[int](p, `document.querySelectorAll("[data-act], input[name=item], #tray").length`))
	status := eval[int](p,
		`(async () => (await fetch("/decide", {method: "POST", body: new URLSearchParams({csrf: document.querySelector("meta[name=csrf]").content, action: "approve", item: document.querySelector(".card").dataset.key})})).status)()`)
	require.Equal(t, 403, status)
	a := d.tab("/")
	a.set("#token", "approver-token-0123456789")
	a.click("form button.yes")
	a.click(".card button.yes")
	a.click("#ask-yes")
	p.sees("Nothing waits for you") // the other page follows
	r := d.ended(o.ExecutionID)
	require.Equal(t, []string{"ada@example.com", "ada@example.com"}, []string{r.Log[1].DecidedBy, r.Log[1].AssertedBy})
}

func TestExecutionPageTellsTheStory(t *testing.T) {
	d := open(t, console.Options{})
	o := d.pause(payOnce)
	p := d.tab("/executions/" + d.runtime + "/" + o.ExecutionID)
	p.wait("#L2 .from")
	require.Contains(t, p.text("#L1"), "#0")
	require.Contains(t, p.text("#L2"), "#1")
	p.sees("Waits for a person")
	_, err := d.client.Approve(d.context(), o.ExecutionID, signals.Approve{By: "grace"})
	require.NoError(t, err)
	p.sees("completed") // by itself
	p.click("#call-1 summary")
	call := p.text("#call-1")
	for _, want := range []string{"bank.pay", "applied", "grace", "not authenticated", "Bob", "line 2"} {
		require.Contains(t, call, want)
	}
	for _, want := range []string{"Pass 1", "Console output", "paid", "Result"} {
		p.sees(want)
	}
	require.Contains(t, eval[string](p, `document.querySelector(".facts a").href`),
		"http://127.0.0.1:8233/namespaces/default/workflows/codemode%2F"+d.runtime+"%2F"+o.ExecutionID)
}

func TestUnknownOutcomesAndResultsOfPeople(t *testing.T) {
	d := open(t, console.Options{})
	o := d.pause(`return [await bank.wire({ n: 1 }), await bank.ask({ question: "Which colour?" })]`)
	p := d.tab("/")
	p.sees("Its outcome is unknown")
	p.click(`.card [data-act="retry"]`)
	p.click("#ask-yes")
	p.sees("give its result")
	p.click(".card .edit")
	p.set("#result", `{"colour":"green"}`)
	p.click(`button[value="resolve"]`)
	p.sees("given its result")
	r := d.ended(o.ExecutionID)
	require.JSONEq(t, `["wired",{"colour":"green"}]`, string(r.Result))
	effects := d.lab.list()
	require.Len(t, effects, 2)
	require.Equal(t, effects[0], effects[1], "the same key")
}

func TestTwoPeopleHaveToApprove(t *testing.T) {
	tokens, err := console.ParseTokens([]byte("[{name: ada, role: approver, token: approver-token-0123456789}, " +
		"{name: grace, role: approver, token: another-token-0123456789}]"))
	require.NoError(t, err)
	d := open(t, console.Options{Tokens: tokens})
	o := d.pause(`return await bank.vault({ open: true })`)
	enter := func(token string) *tab {
		p := d.tab("/")
		p.set("#token", token)
		p.click("form button.yes")
		p.click(".card button.yes")
		p.click("#ask-yes")
		return p
	}
	enter("approver-token-0123456789").sees("1 of 2 approvals")
	require.Empty(t, d.lab.list())
	enter("another-token-0123456789").sees("Nothing waits for you")
	r := d.ended(o.ExecutionID)
	require.Equal(t, signals.Completed, r.Status, r.Error)
	require.Equal(t, []string{"ada", "grace"},
		[]string{r.Log[0].Decisions[0].AssertedBy, r.Log[0].Decisions[1].AssertedBy})
}

func TestRollback(t *testing.T) {
	d := open(t, console.Options{})
	o := d.pause(`await Promise.all([bank.pay({ to: "Ann", amount: 1 }), bank.post({ n: 1 })]); await bank.pay({ to: "Bob", amount: 2 })`)
	for o.Status == signals.Paused {
		var err error
		o, err = d.client.Approve(d.context(), o.ExecutionID, signals.Approve{})
		require.NoError(t, err)
	}
	p := d.tab("/executions/" + d.runtime + "/" + o.ExecutionID)
	require.Equal(t, "#2 bank.pay\n#0 bank.pay", strings.TrimSpace(p.text("#plan")))
	p.click("#rollback")
	p.set("#ask-note", "wrong people")
	p.click("#ask-yes")
	p.sees("rolled back")
	require.Equal(t, []string{`refund {"to":"Bob","amount":2}`, `refund {"to":"Ann","amount":1}`}, d.lab.list()[3:])
	p.sees("rolled_back")
	p.sees("wrong people")
	require.Zero(t, eval[int](p, `document.querySelectorAll("#rollback").length`))
}

// TestPictures keeps pictures of the pages where CODEMODE_PICTURES says, for people to look at.
func TestPictures(t *testing.T) {
	dir := os.Getenv("CODEMODE_PICTURES")
	if dir == "" {
		t.Skip("set CODEMODE_PICTURES to a directory")
	}
	d := open(t, console.Options{})
	o := d.pause(`// Settle what is due this week.
const due = await bank.read({ week: 47 });
for (const n of [1, 2]) await bank.read({ n });
console.log("two payments are due");
const [a, b] = await Promise.all([
  bank.pay({ to: "Ursula K. Le Guin", amount: 7, currency: "EUR", memo: "For the winter's journey", api_token: "k-123" }),
  bank.pay({ to: "Stanisław Lem", amount: 120, lines: ["one", "two"], address: { city: "Kraków", zip: "30-001" } }),
]);
return { a, b };`)
	d.pause(`return await bank.post({ text: ` + "`" + strings.Repeat("A long text to read before one decides. ", 30) +
		"`" + `, to: ["a@example.com", "b@example.com"] })`)
	many := d.pause(refunds)
	done := d.pause(payOnce)
	_, err := d.client.Approve(d.context(), done.ExecutionID, signals.Approve{By: "grace"})
	require.NoError(t, err)
	p := d.tab("/")
	p.until("document.querySelectorAll('.card').length === 4")
	pages := map[string]string{
		"inbox": "/", "executions": "/executions", "paused": "/executions/" + d.runtime + "/" + o.ExecutionID,
		"done":  "/executions/" + d.runtime + "/" + done.ExecutionID,
		"edit":  "/executions/" + d.runtime + "/" + o.ExecutionID + "/calls/4",
		"table": "/?q=" + many.ExecutionID, "question": "/?q=" + many.ExecutionID,
		"reject": "/executions/" + d.runtime + "/" + o.ExecutionID,
	}
	for _, scheme := range []string{"light", "dark"} {
		for size, width := range map[string]int64{"wide": 1280, "phone": 390} {
			media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme",
				Value: scheme}}}
			_, err := chromedp.Call(p.ctx, emulation.SetEmulatedMedia, media)
			require.NoError(t, err)
			for name, path := range pages {
				p.do(chromedp.EmulateViewport(width, 844))
				p.open(path)
				p.wait("h1")
				if name == "inbox" && size == "wide" {
					p.run(`document.querySelector(".card input").click(); document.querySelectorAll(".card")[1].focus()`)
				}
				asks := map[string]string{"question": "[data-of=rest]", "reject": "[data-act=reject]"}
				if asks[name] != "" {
					p.click(asks[name])
					p.wait("#ask-yes")
				}
				require.False(t, eval[bool](p, "document.documentElement.scrollWidth > innerWidth"),
					"%s does not fit on %s", name, size)
				picture, err := chromedp.Run(p.ctx, chromedp.FullScreenshot(100))
				require.NoError(t, err)
				require.NoError(t, os.WriteFile(filepath.Join(dir, name+"-"+size+"-"+scheme+".png"), picture, 0o644))
			}
		}
	}
}

// TestFiveHundred works an inbox of 500 calls of 100 executions. Times are for people to read.
func TestFiveHundred(t *testing.T) {
	if testing.Short() {
		t.Skip("starts 100 executions")
	}
	d := open(t, console.Options{})
	for n := range 100 {
		_, err := d.client.Execute(d.context(),
			fmt.Sprintf(`await Promise.all([1, 2, 3, 4, 5].map((i) => bank.post({ n: %d, i, text: "Please read this before you decide." })))`, n),
			codemode.ExecuteOptions{NoWait: true, Purpose: fmt.Sprintf("Batch %d", n)})
		require.NoError(t, err)
	}
	p := d.tab("/")
	p.sees("1–250 of 500")
	var took []time.Duration
	cookie := map[string]string{"Cookie": d.cookie()}
	for range 21 {
		began := time.Now()
		status, body := d.request("GET", "/", "", cookie)
		took = append(took, time.Since(began))
		require.Equal(t, 200, status)
		require.Contains(t, body, "of 500")
	}
	slices.Sort(took)
	t.Logf("500 calls wait: the inbox answered within %v in the middle, %v at worst", took[10], took[20])
	began := time.Now()
	p.open("/")
	p.wait(".group")
	t.Logf("the browser shows it after %v", time.Since(began))
	p.keys("*")
	p.sees("250 selected")
	began = time.Now()
	p.keys("a")
	p.wait("#ask")
	p.keys("\r")
	p.sees("of 250")
	t.Logf("250 approvals later after %v", time.Since(began))
	p.open("/?q=Batch+99")
	p.sees("1–5 of 5")
}
