package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/temporal-codemode/codemode/signals"
)

type approveFlags struct {
	seqs     []int
	args     string
	by, note string
	noWait   bool
	always   bool
}

func (c *cli) approveVerb() *cobra.Command {
	var f approveFlags
	var many manyFlags
	cmd := c.verb("approve ID|--all", "Let pending calls run and wait for the outcome", shapeOutcome, many.oneOrMany,
		func(cmd *cobra.Command, args []string) (answer, error) {
			if many.asked() {
				return c.approveMany(cmd, many, f)
			}
			return c.approve(cmd.Context(), args[0], f)
		})
	cmd.Long = "Let pending calls run, all of them or those of --seq, and wait for the outcome after that. What is " +
		"approved is what\n" +
		"is pending at this moment: each approval carries the digest of the arguments, and is refused if they are " +
		"others by then." + manyText
	many.add(cmd)
	cmd.Flags().IntSliceVar(&f.seqs, "seq", nil, "approve the call of this `number`; may be repeated")
	cmd.Flags().StringVar(&f.args, "args", "", "arguments as `JSON` for the call to run with instead of its own")
	cmd.Flags().StringVar(&f.by, "by", c.user, "`who` approves, for the record")
	cmd.Flags().StringVar(&f.note, "note", "", "a `text` for the record")
	cmd.Flags().BoolVar(&f.always, "always", false, "approve the same method for the rest of the execution")
	cmd.Flags().BoolVar(&f.noWait, "no-wait", false, "do not wait for the outcome")
	return cmd
}

func (f approveFlags) check() error {
	if f.args != "" && !json.Valid([]byte(f.args)) {
		return usagef("--args is not valid JSON: %s", signals.Cut(f.args, 100))
	}
	a := signals.Approve{Seqs: f.seqs, By: f.by, Note: f.note, Always: f.always}
	if f.args != "" {
		a.Args = json.RawMessage(f.args)
	}
	if err := a.Check(); err != nil {
		return usageError{err}
	}
	return nil
}

func (c *cli) approve(ctx context.Context, id string, f approveFlags) (answer, error) {
	if err := f.check(); err != nil {
		return answer{}, err
	}
	return c.with(ctx, func(conn *connection) (answer, error) {
		pending, err := conn.Pending(ctx, id)
		if err != nil {
			return answer{}, err
		}
		if len(pending) == 0 {
			out, err := conn.notPaused(ctx, id)
			return c.outcomeAnswer(out, ""), err
		}
		message, err := f.message(pending)
		if err != nil {
			return answer{}, err
		}
		verdict, err := conn.Decide(ctx, id, message)
		if err != nil || !verdict.Accepted {
			return c.outcomeAnswer(signals.ErrorOutcome(id, verdict.Error), ""), err
		}
		if f.noWait {
			return c.startedAnswer(signals.Outcome{ExecutionID: id, Status: signals.Running}), nil
		}
		out, err := c.await(ctx,
			0, func(ctx context.Context) (signals.Outcome, error) { return conn.Wait(ctx, id, verdict.Pass) })
		return c.outcomeAnswer(out, c.source(ctx, conn, out, "")), err
	})
}

// unseen is a digest that no arguments have: what was not pending when we looked must not be approved by chance.
const unseen = "not-seen"

// message approves each call bound to the arguments seen, all of them or none.
func (f approveFlags) message(pending []signals.PendingAction) (signals.Approve, error) {
	seen := map[int]signals.PendingAction{}
	var asking []int
	for _, a := range pending {
		seen[a.Seq] = a
		if a.Reason == "" && a.Resolution == "" {
			asking = append(asking, a.Seq)
		}
	}
	seqs := slices.Compact(slices.Sorted(slices.Values(f.seqs)))
	if len(seqs) == 0 {
		seqs = asking
	}
	if len(seqs) == 0 {
		seqs = []int{pending[0].Seq} // the answer says what it waits for instead
	}
	if f.args != "" && len(seqs) > 1 {
		return signals.Approve{},
			usagef("--args edits one call, and several are pending (%s): say which with --seq", seqList(pending))
	}
	var m signals.Approve
	for _, seq := range seqs {
		m.Decisions = append(m.Decisions,
			signals.OneDecision{Approve: f.approval(seq, cmp.Or(seen[seq].ArgsDigest, unseen))})
	}
	return m, nil
}

func (f approveFlags) approval(seq int, digest string) *signals.Approve {
	a := signals.Approve{Seqs: []int{seq}, ArgsDigest: digest, By: f.by, Note: f.note, Always: f.always}
	if f.args != "" {
		a.Args = json.RawMessage(f.args)
	}
	return &a
}

