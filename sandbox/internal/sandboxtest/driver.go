// Package sandboxtest is what the tests of the sandbox's packages share: connectors in memory, and a driver that runs
// passes to the end as the workflow does.
//
// Its rule: it knows the contract only. Which executor runs a pass, the test says.
package sandboxtest

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/sandbox"
	"github.com/temporal-codemode/codemode/signals"
)

// Host is a connector set in memory. Methods named w_* are gated, a_* need approval, all others are inline.
type Host struct {
	mu      sync.Mutex
	Methods map[string]func(args json.RawMessage) (string, error)
	Calls   []string
}

func (h *Host) Admit(c sandbox.Call) sandbox.Admission {
	switch {
	case strings.HasPrefix(c.Method, "w_"):
		return sandbox.Admission{Gated: true, Class: "write"}
	case strings.HasPrefix(c.Method, "a_"):
		return sandbox.Admission{Gated: true, Approval: true, Class: "write"}
	case h.Methods[c.Method] == nil && c.Method != "echo" && c.Method != "fresh":
		message := fmt.Sprintf("Tool %q not found on %s", c.Method, c.Connector)
		return sandbox.Admission{Refused: &signals.CallError{Message: message}}
	}
	return sandbox.Admission{Class: "read", Ephemeral: c.Method == "fresh"}
}

func (h *Host) Call(ctx context.Context, c sandbox.Call) sandbox.Settlement {
	h.mu.Lock()
	h.Calls = append(h.Calls, c.Method)
	n := len(h.Calls)
	h.mu.Unlock()
	if c.Method == "echo" {
		return sandbox.Settlement{Value: c.Args}
	}
	if c.Method == "fresh" {
		return sandbox.Settlement{Value: json.RawMessage(fmt.Sprint(n))}
	}
	text, err := h.Methods[c.Method](c.Args)
	if err != nil {
		return sandbox.Settlement{Err: &signals.CallError{Message: err.Error()}}
	}
	if text == "" {
		return sandbox.Settlement{}
	}
	return sandbox.Settlement{Value: json.RawMessage(text)}
}

// Driver runs passes to the end, as the workflow does: gated calls settle with what settle answers.
type Driver struct {
	t      *testing.T
	Host   *Host
	Pass   sandbox.Pass
	Exec   sandbox.Executor
	Settle func(sandbox.BlockedCall) sandbox.Settlement
	Open   []sandbox.BlockedCall
}

// NewDriver makes a driver of a program that uses the connector store.
func NewDriver(t *testing.T, exec sandbox.Executor, code string) *Driver {
	d := &Driver{t: t, Exec: exec, Host: &Host{Methods: map[string]func(json.RawMessage) (string, error){}}}
	d.Pass = sandbox.Pass{Code: code, Seed: "exec_1", Start: time.Now().UnixMilli(), Connectors: []string{"store"}}
	d.Settle = func(c sandbox.BlockedCall) sandbox.Settlement { return sandbox.Settlement{Value: c.Args} }
	return d
}

// Once runs one pass and folds its result.
func (d *Driver) Once() sandbox.Result {
	d.t.Helper()
	d.Pass.Open = nil
	for _, c := range d.Open {
		open := sandbox.OpenCall{Seq: c.Seq, Connector: c.Connector, Method: c.Method, Args: c.Args}
		d.Pass.Open = append(d.Pass.Open, open)
	}
	r, err := d.Exec.Run(context.Background(), d.Pass, d.Host)
	require.NoError(d.t, err)
	for _, e := range r.Entries {
		d.Fold(e)
	}
	d.Open = append(d.Open, r.Blocked...)
	d.Pass.Lines = r.Lines
	return r
}

func (d *Driver) Fold(e signals.Entry) {
	for i := range d.Pass.Log {
		if !e.Timer && !d.Pass.Log[i].Timer && d.Pass.Log[i].ID == e.ID {
			d.Pass.Log[i] = e
			return
		}
	}
	d.Pass.Log = append(d.Pass.Log, e)
}

// SettleOpen settles the open call at index i.
func (d *Driver) SettleOpen(i int) {
	c := d.Open[i]
	s := d.Settle(c)
	d.Pass.Log = append(d.Pass.Log, signals.Entry{
		ID: c.Seq, Connector: c.Connector, Method: c.Method, Args: c.Args, Value: s.Value, Error: s.Err,
		Position: c.Position,
		At:       time.Now().UnixMilli(), Class: c.Class, Approval: c.Approval})
	d.Open = append(d.Open[:i:i], d.Open[i+1:]...)
}

func (d *Driver) FireTimers(r sandbox.Result) {
	for _, t := range r.Timers {
		d.Pass.Log = append(d.Pass.Log, signals.Entry{Timer: true, ID: t.ID, At: t.Due})
		return
	}
}

// Finish runs passes until the program ends.
func (d *Driver) Finish() sandbox.Result {
	d.t.Helper()
	for range 500 {
		r := d.Once()
		switch r.End {
		case sandbox.Completed, sandbox.Failed:
			return r
		case sandbox.Blocked:
			if len(d.Open) > 0 {
				for len(d.Open) > 0 {
					d.SettleOpen(0)
				}
			} else {
				d.FireTimers(r)
			}
		}
	}
	d.t.Fatal("the program did not end within 500 passes")
	return sandbox.Result{}
}

func RequireValue(t *testing.T, want string, r sandbox.Result) {
	t.Helper()
	if r.Failure != nil {
		t.Fatalf("failed: %+v", *r.Failure)
	}
	require.Equal(t, sandbox.Completed, r.End)
	require.Equal(t, want, string(r.Value))
}
