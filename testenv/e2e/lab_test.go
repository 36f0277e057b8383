package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/temporal-codemode/codemode/connectors"
)

// lab is the connector that the tests' programs call. Its effects are lines of a ledger file, its waits last until a
// file appears, so that tests decide when a call goes on, whichever process it runs in.
type lab struct {
	dir  string
	name string // of the worker, which read_name tells
}

type labArgs struct {
	Name string `json:"name"`
	Gate string `json:"gate"` // wait for the file of that name
	Size int    `json:"size"`
	Undo string `json:"undo"` // the undoing waits for the file of that name
}

func (l *lab) connector() connectors.Connector {
	return connectors.New("lab", "Methods of the end-to-end tests.",
		l.method("read", connectors.Read, func(_ connectors.Context, a labArgs) (any, error) { return a.Name, nil }),
		l.method("read_name", connectors.Read, func(connectors.Context, labArgs) (any, error) { return l.name, nil }),
		l.method("big", connectors.Read,
			func(_ connectors.Context, a labArgs) (any, error) { return strings.Repeat("é", a.Size), nil }),
		l.method("big_write", connectors.Write,
			func(_ connectors.Context, a labArgs) (any, error) { return strings.Repeat("x", a.Size), nil }),
		l.method("flaky", connectors.Read, l.flaky),
		l.method("write", connectors.Write, func(_ connectors.Context, a labArgs) (any, error) { return a.Name, nil }),
		l.method("flaky_write", connectors.Write, l.flaky),
		l.method("wrong_write", connectors.Write, func(_ connectors.Context, a labArgs) (any, error) {
			return nil, errors.New(strings.Repeat("é", a.Size))
		}),
		l.method("late_write", connectors.Write, l.late),
		l.method("put", connectors.Idempotent,
			func(_ connectors.Context, a labArgs) (any, error) { return a.Name, nil }),
		l.undoable(l.asked("write_asked")),
		l.undoable(l.method("make", connectors.Write,
			func(_ connectors.Context, a labArgs) (any, error) { return a.Name, nil })),
		l.undoable(l.asking("make_asking")),
		l.asking("ask"),
	)
}

func (l *lab) asking(name string) connectors.Method {
	m := l.method(name, connectors.Write, func(_ connectors.Context, a labArgs) (any, error) { return a.Name, nil })
	m.RequiresApproval = true
	m.InputSchema = json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}`)
	return m
}

// asked is a write whose unknown outcome is left to a person.
func (l *lab) asked(name string) connectors.Method {
	m := l.method(name, connectors.Write, func(_ connectors.Context, a labArgs) (any, error) { return a.Name, nil })
	m.AskWhenUnknown = true
	return m
}

// undoable makes a method that can be undone: the ledger says which result that was.
func (l *lab) undoable(m connectors.Method) connectors.Method {
	m.Revert = func(c connectors.Context, args, result json.RawMessage) error {
		var a labArgs
		var name string
		if err := errors.Join(json.Unmarshal(args, &a), json.Unmarshal(result, &name)); err != nil {
			return err
		}
		l.record(fmt.Sprintf("undo %s %s", name, c.IdempotencyKey))
		return l.wait(c, a.Undo)
	}
	return m
}

// flaky asks for another attempt the first two times.
func (l *lab) flaky(c connectors.Context, a labArgs) (any, error) {
	if n := strings.Count(l.ledger(), "flaky "+a.Name+" "); n < 3 {
		return nil, &connectors.RetryableError{Message: "not yet", RetryAfter: 10 * time.Millisecond}
	}
	return "done", nil
}

// late asks for a second attempt, later than a busy machine takes for the first attempts of many calls.
func (l *lab) late(_ connectors.Context, a labArgs) (any, error) {
	if strings.Count(l.ledger(), "late "+a.Name+" ") < 2 {
		return nil, &connectors.RetryableError{Message: "later", RetryAfter: 15 * time.Second}
	}
	return a.Name, nil
}

func (l *lab) method(name string, class connectors.Class,
	do func(connectors.Context, labArgs) (any, error)) connectors.Method {
	return connectors.Method{Name: name, Class: class,
		Execute: func(c connectors.Context, raw json.RawMessage) (any, error) {
			var a labArgs
			if len(raw) > 0 {
				if err := json.Unmarshal(raw, &a); err != nil {
					return nil, err
				}
			}
			if class != connectors.Read || name == "flaky" || a.Gate != "" {
				l.record(fmt.Sprintf("%s %s %s", strings.TrimSuffix(name, "_write"), a.Name, c.IdempotencyKey))
			}
			if err := l.wait(c, a.Gate); err != nil {
				return nil, err
			}
			return do(c, a)
		}}
}

func (l *lab) wait(c connectors.Context, gate string) error {
	if gate == "" {
		return nil
	}
	tick := time.NewTicker(3 * time.Millisecond)
	defer tick.Stop()
	for {
		if _, err := os.Stat(filepath.Join(l.dir, gate)); err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-c.Done():
			return c.Err()
		}
	}
}

func (l *lab) record(line string) {
	f, err := os.OpenFile(filepath.Join(l.dir, "ledger"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		panic(err)
	}
	defer func() { _ = f.Close() }()
	if _, err := f.WriteString(line + "\n"); err != nil {
		panic(err)
	}
}

func (l *lab) ledger() string {
	b, _ := os.ReadFile(filepath.Join(l.dir, "ledger"))
	return string(bytes.TrimRight(b, "\n"))
}

// effects are the ledger's lines that begin with a word.
func (l *lab) effects(word string) []string {
	var lines []string
	for _, line := range strings.Split(l.ledger(), "\n") {
		if strings.HasPrefix(line, word+" ") {
			lines = append(lines, line)
		}
	}
	return lines
}

// open lets the calls that wait for the gate go on.
func (l *lab) open(gate string) {
	if err := os.WriteFile(filepath.Join(l.dir, gate), nil, 0o644); err != nil {
		panic(err)
	}
}