// notPaused says in the reference's words why there is nothing to decide.
func (c *connection) notPaused(ctx context.Context, id string) (signals.Outcome, error) {
	record, err := c.Show(ctx, id)
	if err != nil {
		return signals.Outcome{}, err
	}
	return signals.ErrorOutcome(id, signals.NotPaused(id, record.Status)), nil
}

func seqList(pending []signals.PendingAction) string {
	var list []string
	for _, a := range pending {
		list = append(list, fmt.Sprintf("%d %s.%s", a.Seq, a.Connector, a.Method))
	}
	return strings.Join(list, ", ")
}

type rejectFlags struct {
	signals.Reject
	seq int
}

func (c *cli) rejectVerb() *cobra.Command {
	var f rejectFlags
	var many manyFlags
	cmd := c.verb("reject ID|--all", "Refuse a pending call, which ends the execution", shapeBool, many.oneOrMany,
		func(cmd *cobra.Command, args []string) (answer, error) {
			if many.asked() {
				return c.rejectMany(cmd, many, f.Reject)
			}
			if cmd.Flags().Changed("seq") {
				f.Seq = &f.seq
			}
			return c.reject(cmd.Context(), args[0], f.Reject)
		})
	cmd.Long = "Refuse a pending call. The execution ends as rejected, or with --continue goes on with a " +
		"RejectedError at that call.\n" +
		"Prints true when that was done (exit 0), and false when nothing was pending to reject (exit 1) or there " +
		"is no such\n" +
		"execution (exit 4)." + manyText
	many.add(cmd)
	cmd.Flags().IntVar(&f.seq, "seq", 0, "the call of this `number`; needed when several are pending")
	cmd.Flags().StringVar(&f.By, "by", c.user, "`who` rejects, for the record")
	cmd.Flags().StringVar(&f.Reason, "reason", "", "a `text` for the record and the program")
	cmd.Flags().BoolVar(&f.Continue, "continue", false, "let the program go on with a RejectedError")
	return cmd
}

func (c *cli) reject(ctx context.Context, id string, r signals.Reject) (answer, error) {
	if err := r.Check(); err != nil {
		return answer{}, usageError{err}
	}
	return c.with(ctx, func(conn *connection) (answer, error) {
		pending, err := conn.Pending(ctx, id)
		if err != nil {
			return answer{}, err
		}
		if len(pending) == 0 {
			out, err := conn.notPaused(ctx, id)
			return booleanAnswer(false, out.Error, outcomeCode(out)), err
		}
		if r.Seq == nil && len(pending) > 1 {
			return answer{}, usagef("several calls are pending (%s): say which with --seq", seqList(pending))
		}
		if r.Seq == nil {
			r.Seq = &pending[0].Seq
		}
		stop := c.err.live("rejecting in " + id)
		defer stop()
		verdict, err := conn.Decide(ctx, id, r)
		if err != nil || !verdict.Accepted {
			return booleanAnswer(false, verdict.Error, exitError), err
		}
		if !r.Continue {
			_, err = conn.Wait(ctx, id, verdict.Pass)
		}
		return booleanAnswer(true, "rejected", exitDone), err
	})
}

func (c *cli) cancelVerb() *cobra.Command {
	by := signals.Cancellation{}
	cmd := c.verb("cancel ID", "End an execution as an error; calls that run are awaited", shapeBool, knownID,
		func(cmd *cobra.Command, args []string) (answer, error) { return c.cancel(cmd.Context(), args[0], by) })
	cmd.Flags().StringVar(&by.By, "by", c.user, "`who` cancels, for the record")
	cmd.Flags().StringVar(&by.Reason, "reason", "", "a `text` for the record")
	cmd.Long = "End an execution. What runs at this moment is awaited and recorded, then it has status error and " +
		"the error\n" +
		"\"Execution cancelled\". Prints true when it has ended (exit 0), and false when it had ended before (exit " +
		"1) or there is\n" +
		"no such execution (exit 4)."
	return cmd
}

func (c *cli) cancel(ctx context.Context, id string, by signals.Cancellation) (answer, error) {
	return c.with(ctx, func(conn *connection) (answer, error) {
		stop := c.err.live("cancelling " + id)
		done, err := conn.Cancel(ctx, id, by)
		stop()
		if done || err != nil {
			return booleanAnswer(done, "cancelled", exitDone), err
		}
		record, err := conn.Show(ctx, id)
		if err != nil {
			return answer{}, err
		}
		return booleanAnswer(false, fmt.Sprintf("Execution %q has ended already (status: %s).", id, record.Status),
			exitError), nil
	})
}
