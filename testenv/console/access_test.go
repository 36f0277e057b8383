package console

import (
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/starter/console"
)

// unnamed lists the controls of a page that assistive technology could not name.
const unnamed = `[...document.querySelectorAll("input:not([type=hidden]), select, textarea, button, a, summary")].filter((e) => e.checkVisibility()).filter((e) =>
	!(e.labels?.length && [...e.labels].some((label) => label.textContent.trim())) && !e.getAttribute("aria-label") && !(e.matches("button, a, summary") && e.textContent.trim())).map((e) => e.outerHTML.slice(0, 200))`

// pale lists the texts of a page whose contrast with what is behind them is below 4.5, as WCAG AA asks for.
const pale = `(() => {
	const channels = (color) => { const canvas = new OffscreenCanvas(1, 1).getContext("2d"); canvas.fillStyle = color; canvas.fillRect(0, 0, 1, 1); return canvas.getImageData(0, 0, 1, 1).data; };
	const light = (c) => { const [r, g, b] = [...c].slice(0, 3).map((v) => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
	const behind = (e) => { for (; e; e = e.parentElement) { const color = channels(getComputedStyle(e).backgroundColor); if (color[3] === 255) return color; } return [255, 255, 255, 255]; };
	const found = [];
	for (const e of document.querySelectorAll("body *")) {
		const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
		if (!own || !e.checkVisibility() || e.closest(":disabled, .sr, .skip")) continue;
		const [a, b] = [light(channels(getComputedStyle(e).color)), light(behind(e))];
		const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
		if (ratio < 4.5) found.push(ratio.toFixed(2) + " " + e.outerHTML.slice(0, 120));
	}
	return found;
})()`

func TestEverythingHasANameAndCanBeRead(t *testing.T) {
	d := open(t, console.Options{})
	o := d.pause(`console.log(1); return await Promise.all([bank.pay({ to: "Bob", amount: 7, api_token: "t", address: { city: "Bonn" } }), bank.post({ n: 1 })])`)
	path := "/executions/" + d.runtime + "/" + o.ExecutionID
	p := d.tab("/")
	p.wait(".card")
	for _, scheme := range []string{"light", "dark"} {
		media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme",
			Value: scheme}}}
		_, err := chromedp.Call(p.ctx, emulation.SetEmulatedMedia, media)
		require.NoError(t, err)
		for _, page := range []string{"/", "/executions", path, path + "/calls/0", "/snippets", "/nothing"} {
			p.open(page)
			p.wait("h1")
			require.Empty(t, eval[[]string](p, unnamed), page)
			require.Empty(t, eval[[]string](p, pale), "%s, %s", page, scheme)
			require.Equal(t, 1, eval[int](p, `document.querySelectorAll("h1").length`), page)
			require.Equal(t, "en", eval[string](p, "document.documentElement.lang"))
		}
	}
}
