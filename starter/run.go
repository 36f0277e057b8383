package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
	"go.temporal.io/sdk/client"

	"github.com/temporal-codemode/codemode"
	"github.com/temporal-codemode/codemode/signals"
)

type runFlags struct {
	codemode.ExecuteOptions
	timeout time.Duration
}

func (c *cli) runVerb() *cobra.Command {
	var f runFlags
	cmd := c.verb("run FILE|-", "Run a program and wait for its outcome", shapeStarted, oneFile,
		func(cmd *cobra.Command, args []string) (answer, error) {
			return c.runProgram(cmd.Context(), args[0], f)
		})
	cmd.Long = "Run the program in FILE, or on standard input, and wait until it has completed, failed or waits " +
		"for approvals.\n" +
		"With --id of an execution that exists already nothing is started: its outcome is the answer."
	cmd.Flags().StringVar(&f.ID, "id", "", "`id` of the execution, so that it is started once only")
	cmd.Flags().StringVar(&f.Purpose, "purpose", "", "one `line` about what the program is for")
	cmd.Flags().StringVar(&f.StartedBy, "by", c.user, "`name` of who starts it, for the record")
	cmd.Flags().StringVar(&f.OnBehalfOf, "on-behalf-of", "",
		"`name` of for whom it is started, if that is somebody else")
	cmd.Flags().StringVar(&f.Conversation, "conversation", "", "`name` of the conversation that it belongs to")
	cmd.Flags().Var((*labels)(&f.Labels), "label", "a label `name=value` to find it by; give it once for each")
	cmd.Flags().StringVar(&f.Continues, "continues", "",
		"`id` of an execution that has ended: go on from what it did, with this corrected program")
	cmd.Flags().BoolVar(&f.Fresh, "fresh", false, "with --continues: read anew what the earlier execution has read")
	cmd.Flags().BoolVar(&f.NoWait, "no-wait", false, "print the id and do not wait")
	cmd.Flags().DurationVar(&f.timeout, "timeout",
		0, "wait no longer than this `duration`; the execution goes on (exit 3)")
	return cmd
}

func oneFile(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return errors.New("name one file, or - for standard input: " + cmd.UseLine())
	}
	return nil
}

func (c *cli) runProgram(ctx context.Context, file string, f runFlags) (answer, error) {
	if f.timeout < 0 {
		return answer{}, usagef("--timeout %v is negative", f.timeout)
	}
	code, err := c.read(file)
	if err != nil {
		return answer{}, err
	}
	existing := f.ID != ""
	if !existing {
		f.ID = signals.NewExecutionID(time.Now())
	}
	if err := errors.Join(signals.CheckExecutionID(f.ID), f.Caller.Check()); err != nil {
		return answer{}, usageError{err}
	}
	if err := f.checkContinues(); err != nil {
		return answer{}, usageError{err}
	}
	c.id = f.ID
	return c.with(ctx, func(conn *connection) (answer, error) {
		if f.NoWait {
			out, err := conn.begin(ctx, code, f, existing)
			if err == nil && out.ExecutionID == "" {
				return c.outcomeAnswer(out, code), nil // refused: nothing was started
			}
			return c.startedAnswer(out), err
		}
		out, err := c.await(ctx, f.timeout,
			func(ctx context.Context) (signals.Outcome, error) { return conn.execute(ctx, code, f) })
		return c.outcomeAnswer(out, c.source(ctx, conn, out, code)), err
	})
}

func (f runFlags) checkContinues() error {
	switch {
	case f.Continues == "" && f.Fresh:
		return errors.New("--fresh goes with --continues")
	case f.Continues == "":
		return nil
	case f.Continues == f.ID:
		return fmt.Errorf("--continues %s: an execution cannot continue itself", f.ID)
	}
	return signals.CheckExecutionID(f.Continues)
}

