package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/temporal-codemode/codemode"
	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/signals"
)

// store is the connector that the programs call.
func store() connectors.Connector {
	ask := method("ask", connectors.Write)
	ask.RequiresApproval = true
	return connectors.New("store", "A store of items.", method("read", connectors.Read),
		method("write", connectors.Write), ask, slow(), waitMethod(), undoable())
}

// slow is a read that takes longer than a workflow task may stay open.
func slow() connectors.Method {
	m := method("slow", connectors.Read)
	m.Execute = func(c connectors.Context, _ json.RawMessage) (any, error) {
		<-c.Done()
		return nil, c.Err()
	}
	return m
}

func method(name string, class connectors.Class) connectors.Method {
	m := connectors.Func(name, "One item by its id.", class,
		func(_ connectors.Context, r ref) (item, error) { return look(r), nil })
	m.InputSchema = connectors.SchemaFor[ref]()
	return m
}

var programs atomic.Int64

// program makes the calls of w one after the other, then waits for an approval if asked, and returns the ids' sum.
func program(w work, approval bool) string {
	text := fmt.Sprintf(`// program %d
let sum = 0;
for (let i = 0; i < %d; i++) {
  const item = await store.read({ id: i });
  sum += item.id;
}
for (let i = 0; i < %d; i++) {
  const item = await store.write({ id: i });
  sum += item.id;
}
`, programs.Add(1), w.Reads, w.Writes)
	if approval {
		text += "await store.ask({ id: 0 });\n"
	}
	return text + "return sum;\n"
}

// runOurs executes the program to its outcome and returns its workflow id.
func (s *site) runOurs(ctx context.Context, w work) (string, error) {
	o, err := s.client.Execute(ctx, program(w, false), codemode.ExecuteOptions{})
	if err != nil {
		return "", err
	}
	return signals.WorkflowID(signals.DefaultRuntime, o.ExecutionID), completed(o, w)
}

// pause executes reads and a call that waits for a person, and returns the execution's id.
func (s *site) pause(ctx context.Context, w work) (string, error) {
	o, err := s.client.Execute(ctx, program(w, true), codemode.ExecuteOptions{})
	if err == nil && o.Status != signals.Paused {
		err = fmt.Errorf("a program of %s and an approval is %s: %s", w, o.Status, o.Error)
	}
	return o.ExecutionID, err
}

// resume approves what is pending and waits for the end.
func (s *site) resume(ctx context.Context, id string, w work) error {
	o, err := s.client.Approve(ctx, id, signals.Approve{By: "bench"})
	if err != nil {
		return err
	}
	return completed(o, w)
}

func completed(o signals.Outcome, w work) error {
	if o.Status != signals.Completed || string(o.Result) != strconv.Itoa(w.sum()) {
		return fmt.Errorf("a program of %s is %s with %s instead of %d: %s", w, o.Status, o.Result, w.sum(), o.Error)
	}
	return nil
}

// startLong starts a program whose pass takes long, and gives it time to be there.
func (s *site) startLong(ctx context.Context) (string, error) {
	o, err := s.client.Execute(ctx, fmt.Sprintf("// program %d\nawait store.slow({ id: 0 });\n", programs.Add(1)),
		codemode.ExecuteOptions{NoWait: true})
	time.Sleep(50 * time.Millisecond)
	return o.ExecutionID, err
}

func (s *site) query(ctx context.Context, id string) error {
	_, err := s.temporal.QueryWorkflow(ctx, signals.WorkflowID(signals.DefaultRuntime, id), "", signals.QueryPending)
	return err
}

// decide sends an approval, which is refused: nothing is pending.
func (s *site) decide(ctx context.Context, id string) error {
	_, err := s.client.Decide(ctx, id, signals.Approve{By: "bench"})
	return err
}

func (s *site) cancel(ctx context.Context, id string) error {
	_, err := s.client.Cancel(ctx, id, signals.Cancellation{})
	return err
}
