package codemode

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/temporal-codemode/codemode/internal/rpcerr"
	"github.com/temporal-codemode/codemode/internal/wait"
	"github.com/temporal-codemode/codemode/signals"
	"github.com/temporal-codemode/codemode/signals/payload"
)

// errEnded says that an execution takes no updates any more, as the server does.
var errEnded = serviceerror.NewNotFound("the execution has ended")

// recovery is how long an execution may take to find a worker after several of its workflow tasks were lost with
// theirs; the server refuses updates meanwhile.
const recovery = 30 * time.Second

// answerWithin is how long the server may take over an update before the execution itself is looked at. A server that
// was killed at the wrong moment can lose sight of an execution that has closed, and then never answers.
const answerWithin = 30 * time.Second

func (c *Client) update(ctx context.Context, id, name string, arg, out any) error {
	return c.updateAs(ctx, id, "", name, arg, out)
}

// updateAs sends an update under an id, which others may share; empty is one of its own.
func (c *Client) updateAs(ctx context.Context, id, updateID, name string, arg, out any) error {
	if updateID == "" {
		updateID = rand.Text()
	}
	o := client.UpdateWorkflowOptions{
		UpdateID: updateID, WorkflowID: signals.WorkflowID(c.runtime, id), UpdateName: name,
		Args:         []any{payload.MustRaw(arg)},
		WaitForStage: client.WorkflowUpdateStageCompleted,
	}
	pause := time.Duration(0)
	for began := time.Now(); ; {
		answered, err := c.updateOnce(ctx, o, out)
		switch {
		case !answered:
			open, err := c.open(ctx, id)
			if err != nil {
				return err
			}
			if !open {
				return errEnded
			}
			continue // the same update: it is taken once
		case isBusy(err):
		case !rpcerr.NotReady(err) || time.Since(began) > recovery:
			return err
		}
		pause = min(2*pause+100*time.Millisecond, 5*time.Second)
		if err := wait.For(ctx, pause); err != nil {
			return err
		}
	}
}

// updateOnce asks once; answered is false if the server let the time for that pass.
func (c *Client) updateOnce(ctx context.Context, o client.UpdateWorkflowOptions, out any) (answered bool, err error) {
	limited, cancel := context.WithTimeout(ctx, c.patience)
	defer cancel()
	handle, err := c.temporal.UpdateWorkflow(limited, o)
	if err == nil {
		err = handle.Get(limited, out)
	}
	return err == nil || limited.Err() == nil && !isLate(err) || ctx.Err() != nil, err
}

// isLate says that the server let the time pass that an update had, which it may know before our own clock does.
func isLate(err error) bool {
	var late *client.WorkflowUpdateServiceTimeoutOrCanceledError
	return errors.As(err, &late)
}

// isBusy says that the execution has as many waiters as it admits, or gets too many decisions at once.
func isBusy(err error) bool { return isType(err, signals.ErrorBusy) }

func isType(err error, kind string) bool {
	var app *temporal.ApplicationError
	return errors.As(err, &app) && app.Type() == kind
}

// refused is the verdict of a decision that does not apply: it is not even in history.
func refused(err error) (v signals.Verdict, ok bool) {
	var app *temporal.ApplicationError
	if !errors.As(err, &app) || app.Type() != signals.ErrorRefused {
		return v, false
	}
	return v, app.Details(&v) == nil
}