func (c *cli) read(file string) (string, error) {
	if file == "-" {
		code, err := io.ReadAll(c.in)
		if err != nil {
			return "", usagef("read the program from standard input: %w", err)
		}
		return string(code), nil
	}
	code, err := os.ReadFile(file)
	if err != nil {
		return "", usagef("read the program: %w", err)
	}
	return string(code), nil
}

// begin starts a program and leaves it. An execution that exists already may be paused by now.
func (c *connection) begin(ctx context.Context, code string, f runFlags, existing bool) (signals.Outcome, error) {
	f.NoWait = true
	out, err := c.Execute(ctx, code, f.ExecuteOptions)
	if err != nil || !existing || out.Status != signals.Running {
		return out, err
	}
	record, err := c.Show(ctx, f.ID)
	if err == nil {
		out.Status = record.Status
	}
	return out, err
}

// execute starts a program and waits. Where the waiting is bounded, starting is not part of it.
func (c *connection) execute(ctx context.Context, code string, f runFlags) (signals.Outcome, error) {
	if f.timeout == 0 {
		return c.Execute(ctx, code, f.ExecuteOptions)
	}
	f.NoWait = true
	out, err := c.Execute(context.WithoutCancel(ctx), code, f.ExecuteOptions)
	if err != nil || out.Status != signals.Running {
		return out, err
	}
	return c.Wait(ctx, out.ExecutionID, 0)
}

// await shows that something runs, and answers with status running when the waiting ends before it does.
func (c *cli) await(ctx context.Context, timeout time.Duration,
	do func(context.Context) (signals.Outcome, error)) (signals.Outcome, error) {
	if timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	stop := c.err.live("running " + c.id)
	out, err := do(ctx)
	stop()
	if err != nil && (ctx.Err() != nil || timeout > 0 && overdue(err)) {
		return signals.Outcome{Status: signals.Running, ExecutionID: c.id, Calls: []signals.Call{}}, nil
	}
	return out, err
}

// overdue reports whether the deadline has passed, by our clock or the server's, which may be ahead.
func overdue(err error) bool {
	var update *client.WorkflowUpdateServiceTimeoutOrCanceledError
	return errors.As(err, &update) || silent(err)
}

// source is the program text where there is an error to show in it.
func (c *cli) source(ctx context.Context, conn *connection, o signals.Outcome, code string) string {
	if c.json || o.Position == nil || code != "" {
		return code
	}
	record, err := conn.Show(ctx, o.ExecutionID)
	if err != nil {
		return ""
	}
	return record.Code
}

func (c *cli) waitVerb() *cobra.Command {
	var after int
	var timeout time.Duration
	cmd := c.verb("wait ID", "Wait for the next outcome of an execution", shapeOutcome, knownID,
		func(cmd *cobra.Command, args []string) (answer, error) {
			return c.wait(cmd.Context(), args[0], after, timeout)
		})
	cmd.Long = "Wait until an execution has completed, failed or waits for approvals. Where it does already the " +
		"answer comes at once."
	cmd.Flags().IntVar(&after, "after", 0, "wait for an outcome after this `pass`, as in the field pass of an outcome")
	cmd.Flags().DurationVar(&timeout, "timeout",
		0, "wait no longer than this `duration`; the execution goes on (exit 3)")
	return cmd
}

func (c *cli) wait(ctx context.Context, id string, after int, timeout time.Duration) (answer, error) {
	if after < 0 || timeout < 0 {
		return answer{}, usagef("--after and --timeout cannot be negative")
	}
	return c.with(ctx, func(conn *connection) (answer, error) {
		out, err := c.await(ctx, timeout,
			func(ctx context.Context) (signals.Outcome, error) { return conn.Wait(ctx, id, after) })
		return c.outcomeAnswer(out, c.source(ctx, conn, out, "")), err
	})
}

// hint is a command that can be typed as it stands.
func (c *cli) hint(verb, id string, more ...any) string {
	text := c.name + " " + verb + " " + id
	for _, m := range more {
		text += fmt.Sprint(" ", m)
	}
	if c.runtime != signals.DefaultRuntime {
		text += " --runtime " + c.runtime
	}
	return text
}
