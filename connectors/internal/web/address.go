package web

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
)

// Reach says which addresses a name may lead to: whoever owns the name decides where it does.
type Reach int

const (
	Public   Reach = iota // those of the internet
	Local                 // and this machine's own
	Private               // and those of private networks
	Anywhere              // the operator has named it
)

var otherNetworks = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("240.0.0.0/4"), netip.MustParsePrefix("64:ff9b::/96"),
	netip.MustParsePrefix("64:ff9b:1::/48"), netip.MustParsePrefix("2001::/32"), netip.MustParsePrefix("2002::/16"),
	netip.MustParsePrefix("fd00:ec2::/32"), // where a cloud keeps its metadata
}

// CheckAddress refuses an address, with its port, that is out of reach.
func CheckAddress(to string, reach Reach) error {
	at, err := netip.ParseAddrPort(to)
	if err != nil {
		return err
	}
	ip := at.Addr().Unmap()
	special := ip.IsUnspecified() || ip.IsMulticast() || ip.IsLinkLocalUnicast() || ip.IsInterfaceLocalMulticast()
	for _, network := range otherNetworks {
		special = special || network.Contains(ip)
	}
	switch {
	case reach == Anywhere:
		return nil
	case special, ip.IsLoopback() && reach < Local, ip.IsPrivate() && reach < Private:
		return &AddressError{ip}
	}
	return nil
}

// AddressError says that a name leads where it must not.
type AddressError struct{ Address netip.Addr }

func (e *AddressError) Error() string {
	return fmt.Sprintf("the name leads to %s, which is no public address", e.Address)
}

// Dialer connects to hosts, as far as each may reach.
func Dialer(reach func(host string) Reach) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			return nil, err
		}
		limit := reach(host)
		d := net.Dialer{Control: func(_, to string, _ syscall.RawConn) error { return CheckAddress(to, limit) }}
		return d.DialContext(ctx, network, address)
	}
}

// IsAddressError tells that a request was not sent because of where its host leads.
func IsAddressError(err error) bool {
	var address *AddressError
	return errors.As(err, &address)
}

// IsLoopback tells whether a host is this machine, by its name alone.
func IsLoopback(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

// Origin is what of a URL decides who gets a request.
func Origin(u *url.URL) string {
	return u.Scheme + "://" + strings.ToLower(u.Hostname()) + ":" + PortOf(u)
}

// PortOf is the port of a URL, the scheme's own where it names none.
func PortOf(u *url.URL) string {
	if port := u.Port(); port != "" {
		return port
	}
	return DefaultPorts[u.Scheme]
}
