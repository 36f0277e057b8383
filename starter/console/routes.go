package console

import (
	"bytes"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/temporal-codemode/codemode/starter/guard"
)

//go:embed static
var staticFiles embed.FS

// visit is one request, and who makes it.
type visit struct {
	w       http.ResponseWriter
	r       *http.Request
	who     Identity
	session *session // nil for programs that come with a token
}

func (v *visit) context() context.Context { return v.r.Context() }

// answer is what a route does. An error becomes a page or a JSON document.
type answer func(v *visit) error

func (c *Console) routes() http.Handler {
	mux := http.NewServeMux()
	page := func(pattern string, role Role, a answer) { mux.Handle(pattern, c.page(role, a)) }
	page("GET /{$}", Viewer, c.inboxPage)
	page("GET /inbox", Viewer, c.inboxList)
	page("GET /events", Viewer, c.pageEvents)
	page("POST /ask", Approver, c.ask)
	page("POST /decide", Approver, c.decideForm)
	page("GET /executions", Viewer, c.executionsPage)
	page("GET /executions/{runtime}/{id}", Viewer, c.executionPage)
	page("GET /executions/{runtime}/{id}/outcome", Viewer, c.outcomePart)
	page("GET /executions/{runtime}/{id}/calls/{seq}", Viewer, c.callPage)
	page("POST /executions/{runtime}/{id}/calls/{seq}/review", Approver, c.reviewPage)
	page("GET /snippets", Viewer, c.snippetsPage)
	page("GET /snippets/{runtime}/{name}", Viewer, c.snippetPage)
	page("POST /logout", Viewer, c.logout)
	mux.Handle("GET /login", c.public(c.loginPage))
	mux.Handle("POST /login", c.public(c.login))
	mux.Handle("GET /login/oidc", c.public(c.loginOIDC))
	mux.Handle("GET /login/callback", c.public(c.loginCallback))
	mux.Handle("GET /static/{file}", c.public(serveStatic))
	for _, route := range c.apiRoutes() {
		mux.Handle(route.pattern, c.api(route.role, route.answer))
	}
	mux.Handle("GET /api/openapi.json", c.public(serveOpenAPI))
	mux.Handle("/api/", c.api(Viewer,
		func(v *visit) error { return notFound("no such endpoint: see /api/openapi.json") }))
	mux.Handle("/", c.page(Viewer, func(v *visit) error { return notFound("There is no such page.") }))
	return c.guard(mux)
}

// guard is what every request passes: headers that keep browsers from being tricked, and the check of where it comes
// from.
func (c *Console) guard(next http.Handler) http.Handler {
	origins := http.NewCrossOriginProtection()
	if c.base != nil {
		_ = origins.AddTrustedOrigin(c.base.String())
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.protect(w.Header(), r)
		if !c.checkHost(r) {
			http.Error(w, "This console is not served under that name.", http.StatusMisdirectedRequest)
			return
		}
		if err := origins.Check(r); err != nil {
			http.Error(w, "This request comes from another site.", http.StatusForbidden)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		next.ServeHTTP(w, r)
	})
}

// maxBody has room for edited arguments of the largest size, encoded as a form.
const maxBody = 8 << 20

func (c *Console) protect(h http.Header, r *http.Request) {
	h.Set("Content-Security-Policy",
		"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "+
			"form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	if c.secure(r) {
		h.Set("Strict-Transport-Security", "max-age=31536000")
	}
}

// checkHost compares the Host header with the console's own addresses. Without sign-in this is the protection against
// DNS rebinding: a page of another site whose name suddenly leads to this machine.
func (c *Console) checkHost(r *http.Request) bool {
	if !c.open() {
		return true
	}
	return guard.Site{Base: c.base}.CheckHost(r) == nil
}

// page serves people: who has no session is asked to come in.
func (c *Console) page(role Role, a answer) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v := &visit{w: w, r: r, session: c.sessions.find(r, time.Now())}
		if who, ok := c.withKey(r); ok {
			c.enter(v, who, guard.WithoutKey(r.URL))
			return
		}
		if v.session == nil {
			c.sendToLogin(v)
			return
		}
		v.who = v.session.who
		if err := c.admit(v, role); err != nil {
			c.showError(v, err)
			return
		}
		if err := a(v); err != nil {
			c.showError(v, err)
		}
	})
}

// withKey tells who comes by the address with the key. It is taken out of the address at once, and a cookie is left.
func (c *Console) withKey(r *http.Request) (Identity, bool) {
	if !c.open() || r.Method != http.MethodGet || !r.URL.Query().Has(guard.Parameter) {
		return Identity{}, false
	}
	return c.whose(r.URL.Query().Get(guard.Parameter))
}

