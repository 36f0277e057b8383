package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"go.temporal.io/api/serviceerror"

	"github.com/temporal-codemode/codemode"
	"github.com/temporal-codemode/codemode/signals"
)

// Exit codes, which scripts rely on.
const (
	exitDone     = 0
	exitError    = 1
	exitUsage    = 2
	exitPaused   = 3
	exitNotFound = 4
	exitNobody   = 5
)

// answer is what a verb has to say: to programs, to people, and to the shell.
type answer struct {
	document any
	text     func(p *page)
	code     int
}

// say prints an answer and gives its exit code.
func (c *cli) say(a answer) int {
	if c.json {
		return c.print(a.document, a.code)
	}
	if a.text != nil {
		p := c.out.page()
		a.text(p)
		p.flush()
	}
	return a.code
}

func (c *cli) print(document any, code int) int {
	text, err := signals.Marshal(document)
	if err != nil {
		fmt.Fprintf(c.err, "the answer cannot be written as JSON: %v\n", err)
		return exitError
	}
	fmt.Fprintf(c.out, "%s\n", text)
	return code
}

// shape is the form of a verb's JSON document, which errors keep.
type shape string

const (
	shapeKey           = "json"
	shapeStarted shape = "started" // outcome of a program; the argument is no id
	shapeOutcome shape = "outcome"
	shapeBool    shape = "boolean"
	shapeList    shape = "list"
	shapeRecord  shape = "record"
	shapeFound   shape = "found"
	shapeNumber  shape = "number"

	shapeRollback shape = "rollback"
	shapeMany     shape = "many"
	shapeAudit    shape = "audit"
)

// fail reports an error on standard error, and with --json in the verb's shape as well.
func (c *cli) fail(cmd *cobra.Command, err error) int {
	code := exitCode(err)
	if silent(err) {
		err = fmt.Errorf("no worker of runtime %s answered in time: it may have just gone, or be busy (see: %s "+
			"doctor): %w", c.runtime, c.name, err)
	}
	p := c.err.page()
	p.styled(bad, "error: ")
	p.line("%v", err)
	if code == exitUsage {
		p.styled(dim, "try: %s --help\n", cmd.CommandPath())
	}
	p.flush()
	if c.json {
		return c.print(c.failure(shape(cmd.Annotations[shapeKey]), err), code)
	}
	return code
}

func (c *cli) failure(s shape, err error) any {
	switch s {
	case shapeBool:
		return false
	case shapeList:
		return []any{}
	case shapeRecord:
		return nil
	case shapeNumber:
		return 0
	case shapeRollback:
		return signals.RollbackRecord{}.Result()
	case shapeAudit:
		return codemode.Audit{Entries: []codemode.AuditEntry{}}
	case shapeMany:
		return manyOf(nil, nil)
	case shapeFound:
		return map[string]any{"results": []any{}, "total": 0, "truncated": false}
	}
	out := signals.ErrorOutcome(c.id, err.Error())
	if errors.Is(err, codemode.ErrNotFound) {
		out.Error = signals.NoExecution(c.id)
	}
	var nobody *codemode.NoWorkerError
	if errors.As(err, &nobody) && nobody.ExecutionID != "" {
		out.ExecutionID, out.Status = nobody.ExecutionID, signals.Running // it goes on when a worker comes
	}
	return out
}

func exitCode(err error) int {
	var usage usageError
	var noServer *codemode.NoServerError
	var noWorker *codemode.NoWorkerError
	var unavailable *serviceerror.Unavailable
	switch {
	case errors.As(err, &usage):
		return exitUsage
	case errors.As(err, &noServer), errors.As(err, &noWorker), errors.As(err, &unavailable), silent(err):
		return exitNobody
	case errors.Is(err, codemode.ErrNotFound):
		return exitNotFound
	}
	return exitError
}

// silent reports whether the server is there and passed the question on, but nobody answered it.
func silent(err error) bool {
	var deadline *serviceerror.DeadlineExceeded
	return errors.As(err, &deadline) || errors.Is(err, context.DeadlineExceeded)
}

// outcomeCode follows the outcome.
func outcomeCode(o signals.Outcome) int {
	switch {
	case o.Status == signals.Completed, o.Status == signals.RolledBack:
		return exitDone
	case o.Status == signals.Paused, o.Status == signals.Running:
		return exitPaused
	}
	return exitError
}

// started is the document of --no-wait.
type started struct {
	ExecutionID string         `json:"executionId"`
	Status      signals.Status `json:"status"`
}

func (c *cli) outcomeAnswer(o signals.Outcome, source string) answer {
	if o.Calls == nil {
		o.Calls = []signals.Call{}
	}
	return answer{document: o, code: outcomeCode(o), text: func(p *page) { c.showOutcome(p, o, source) }}
}

// startedAnswer is for those who do not wait: done, unless the execution had ended before.
func (c *cli) startedAnswer(o signals.Outcome) answer {
	code := exitDone
	if o.Status.Terminal() {
		code = outcomeCode(o)
	}
	return answer{document: started{o.ExecutionID, o.Status}, code: code, text: func(p *page) {
		p.headline(o.Status, o.ExecutionID)
		if !o.Status.Terminal() {
			p.styled(dim, "wait for it: %s\n", c.hint("wait", o.ExecutionID))
		}
	}}
}

// booleanAnswer tells whether something was done; why says why not.
func booleanAnswer(done bool, what string, code int) answer {
	return answer{document: done, code: code, text: func(p *page) {
		kind := good
		if !done {
			kind = bad
		}
		p.styled(kind, "%s\n", what)
	}}
}
