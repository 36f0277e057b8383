package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/temporal-codemode/codemode"
	"github.com/temporal-codemode/codemode/signals"
)

func (c *cli) pendingVerb() *cobra.Command {
	cmd := c.verb("pending [ID]", "List the calls that wait for a person", shapeList, atMostOneID,
		func(cmd *cobra.Command, args []string) (answer, error) {
			if len(args) == 0 {
				return c.pending(cmd.Context(), "")
			}
			return c.pending(cmd.Context(), args[0])
		})
	cmd.Long = "List the calls that wait for a person, of one execution or of all of the runtime, with their arguments."
	return cmd
}

func atMostOneID(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return errors.New("name one execution or none: " + cmd.UseLine())
	}
	return nil
}

func (c *cli) pending(ctx context.Context, id string) (answer, error) {
	return c.with(ctx, func(conn *connection) (answer, error) {
		list, err := conn.Pending(ctx, id)
		if err != nil {
			return answer{}, err
		}
		a := answer{document: list, text: func(p *page) { c.showAllPending(p, list) }}
		if len(list) > 0 || id == "" {
			return a, nil
		}
		_, err = conn.Show(ctx, id)
		return a, err
	})
}

func (c *cli) listVerb() *cobra.Command {
	var o codemode.ListOptions
	var status string
	cmd := c.verb("list", "List executions, the newest first", shapeList, cobra.NoArgs,
		func(cmd *cobra.Command, _ []string) (answer, error) {
			o.Status = signals.Status(status)
			o.Brief = o.Brief || !c.json // people see none of what it leaves out
			return c.list(cmd.Context(), o)
		})
	cmd.Flags().IntVar(&o.Limit, "limit", 20, "list at most this `many`")
	cmd.Flags().StringVar(&o.Text, "text", "", "only those whose id, purpose or program has this `text`")
	cmd.Flags().Var((*labels)(&o.Labels), "label", "only those with the label `name=value`; of several, with all")
	cmd.Flags().BoolVar(&o.Brief, "brief", false, "with --json: without results, errors and the end of long programs")
	cmd.Flags().StringVar(&status, "status", "", "only those of this `status`: "+statusNames())
	return cmd
}

var statuses = []signals.Status{signals.Running, signals.Paused, signals.Completed, signals.Failed, signals.Rejected,
	signals.RolledBack}

func statusNames() string {
	var names []string
	for _, s := range statuses {
		names = append(names, string(s))
	}
	return strings.Join(names, ", ")
}

func (c *cli) list(ctx context.Context, o codemode.ListOptions) (answer, error) {
	if o.Limit < 1 {
		return answer{}, usagef("--limit %d: at least 1", o.Limit)
	}
	if o.Status != "" && !slices.Contains(statuses, o.Status) {
		return answer{}, usagef("--status %q: one of %s", o.Status, statusNames())
	}
	return c.with(ctx, func(conn *connection) (answer, error) {
		records, err := conn.Executions(ctx, o)
		if err != nil {
			return answer{}, err
		}
		return answer{document: records, text: func(p *page) { showList(p, records, time.Now()) }}, nil
	})
}

func (c *cli) showVerb() *cobra.Command {
	var fixture string
	cmd := c.verb("show ID", "Show the record of an execution: program, calls, decisions, outcome", shapeRecord,
		knownID,
		func(cmd *cobra.Command, args []string) (answer, error) {
			return c.show(cmd.Context(), args[0], fixture)
		})
	cmd.Flags().StringVar(&fixture, "fixture", "",
		"write the record to a `FILE` too, secrets masked: the fixture of a test with codemodetest")
	return cmd
}

func (c *cli) show(ctx context.Context, id, fixture string) (answer, error) {
	return c.with(ctx, func(conn *connection) (answer, error) {
		record, err := conn.Show(ctx, id)
		if err != nil {
			return answer{}, err
		}
		if fixture != "" {
			if err := writeFixture(fixture, *record); err != nil {
				return answer{}, err
			}
		}
		return answer{document: record, text: func(p *page) { c.showRecord(p, record) }}, nil
	})
}

// writeFixture writes a record without its secrets.
func writeFixture(file string, record signals.Record) error {
	fixture, err := signals.Fixture(record)
	if err != nil {
		return err
	}
	text, err := signals.Marshal(fixture)
	if err != nil {
		return err
	}
	var lines bytes.Buffer
	if err := json.Indent(&lines, append(text, '\n'), "", "  "); err != nil {
		return err
	}
	if err := os.WriteFile(file, lines.Bytes(), 0o600); err != nil {
		return fmt.Errorf("write the fixture: %w", err)
	}
	return nil
}
