package main

import (
	"context"
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/temporal-codemode/codemode/signals"
)

func (c *cli) retryVerb() *cobra.Command {
	var r signals.Retry
	cmd := c.verb("retry ID --seq N", "Make a call again whose outcome is unknown", shapeOutcome, knownID,
		func(cmd *cobra.Command, args []string) (answer, error) {
			return c.settle(cmd.Context(), args[0],
				r, func(conn *connection, ctx context.Context) (signals.Outcome, error) {
					return conn.Retry(ctx, args[0], r)
				})
		})
	cmd.Long = "Make a call again that was interrupted while it ran, with the same idempotency key, and wait for " +
		"the outcome after that.\n" +
		"Such calls are pending where the configuration says \"unknown: ask\"."
	cmd.Flags().IntVar(&r.Seq, "seq", 0, "the call of this `number`")
	cmd.Flags().StringVar(&r.By, "by", c.user, "`who` decides, for the record")
	cmd.Flags().StringVar(&r.Note, "note", "", "a `text` for the record")
	_ = cmd.MarkFlagRequired("seq")
	return cmd
}

func (c *cli) resolveVerb() *cobra.Command {
	var r signals.Resolve
	var result string
	cmd := c.verb("resolve ID --seq N", "Give the result of a pending call", shapeOutcome, knownID,
		func(cmd *cobra.Command, args []string) (answer, error) {
			if result != "" {
				r.Result = json.RawMessage(result)
			}
			return c.settle(cmd.Context(), args[0],
				r, func(conn *connection, ctx context.Context) (signals.Outcome, error) {
					return conn.Resolve(ctx, args[0], r)
				})
		})
	cmd.Long = "Give the result of a call that clients resolve, or whose outcome is unknown, and wait for the " +
		"outcome after that. Without\n" +
		"--result the program gets undefined."
	cmd.Flags().IntVar(&r.Seq, "seq", 0, "the call of this `number`")
	cmd.Flags().StringVar(&result, "result", "", "the result as `JSON`")
	cmd.Flags().StringVar(&r.By, "by", c.user, "`who` decides, for the record")
	cmd.Flags().StringVar(&r.Note, "note", "", "a `text` for the record")
	_ = cmd.MarkFlagRequired("seq")
	return cmd
}

func (c *cli) settle(ctx context.Context, id string, m signals.Message,
	do func(*connection, context.Context) (signals.Outcome, error)) (answer, error) {
	if err := m.Check(); err != nil {
		return answer{}, usageError{err}
	}
	return c.with(ctx, func(conn *connection) (answer, error) {
		out, err := c.await(ctx, 0, func(ctx context.Context) (signals.Outcome, error) { return do(conn, ctx) })
		return c.outcomeAnswer(out, c.source(ctx, conn, out, "")), err
	})
}
