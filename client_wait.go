package codemode

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/api/enums/v1"

	"github.com/temporal-codemode/codemode/internal/rpcerr"
	"github.com/temporal-codemode/codemode/internal/wait"
	"github.com/temporal-codemode/codemode/signals"
)

// A run takes 2,000 updates in all, and decisions need them. So a look is a query, and all who wait for the outcome
// after a pass share one update: the server knows it by its id, and tells each of them when it is done, however many
// they are and however long it takes.

// Wait answers with the next outcome after a pass; 0 asks for any.
func (c *Client) Wait(ctx context.Context, id string, after int) (signals.Outcome, error) {
	guarded, stop := c.guard(ctx, id)
	defer stop()
	out, err := c.await(guarded, id, after)
	switch {
	case rpcerr.NotFound(err):
		return c.closedOutcome(ctx, id)
	case err != nil:
		return out, guardError(guarded, err)
	}
	return c.complete(ctx, out)
}

func (c *Client) await(ctx context.Context, id string, after int) (signals.Outcome, error) {
	out := signals.Outcome{Pass: after}
	if after == 0 {
		var err error
		if out, err = c.newest(ctx, id, 0); err != nil || out.Status != signals.Running {
			return out, err
		}
	}
	for again := 0; ; again++ {
		shared := fmt.Sprintf("outcome after %d, seen at pass %d", after, out.Pass)
		if again > 0 { // its worker lets nobody wait for longer
			shared = ""
		}
		var next signals.Outcome
		err := c.updateAs(ctx, id, shared, signals.UpdateWait, signals.Wait{After: after}, &next)
		switch {
		case rpcerr.NoMoreUpdates(err):
			return c.poll(ctx, id, after)
		case err != nil:
			return next, err
		case next.Status == signals.Paused && shared != "": // what others waited for may be over
			if newest, err := c.newest(ctx, id, after); err == nil && newest.Status != signals.Running {
				return newest, nil
			}
			return next, nil
		case next.Status != signals.Running:
			return next, nil
		}
	}
}

// poll looks again and again, where the run takes no more updates.
func (c *Client) poll(ctx context.Context, id string, after int) (signals.Outcome, error) {
	for pause := 20 * time.Millisecond; ; pause = min(2*pause, 2*time.Second) {
		if out, err := c.newest(ctx, id, after); err != nil || out.Status != signals.Running {
			return out, err
		}
		if err := wait.For(ctx, pause); err != nil {
			return signals.Outcome{}, err
		}
	}
}

// newest asks for the newest outcome after a pass, as it is: status running is none. An execution that has ended is not
// found, as an update does not find it.
func (c *Client) newest(ctx context.Context, id string, after int) (signals.Outcome, error) {
	none := signals.Outcome{Status: signals.Running, ExecutionID: id, Calls: []signals.Call{}}
	open, err := c.open(ctx, id)
	if err != nil {
		return none, err
	}
	if !open {
		return none, errEnded
	}
	var out signals.Outcome
	if err := c.query(ctx, id, signals.QueryOutcome, &out, signals.Wait{After: after}); err != nil {
		if ctx.Err() != nil || rpcerr.NotFound(err) {
			return none, err
		}
		return none, nil // its first workflow task is under way, or its worker knows no such query: wait
	}
	return out, nil
}

// guard cancels the context it returns with a NoWorkerError as cause when a wait turns out to be for nobody.
func (c *Client) guard(ctx context.Context, id string) (context.Context, context.CancelFunc) {
	guarded, cancel := context.WithCancelCause(ctx)
	go func() {
		// Several looks, since a server that has just started knows its pollers a moment later.
		misses, every := 0, 2*time.Second
		for misses < 3 && wait.For(guarded, every) == nil {
			switch polled, err := c.Polled(guarded); {
			case err != nil:
			case polled:
				misses, every = 0, 5*time.Second
			default:
				misses, every = misses+1, time.Second
			}
		}
		if misses == 3 {
			cancel(&NoWorkerError{TaskQueue: signals.TaskQueue(c.runtime), ExecutionID: id})
		}
	}()
	return guarded, func() { cancel(nil) }
}

// pollerGone is how long after its last poll a worker counts as gone: polls last up to a minute.
const pollerGone = 75 * time.Second

// Polled reports whether a worker serves the runtime.
func (c *Client) Polled(ctx context.Context) (bool, error) {
	return c.polled(ctx, signals.TaskQueue(c.runtime), enums.TASK_QUEUE_TYPE_WORKFLOW)
}

// Served tells whether a worker polls the connector's own task queue.
func (c *Client) Served(ctx context.Context, connector string) (bool, error) {
	return c.polled(ctx, signals.ConnectorTaskQueue(c.runtime, connector), enums.TASK_QUEUE_TYPE_ACTIVITY)
}

func (c *Client) polled(ctx context.Context, queue string, kind enums.TaskQueueType) (bool, error) {
	d, err := c.temporal.DescribeTaskQueue(ctx, queue, kind)
	if err != nil {
		return false, err
	}
	for _, p := range d.Pollers {
		if time.Since(p.LastAccessTime.AsTime()) < pollerGone {
			return true, nil
		}
	}
	return false, nil
}

// guardError prefers the reason for which a guarded context was cancelled.
func guardError(guarded context.Context, err error) error {
	var none *NoWorkerError
	if err != nil && errors.As(context.Cause(guarded), &none) {
		return none
	}
	return err
}
