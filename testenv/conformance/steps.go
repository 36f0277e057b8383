package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/temporal-codemode/codemode"
	"github.com/temporal-codemode/codemode/signals"
)

func code(st step) string {
	text := get[string](st.arg)
	if missing := get[int](st.keys["pad"]) - signals.Units(text); missing > 0 {
		text += strings.Repeat("x", missing)
	}
	return text
}

func (s *run) execute(ctx context.Context, st step) (any, error) {
	o, err := s.client.Execute(ctx, code(st), codemode.ExecuteOptions{})
	s.remember(st, o)
	return o, err
}

func (s *run) start(ctx context.Context, st step) (any, error) {
	o, err := s.client.Execute(ctx, code(st), codemode.ExecuteOptions{NoWait: true})
	s.remember(st, o)
	return absent{}, err
}

// remember makes an execution the one that steps without an id act on.
func (s *run) remember(st step, o signals.Outcome) {
	s.note(o)
	if o.ExecutionID == "" {
		return
	}
	s.current = o.ExecutionID
	if st.has("as") {
		s.names[get[string](st.keys["as"])] = o.ExecutionID
	}
}

// note keeps the id for when lists have to show it.
func (s *run) note(o signals.Outcome) {
	if o.ExecutionID != "" {
		s.started[s.clientFor] = append(s.started[s.clientFor], o.ExecutionID)
	}
}

func (s *run) executeMany(ctx context.Context, st step) (any, error) {
	programs := get[[]string](st.arg)
	outcomes, err := together(len(programs), func(i int) (signals.Outcome, error) {
		return s.client.Execute(ctx, programs[i], codemode.ExecuteOptions{})
	})
	for _, o := range outcomes {
		s.note(o)
	}
	return outcomes, err
}

func together(n int, do func(int) (signals.Outcome, error)) ([]signals.Outcome, error) {
	outcomes, errs := make([]signals.Outcome, n), make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { outcomes[i], errs[i] = do(i) })
	}
	wg.Wait()
	return outcomes, errors.Join(errs...)
}

const eventually = 60 * time.Second

// eventually polls the record, which is exact, and answers with the outcome of the moment.
func (s *run) eventually(ctx context.Context, st step) (any, error) {
	want := signals.Status(get[string](st.arg))
	ctx, cancel := context.WithTimeout(ctx, eventually)
	defer cancel()
	for {
		o, err := s.outcome(ctx, want)
		if err != nil || o.Status == want {
			return o, err
		}
		select {
		case <-time.After(lagPause):
		case <-ctx.Done():
			return nil, fmt.Errorf("after %s the execution is %s, not %s", eventually, o.Status, want)
		}
	}
}

// outcome is that of now. It waits for none unless the record says that the one wanted is there.
func (s *run) outcome(ctx context.Context, want signals.Status) (signals.Outcome, error) {
	r, err := s.client.Show(ctx, s.current)
	if err != nil {
		return signals.Outcome{}, err
	}
	now := signals.Outcome{Status: r.Status, ExecutionID: r.ID, Calls: r.Log, Pass: r.Passes}
	if r.Status != want || want == signals.Running {
		return now, nil
	}
	return s.client.Wait(ctx, s.current, 0)
}

func (s *run) approve(ctx context.Context, _ step) (any, error) {
	return s.approved(ctx, s.current)
}

// approved answers for an unknown execution as the reference does.
func (s *run) approved(ctx context.Context, id string) (signals.Outcome, error) {
	o, err := s.client.Approve(ctx, id, signals.Approve{})
	if errors.Is(err, codemode.ErrNotFound) {
		return signals.ErrorOutcome(id, signals.NoExecution(id)), nil
	}
	return o, err
}

// rejected answers for an unknown execution as the reference does.
func (s *run) rejected(ctx context.Context, id string, seq int) (bool, error) {
	ok, err := s.client.Reject(ctx, id, signals.Reject{Seq: &seq})
	if errors.Is(err, codemode.ErrNotFound) {
		return false, nil
	}
	return ok, err
}

func (s *run) approveID(ctx context.Context, st step) (any, error) {
	return s.approved(ctx, get[string](st.arg))
}

func (s *run) approveIfPaused(ctx context.Context, st step) (any, error) {
	o, err := s.client.Approve(ctx, s.current, signals.Approve{})
	if err == nil && o.Status == signals.Failed && strings.Contains(o.Error, "not paused") {
		return s.record(ctx, st)
	}
	return o, err
}

func (s *run) approveTwice(ctx context.Context, _ step) (any, error) {
	return together(2, func(int) (signals.Outcome,
		error) {
		return s.client.Approve(ctx, s.current, signals.Approve{})
	})
}

func (s *run) reject(ctx context.Context, st step) (any, error) {
	seq := get[int](st.arg)
	return s.rejected(ctx, s.current, seq)
}

