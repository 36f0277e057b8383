package sandbox

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/signals"
)

// testHost is a connector set in memory. Methods named w_* are gated, a_* need approval, all others are inline.
type testHost struct {
	mu      sync.Mutex
	methods map[string]func(args json.RawMessage) (string, error)
	calls   []string
}

func (h *testHost) Admit(c Call) Admission {
	switch {
	case strings.HasPrefix(c.Method, "w_"):
		return Admission{Gated: true, Class: "write"}
	case strings.HasPrefix(c.Method, "a_"):
		return Admission{Gated: true, Approval: true, Class: "write"}
	case h.methods[c.Method] == nil && c.Method != "echo" && c.Method != "fresh":
		return Admission{Refused: &signals.CallError{Message: fmt.Sprintf("Tool %q not found on %s", c.Method, c.Connector)}}
	}
	return Admission{Class: "read", Ephemeral: c.Method == "fresh"}
}

func (h *testHost) Call(ctx context.Context, c Call) Settlement {
	h.mu.Lock()
	h.calls = append(h.calls, c.Method)
	n := len(h.calls)
	h.mu.Unlock()
	if c.Method == "echo" {
		return Settlement{Value: c.Args}
	}
	if c.Method == "fresh" {
		return Settlement{Value: json.RawMessage(fmt.Sprint(n))}
	}
	text, err := h.methods[c.Method](c.Args)
	if err != nil {
		return Settlement{Err: &signals.CallError{Message: err.Error()}}
	}
	if text == "" {
		return Settlement{}
	}
	return Settlement{Value: json.RawMessage(text)}
}

// driver runs passes to the end, as the workflow does: gated calls settle with what settle answers.
type driver struct {
	t      *testing.T
	host   *testHost
	pass   Pass
	exec   Executor
	settle func(BlockedCall) Settlement
	open   []BlockedCall
}

// NewDriver makes a driver of a program that uses the connector store.
func NewDriver(t *testing.T, exec Executor, code string) *driver {
	d := &driver{t: t, exec: exec, host: &testHost{methods: map[string]func(json.RawMessage) (string, error){}}}
	d.pass = Pass{Code: code, Seed: "exec_1", Start: time.Now().UnixMilli(), Connectors: []string{"store"}}
	d.settle = func(c BlockedCall) Settlement { return Settlement{Value: c.Args} }
	return d
}

// once runs one pass and folds its result.
func (d *driver) once() Result {
	d.t.Helper()
	d.pass.Open = nil
	for _, c := range d.open {
		d.pass.Open = append(d.pass.Open, OpenCall{Seq: c.Seq, Connector: c.Connector, Method: c.Method, Args: c.Args})
	}
	r, err := d.exec.Run(context.Background(), d.pass, d.host)
	require.NoError(d.t, err)
	for _, e := range r.Entries {
		d.fold(e)
	}
	d.open = append(d.open, r.Blocked...)
	d.pass.Lines = r.Lines
	return r
}

func (d *driver) fold(e signals.Entry) {
	for i := range d.pass.Log {
		if !e.Timer && !d.pass.Log[i].Timer && d.pass.Log[i].ID == e.ID {
			d.pass.Log[i] = e
			return
		}
	}
	d.pass.Log = append(d.pass.Log, e)
}

// settleOpen settles the open call at index i.
func (d *driver) settleOpen(i int) {
	c := d.open[i]
	s := d.settle(c)
	d.pass.Log = append(d.pass.Log, signals.Entry{ID: c.Seq, Connector: c.Connector, Method: c.Method, Args: c.Args, Value: s.Value, Error: s.Err,
		At: time.Now().UnixMilli(), Class: c.Class, Approval: c.Approval})
	d.open = append(d.open[:i:i], d.open[i+1:]...)
}

func (d *driver) fireTimers(r Result) {
	for _, t := range r.Timers {
		d.pass.Log = append(d.pass.Log, signals.Entry{Timer: true, ID: t.ID, At: t.Due})
		return
	}
}

// finish runs passes until the program ends.
func (d *driver) finish() Result {
	d.t.Helper()
	for range 500 {
		r := d.once()
		switch r.End {
		case Completed, Failed:
			return r
		case Blocked:
			if len(d.open) > 0 {
				for len(d.open) > 0 {
					d.settleOpen(0)
				}
			} else {
				d.fireTimers(r)
			}
		}
	}
	d.t.Fatal("the program did not end within 500 passes")
	return Result{}
}

func requireValue(t *testing.T, want string, r Result) {
	t.Helper()
	if r.Failure != nil {
		t.Fatalf("failed: %+v", *r.Failure)
	}
	require.Equal(t, Completed, r.End)
	require.Equal(t, want, string(r.Value))
}
