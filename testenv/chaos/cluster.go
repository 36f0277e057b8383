package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"time"

	"go.temporal.io/sdk/client"

	"github.com/temporal-codemode/codemode"
	"github.com/temporal-codemode/codemode/signals"
	"github.com/temporal-codemode/codemode/testenv/chaos/ledger"
)

// cluster is everything that one run needs: the ledger, Temporal, and the workers of one runtime.
type cluster struct {
	seed     uint64
	dir      string
	log      io.Writer
	ledger   *process
	temporal *process
	workers  []*process
	truth    ledger.Client
	raw      client.Client
	client   *codemode.Client
}

const mainRuntime = "chaos"

// newCluster starts it all. Dir keeps Temporal's database and the ledger.
func newCluster(ctx context.Context, dir string, seed uint64, workers int, log io.Writer) (*cluster, error) {
	c := &cluster{seed: seed, dir: dir, log: log}
	if err := c.up(ctx, workers); err != nil {
		c.stop()
		return nil, err
	}
	return c, nil
}

func (c *cluster) up(ctx context.Context, workers int) error {
	c.ledger = &process{role: roleLedger, log: c.log, env: []string{
		fileVar + "=" + filepath.Join(c.dir, "ledger.jsonl"), seedVar + "=" + strconv.FormatUint(c.seed, 10),
	}}
	c.temporal = &process{role: roleTemporal, log: c.log,
		env: []string{fileVar + "=" + filepath.Join(c.dir, "temporal.db")}}
	for _, p := range []*process{c.ledger, c.temporal} {
		if err := p.start(); err != nil {
			return err
		}
	}
	c.truth = ledger.Client{Address: c.ledger.address}
	var err error
	if c.raw, err = dial(ctx, c.temporal.address); err != nil {
		return err
	}
	if c.client, err = c.clientOf(mainRuntime); err != nil {
		return err
	}
	for range workers {
		w := c.worker(mainRuntime)
		if err := w.start(); err != nil {
			return err
		}
		c.workers = append(c.workers, w)
	}
	if workers == 0 {
		return nil
	}
	return c.saveSnippet(ctx, c.client)
}

func (c *cluster) clientOf(runtime string) (*codemode.Client, error) {
	return codemode.NewClient(c.raw, codemode.ClientOptions{Runtime: runtime})
}

// worker is a worker of a runtime, not yet started.
func (c *cluster) worker(runtime string) *process {
	return &process{role: roleWorker, log: c.log, address: c.temporal.address, env: []string{
		runtimeVar + "=" + runtime, ledgerVar + "=" + c.truth.Address,
	}}
}

// saveSnippet makes the snippet that the programs run.
func (c *cluster) saveSnippet(ctx context.Context, of *codemode.Client) error {
	o, err := of.Execute(ctx, snippetSource, codemode.ExecuteOptions{Purpose: "The snippet's source"})
	if err != nil {
		return err
	}
	if _, err = of.SaveSnippet(ctx, snippetName,
		signals.SaveSnippet{From: o.ExecutionID, Description: "Restocks.", Force: true}); err != nil {
		return fmt.Errorf("save the snippet: %w", err)
	}
	return nil
}

// again starts a killed process, and keeps trying: a worker cannot start while Temporal is away.
func (c *cluster) again(ctx context.Context, p *process) error {
	for {
		err := p.start()
		if err == nil || ctx.Err() != nil {
			return err
		}
		_, _ = fmt.Fprintf(c.log, "chaos: %v; trying again\n", err)
		wait(ctx, 200*time.Millisecond)
	}
}

func (c *cluster) stop() {
	if c.raw != nil {
		c.raw.Close()
	}
	for _, p := range append(c.workers, c.temporal, c.ledger) {
		if p != nil {
			p.kill()
		}
	}
}

// wait sleeps unless ctx ends before.
func wait(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
