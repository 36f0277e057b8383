package outbound

import (
	"net/netip"
	"net/url"
	"strings"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/connectors/internal/web"
)

// outboundHost is one entry of an allow-list.
type host struct {
	scheme, name, port string
	below              bool // any name below
}

// CheckHost tells what is wrong with an entry of [Options.Hosts].
func CheckHost(entry string) error {
	_, err := parseOutboundHost(entry)
	return err
}

func parseOutboundHost(entry string) (host, error) {
	text := entry
	if !strings.Contains(text, "://") {
		text = "https://" + text
	}
	at, err := url.Parse(text)
	if err != nil || web.DefaultPorts[at.Scheme] == "" || at.Hostname() == "" || at.User != nil ||
		strings.Trim(at.Path, "/") != "" || at.RawQuery != "" || at.Fragment != "" {
		return host{}, connectors.ConfigErrorf("%q is not a host: write api.example.com, *.example.com, "+
			"api.example.com:8443 or http://127.0.0.1:9000", entry)
	}
	h := host{scheme: at.Scheme, name: hostName(at), port: web.PortOf(at)}
	h.name, h.below = strings.CutPrefix(h.name, "*.")
	if strings.Contains(h.name, "*") || h.below && !strings.Contains(h.name, ".") {
		return host{}, connectors.ConfigErrorf(
			`%q is too wide for a host: only "*." before a name of two parts or more stands for others`, entry)
	}
	return h, nil
}

func hostName(u *url.URL) string { return strings.TrimSuffix(strings.ToLower(u.Hostname()), ".") }

func (h host) allows(u *url.URL) bool {
	name := hostName(u)
	named := name == h.name && !h.below || h.below && strings.HasSuffix(name, "."+h.name)
	return named && u.Scheme == h.scheme && web.PortOf(u) == h.port
}

// reach is how far a host of the allow-list may lead. An address, and localhost, are allowed only by being listed.
func reach(private bool) func(host string) web.Reach {
	return func(host string) web.Reach {
		if _, err := netip.ParseAddr(host); err == nil || host == "localhost" {
			return web.Anywhere
		}
		if private {
			return web.Private
		}
		return web.Public
	}
}
