package outbound

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"syscall"

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
	h := host{scheme: at.Scheme, name: hostName(at), port: portOf(at)}
	h.name, h.below = strings.CutPrefix(h.name, "*.")
	if strings.Contains(h.name, "*") || h.below && !strings.Contains(h.name, ".") {
		return host{}, connectors.ConfigErrorf(
			`%q is too wide for a host: only "*." before a name of two parts or more stands for others`, entry)
	}
	return h, nil
}

func hostName(u *url.URL) string { return strings.TrimSuffix(strings.ToLower(u.Hostname()), ".") }

func portOf(u *url.URL) string {
	if port := u.Port(); port != "" {
		return port
	}
	return web.DefaultPorts[u.Scheme]
}

func (h host) allows(u *url.URL) bool {
	name := hostName(u)
	named := name == h.name && !h.below || h.below && strings.HasSuffix(name, "."+h.name)
	return named && u.Scheme == h.scheme && portOf(u) == h.port
}

// dialPublic connects to a host of the allow-list. A name must not lead into
// the network that this process runs in: whoever owns the name says where it
// leads. An address, and localhost, are allowed only by being listed.
func dialPublic(private bool) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		var d net.Dialer
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			return nil, err
		}
		if _, err := netip.ParseAddr(host); err != nil && host != "localhost" {
			d.Control = func(_, to string, _ syscall.RawConn) error { return checkAddress(to, private) }
		}
		return d.DialContext(ctx, network, address)
	}
}

var otherNetworks = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("240.0.0.0/4"), netip.MustParsePrefix("64:ff9b::/96"),
	netip.MustParsePrefix("64:ff9b:1::/48"), netip.MustParsePrefix("2002::/16"),
}

func checkAddress(to string, private bool) error {
	at, err := netip.ParseAddrPort(to)
	if err != nil {
		return err
	}
	ip := at.Addr().Unmap()
	inside := ip.IsLoopback() || ip.IsPrivate()
	special := ip.IsUnspecified() || ip.IsMulticast() || ip.IsLinkLocalUnicast() || ip.IsInterfaceLocalMulticast()
	for _, network := range otherNetworks {
		special = special || network.Contains(ip)
	}
	if special || inside && !private {
		return fmt.Errorf("the name leads to %s, which is no public address", ip)
	}
	return nil
}
