package console

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"

	"github.com/temporal-codemode/codemode"
	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/sandbox/engine"
	"github.com/temporal-codemode/codemode/signals"
	"github.com/temporal-codemode/codemode/starter/console"
	"github.com/temporal-codemode/codemode/testenv/server"
	"github.com/temporal-codemode/codemode/worker/codemodeworker"
)

var shared struct {
	client  client.Client
	browser context.Context
	missing string // why there is no browser
}

func TestMain(m *testing.M) {
	code, err := runTests(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func runTests(m *testing.M) (int, error) {
	s, err := server.Start(context.Background(), server.Options{})
	if err != nil {
		return 1, err
	}
	defer s.Stop()
	quiet := sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler))
	if shared.client, err = client.Dial(client.Options{HostPort: s.Address(), Logger: quiet}); err != nil {
		return 1, err
	}
	defer shared.client.Close()
	stop, err := startBrowser()
	if err != nil {
		shared.missing = err.Error()
		if os.Getenv("CODEMODE_BROWSER") == "required" {
			return 1, err
		}
	}
	defer stop()
	return m.Run(), nil
}

// startBrowser starts the browser that all tests share.
func startBrowser() (stop func(), err error) {
	path, err := findBrowser()
	if err != nil {
		return func() {}, err
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox,
		chromedp.WindowSize(1280, 900),
		chromedp.Flag("disable-dev-shm-usage", true),
		chromedp.Flag("host-resolver-rules", "MAP evil.example 127.0.0.1"))
	allocator, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	browser, closeBrowser := chromedp.NewContext(allocator)
	stop = func() { closeBrowser(); cancel() }
	if err := chromedp.Do(browser); err != nil {
		stop()
		return func() {}, fmt.Errorf("%s does not start: %w", path, err)
	}
	shared.browser = browser
	return stop, nil
}

func findBrowser() (string, error) {
	names := []string{os.Getenv("CODEMODE_CHROMIUM"), "chromium", "chromium-browser", "google-chrome",
		"google-chrome-stable", "headless-shell"}
	for _, name := range names {
		if path, err := exec.LookPath(name); name != "" && err == nil {
			return path, nil
		}
	}
	return "", errors.New("no Chromium found: install one (apt-get install chromium), or name it by CODEMODE_CHROMIUM")
}

// desk is one test's runtime with its worker and console.
type desk struct {
	t       *testing.T
	runtime string
	console *console.Console
	client  *codemode.Client
	site    *httptest.Server
	lab     *lab
	worker  interface{ Stop() }
}

// lab is a connector that remembers its effects.
type lab struct {
	mu      sync.Mutex
	effects []string
	held    chan struct{} // until it is closed, bank.hold does not return
}

// until waits for an effect.
func (l *lab) until(effect string) {
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if slices.ContainsFunc(l.list(), func(line string) bool { return strings.HasPrefix(line, effect) }) {
			return
		}
	}
}

func (l *lab) record(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.effects = append(l.effects, line)
}

func (l *lab) list() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string{}, l.effects...)
}

const paySchema = `{"type":"object","properties":{
	"to":{"type":"string","description":"Whom to pay"},
	"amount":{"type":"integer","minimum":1,"maximum":1000},
	"currency":{"enum":["EUR","USD"]},
	"urgent":{"type":"boolean"},
	"memo":{"type":"string","maxLength":500},
	"api_token":{"type":"string"},
	"lines":{"type":"array","items":{"type":"string"}},
	"address":{"type":"object","properties":{"city":{"type":"string"},"zip":{"type":"string"}},"required":["city"]}
},"required":["to","amount"]}`

func (l *lab) connector() connectors.Connector {
	pay := connectors.Method{
		Name: "pay", Description: "Pay an amount.", Class: connectors.Write, RequiresApproval: true,
		InputSchema: json.RawMessage(paySchema),
		Execute: func(_ connectors.Context, args json.RawMessage) (any, error) {
			l.record("pay " + string(args))
			return map[string]any{"paid": true, "args": json.RawMessage(args)}, nil
		},
		Revert: func(_ connectors.Context, args, _ json.RawMessage) error {
			l.record("refund " + string(args))
			return nil
		},
	}
	post := connectors.Method{
		Name: "post", Description: "Post anything.", Class: connectors.Write, RequiresApproval: true,
		Execute: func(_ connectors.Context, args json.RawMessage) (any, error) {
			l.record("post " + string(args))
			return nil, nil
		},
	}
	read := connectors.Method{
		Name: "read", Description: "Read something.", Class: connectors.Read,
		Execute: func(_ connectors.Context, args json.RawMessage) (any, error) { return args, nil },
	}
	wire := connectors.Method{
		Name: "wire", Description: "Is cut off the first time.", Class: connectors.Write,
		Policy: connectors.Policy{AskWhenUnknown: true},
		Execute: func(c connectors.Context, args json.RawMessage) (any, error) {
			l.record("wire " + c.IdempotencyKey)
			if len(l.list()) == 1 {
				return nil, &connectors.OutcomeUnknownError{Err: errors.New("the line went dead")}
			}
			return "wired", nil
		},
	}
	hold := post
	hold.Name, hold.Execute = "hold", func(c connectors.Context, args json.RawMessage) (any, error) {
		l.record("hold " + string(args))
		select {
		case <-l.held:
		case <-c.Done():
		}
		return nil, nil
	}
	ask := connectors.Method{Name: "ask", Description: "Ask a person.",
		Policy: connectors.Policy{ResolvedByClient: true}}
	vault := post
	vault.Name, vault.Approvals = "vault", 2
	return connectors.New("bank", "A bank.", pay, post, read, wire, hold, ask, vault)
}

