package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strconv"

	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/sandbox/child"
	"github.com/temporal-codemode/codemode/signals"
	"github.com/temporal-codemode/codemode/testenv/chaos/ledger"
	"github.com/temporal-codemode/codemode/testenv/server"
	"github.com/temporal-codemode/codemode/worker/codemodeworker"
)

// The parts that this binary plays.
const (
	roleLedger   = "ledger"
	roleTemporal = "temporal"
	roleWorker   = "worker"
	roleDepot    = "depot"
)

// play plays a part until it is killed.
func play(ctx context.Context, role string) error {
	switch role {
	case roleLedger:
		return playLedger()
	case roleTemporal:
		return playTemporal(ctx)
	case roleWorker:
		return playWorker(ctx)
	case roleDepot:
		return serveDepot(ctx)
	}
	return fmt.Errorf("%s=%q: no such part", roleVariable, role)
}

func playLedger() error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	seed, err := strconv.ParseUint(os.Getenv(seedVar), 10, 64)
	if err != nil {
		return err
	}
	ready(l.Addr().String())
	return ledger.Serve(l, os.Getenv(fileVar), seed)
}

func playTemporal(ctx context.Context) error {
	s, err := server.Start(ctx, server.Options{Address: os.Getenv(addressVar), DB: os.Getenv(fileVar)})
	if err != nil {
		return err
	}
	ready(s.Address())
	select {}
}

func playWorker(ctx context.Context) error {
	c, err := dial(ctx, os.Getenv(addressVar))
	if err != nil {
		return err
	}
	depot, err := depotConnector()
	if err != nil {
		return err
	}
	events, _ := strconv.Atoi(os.Getenv(eventsVar)) // none is the default
	w, err := codemodeworker.New(ctx, c, codemodeworker.Options{
		Runtime:    os.Getenv(runtimeVar),
		Connectors: []connectors.Connector{shopConnector(), depot},
		Rules:      map[string][]connectors.Rule{"depot": depotRules},
		Limits:     signals.Limits{HistoryEvents: events},
		// One for all, so that passes leave it to others while they wait: a killed child has runtimes of many.
		Sandbox: child.Options{Children: 1},
	})
	if err != nil {
		return err
	}
	if err := w.Start(); err != nil {
		return err
	}
	ready(os.Getenv(addressVar))
	select {}
}

var quiet = sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler))

func dial(ctx context.Context, address string) (client.Client, error) {
	return client.DialContext(ctx, client.Options{HostPort: address, Logger: quiet})
}
