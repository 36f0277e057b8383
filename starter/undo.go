package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/temporal-codemode/codemode/signals"
)

func (c *cli) rollbackVerb() *cobra.Command {
	var r signals.Rollback
	cmd := c.verb("rollback ID", "Undo what an execution did", shapeRollback, knownID,
		func(cmd *cobra.Command, args []string) (answer, error) { return c.rollback(cmd.Context(), args[0], r) })
	cmd.Long = "Undo every call of an execution that took effect and has a revert, the last one first. An " +
		"execution that is open is\n" +
		"stopped first. What could not be undone is listed (exit 1), and another rollback tries it again; where " +
		"nothing can be\n" +
		"undone nothing changes (exit 0). The verb show tells before which calls can be undone."
	cmd.Flags().StringVar(&r.By, "by", c.user, "`who` rolls back, for the record")
	cmd.Flags().StringVar(&r.Note, "note", "", "a `text` for the record")
	return cmd
}

func (c *cli) rollback(ctx context.Context, id string, r signals.Rollback) (answer, error) {
	if err := r.Check(); err != nil {
		return answer{}, usageError{err}
	}
	return c.with(ctx, func(conn *connection) (answer, error) {
		stop := c.err.live("undoing what " + id + " did")
		result, err := conn.Rollback(ctx, id, r)
		stop()
		if err != nil {
			return answer{}, err
		}
		a := answer{document: result, text: func(p *page) { showRollback(p, result) }}
		if len(result.Failed) > 0 {
			a.code = exitError
		}
		return a, nil
	})
}

func showRollback(p *page, r signals.RollbackResult) {
	switch {
	case len(r.Reverted) > 0:
		p.styled(good, "↩ %s undone\n", calls(len(r.Reverted)))
	case len(r.Failed) == 0:
		p.line("nothing can be undone")
	}
	if len(r.Failed) > 0 {
		p.styled(bad, "✗ %s could not be undone:\n", calls(len(r.Failed)))
	}
	for _, f := range r.Failed {
		p.line("  %d %s.%s: %s", f.Seq, f.Connector, f.Method, f.Error)
	}
	if len(r.Unknown) > 0 {
		p.styled(bad, "? %s may have taken effect, and nothing undoes them: %s\n", calls(len(r.Unknown)),
			strings.Trim(fmt.Sprint(r.Unknown), "[]"))
	}
}

// calls counts in words.
func calls(n int) string {
	if n == 1 {
		return "1 call"
	}
	return fmt.Sprintf("%d calls", n)
}

func (c *cli) deleteVerb() *cobra.Command {
	cmd := c.verb("delete ID", "Remove an execution and all that is known of it", shapeBool, knownID,
		func(cmd *cobra.Command, args []string) (answer, error) { return c.delete(cmd.Context(), args[0]) })
	cmd.Long = "Remove an execution. One that is open ends as rejected first. Prints true when the server no " +
		"longer knows it (exit 0),\n" +
		"which takes a server up to half a minute after the execution's end, and false when there was none (exit 4)."
	return cmd
}

func (c *cli) delete(ctx context.Context, id string) (answer, error) {
	return c.with(ctx, func(conn *connection) (answer, error) {
		stop := c.err.live("deleting " + id)
		err := conn.Delete(ctx, id)
		stop()
		return booleanAnswer(true, "deleted", exitDone), err
	})
}

func (c *cli) pruneVerb() *cobra.Command {
	var keep int
	cmd := c.verb("prune --keep N", "Remove closed executions but for the newest", shapeNumber, cobra.NoArgs,
		func(cmd *cobra.Command, _ []string) (answer, error) { return c.prune(cmd.Context(), keep) })
	cmd.Long = "Remove all closed executions but for the newest ones, and print how many. Open ones stay, and do " +
		"not count. Without\n" +
		"this verb executions are kept for as long as the namespace says."
	cmd.Flags().IntVar(&keep, "keep", 0, "how `many` to keep")
	_ = cmd.MarkFlagRequired("keep")
	return cmd
}

func (c *cli) prune(ctx context.Context, keep int) (answer, error) {
	if keep < 0 {
		return answer{}, usagef("--keep %d is negative", keep)
	}
	return c.with(ctx, func(conn *connection) (answer, error) {
		stop := c.err.live("deleting what is older")
		n, err := conn.Prune(ctx, keep)
		stop()
		if err != nil {
			return answer{}, err
		}
		return answer{document: n, text: func(p *page) { p.line("%d deleted", n) }}, nil
	})
}

func (c *cli) expireVerb() *cobra.Command {
	var age time.Duration
	cmd := c.verb("expire --max-age D", "End what has been paused for long", shapeList, cobra.NoArgs,
		func(cmd *cobra.Command, _ []string) (answer, error) { return c.expire(cmd.Context(), age) })
	cmd.Long = "End every execution that has been paused for longer than --max-age, as its own time limit would: " +
		"it is rejected, with\n" +
		"the error \"Expired awaiting approval\". Prints their ids."
	cmd.Flags().DurationVar(&age, "max-age", 0, "for how long, as a `duration` such as 90m or 24h")
	_ = cmd.MarkFlagRequired("max-age")
	return cmd
}

func (c *cli) expire(ctx context.Context, age time.Duration) (answer, error) {
	if age < 0 {
		return answer{}, usagef("--max-age %v is negative", age)
	}
	return c.with(ctx, func(conn *connection) (answer, error) {
		ids, err := conn.Expire(ctx, age)
		if err != nil {
			return answer{}, err
		}
		return answer{document: ids, text: func(p *page) {
			for _, id := range ids {
				p.line("%s", id)
			}
			p.styled(dim, "%d expired\n", len(ids))
		}}, nil
	})
}
