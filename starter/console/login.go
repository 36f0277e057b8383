package console

import (
	"net/http"
	"strings"
	"time"
)

type loginView struct {
	Next   string
	Error  string
	Tokens bool
	Key    bool // in place of a token
	OIDC   bool
}

func (c *Console) loginPage(v *visit) error {
	if c.sessions.find(v.r, time.Now()) != nil {
		http.Redirect(v.w, v.r, nextPage(v.r.FormValue("next")), http.StatusSeeOther)
		return nil
	}
	return c.showLogin(v, http.StatusOK, "")
}

func (c *Console) showLogin(v *visit, status int, message string) error {
	return c.show(v, status, "login", "Sign in", loginView{
		Next: nextPage(v.r.FormValue("next")), Error: message, Tokens: c.Tokens != nil || c.open(),
		Key: c.open(), OIDC: c.OIDC != nil,
	})
}

// login takes a token of the tokens file.
func (c *Console) login(v *visit) error {
	if c.Tokens == nil && !c.open() {
		return notFound("There are no tokens here.")
	}
	if who, ok := c.whose(strings.TrimSpace(v.r.PostFormValue("token"))); ok {
		c.enter(v, who, v.r.PostFormValue("next"))
		return nil
	}
	address := remote(v.r)
	if c.logins.blocked(address, time.Now()) {
		v.w.Header().Set("Retry-After", "60")
		return c.showLogin(v, http.StatusTooManyRequests, "Too many tokens that are not known here: wait a minute.")
	}
	c.logins.failed(address)
	return c.showLogin(v, http.StatusUnauthorized, "This token is not known here.")
}

// enter begins a session, a new one whatever cookie the browser had.
func (c *Console) enter(v *visit, who Identity, next string) {
	c.sessions.end(v.r)
	c.setCookie(v.w, v.r, c.sessions.begin(who, time.Now()))
	http.Redirect(v.w, v.r, nextPage(next), http.StatusSeeOther)
}

func (c *Console) logout(v *visit) error {
	c.sessions.end(v.r)
	c.setCookie(v.w, v.r, "")
	http.Redirect(v.w, v.r, "/login", http.StatusSeeOther)
	return nil
}

// nextPage is where to go after coming in: a page of ours, whatever the link said.
func nextPage(next string) string {
	if !strings.HasPrefix(next, "/") || strings.HasPrefix(next, "//") || strings.ContainsAny(next, "\\\r\n\t") {
		return "/"
	}
	return next
}