func (c *Console) sendToLogin(v *visit) {
	if v.r.Method != http.MethodGet || v.r.Header.Get("Accept") == "text/event-stream" ||
		v.r.Header.Get("X-Requested-With") != "" {
		http.Error(v.w, "Your session has ended: reload the page.", http.StatusUnauthorized)
		return
	}
	http.Redirect(v.w, v.r, "/login?next="+url.QueryEscape(v.r.URL.RequestURI()), http.StatusSeeOther)
}

// admit checks that a request may do what it asks for.
func (c *Console) admit(v *visit, role Role) error {
	changes := v.r.Method != http.MethodGet && v.r.Method != http.MethodHead
	if changes && v.session != nil && v.session.crossSite(v.r) {
		return forbidden("The form is out of date: reload the page and try again.")
	}
	switch {
	case !v.who.Roles.MayLook():
		return forbidden("%s may run programs but not look at them here.", v.who.Name)
	case role == Approver && !v.who.Roles.MayDecide():
		return forbidden("%s may look but not decide.", v.who.Name)
	}
	return nil
}

// api serves programs, by a token, and scripts of pages, by their session.
func (c *Console) api(role Role, a answer) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v := &visit{w: w, r: r}
		err := c.identify(v)
		if err == nil {
			err = c.admit(v, role)
		}
		if err == nil && r.Method == http.MethodPost &&
			!strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
			err = failed(http.StatusUnsupportedMediaType, "send application/json")
		}
		if err == nil {
			err = a(v)
		}
		if err != nil {
			status, message := statusOf(err)
			if status == http.StatusUnauthorized {
				w.Header().Set("WWW-Authenticate", `Bearer realm="codemode"`)
			}
			writeJSON(v, status, apiError{Error: message})
		}
	})
}

// identify finds out who calls the API.
func (c *Console) identify(v *visit) error {
	token, bearer := strings.CutPrefix(v.r.Header.Get("Authorization"), "Bearer ")
	if !bearer {
		if v.session = c.sessions.find(v.r, time.Now()); v.session != nil {
			v.who = v.session.who
			return nil
		}
		return failed(http.StatusUnauthorized, "send Authorization: Bearer TOKEN")
	}
	who, err := c.bearer(v.r, token)
	v.who = who
	return err
}

// bearer tells whose token it is, of the tokens file or an ID token of the OIDC issuer. Guesses are slowed down, not
// tokens that are right: behind a proxy all people share one address.
func (c *Console) bearer(r *http.Request, token string) (Identity, error) {
	if who, ok := c.whose(token); ok {
		return who, nil
	}
	address := remote(r)
	guessed := c.logins.blocked(address, time.Now())
	if c.OIDC != nil {
		if who, err := c.idToken(r.Context(), token, guessed); err == nil {
			return who, nil
		}
	}
	if guessed {
		return Identity{}, tooMany()
	}
	c.logins.failed(address)
	return Identity{}, failed(http.StatusUnauthorized, "this token is not known here")
}

// idToken checks an ID token, which costs more than to look one up. Those from where guesses come wait for each other.
func (c *Console) idToken(ctx context.Context, token string, guessed bool) (Identity, error) {
	if guessed {
		select {
		case c.checking <- struct{}{}:
			defer func() { <-c.checking }()
		case <-ctx.Done():
			return Identity{}, ctx.Err()
		}
	}
	return c.OIDC.identify(ctx, token)
}

func tooMany() error {
	return failed(http.StatusTooManyRequests, "too many tokens that are not known here: wait a minute")
}

func remote(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

// public serves those who have not come in yet.
func (c *Console) public(a answer) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v := &visit{w: w, r: r}
		if err := a(v); err != nil {
			c.showError(v, err)
		}
	})
}

// assets are the static files; their address changes with what they hold, so browsers may keep them.
var assets = func() map[string]string {
	versions := map[string]string{}
	files, err := fs.ReadDir(staticFiles, "static")
	if err != nil {
		panic(err)
	}
	for _, f := range files {
		text, err := staticFiles.ReadFile("static/" + f.Name())
		if err != nil {
			panic(err)
		}
		sum := sha256.Sum256(text)
		versions[f.Name()] = hex.EncodeToString(sum[:6])
	}
	return versions
}()

func asset(name string) string { return fmt.Sprintf("/static/%s?v=%s", name, assets[name]) }

func serveStatic(v *visit) error {
	name := v.r.PathValue("file")
	text, err := staticFiles.ReadFile("static/" + name)
	if errors.Is(err, fs.ErrNotExist) {
		return notFound("There is no such file.")
	}
	if err != nil {
		return err
	}
	if v.r.URL.Query().Get("v") == assets[name] {
		v.w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	http.ServeContent(v.w, v.r, name, time.Time{}, bytes.NewReader(text))
	return nil
}
