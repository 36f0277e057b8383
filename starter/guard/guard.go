// Package guard turns requests away that no door may answer: what pages of other sites make a browser send, what comes
// under a foreign name, and where nobody signs in, what lacks the key of the door.
//
// Its rule: a browser on this machine, and a program with a tool that sends HTTP, are strangers like any other.
package guard

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
)

// Key is the secret of a door at which nobody signs in. It is part of the address that the door prints.
type Key string

// KeyVariable is the environment variable that gives a door the same key each time.
const KeyVariable = "CODEMODE_KEY"

// minKey keeps keys from being guessed.
const minKey = 24

// NewKey is the key of the environment, else a new one.
func NewKey() (Key, error) {
	key := os.Getenv(KeyVariable)
	switch {
	case key == "":
		return Key(rand.Text()), nil
	case len(key) < minKey:
		return "", fmt.Errorf("%s has fewer than %d characters: make one with openssl rand -hex 24",
			KeyVariable, minKey)
	}
	return Key(key), nil
}

// Is compares without telling by its time how much is right. The empty key is nobody's.
func (k Key) Is(given string) bool {
	want, got := sha256.Sum256([]byte(k)), sha256.Sum256([]byte(given))
	return k != "" && subtle.ConstantTimeCompare(want[:], got[:]) == 1
}

// Parameter is what the key is called in addresses.
const Parameter = "key"

// In adds the key to an address.
func (k Key) In(address string) string {
	return address + "?" + Parameter + "=" + url.QueryEscape(string(k))
}

// Bearer is the bearer token of a request, empty without one.
func Bearer(r *http.Request) string {
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok {
		return ""
	}
	return token
}

// Brings reports whether a request brings the key, in its address or as a bearer token.
func (k Key) Brings(r *http.Request) bool {
	return k.Is(Bearer(r)) || k.Is(r.URL.Query().Get(Parameter))
}

// WithoutKey is the address of a request without the key.
func WithoutKey(u *url.URL) string {
	query := u.Query()
	query.Del(Parameter)
	clean := url.URL{Path: u.Path, RawPath: u.RawPath, RawQuery: query.Encode()}
	return clean.RequestURI()
}

// Site is how a door is reached. The zero value is a door on this machine.
type Site struct {
	// Base is the address that others use; nil for the one that the door listens on.
	Base *url.URL
	// Anywhere says that callers prove who they are, so that any name may lead here.
	Anywhere bool
}

// Errors of requests that are turned away.
var (
	ErrHost   = errors.New("this door is not served under that name")
	ErrOrigin = errors.New("this request comes from a page of another site")
)

// CheckHost compares the Host header with the site's own names: a page of another site may give its own name an address
// of this machine.
func (s Site) CheckHost(r *http.Request) error {
	host := r.Host
	if name, _, err := net.SplitHostPort(r.Host); err == nil {
		host = name
	}
	host = strings.Trim(host, "[]")
	if s.Anywhere || Loopback(host) || s.Base != nil && strings.EqualFold(host, s.Base.Hostname()) {
		return nil
	}
	return ErrHost
}

// Loopback tells names and addresses of this machine.
func Loopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// CheckOrigin refuses what a browser sends for a page of another site, whatever the method. A request that says nothing
// of where it comes from is no browser's.
func (s Site) CheckOrigin(r *http.Request) error {
	if !slices.Contains([]string{"", "same-origin", "none"}, strings.Join(r.Header.Values("Sec-Fetch-Site"), ",")) {
		return ErrOrigin
	}
	for _, header := range []string{"Origin", "Referer"} {
		for _, from := range r.Header.Values(header) {
			if !s.own(r, from) {
				return ErrOrigin
			}
		}
	}
	return nil
}

// own reports whether an address is of this site.
func (s Site) own(r *http.Request, address string) bool {
	from, err := url.Parse(address)
	if err != nil || from.Host == "" {
		return false // "null" is the origin of what hides its own
	}
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	same := func(scheme, host string) bool { return from.Scheme == scheme && strings.EqualFold(from.Host, host) }
	return same(scheme, r.Host) || s.Base != nil && same(s.Base.Scheme, s.Base.Host)
}
