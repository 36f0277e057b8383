package conformance

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"go.temporal.io/sdk/client"

	"github.com/temporal-codemode/codemode"
)

const (
	// lag bounds how long lists may be behind what was done.
	lag       = 10 * time.Second
	lagPause  = 50 * time.Millisecond
	stepLimit = 3 * time.Minute
)

// Runner runs scenarios against one server. It is safe for concurrent use.
type Runner struct {
	temporal client.Client
	address  string
}

// NewRunner takes a client of the server at the address, which stays the caller's to close.
func NewRunner(c client.Client, address string) *Runner {
	return &Runner{temporal: c, address: address}
}

// Run runs one scenario with a worker process of its own. Its error is the first step that failed.
func (r *Runner) Run(ctx context.Context, l Loaded) error {
	if l.Err != nil {
		return l.Err
	}
	s := &run{
		runner: r, runtime: l.ID + "-" + strings.ToLower(rand.Text()[:10]),
		names: map[string]string{}, started: map[string][]string{},
	}
	defer s.stop()
	for _, step := range l.steps {
		if err := s.step(ctx, step); err != nil {
			return errors.Join(fmt.Errorf("step %d %w", step.number, err), s.alarm())
		}
	}
	return s.alarm()
}

// run is a scenario under way.
type run struct {
	runner   *Runner
	features features
	runtime  string // stands for "default"

	worker    *child
	config    *workerConfig // what the worker runs; nil when nothing
	client    *codemode.Client
	current   string // the execution
	names     map[string]string
	started   map[string][]string // executions by runtime
	clientFor string              // the runtime of client
}

func (s *run) stop() {
	if s.worker != nil {
		s.worker.kill()
		s.worker = nil
	}
}

// step does one step and checks its value.
func (s *run) step(ctx context.Context, st step) error {
	ctx, cancel := context.WithTimeout(ctx, stepLimit)
	defer cancel()
	prepared := error(nil)
	if !st.op.local {
		prepared = s.prepare(ctx, st.options.decode())
	}
	began := time.Now()
	value, err := s.settled(ctx, st, prepared)
	if err != nil {
		return err
	}
	if err := st.check(value); err != nil {
		return told(err, value)
	}
	return st.checkTime(time.Since(began))
}

// settled is the value of a step; where lists may lag, once it matches or patience ends.
func (s *run) settled(ctx context.Context, st step, prepared error) (any, error) {
	for began := time.Now(); ; {
		value, err := s.value(ctx, st, prepared)
		if err != nil {
			return nil, err
		}
		lags := st.op.lags != nil && st.op.lags(st) && prepared == nil
		if !lags || st.check(value) == nil || time.Since(began) > lag {
			return value, nil
		}
		time.Sleep(lagPause)
	}
}

// value does the operation once. What fails has a value too, but not unseen, and not what is missing in the project.
func (s *run) value(ctx context.Context, st step, prepared error) (any, error) {
	var answer any
	err := prepared
	if err == nil {
		answer, err = st.op.do(s, ctx, st)
	}
	var missing notSupported
	switch {
	case errors.As(err, &missing):
		return nil, missing
	case err != nil && !st.checked():
		return nil, fmt.Errorf("%s failed: %w", st.name, err)
	case err != nil:
		return thrown(err.Error()), nil
	}
	return asJSON(answer)
}

// told adds the whole value to a mismatch, which names a part of it.
func told(err error, value any) error { return fmt.Errorf("%w\nin %s", err, show(value)) }

func thrown(message string) any { return map[string]any{"THROWN": message} }

// prepare makes worker and client what the options ask for.
func (s *run) prepare(ctx context.Context, o options) error {
	clientOptions := codemode.ClientOptions{Runtime: s.runtimeName(o)}
	if err := s.features.Options(o, &clientOptions); err != nil {
		return err
	}
	c, err := codemode.NewClient(s.runner.temporal, clientOptions)
	if err != nil {
		return err
	}
	s.client, s.clientFor = c, clientOptions.Runtime
	return s.configure(ctx, workerConfig{Runtime: clientOptions.Runtime, Conns: o.Conns, TimeoutMs: o.Timeout})
}

func (s *run) runtimeName(o options) string {
	if o.Name == "" {
		return s.runtime
	}
	return s.runtime + "-" + o.Name
}

// configure replaces the worker's registration if it differs.
func (s *run) configure(ctx context.Context, c workerConfig) error {
	if err := s.needWorker(); err != nil {
		return err
	}
	if s.config != nil && reflect.DeepEqual(*s.config, c) {
		return nil
	}
	s.config = nil
	if _, err := s.worker.ask(ctx, request{Do: "configure", Config: &c}); err != nil {
		return err
	}
	s.config = &c
	return nil
}

func (s *run) needWorker() error {
	if s.worker != nil {
		return nil
	}
	w, err := startChild(s.runner.address)
	s.worker = w
	return err
}

// alarm fails a scenario whose worker had a race or a panic.
func (s *run) alarm() error {
	if s.worker == nil {
		return nil
	}
	return s.worker.alarm()
}
