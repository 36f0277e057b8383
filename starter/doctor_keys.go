package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/temporal-codemode/codemode"
	"github.com/temporal-codemode/codemode/internal/rpcerr"
	"github.com/temporal-codemode/codemode/signals"
	"github.com/temporal-codemode/codemode/signals/payload"
)

// looksAt is how many open executions doctor tries to read.
const looksAt = 20

const shareKeys = "give workers, commands and front doors the same " + payload.KeysEnv + ", a new key to workers first"

// checkKeys finds out whether this command and the worker read what the other writes, and whether both read what is
// still open.
func (c *connection) checkKeys(ctx context.Context, runtime string) check {
	result := check{Check: "keys", Fix: shareKeys}
	keys, err := payload.ParseKeys(os.Getenv(payload.KeysEnv))
	if err != nil {
		result.Detail = err.Error()
		return result
	}
	asked := true
	if asked, result.Detail = c.shares(ctx, runtime, keys); result.Detail != "" {
		return result
	}
	open, err := c.readOpen(ctx, runtime)
	if err != nil {
		result.Detail, result.Fix = fmt.Sprintf("open executions cannot be listed: %v", err), ""
		return result
	}
	if result.Detail = open.unread(); result.Detail != "" {
		result.Fix = "add the missing key to " + payload.KeysEnv + ", for workers too"
		return result
	}
	for id, n := range open.byKey {
		is := func(k payload.Key) bool { return k.ID == id }
		at := slices.IndexFunc(keys, is)
		if at <= 0 { // the first was tried above
			continue
		}
		inFront := append([]payload.Key{keys[at]}, slices.DeleteFunc(slices.Clone(keys), is)...)
		if _, problem := c.shares(ctx, runtime, inFront); problem != "" {
			result.Detail = fmt.Sprintf("the worker cannot read %d of the %d newest open executions: it lacks key %q",
				n, open.seen, id)
			return result
		}
	}
	result.OK, result.Fix = true, ""
	switch {
	case !asked:
		result.Detail = "this server cannot ask the worker"
	case len(keys) == 0:
		result.Detail = "payloads are not encrypted"
	default:
		result.Detail = fmt.Sprintf("worker and command share key %q", keys[0].ID)
	}
	if open.seen > 0 {
		result.Detail += fmt.Sprintf("; the %d newest open executions can be read", open.seen)
	}
	return result
}

// shares says what is wrong when a worker is asked something in the first of these keys; empty is nothing. Older
// servers have no way to ask.
func (c *connection) shares(ctx context.Context, runtime string, keys []payload.Key) (asked bool, problem string) {
	dc, err := payload.NewConverter(keys...)
	if err != nil {
		return false, err.Error()
	}
	options := c.options
	options.DataConverter, options.FailureConverter = nil, nil
	dc.Use(&options)
	asking, err := codemode.Dial(ctx, options)
	if err != nil {
		return false, err.Error()
	}
	defer asking.Close()
	err = askWorker(ctx, asking, runtime)
	var missing *payload.KeyError
	var failed *temporal.ApplicationError
	switch {
	case err == nil:
		return true, ""
	case rpcerr.Unimplemented(err):
		return false, ""
	case errors.As(err, &failed):
		return true, "the worker cannot read what this command writes: " + failed.Message()
	case errors.As(err, &missing):
		return true, "this command cannot read what the worker writes: " + missing.Error()
	}
	return true, "the worker was asked, and did not answer: " + err.Error()
}

// askWithin bounds how long the worker may take to say whether it understands.
const askWithin = 10 * time.Second

// askWorker asks for a method that nobody has.
func askWorker(ctx context.Context, c client.Client, runtime string) error {
	question := signals.CatalogueInput{Kind: signals.CatalogueMethod, Runtime: runtime}
	handle, err := c.ExecuteActivity(ctx, client.StartActivityOptions{
		ID: "codemode/" + runtime + "/doctor/" + rand.Text(), TaskQueue: signals.TaskQueue(runtime),
		ScheduleToCloseTimeout: askWithin, RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 1},
		Summary: "doctor asks whether keys are shared",
	}, signals.CatalogueActivity, payload.MustRaw(question))
	if err != nil {
		return err
	}
	var answer json.RawMessage
	return handle.Get(ctx, &answer)
}

// openRead is what doctor could read of open executions.
type openRead struct {
	seen   int
	byKey  map[string]int // how many are encrypted with which key; empty is none
	failed []string       // ids
	why    error
}

func (o openRead) unread() string {
	if len(o.failed) == 0 {
		return ""
	}
	names := strings.Join(o.failed[:min(3, len(o.failed))], ", ")
	if len(o.failed) > 3 {
		names += " and others"
	}
	return fmt.Sprintf("%d of the %d newest open executions cannot be read: %v (%s)", len(o.failed), o.seen, o.why,
		names)
}

func (c *connection) readOpen(ctx context.Context, runtime string) (openRead, error) {
	o := openRead{byKey: map[string]int{}}
	page, err := c.temporal.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{PageSize: looksAt,
		Query: openExecutions(runtime)})
	if err != nil {
		return o, err
	}
	for _, w := range page.Executions {
		start, err := c.start(ctx, w)
		if err != nil || len(start.GetPayloads()) == 0 { // ended meanwhile
			continue
		}
		o.seen++
		var in signals.ExecutionInput
		if err := payload.Reader(c.options.DataConverter).FromPayloads(start, &in); err != nil {
			_, id, _ := signals.ParseWorkflowID(w.Execution.WorkflowId)
			o.failed, o.why = append(o.failed, id), err
		}
		o.byKey[payload.KeyID(start.Payloads[0])]++
	}
	return o, nil
}

// start is what an execution was started with.
func (c *connection) start(ctx context.Context, w *workflowpb.WorkflowExecutionInfo) (*commonpb.Payloads, error) {
	h, err := c.temporal.WorkflowService().GetWorkflowExecutionHistory(ctx,
		&workflowservice.GetWorkflowExecutionHistoryRequest{Namespace: c.namespace(), Execution: w.Execution,
			MaximumPageSize: 1})
	if err != nil || len(h.GetHistory().GetEvents()) == 0 {
		return nil, err
	}
	return h.History.Events[0].GetWorkflowExecutionStartedEventAttributes().GetInput(), nil
}
