package connectors

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"
)

// child is the process of an MCP server. A nil child has nothing to say.
type child struct {
	opts   MCPOptions
	redact *redactor
	stderr tail
	cmd    *exec.Cmd
	status string // set by ended
}

func newChild(opts MCPOptions, redact *redactor) *child {
	return &child{opts: opts, redact: redact}
}

// command makes the process for mcp-go, which starts and ends it. Its context
// is left out: a server lives as long as its session.
func (c *child) command(_ context.Context, name string, _, args []string) (*exec.Cmd, error) {
	c.cmd = exec.Command(name, args...)
	c.cmd.Env = childEnv(c.opts.Env)
	c.cmd.Dir = c.opts.Dir
	c.cmd.Stderr = &c.stderr
	// Its own children may keep standard error open after it has ended.
	c.cmd.WaitDelay = time.Second
	separate(c.cmd)
	return c.cmd, nil
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
	if c.status != "" {
		parts = append(parts, c.status)
	}
	if last := c.redact.tail(&c.stderr); last != "" {
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

// minSecret is the length from which an environment value counts as a secret;
// hiding shorter ones would garble errors and protect nothing.
const minSecret = 4

// redactor hides the values of a configured environment.
type redactor struct{ replace *strings.Replacer }

func newRedactor(env map[string]string) *redactor {
	var secrets []string
	for _, value := range env {
		secrets = append(secrets, value)
		secrets = append(secrets, strings.Split(value, "\n")...)
	}
	// At each place the first match wins, so the longest comes first.
	slices.SortFunc(secrets, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	var pairs []string
	for _, secret := range slices.Compact(secrets) {
		if len(strings.TrimSpace(secret)) >= minSecret {
			pairs = append(pairs, secret, "[redacted]")
		}
	}
	return &redactor{replace: strings.NewReplacer(pairs...)}
}

func (r *redactor) apply(text string) string { return r.replace.Replace(text) }

// tail shows the end of a child's output, shortened only after secrets are out of it.
func (r *redactor) tail(t *tail) string {
	text := r.apply(t.text())
	if over := len(text) - tailShown; over > 0 {
		text = "…" + strings.ToValidUTF8(text[over:], "")
	}
	return text
}
