package openapi

import (
	"fmt"
	"net/netip"
	"net/url"
	"strings"

	"github.com/temporal-codemode/codemode/connectors/internal/web"
)

// A document says where requests go, and is often others' work, read again and again from a URL. So what the operator
// adds to requests goes to one origin, and nothing goes into networks that only the operator could mean.

// originError says that a document wants to have what was given for another place.
type originError struct{ text string }

func (e *originError) Error() string { return e.text }

// addsSecrets tells that requests carry what is not for everybody.
func (o Options) addsSecrets() bool {
	for name := range o.Headers {
		if !web.PublicHeaders[strings.ToLower(name)] {
			return true
		}
	}
	return len(o.Credentials) > 0
}

// named are the URLs of the configuration.
func (o Options) named() (list []*url.URL) {
	texts := append([]string{o.BaseURL, o.Document}, o.Origins...)
	for _, c := range o.Credentials {
		texts = append(texts, c.TokenURL)
	}
	for _, text := range texts {
		if u, err := absoluteURL(text); err == nil {
			list = append(list, u)
		}
	}
	return list
}

// checkOrigin refuses to send secrets anywhere but to the API's own origin and to those that the configuration lists.
func (c *openAPIConnector) checkOrigin(home, at *url.URL) error {
	if !c.opts.addsSecrets() {
		return nil
	}
	for _, text := range append([]string{c.opts.BaseURL}, c.opts.Origins...) {
		if u, err := absoluteURL(text); err == nil && web.Origin(u) == web.Origin(at) {
			return nil
		}
	}
	switch {
	case web.Origin(at) != web.Origin(home):
		return &originError{fmt.Sprintf("credentials for %s are not sent to %s: list it under origins if they should "+
			"be", home.Host, at.Host)}
	case at.Scheme != "https" && !web.IsLoopback(at.Hostname()):
		return &originError{fmt.Sprintf("credentials are not sent to %s, which is not reached by https: set the base "+
			"URL if they should be", at.Host)}
	}
	return nil
}

// reach is how far a host may lead. Those that a document names stay out of private networks; this machine is for
// documents that are on it.
func (c *openAPIConnector) reach(host string) web.Reach {
	for _, u := range c.opts.named() {
		if strings.EqualFold(u.Hostname(), host) {
			return web.Anywhere
		}
	}
	if _, ok := c.hosts.Load(strings.ToLower(host)); !ok {
		return web.Anywhere // a proxy
	}
	if at, err := absoluteURL(c.opts.Document); err == nil && !web.IsLoopback(at.Hostname()) {
		return web.Public
	}
	return web.Local
}

// checkHost notes a host that a document names, and refuses an address that is out of reach.
func (c *openAPIConnector) checkHost(at *url.URL) error {
	host := strings.ToLower(at.Hostname())
	c.hosts.Store(host, true)
	if _, err := netip.ParseAddr(host); err != nil {
		return nil // where a name leads is seen when it is dialled
	}
	address := "[" + host + "]:0"
	if !strings.Contains(host, ":") {
		address = host + ":0"
	}
	if err := web.CheckAddress(address, c.reach(host)); err != nil {
		return &originError{fmt.Sprintf("the document names the server %s, which is no public address: set the base "+
			"URL if requests should go there", at.Host)}
	}
	return nil
}
