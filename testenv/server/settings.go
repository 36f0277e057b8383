package server

import (
	"cmp"
	"fmt"
	"net"
	"net/netip"
	"strconv"

	"go.temporal.io/server/common/primitives"
)

const (
	defaultHost      = "127.0.0.1"
	defaultNamespace = "default"
	defaultLogLevel  = "fatal"
)

var services = []primitives.ServiceName{
	primitives.FrontendService,
	primitives.HistoryService,
	primitives.MatchingService,
	primitives.WorkerService,
}

// settings are Options with every choice made.
type settings struct {
	host       string
	ports      map[primitives.ServiceName]int
	uiPort     int
	db         string
	namespace  string
	logLevel   string
	maxUpdates int
}

func (p settings) hostPort(name primitives.ServiceName) string {
	return net.JoinHostPort(p.host, strconv.Itoa(p.ports[name]))
}

func (p settings) address() string { return p.hostPort(primitives.FrontendService) }

func plan(opts Options) (settings, error) {
	host, port, err := loopback(opts.Address)
	if err != nil {
		return settings{}, err
	}
	p := settings{
		host:       host,
		ports:      map[primitives.ServiceName]int{primitives.FrontendService: port},
		db:         opts.DB,
		namespace:  cmp.Or(opts.Namespace, defaultNamespace),
		logLevel:   cmp.Or(opts.LogLevel, defaultLogLevel),
		maxUpdates: opts.MaxUpdates,
	}
	for _, name := range services {
		if p.ports[name], err = claimPort(host, p.ports[name], "Temporal"); err != nil {
			return settings{}, err
		}
	}
	p.uiPort, err = claimUIPort(host, opts.UIPort)
	return p, err
}

// loopback reads an address and refuses hosts that other machines could reach: the server asks for no credentials.
func loopback(address string) (host string, port int, err error) {
	if address == "" {
		return defaultHost, 0, nil
	}
	host, service, err := net.SplitHostPort(address)
	if err != nil {
		return "", 0, fmt.Errorf("address %q: want host:port, for example 127.0.0.1:7233", address)
	}
	if port, err = strconv.Atoi(service); err != nil || port < 0 || port > 65535 {
		return "", 0, fmt.Errorf("address %q: the port must be a number from 0 to 65535", address)
	}
	if host == "" || host == "localhost" {
		return defaultHost, port, nil
	}
	if ip, err := netip.ParseAddr(host); err != nil || !ip.IsLoopback() {
		return "", 0, fmt.Errorf("address %q: the dev server has no authentication and listens on loopback only, "+
			"use 127.0.0.1:%d", address, port)
	}
	return host, port, nil
}

func claimUIPort(host string, port int) (int, error) {
	switch {
	case port == 0:
		return 0, nil
	case port == FreePort:
		return freePort(host)
	case port < 0 || port > 65535:
		return 0, fmt.Errorf("web UI port %d: want 1 to 65535, 0 for no UI or %d for a free port", port, FreePort)
	}
	return claimPort(host, port, "the Temporal Web UI")
}

// claimPort returns port when it can be listened on, and a free port when it is 0. Temporal's own listeners end the
// process when a port is taken, so this has to be known before they start.
func claimPort(host string, port int, use string) (int, error) {
	if port == 0 {
		return freePort(host)
	}
	l, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(port)))
	if err != nil {
		return 0, fmt.Errorf("port %d on %s, wanted for %s, cannot be used: "+
			"stop what is listening there (another dev server?) or choose another port: %w", port, host, use, err)
	}
	return port, l.Close()
}

// freePort finds a port that nobody else will be given before we listen on it: after a connection that the listening
// side closes first, the port stays in TIME_WAIT, where the kernel assigns it to no one but lets us bind it by number.
func freePort(host string) (int, error) {
	l, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		return 0, fmt.Errorf("find a free port on %s: %w", host, err)
	}
	defer func() { _ = l.Close() }()
	dialed, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		return 0, fmt.Errorf("find a free port on %s: %w", host, err)
	}
	defer func() { _ = dialed.Close() }()
	accepted, err := l.Accept()
	if err != nil {
		return 0, fmt.Errorf("find a free port on %s: %w", host, err)
	}
	return l.Addr().(*net.TCPAddr).Port, accepted.Close()
}