// open makes a desk. Options other than the runtime may be given.
func open(t *testing.T, o console.Options) *desk {
	t.Helper()
	d := &desk{t: t, lab: &lab{held: make(chan struct{})},
		runtime: strings.ToLower(strings.NewReplacer("/", "-", "_", "-").Replace(t.Name()))}
	w, err := codemodeworker.New(context.Background(), shared.client, codemodeworker.Options{
		Runtime: d.runtime, Connectors: []connectors.Connector{d.lab.connector()}, Executor: &engine.InProcess{},
	})
	require.NoError(t, err)
	require.NoError(t, w.Start())
	d.worker = &stopOnce{stop: w.Stop}
	t.Cleanup(d.worker.Stop)
	d.client, err = codemode.NewClient(shared.client, codemode.ClientOptions{Runtime: d.runtime})
	require.NoError(t, err)
	d.serve(o)
	return d
}

// stopOnce stops a worker, which can be done once.
type stopOnce struct {
	once sync.Once
	stop func()
}

func (s *stopOnce) Stop() { s.once.Do(s.stop) }

func (d *desk) serve(o console.Options) {
	o.Runtimes, o.User = []console.Runtime{console.Serve(d.client)}, cmp.Or(o.User, "ada")
	o.Log, o.Every = slog.New(slog.NewTextHandler(io.Discard, nil)), 200*time.Millisecond
	o.TemporalUI = "http://127.0.0.1:8233/namespaces/default"
	site, err := console.New(o)
	require.NoError(d.t, err)
	d.console = site
	d.site = httptest.NewUnstartedServer(site)
	ctx, cancel := context.WithCancel(context.Background())
	d.site.Config.BaseContext = nil
	d.site.Start()
	done := make(chan struct{})
	go func() { defer close(done); site.Run(ctx) }()
	d.t.Cleanup(func() { cancel(); <-done; d.site.CloseClientConnections(); d.site.Close() })
}

// patience is far above what anything here takes.
const patience = 90 * time.Second

func (d *desk) context() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	d.t.Cleanup(cancel)
	return ctx
}

// pause runs a program up to where it waits.
func (d *desk) pause(code string) signals.Outcome {
	d.t.Helper()
	o, err := d.client.Execute(d.context(), code, codemode.ExecuteOptions{Purpose: "Pay the bills"})
	require.NoError(d.t, err)
	require.Equal(d.t, signals.Paused, o.Status, o.Error)
	return o
}

// ended waits for the end of an execution.
func (d *desk) ended(id string) signals.Record {
	d.t.Helper()
	for after := 0; ; {
		o, err := d.client.Wait(d.context(), id, after)
		require.NoError(d.t, err)
		if o.Status.Terminal() {
			break
		}
		after = o.Pass
	}
	r, err := d.client.Show(d.context(), id)
	require.NoError(d.t, err)
	require.NotNil(d.t, r)
	return *r
}

// tab is a page in the browser.
type tab struct {
	d   *desk
	ctx context.Context
}

// tab opens a page of the console in a browser of its own, which came in with the key: no cookie is shared.
func (d *desk) tab(path string) *tab {
	d.t.Helper()
	p := d.newTab()
	p.navigate(d.console.Entry(d.site.URL))
	p.open(path)
	return p
}

// strangersTab is one of a browser that does not have the key.
func (d *desk) strangersTab(path string) *tab {
	d.t.Helper()
	p := d.newTab()
	p.open(path)
	return p
}

func (d *desk) newTab() *tab {
	d.t.Helper()
	if shared.missing != "" {
		d.t.Skip(shared.missing)
	}
	ctx, cancel := chromedp.NewContext(shared.browser, chromedp.WithNewBrowserContext())
	d.t.Cleanup(cancel)
	p := &tab{d, ctx}
	require.NoError(d.t, chromedp.Do(ctx)) // opens it; what has a timeout must not
	p.ctx, cancel = context.WithTimeout(ctx, patience)
	d.t.Cleanup(cancel)
	return p
}

func (p *tab) open(path string) {
	p.d.t.Helper()
	p.navigate(p.d.site.URL + path)
}

func (p *tab) navigate(address string) {
	p.d.t.Helper()
	p.do(chromedp.Navigate(address))
}

