package mcp

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"

	"github.com/temporal-codemode/codemode/connectors/internal/redact"
)

// child is the process of an MCP server. A nil child has nothing to say.
type child struct {
	opts   Options
	redact *redact.Redactor
	stderr tail
	cmd    *exec.Cmd
	output io.ReadCloser
	status string // set by ended
	flood  atomic.Bool
}

func newChild(opts Options, redact *redact.Redactor) *child {
	return &child{opts: opts, redact: redact}
}

// stdio is mcp-go's transport to a process that is started and ended here: mcp-go would read its lines without a bound.
type stdio struct {
	*transport.Stdio
	child *child
}

func (s *stdio) Close() error {
	err := s.Stdio.Close() // which closes the process's standard input
	if failed := s.child.stop(); failed != nil {
		return failed
	}
	return err
}

// start starts the process, which lives as long as its session.
func (c *child) start(limit int64) (transport.Interface, error) {
	c.cmd = exec.Command(c.opts.Command, c.opts.Args...)
	c.cmd.Env = childEnv(c.opts.Env)
	c.cmd.Dir = c.opts.Dir
	c.cmd.Stderr = &c.stderr
	// Its own children may keep standard error open after it has ended.
	c.cmd.WaitDelay = time.Second
	separate(c.cmd)
	input, err := c.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if c.output, err = c.cmd.StdoutPipe(); err != nil {
		return nil, err
	}
	if err := c.cmd.Start(); err != nil {
		return nil, fmt.Errorf("failed to start command: %w", err)
	}
	output := &bounded{r: c.output, limit: limit, shared: true, told: func() { c.flood.Store(true) }}
	return &stdio{transport.NewIO(output, input, nil), c}, nil
}

const (
	// leaveWithin is how long a process has to end by itself once its input is closed, and stopWithin to do so when it
	// is told to.
	leaveWithin = 2 * time.Second
	stopWithin  = 3 * time.Second
)

// stop ends the process and returns how it ended.
func (c *child) stop() error {
	_ = c.output.Close() // it may wait for somebody to read
	ended := make(chan error, 1)
	go func() { ended <- c.cmd.Wait() }()
	for _, step := range []struct {
		within time.Duration
		then   os.Signal
	}{{leaveWithin, askToEnd}, {stopWithin, os.Kill}} {
		select {
		case err := <-ended:
			return err
		case <-time.After(step.within):
			_ = c.cmd.Process.Signal(step.then)
		}
	}
	return <-ended
}

// childEnv keeps this process's environment, and the secrets in it, from servers.
func childEnv(configured map[string]string) []string {
	env := map[string]string{}
	for _, name := range []string{"PATH", "HOME"} {
		if value, ok := os.LookupEnv(name); ok {
			env[name] = value
		}
	}
	maps.Copy(env, configured)
	var list []string
	for _, name := range slices.Sorted(maps.Keys(env)) {
		list = append(list, name+"="+env[name])
	}
	return list
}

// ended notes how the process ended, given what closing its transport said.
func (c *child) ended(err error) {
	if c == nil {
		return
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		c.status = exit.Error()
	}
	endGroup(c.cmd)
}

// lastWords is for errors, after the process has ended: how, and what it wrote
// to its standard error.
func (c *child) lastWords() string {
	if c == nil {
		return ""
	}
	var parts []string
	if c.flood.Load() {
		parts = append(parts, "it sent a message that did not end")
	}
	if c.status != "" {
		parts = append(parts, c.status)
	}
	if last := c.stderr.shown(c.redact); last != "" {
		parts = append(parts, fmt.Sprintf("its last output was: %s", last))
	}
	return strings.Join(parts, "; ")
}

const (
	tailKept  = 16 << 10
	tailShown = 2 << 10
)

// tail keeps the end of what is written to it.
type tail struct {
	mu  sync.Mutex
	buf []byte
	cut bool
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, p...)
	if over := len(t.buf) - tailKept; over > 0 {
		t.buf = append(t.buf[:0], t.buf[over:]...)
		t.cut = true
	}
	return len(p), nil
}

// text leaves out a first line of which only a part was kept, since a part of a
// secret would not be recognized.
func (t *tail) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	kept := t.buf
	if t.cut {
		kept = kept[bytes.IndexByte(kept, '\n')+1:]
	}
	return string(bytes.TrimSpace(kept))
}

// shown is the end of a child's output, shortened only after secrets are out of it.
func (t *tail) shown(r *redact.Redactor) string {
	text := r.Apply(t.text())
	if over := len(text) - tailShown; over > 0 {
		text = "…" + strings.ToValidUTF8(text[over:], "")
	}
	return text
}
