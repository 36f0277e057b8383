package console

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/temporal-codemode/codemode/signals"
)

//go:embed templates
var templateFiles embed.FS

// page is what every template gets.
type page struct {
	Title     string
	Who       Identity
	CSRF      string
	In        bool // somebody has come in
	Open      bool // nobody is authenticated here
	CanDecide bool
	Here      string    // the first part of the address
	Told      []telling // what came of the decisions before
	Data      any
}

// Reading is the page for parts in which nothing is chosen.
func (p page) Reading() page {
	p.CanDecide = false
	return p
}

var functions = template.FuncMap{
	"asset": asset, "at": at, "show": show, "showText": showText, "arguments": arguments, "visible": signals.Visible,
	"mask": func(raw json.RawMessage) json.RawMessage { return signals.Mask(raw) },
	"link": executionLink, "plural": plural, "stateOf": stateOf, "settledAs": settledAs, "did": did,
	"in": func(p page, data any) page { p.Data = data; return p }, "sub": func(a, b int) int { return a - b },
	"short": func(n int, text string) string { return signals.Visible(signals.Cut(text, n)) },
	"deref": func(n *int) int { return *n }, "list": func(n ...int) []int { return n }, "first": firstLine,
	"passEnd": passEnd,
	"snippet": func(runtime, name string) string {
		return "/snippets/" + url.PathEscape(runtime) + "/" + url.PathEscape(name)
	},
}

// templates are the pages by name, each with the layout.
var templates = func() map[string]*template.Template {
	pages := map[string]*template.Template{}
	for _, name := range []string{"inbox", "execution", "executions", "call", "review", "ask", "told", "snippets",
		"snippet", "login", "error"} {
		pages[name] = template.Must(template.New("").Funcs(functions).ParseFS(templateFiles, "templates/layout.html",
			"templates/parts.html", "templates/groups.html", "templates/"+name+".html"))
	}
	return pages
}()

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	if strings.HasSuffix(word, "s") {
		word += "e"
	}
	return fmt.Sprintf("%d %ss", n, word)
}

func executionLink(runtime, id string) string {
	return "/executions/" + url.PathEscape(runtime) + "/" + url.PathEscape(id)
}

// show renders a page. It is written as a whole or not at all.
func (c *Console) show(v *visit, status int, name, title string, data any) error {
	return c.render(v, status, name, "layout", title, data)
}

// render renders one template of a page.
func (c *Console) render(v *visit, status int, name, part, title string, data any) error {
	p := page{Title: title, Who: v.who, Open: c.open(), CanDecide: v.who.Roles.MayDecide(), Data: data,
		Here: strings.SplitN(strings.TrimPrefix(v.r.URL.Path, "/"), "/", 2)[0]}
	if v.session != nil {
		p.CSRF, p.In = v.session.csrf, true
		if part == "layout" {
			p.Told = tellings(c.sessions.told(v.session))
		}
	}
	var b bytes.Buffer
	if err := templates[name].ExecuteTemplate(&b, part, p); err != nil {
		c.Log.Error("render a page", "page", name, "error", err)
		http.Error(v.w, "This page could not be made.", http.StatusInternalServerError)
		return nil
	}
	v.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	v.w.WriteHeader(status)
	_, _ = v.w.Write(b.Bytes())
	return nil
}

func (c *Console) showError(v *visit, err error) {
	status, message := statusOf(err)
	if status >= 500 {
		c.Log.Warn("a page failed", "page", v.r.URL.Path, "error", err)
	}
	_ = c.show(v, status, "error", http.StatusText(status), message)
}

// wantsJSON says that a script of a page asks.
func wantsJSON(r *http.Request) bool {
	return strings.Contains(r.Header.Get("Accept"), "application/json")
}

// decideForm takes decisions that a page sends: one or several.
func (c *Console) decideForm(v *visit) error {
	if err := v.r.ParseForm(); err != nil {
		return badRequest("the form cannot be read")
	}
	keys := v.r.PostForm["item"]
	if len(keys) == 0 {
		return badRequest("nothing was selected")
	}
	var list []decision
	for _, text := range keys {
		k, err := parseKey(text)
		if err != nil {
			return err
		}
		d := decision{Action: v.r.PostForm.Get("action"), key: k, Note: v.r.PostForm.Get("note"),
			Continue: v.r.PostForm.Get("continue") != "", Whole: v.r.PostForm.Get("whole") != ""}
		if args := v.r.PostForm.Get("args"); args != "" {
			d.Args = json.RawMessage(args)
		}
		if text := v.r.PostForm.Get("result"); strings.TrimSpace(text) != "" {
			d.Result = json.RawMessage(text)
		}
		d.Always = v.r.PostForm.Get("always") != ""
		list = append(list, d)
	}
	if len(list) > 1 && len(list[0].Args) > 0 {
		return badRequest("arguments can be edited for one call at a time")
	}
	results := c.decideAll(v.context(), v.who, list)
	switch {
	case wantsJSON(v.r):
		writeJSON(v, http.StatusOK, decideAnswer{results})
		return nil
	case v.r.Header.Get("X-Requested-With") != "":
		return c.render(v, http.StatusOK, "told", "told", "Decided", tellings(results))
	}
	// A page of its own would decide again when it is reloaded.
	c.sessions.tell(v.session, results)
	http.Redirect(v.w, v.r, nextPage(v.r.PostForm.Get("next")), http.StatusSeeOther)
	return nil
}

// temporalLink leads to a workflow in the Temporal Web UI.
func (c *Console) temporalLink(runtime, id string) string {
	if c.TemporalUI == "" {
		return ""
	}
	return strings.TrimSuffix(c.TemporalUI, "/") + "/workflows/" + url.PathEscape(signals.WorkflowID(runtime, id))
}

func number(text string, fallback, most int) int {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return fallback
	}
	return min(n, most)
}