func (p *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	p.d.t.Helper()
	if err := chromedp.Do(p.ctx, steps...); err != nil {
		require.NoError(p.d.t, err, "the page shows: %s", p.shows())
	}
}

// shows is what a page looks like, for messages of tests that failed.
func (p *tab) shows() string {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(p.ctx), 5*time.Second)
	defer cancel()
	html, _ := chromedp.Run(ctx, chromedp.Evaluate[string]("document.body.outerHTML"))
	return html
}

func (p *tab) wait(selector string) {
	p.d.t.Helper()
	p.do(chromedp.WaitVisible(chromedp.CSS(selector)))
}

// click clicks once the element is there. One that was replaced by a fresh one meanwhile was not clicked.
func (p *tab) click(selector string) {
	p.d.t.Helper()
	for {
		err := chromedp.Do(p.ctx, chromedp.WaitVisible(chromedp.CSS(selector)), chromedp.Click(chromedp.CSS(selector)))
		if err == nil {
			return
		}
		require.NoError(p.d.t, p.ctx.Err(), "%s: %v; the page shows: %s", selector, err, p.shows())
	}
}

func (p *tab) set(selector, text string) {
	p.d.t.Helper()
	p.do(chromedp.WaitVisible(chromedp.CSS(selector)), chromedp.SetValue(chromedp.CSS(selector), text))
}

func (p *tab) text(selector string) string {
	p.d.t.Helper()
	p.wait(selector)
	return eval[string](p, fmt.Sprintf("document.querySelector(%q).innerText", selector))
}

// eval evaluates an expression in the page, and awaits it if it is a promise.
func eval[T any](p *tab, expression string) T {
	p.d.t.Helper()
	v, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	require.NoError(p.d.t, err, "%s", expression)
	return v
}

// run evaluates statements for what they do.
func (p *tab) run(statements string) {
	p.d.t.Helper()
	p.do(chromedp.Evaluate[chromedp.Void](statements))
}

// until waits for a condition, across pages.
func (p *tab) until(condition string) {
	p.d.t.Helper()
	ticks := time.NewTicker(30 * time.Millisecond)
	defer ticks.Stop()
	for {
		// A page that is left right now has no answer.
		if yes, err := chromedp.Run(p.ctx, chromedp.Evaluate[bool]("!!("+condition+")")); err == nil && yes {
			return
		}
		select {
		case <-ticks.C:
		case <-p.ctx.Done():
			require.FailNow(p.d.t, "the page never came to: "+condition, p.shows())
		}
	}
}

// sees waits for a text on the page.
func (p *tab) sees(text string) {
	p.d.t.Helper()
	p.until(fmt.Sprintf("document.body.innerText.includes(%q)", text))
}

// keys types on whatever has the focus, as a keyboard does: a page that handles the key keeps its character away.
func (p *tab) keys(text string) {
	p.d.t.Helper()
	for _, r := range text {
		press := input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeKeyDown, Key: string(r), Text: string(r)}
		if r == '\r' {
			press.Key, press.Code, press.WindowsVirtualKeyCode = "Enter", "Enter", 13
		}
		_, err := chromedp.Call(p.ctx, input.DispatchKeyEvent, press)
		require.NoError(p.d.t, err)
		press.Type, press.Text = input.DispatchKeyEventTypeKeyUp, ""
		_, err = chromedp.Call(p.ctx, input.DispatchKeyEvent, press)
		require.NoError(p.d.t, err)
	}
}

// mouse presses or releases the mouse at a place.
func (p *tab) mouse(kind input.DispatchMouseEventType, at map[string]float64) {
	p.d.t.Helper()
	_, err := chromedp.Call(p.ctx, input.DispatchMouseEvent, input.DispatchMouseEventParams{Type: kind, X: at["x"],
		Y: at["y"], Button: input.MouseButtonLeft, ClickCount: 1})
	require.NoError(p.d.t, err)
}

// cookie is what the address with the key leaves.
func (d *desk) cookie() string {
	d.t.Helper()
	answer, err := http.DefaultTransport.RoundTrip(httptest.NewRequestWithContext(d.context(), http.MethodGet,
		d.console.Entry(d.site.URL), nil))
	require.NoError(d.t, err)
	require.NoError(d.t, answer.Body.Close())
	return strings.SplitN(answer.Header.Get("Set-Cookie"), ";", 2)[0]
}

// request asks the console as a program does.
func (d *desk) request(method, path, body string, header map[string]string) (int, string) {
	d.t.Helper()
	r, err := http.NewRequestWithContext(d.context(), method, d.site.URL+path, strings.NewReader(body))
	require.NoError(d.t, err)
	for name, value := range header {
		r.Header.Set(name, value)
	}
	answer, err := (&http.Client{CheckRedirect: func(*http.Request,
		[]*http.Request) error {
		return http.ErrUseLastResponse
	}}).Do(r)
	require.NoError(d.t, err)
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	require.NoError(d.t, err)
	return answer.StatusCode, string(text)
}
