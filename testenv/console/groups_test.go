package console

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/signals"
	"github.com/temporal-codemode/codemode/starter/console"
)

// refunds is a program of 60 calls of one method, one of which is for 9,999 EUR among 1 to 6.
const refunds = `const made = await Promise.allSettled(Array.from({ length: 60 }, (_, i) =>
	bank.post({
		order: "A-" + (1000 + i), amount: { amount: i === 37 ? 9999 : 1 + i % 6, currency: "EUR" }, notify: false,
	})));
return made.map((m) => m.status);`

// A person who sees sixty calls finds the one that is wrong without scrolling, and has judged all in five clicks, of
// which one lets the program go on. The 59 are one message, which one pass follows.
func TestSixtyCallsWithOneOutlierInFiveClicks(t *testing.T) {
	d := open(t, console.Options{})
	o := d.pause(refunds)
	p := d.tab("/")
	p.wait(".group")
	inView := `(() => { const r = document.querySelector("tr.odd td.out").getBoundingClientRect();
		const shown = document.elementFromPoint(r.right - 20, r.top + 8)?.closest("tr.odd");
		return Boolean(shown) && r.bottom < innerHeight && scrollY === 0; })()`
	require.True(t, eval[bool](p, inView), "the outlier is in view")
	require.Contains(t, p.text("tr.odd"), "9999")
	require.Contains(t, p.text("tr.odd"), "far above the others")
	require.Contains(t, p.text(".sums"), "10,207")
	require.Contains(t, p.text(".sums"), "1 to 9,999")
	require.Equal(t, 1, eval[int](p, `document.querySelectorAll("tr.odd").length`))
	clicks := 0
	click := func(selector string) { p.click(selector); clicks++ }
	click(`[data-of="rest"]`)
	p.sees("Approve 59 calls?")
	click("#ask-yes")
	p.sees("59 calls: approved")
	p.wait(`.card:not(.group) [data-act="reject"]`)
	require.Contains(t, p.text(".card"), "9999")
	click(`.card:not(.group) [data-act="reject"]`)
	click("#ask-go-on")
	click("#ask-yes")
	p.sees("Nothing waits for you")
	require.LessOrEqual(t, clicks, 5)
	r := d.ended(o.ExecutionID)
	require.Equal(t, signals.Completed, r.Status, r.Error)
	require.Len(t, d.lab.list(), 59)
	for _, effect := range d.lab.list() {
		require.NotContains(t, effect, "9999")
	}
	require.LessOrEqual(t, r.Passes, 4, "one pass for what was decided together")
	p.sees("59 made")
	p.sees("completed")
}

// Rows are sorted, chosen and left out, and the buttons say what they are about.
func TestTablesAreSortedAndChosenFrom(t *testing.T) {
	d := open(t, console.Options{})
	o := d.pause(refunds)
	p := d.tab("/executions/" + d.runtime + "/" + o.ExecutionID)
	p.wait(".group")
	column := `.calls-table thead th:nth-child(4) .sort`
	p.click(column)
	require.Equal(t, "1", p.text(".calls-table tbody tr td:nth-child(4)"))
	p.click(column)
	require.Contains(t, p.text(".calls-table tbody tr td:nth-child(4)"), "9999")
	p.wait("th[aria-sort=descending]")
	p.click(".pick-all")
	p.click(".calls-table tbody tr:first-child input")
	p.sees("Approve 59 selected")
	p.click(`[data-of="rest"]`)
	p.sees("Approve 59 calls?")
	p.set("#ask-note", "all small")
	p.click("#ask-yes")
	p.sees("59 made")
	require.Contains(t, eval[string](p, "location.pathname"), o.ExecutionID, "the page stays")
	require.Len(t, d.lab.list(), 59)
	p.click(`.card [data-act="reject"]`)
	p.sees("This ends")
	p.set("#ask-note", "far too much")
	p.click("#ask-yes")
	p.sees("the execution was ended")
	p.sees("far too much")
	r := d.ended(o.ExecutionID)
	require.Equal(t, signals.Rejected, r.Status)
	require.Equal(t, "all small", r.Log[0].Note)
}

// The keyboard alone judges a table: what does not stand out first, then the rest.
func TestTablesByKeyboard(t *testing.T) {
	d := open(t, console.Options{})
	o := d.pause(refunds)
	p := d.tab("/")
	p.wait(".group")
	p.keys("ja")
	p.sees("Approve 59 calls?")
	p.keys("\r")
	p.sees("59 calls: approved")
	p.wait(".card:not(.group)")
	p.until("!document.querySelector('#ask').open")
	p.keys("jr")
	p.sees("Reject bank.post?")
	p.keys("too much\r")
	p.sees("Nothing waits for you")
	require.Equal(t, "Action bank.post rejected by user: too much", d.ended(o.ExecutionID).Error)
}

