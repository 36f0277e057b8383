package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"

	"github.com/temporal-codemode/codemode/worker/codemodeworker"
)

// Dial connects with an SDK logger that keeps to errors.
func Dial(address string) (client.Client, error) {
	handler := slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError})
	return client.Dial(client.Options{HostPort: address, Logger: log.NewStructuredLogger(slog.New(handler))})
}

// ServeWorker is the worker process: it answers requests until its input ends, and then the process should.
func ServeWorker(address string, in io.Reader, out io.Writer) error {
	c, err := Dial(address)
	if err != nil {
		return err
	}
	h := &host{temporal: c, fixtures: newFixtures()}
	requests, replies := json.NewDecoder(in), json.NewEncoder(out)
	for {
		var r request
		if err := requests.Decode(&r); err != nil {
			return nil
		}
		value, err := h.answer(context.Background(), r)
		if err := replies.Encode(newReply(value, err)); err != nil {
			return err
		}
	}
}

func newReply(value any, err error) reply {
	var r reply
	if err == nil {
		r.Value, err = json.Marshal(value)
	}
	var missing notSupported
	switch {
	case errors.As(err, &missing):
		r.Unsupported = string(missing)
	case err != nil:
		r.Error = err.Error()
	}
	return r
}

// host is what the worker process holds: the fixtures, and the worker that runs now, if any.
type host struct {
	temporal client.Client
	fixtures *fixtures
	worker   *codemodeworker.Worker
}

func (h *host) answer(ctx context.Context, r request) (any, error) {
	switch r.Do {
	case "configure":
		return nil, h.configure(ctx, *r.Config)
	case "state":
		return h.fixtures.store.record(), nil
	case "set":
		return nil, h.fixtures.store.set(*r.Hooks)
	case "calls":
		return h.fixtures.received(r.Connector)
	case "methods":
		return h.methods(r.Connector)
	}
	return nil, fmt.Errorf("unknown request %q", r.Do)
}

// configure replaces the worker's registration. The fixtures stay.
func (h *host) configure(ctx context.Context, c workerConfig) error {
	if h.worker != nil {
		h.worker.Stop()
		h.worker = nil
	}
	conns, err := h.fixtures.connectors(c.Conns)
	if err != nil {
		return err
	}
	w, err := codemodeworker.New(ctx, h.temporal, codemodeworker.Options{
		Runtime: c.Runtime, Connectors: conns, PassTimeout: milliseconds(c.TimeoutMs),
	})
	if err != nil {
		return err
	}
	if err := w.Start(); err != nil {
		return err
	}
	h.worker = w
	return nil
}

func (h *host) methods(connector string) ([]string, error) {
	if h.worker == nil {
		return nil, errors.New("no worker runs")
	}
	if err := h.worker.Connectors.Err(connector); err != nil {
		return nil, err
	}
	names := []string{}
	for _, m := range h.worker.Connectors.Methods(connector) {
		names = append(names, m.Name)
	}
	return names, nil
}