func (s *run) rejectID(ctx context.Context, st step) (any, error) {
	seq := get[int](st.keys["seq"])
	return s.rejected(ctx, get[string](st.arg), seq)
}

func (s *run) pending(ctx context.Context, st step) (any, error) {
	if st.isTrue() {
		return s.client.Pending(ctx, "")
	}
	name := get[string](st.arg)
	id, ok := s.names[name]
	if !ok {
		return nil, fmt.Errorf("no execution is remembered as %q", name)
	}
	return s.client.Pending(ctx, id)
}

func (s *run) pendingID(ctx context.Context, st step) (any, error) {
	return s.client.Pending(ctx, get[string](st.arg))
}

// record is null where there is none.
func (s *run) record(ctx context.Context, _ step) (any, error) {
	r, err := s.client.Show(ctx, s.current)
	if errors.Is(err, codemode.ErrNotFound) {
		return (*signals.Record)(nil), nil
	}
	return r, err
}

const allExecutions = 1000

func (s *run) executions(ctx context.Context, st step) (any, error) {
	limit := allExecutions
	if !st.isTrue() {
		limit = get[int](st.arg)
	}
	records, err := s.client.Executions(ctx, codemode.ListOptions{Limit: max(limit, 1)})
	return records[:min(len(records), max(limit, 0))], err
}

func (s *run) rollback(ctx context.Context, _ step) (any, error) {
	failed, err := s.features.Rollback(ctx, s.client, s.current)
	if failed != "" {
		return thrown(failed), err
	}
	return nil, err
}

func (s *run) expire(ctx context.Context, st step) (any, error) {
	if err := s.listed(ctx); err != nil {
		return nil, err
	}
	return s.features.Expire(ctx, s.client, milliseconds(get[float64](st.arg)))
}

func (s *run) prune(ctx context.Context, st step) (any, error) {
	if err := s.listed(ctx); err != nil {
		return nil, err
	}
	return s.features.Prune(ctx, s.client, get[int](st.arg))
}

// listed waits until lists show each execution of the scenario with its true status, or as long as lists may lag.
func (s *run) listed(ctx context.Context) error {
	for began := time.Now(); time.Since(began) < lag; time.Sleep(lagPause) {
		current, err := s.listsAreCurrent(ctx)
		if err != nil || current {
			return err
		}
	}
	return nil
}

func (s *run) listsAreCurrent(ctx context.Context) (bool, error) {
	for _, id := range s.started[s.clientFor] {
		r, err := s.client.Show(ctx, id)
		if errors.Is(err, codemode.ErrNotFound) {
			continue // deleted
		}
		if err != nil {
			return false, err
		}
		listed, err := s.client.Executions(ctx,
			codemode.ListOptions{Limit: len(s.started[s.clientFor]), Status: r.Status})
		if err != nil || !contains(listed, id) {
			return false, err
		}
	}
	return true, nil
}

func contains(records []signals.Record, id string) bool {
	for _, r := range records {
		if r.ID == id {
			return true
		}
	}
	return false
}

func (s *run) remove(ctx context.Context, _ step) (any, error) {
	return s.features.Delete(ctx, s.client, s.current)
}

func (s *run) search(ctx context.Context, st step) (any, error) {
	return s.features.Search(ctx, s.client, get[string](st.arg))
}

func (s *run) describe(ctx context.Context, st step) (any, error) {
	return s.features.Describe(ctx, s.client, get[string](st.arg))
}

func (s *run) tool(ctx context.Context, st step) (any, error) {
	description, err := s.features.Tool(ctx, s.client, get[toolOptions](st.arg))
	return map[string]string{"description": description}, err
}

func (s *run) validate(_ context.Context, st step) (any, error) { return s.features.Validate(st.arg) }

func (s *run) save(ctx context.Context, st step) (any, error) {
	return s.features.Save(ctx, s.client, get[string](st.arg), s.current, get[string](st.keys["description"]))
}

func (s *run) snippets(ctx context.Context, _ step) (any, error) {
	return s.features.Snippets(ctx, s.client)
}

func (s *run) unsave(ctx context.Context, st step) (any, error) {
	return s.features.Unsave(ctx, s.client, get[string](st.arg))
}

func (s *run) util(_ context.Context, st step) (any, error) {
	args := get[[]json.RawMessage](st.keys["args"])
	return s.features.Util(get[string](st.arg), args)
}

func (s *run) nothing(context.Context, step) (any, error) { return absent{}, nil }

func (s *run) wait(ctx context.Context, st step) (any, error) {
	select {
	case <-time.After(milliseconds(get[float64](st.arg))):
		return absent{}, nil
	case <-ctx.Done():
		return absent{}, ctx.Err()
	}
}