// Each button of a page says by its name alone what it is about.
func TestButtonsHaveDistinctNames(t *testing.T) {
	d := open(t, console.Options{})
	d.pause(refunds)
	o := d.pause(`await Promise.all([bank.pay({ to: "Ann", amount: 1 }), bank.pay({ to: "Bob", amount: 2 }),
		bank.vault({ a: 1 })])`)
	p := d.tab("/")
	p.until("document.querySelectorAll('.card').length === 4")
	for _, page := range []string{"/", "/executions/" + d.runtime + "/" + o.ExecutionID} {
		p.open(page)
		p.wait(".card")
		names := eval[[]string](p, `[...document.querySelectorAll("button, .button, input[type=checkbox]")]
			.filter((b) => b.checkVisibility())
			.map((b) => b.getAttribute("aria-label") ?? b.labels?.[0]?.textContent ?? b.textContent.trim())`)
		seen := map[string]bool{}
		for _, name := range names {
			require.False(t, seen[name], "two are called %q on %s", name, page)
			seen[name] = true
		}
	}
}

// A click that begins on a button ends on it, whatever else happens in the execution meanwhile.
func TestAClickIsNotLost(t *testing.T) {
	d := open(t, console.Options{})
	o := d.pause(`await Promise.allSettled([bank.pay({ to: "Ann", amount: 1 }), bank.pay({ to: "Bob", amount: 2 }),
		bank.post({ n: 1 })])`)
	p := d.tab("/executions/" + d.runtime + "/" + o.ExecutionID)
	p.until("document.querySelectorAll('.card').length === 3")
	box := eval[map[string]float64](p, `(() => {
		const r = document.querySelector('[data-act="approve"]').getBoundingClientRect();
		return { x: r.x + 9, y: r.y + 9 } })()`)
	p.mouse("mousePressed", box)
	_, err := d.client.Approve(d.context(), o.ExecutionID, signals.Approve{Seqs: []int{2}})
	require.NoError(t, err)
	p.until("performance.getEntriesByType('resource').some((e) => e.name.includes('part=1'))")
	p.mouse("mouseReleased", box)
	p.sees("Approve bank.pay?")
	p.set("#ask-note", "typed while the page changes")
	_, err = d.client.Approve(d.context(), o.ExecutionID, signals.Approve{Seqs: []int{1}})
	require.NoError(t, err)
	p.until("document.querySelectorAll('.card').length === 1")
	require.Equal(t, "typed while the page changes", eval[string](p, `document.querySelector("#ask-note").value`))
	p.click("#ask-yes")
	r := d.ended(o.ExecutionID)
	require.Equal(t, "typed while the page changes", r.Log[0].Note)
}

// A browser with many pages open loads the next one: they share one stream.
func TestManyTabs(t *testing.T) {
	d := open(t, console.Options{})
	o := d.pause(`await bank.post({ n: 1 })`)
	p := d.tab("/")
	p.wait(".card")
	for n := range 8 {
		ctx, cancel := chromedp.NewContext(p.ctx)
		t.Cleanup(cancel)
		next := &tab{d, ctx}
		next.open("/executions/" + d.runtime + "/" + o.ExecutionID)
		next.wait(".card")
		if n == 7 {
			_, err := d.client.Approve(d.context(), o.ExecutionID, signals.Approve{})
			require.NoError(t, err)
			next.sees("completed")
		}
	}
	p.sees("Nothing waits for you")
}

// Calls that wait beside one that is being made stay in view, and can be decided meanwhile.
func TestSiblingsStayWhileOneIsMade(t *testing.T) {
	d := open(t, console.Options{})
	o := d.pause(`return await Promise.allSettled([bank.hold({ n: 0 }), bank.post({ n: 1 }), bank.post({ n: 2 })])`)
	p := d.tab("/")
	p.until("document.querySelectorAll('.card').length === 3")
	p.click(`.card[data-key*="/0/"] [data-act="approve"]`)
	p.click("#ask-yes")
	d.lab.until("hold")
	for range 5 { // refreshes of the inbox
		_, err := d.client.NewInbox().Refresh(d.context())
		require.NoError(t, err)
		p.run(`window.left = 0; fetch('/inbox').then((r) => r.text()).then((t) => {
			window.left = t.split('data-asks').length - 1; window.asked = 1 })`)
		p.until("window.asked")
		require.Equal(t, 2, eval[int](p, "(window.asked = 0, window.left)"))
	}
	p.click(`.card[data-key*="/1/"] [data-act="approve"]`)
	p.click("#ask-yes")
	p.until("document.querySelectorAll('.card').length === 1")
	close(d.lab.held)
	p.click(`.card [data-act="approve"]`)
	p.click("#ask-yes")
	require.Equal(t, signals.Completed, d.ended(o.ExecutionID).Status)
	require.Contains(t, strings.Join(d.lab.list(), " "), `post {"n":2}`)
}
