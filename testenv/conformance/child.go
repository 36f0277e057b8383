package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"sync"
)

// WorkerEnv makes the test binary a worker process; its value is the server's address.
const WorkerEnv = "CODEMODE_CONFORMANCE_WORKER"

// workerConfig is the worker's part of the options.
type workerConfig struct {
	Runtime   string   `json:"runtime"`
	Conns     []string `json:"conns"`
	TimeoutMs float64  `json:"timeoutMs,omitempty"`
}

// request is one line to the worker process, reply the one that answers it.
type request struct {
	Do        string        `json:"do"`
	Config    *workerConfig `json:"config,omitempty"`
	Connector string        `json:"connector,omitempty"`
	Hooks     *bool         `json:"throwHooks,omitempty"`
}

type reply struct {
	Value       json.RawMessage `json:"value,omitempty"`
	Error       string          `json:"error,omitempty"`
	Unsupported string          `json:"unsupported,omitempty"`
}

// child is a running worker process.
type child struct {
	command *exec.Cmd
	in      io.WriteCloser
	replies chan reply
	stderr  head
}

func startChild(address string) (*child, error) {
	binary, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := &child{command: exec.Command(binary), replies: make(chan reply)}
	c.command.Env = append(os.Environ(), WorkerEnv+"="+address)
	c.command.Stderr = &c.stderr
	if c.in, err = c.command.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := c.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.command.Start(); err != nil {
		return nil, err
	}
	go c.read(out)
	return c, nil
}

func (c *child) read(out io.Reader) {
	defer close(c.replies)
	for d := json.NewDecoder(out); ; {
		var r reply
		if d.Decode(&r) != nil {
			return
		}
		c.replies <- r
	}
}

// ask sends a request and waits for its reply.
func (c *child) ask(ctx context.Context, r request) (json.RawMessage, error) {
	if err := json.NewEncoder(c.in).Encode(r); err != nil {
		return nil, fmt.Errorf("the worker process is gone: %w", err)
	}
	select {
	case answer, alive := <-c.replies:
		switch {
		case !alive:
			return nil, errors.New("the worker process ended by itself")
		case answer.Unsupported != "":
			return nil, notSupported(answer.Unsupported)
		case answer.Error != "":
			return nil, errors.New(answer.Error)
		}
		return answer.Value, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("no answer from the worker process to %s: %w", r.Do, ctx.Err())
	}
}

// kill is SIGKILL: the process gets no chance to say goodbye to the server.
func (c *child) kill() {
	_ = c.command.Process.Kill()
	for range c.replies { // until its output ends, or Wait may cut it off
	}
	_ = c.command.Wait()
}

// alarms are what a worker must never write. Errors of activities are no alarm: a killed one leaves some.
var alarms = regexp.MustCompile(`DATA RACE|panic|fatal error`)

// alarm tells of a race or a panic in the process.
func (c *child) alarm() error {
	if text := c.stderr.text(); alarms.MatchString(text) {
		return fmt.Errorf("the worker process wrote: %s", text)
	}
	return nil
}

const headBytes = 16 << 10

// head keeps the first part of what a process wrote to standard error: that is where a panic or a race is told.
type head struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (t *head) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if room := headBytes - t.buf.Len(); room > 0 {
		t.buf.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

func (t *head) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.buf.String()
}
