package main

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/temporal-codemode/codemode"
	"github.com/temporal-codemode/codemode/signals"
)

// manyFlags say that a decision is about all that waits in the runtime, or what of it.
type manyFlags struct {
	codemode.Selection
	all bool
}

const manyText = "\n\n" +
	"With --all, --method or --label the decision is about all that waits in the runtime and is so described: what " +
	"is listed at\n" +
	"this moment, and nothing that comes or changes after. Outcomes are not waited for. Exit 0: all was accepted; 1: " +
	"some was\n" +
	"refused, because it changed or was decided meanwhile."

func (f *manyFlags) add(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.all, "all", false, "all that waits in the runtime")
	cmd.Flags().StringVar(&f.Method, "method", "",
		"only calls of this method, a `connector.method` in which * may stand")
	cmd.Flags().Var((*labels)(&f.Labels), "label",
		"only in executions with the label `name=value`; of several, with all")
}

func (f *manyFlags) asked() bool { return f.all || f.Method != "" || len(f.Labels) > 0 }

// oneOrMany is for verbs that need an execution, or a description of many.
func (f *manyFlags) oneOrMany(cmd *cobra.Command, args []string) error {
	switch {
	case f.asked() && len(args) > 0:
		return errors.New("name one execution, or describe many with --all, --method and --label, not both")
	case f.asked():
		return f.Check()
	case len(args) != 1:
		return errors.New("name one execution, or say --all: " + cmd.UseLine())
	}
	return nil
}

// notWith refuses flags that are about one execution.
func (f *manyFlags) notWith(cmd *cobra.Command, names ...string) error {
	for _, name := range names {
		if cmd.Flags().Changed(name) {
			return usagef("--%s is about one execution: name it", name)
		}
	}
	cmd.Annotations[shapeKey] = string(shapeMany)
	return nil
}

// many is the document of a decision about many calls.
type many struct {
	Accepted int `json:"accepted"`
	Refused  int `json:"refused"`
	// NotDecided are calls that were listed and not reached.
	NotDecided int                `json:"notDecided"`
	Executions []codemode.Decided `json:"executions"`
}

func manyOf(list []codemode.Decided, listed []codemode.InboxItem) many {
	m := many{Executions: append([]codemode.Decided{}, list...)}
	reached := map[string]bool{}
	for _, d := range list {
		reached[d.ExecutionID] = true
		m.Accepted += len(d.Accepted)
		m.Refused += len(d.Refused)
	}
	for _, i := range listed {
		if !reached[i.ExecutionID] {
			m.NotDecided++
		}
	}
	return m
}

func (c *cli) approveMany(cmd *cobra.Command, f manyFlags, a approveFlags) (answer, error) {
	if err := errors.Join(f.notWith(cmd, "seq", "args", "always"), a.check()); err != nil {
		return answer{}, err
	}
	decide := func(ctx context.Context, conn *connection, items []codemode.InboxItem,
		progress func(codemode.Decided)) ([]codemode.Decided, error) {
		o := codemode.ApproveAllOptions{By: a.by, Note: a.note, Progress: progress}
		return conn.ApproveAll(ctx, items, o)
	}
	return c.decideMany(cmd.Context(), f.Selection, "approved", approvable, decide)
}

func (c *cli) rejectMany(cmd *cobra.Command, f manyFlags, r signals.Reject) (answer, error) {
	if err := errors.Join(f.notWith(cmd, "seq"), r.Check()); err != nil {
		return answer{}, usageError{err}
	}
	decide := func(ctx context.Context, conn *connection, items []codemode.InboxItem,
		progress func(codemode.Decided)) ([]codemode.Decided, error) {
		o := codemode.RejectAllOptions{By: r.By, Reason: r.Reason, Continue: r.Continue, Progress: progress}
		return conn.RejectAll(ctx, items, o)
	}
	return c.decideMany(cmd.Context(), f.Selection, "rejected", func(codemode.InboxItem) bool { return true }, decide)
}

// approvable tells calls that wait for an approval from those that wait for a result, or a word about their outcome.
func approvable(i codemode.InboxItem) bool { return i.Reason == "" && i.Resolution == "" }

type decideList func(context.Context, *connection, []codemode.InboxItem, func(codemode.Decided)) ([]codemode.Decided,
	error)

// decideMany decides about what is listed now, and tells how far it is.
func (c *cli) decideMany(ctx context.Context, s codemode.Selection, done string, fits func(codemode.InboxItem) bool,
	decide decideList) (answer, error) {
	return c.with(ctx, func(conn *connection) (answer, error) {
		items, err := conn.Select(ctx, s)
		if err != nil {
			return answer{}, err
		}
		var fitting []codemode.InboxItem
		for _, i := range items {
			if fits(i) {
				fitting = append(fitting, i)
			}
		}
		progress, stop := c.progress(done, len(fitting))
		list, err := decide(ctx, conn, fitting, progress)
		stop()
		if err != nil && len(list) == 0 {
			return answer{}, err
		}
		return c.manyAnswer(done, manyOf(list, fitting), len(items)-len(fitting), err), nil
	})
}

// progress tells on standard error how many calls were decided, as a live line on terminals and now and then elsewhere.
func (c *cli) progress(done string, total int) (progress func(codemode.Decided), stop func()) {
	const every = 500
	var decided, told atomic.Int64
	text := func() string { return fmt.Sprintf("%s %d of %d", done, decided.Load(), total) }
	stop = c.err.liveText(text)
	return func(d codemode.Decided) {
		n := decided.Add(int64(len(d.Accepted) + len(d.Refused)))
		if !c.err.terminal && n-told.Load() >= every {
			told.Store(n)
			fmt.Fprintln(c.err, text())
		}
	}, stop
}

// manyAnswer sums up. An error that came between stands on standard error.
func (c *cli) manyAnswer(done string, m many, others int, err error) answer {
	a := answer{document: m, code: exitDone}
	if m.Refused > 0 {
		a.code = exitError
	}
	if err != nil {
		a.code = exitCode(err)
		p := c.err.page()
		p.styled(bad, "error: ")
		p.line("%v", err)
		p.flush()
	}
	a.text = func(p *page) {
		for _, d := range m.Executions {
			for _, r := range d.Refused {
				p.line("%s %d: %s", d.ExecutionID, r.Seq, r.Error)
			}
		}
		p.styled(good, "%s %s\n", calls(m.Accepted), done)
		if m.Refused > 0 {
			p.styled(bad, "%s refused\n", calls(m.Refused))
		}
		if m.NotDecided > 0 {
			p.styled(bad, "%s not reached\n", calls(m.NotDecided))
		}
		if others > 0 {
			p.styled(dim, "%s wait for something else than an approval\n", calls(others))
		}
	}
	return a
}
