package console

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/temporal-codemode/codemode"
	"github.com/temporal-codemode/codemode/signals"
	"github.com/temporal-codemode/codemode/starter/guard"
)

// Client is what the console asks of a runtime; *codemode.Client is one.
type Client interface {
	Pending(ctx context.Context, id string) ([]signals.PendingAction, error)
	Show(ctx context.Context, id string) (*signals.Record, error)
	Executions(ctx context.Context, o codemode.ListOptions) ([]signals.Record, error)
	Timeline(ctx context.Context, id string) ([]codemode.Pass, error)
	HistoryLength(ctx context.Context, id string) (int64, error)
	Method(ctx context.Context, connector, method string) (*signals.Method, error)
	Decide(ctx context.Context, id string, m signals.Message) (signals.Verdict, error)
	Cancel(ctx context.Context, id string, by signals.Cancellation) (bool, error)
	Rollback(ctx context.Context, id string, r signals.Rollback) (signals.RollbackResult, error)
	Snippets(ctx context.Context) ([]signals.Snippet, error)
	Snippet(ctx context.Context, name string, version int) (*signals.Snippet, error)
	SnippetVersions(ctx context.Context, name string) ([]signals.SnippetVersion, error)
}

// Inbox lists what waits in a runtime; *codemode.Inbox is one.
type Inbox interface {
	Refresh(ctx context.Context) ([]codemode.InboxItem, error)
	Changed(id string)
}

// Runtime is one runtime that the console serves.
type Runtime struct {
	Name   string
	Client Client
	Inbox  Inbox
}

// Serve makes a Runtime of a client.
func Serve(c *codemode.Client) Runtime {
	return Runtime{Name: c.Runtime(), Client: c, Inbox: c.NewInbox()}
}

// Options of a console. The zero value but for the runtimes is for this machine alone: nobody is authenticated, and
// who has the key may decide.
type Options struct {
	Runtimes []Runtime
	// Tokens and OIDC say who may come in. With neither everybody may decide who has the key.
	Tokens *Tokens
	OIDC   *OIDC
	// Key is part of the address with which people come in where there are neither tokens nor OIDC. Empty: the one of
	// the environment, else a new one, which the console then has here.
	Key guard.Key
	// User is the name that decisions carry, as a claim, where nobody is authenticated.
	User string
	// URL is the console's address as people and webhook receivers see it; empty is the address they came by.
	URL string
	// TemporalUI is the address of a namespace in the Temporal Web UI, for links; empty for none.
	TemporalUI string
	// Every is how often the inbox is refreshed; 0 is once a second.
	Every time.Duration
	// Webhook is told of what waits; nil for none.
	Webhook *Webhook
	// Log tells of failures; nil is the default logger.
	Log *slog.Logger
}

// Console serves the pages and the API. Run keeps it current.
type Console struct {
	Options
	base     *url.URL // of URL; nil without
	runtimes map[string]Runtime
	inbox    *inbox
	sessions *sessions
	logins   *limiter
	checking chan struct{} // a place for an ID token from where guesses come
	streams  chan struct{}
	handler  http.Handler
}

// maxStreams bounds the event streams that are open at once.
const maxStreams = 256

// New makes a console.
func New(o Options) (*Console, error) {
	o.Log = cmp.Or(o.Log, slog.Default())
	o.Every = cmp.Or(o.Every, time.Second)
	c := &Console{
		Options: o, runtimes: map[string]Runtime{}, inbox: newInbox(), logins: newLimiter(),
		streams: make(chan struct{}, maxStreams), checking: make(chan struct{}, 1),
	}
	c.sessions = newSessions(c.secure)
	if len(o.Runtimes) == 0 {
		return nil, errors.New("the console needs a runtime to serve")
	}
	for _, r := range o.Runtimes {
		if _, twice := c.runtimes[r.Name]; twice {
			return nil, fmt.Errorf("the console is given runtime %q twice", r.Name)
		}
		c.runtimes[r.Name] = r
	}
	var err error
	if c.base, err = parseBase(o.URL); err != nil {
		return nil, err
	}
	if c.open() && c.Key == "" {
		if c.Key, err = guard.NewKey(); err != nil {
			return nil, err
		}
	}
	c.handler = c.routes()
	return c, nil
}

func parseBase(text string) (*url.URL, error) {
	if text == "" {
		return nil, nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.Path != "" && u.Path != "/" {
		return nil, fmt.Errorf("the console's URL %q must be http(s)://host[:port]", text)
	}
	u.Path = ""
	return u, nil
}

// open says that nobody is authenticated: who has the key comes in.
func (c *Console) open() bool { return c.Tokens == nil && c.OIDC == nil }

// Entry is the address with which people come in, where the console is served at the given one.
func (c *Console) Entry(address string) string {
	if !c.open() {
		return address
	}
	return c.Key.In(address + "/")
}

// whose tells who has a token, or the key.
func (c *Console) whose(token string) (Identity, bool) {
	if c.open() {
		return Identity{Name: c.User, Roles: Roles{Approver}}, c.Key.Is(token)
	}
	return c.Tokens.Find(token)
}

func (c *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) { c.handler.ServeHTTP(w, r) }

// Run keeps the inbox current and delivers webhooks until ctx is done.
func (c *Console) Run(ctx context.Context) {
	var running sync.WaitGroup
	for _, r := range c.Runtimes {
		running.Go(func() { c.keepCurrent(ctx, r) })
	}
	if c.Webhook != nil {
		running.Go(func() { c.Webhook.run(ctx, c) })
	}
	running.Wait()
}

// keepCurrent refreshes the inbox of a runtime, at once after a decision.
func (c *Console) keepCurrent(ctx context.Context, r Runtime) {
	ticks := time.NewTicker(c.Every)
	defer ticks.Stop()
	nudged := c.inbox.nudges(r.Name)
	for {
		within, cancel := context.WithTimeout(ctx, refreshWithin)
		items, err := r.Inbox.Refresh(within)
		cancel()
		if ctx.Err() != nil {
			return
		}
		if c.inbox.set(r.Name, items, err) && err != nil {
			c.Log.Warn("the inbox may be out of date", "runtime", r.Name, "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-nudged:
		case <-ticks.C:
		}
	}
}

// refreshWithin bounds a refresh, so that a server that does not answer is told of.
const refreshWithin = 30 * time.Second

// names are the runtimes in the order given.
func (c *Console) names() []string {
	var names []string
	for _, r := range c.Runtimes {
		names = append(names, r.Name)
	}
	return names
}

// runtime finds a runtime; an empty name is the first.
func (c *Console) runtime(name string) (Runtime, error) {
	if name == "" {
		return c.Runtimes[0], nil
	}
	r, ok := c.runtimes[name]
	if !ok {
		return r, notFound("this console does not serve a runtime %q", name)
	}
	return r, nil
}

// statuses are those that lists can be narrowed to.
var statuses = []signals.Status{signals.Running, signals.Paused, signals.Completed, signals.Failed, signals.Rejected,
	signals.RolledBack}

func checkStatus(s signals.Status) error {
	if s == "" || slices.Contains(statuses, s) {
		return nil
	}
	return badRequest("%q is no status: use one of %v", s, statuses)
}
