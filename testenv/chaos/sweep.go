package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"go.temporal.io/api/enums/v1"

	"github.com/temporal-codemode/codemode"
	"github.com/temporal-codemode/codemode/signals"
	"github.com/temporal-codemode/codemode/testenv/chaos/ledger"
)

// sweepProgram has a bit of everything, and few events. A sweep kills it at each of them; more programs are generated.
const sweepProgram = `const a = await shop.read({tag: 'a'});
const [b, c] = await Promise.all([shop.write({tag: 'b'}), depot.put({tag: 'c'})].map((p) => p.catch((e) => e.name)));
const d = await depot.ask({tag: 'd'}).catch((e) => e.name);
await new Promise((done) => setTimeout(done, 1100));
return [a, b, c, d, await shop.put({tag: 'e'}).catch((e) => e.name)];`

// boundary is where one run of a program is hit, and what.
type boundary struct {
	victim string // of victims
	at     int    // event of the history, or call that reaches the ledger, from 0
}

// Victims at a history event are killed once it is in history; callers of the ledger before or after their effect is
// written down.
var victims = []string{"worker", "sandbox child", "connector server", "Temporal", "caller before its effect",
	"caller after its effect"}

// sweeper runs a program once for each boundary.
type sweeper struct {
	*run
	program, lanes int
	victims        []string
	hits           kills
}

// lane is a runtime with a worker of its own, so that lanes do not disturb each other.
type lane struct {
	name   string
	client *codemode.Client
	worker *process
}

// sweep kills programs of a seed at every boundary in turn. The executions count them all.
func (o options) sweep(ctx context.Context, c *cluster, programs, lanes int, victims []string) (result, error) {
	started := time.Now()
	r := &run{options: o, cluster: c}
	r.findings.Ended = map[signals.Status]int{}
	total := kills{}
	for n := range programs {
		s := &sweeper{run: r, program: n, lanes: lanes, victims: victims}
		if err := s.sweep(ctx); err != nil {
			return result{}, err
		}
		total.add(s.hits)
	}
	r.Executions = int(r.ended.Load())
	return result{r.options, total, r.findings, int(time.Since(started).Seconds()), r.findings.passed()}, ctx.Err()
}

func (k *kills) add(more kills) {
	k.Workers += more.Workers
	k.Children += more.Children
	k.Depots += more.Depots
	k.Temporal += more.Temporal
	k.Callers += more.Callers
}

func (s *sweeper) code() string {
	if s.program == 0 {
		return sweepProgram
	}
	return program(s.Seed, s.program)
}

// sweep runs the program undisturbed first, to learn how many events and calls it has.
func (s *sweeper) sweep(ctx context.Context) error {
	first, err := s.lane(ctx, "first")
	if err != nil {
		return err
	}
	defer first.worker.kill()
	id := s.execute(ctx, first, boundary{at: -1})
	events, calls, err := s.extent(ctx, first, id)
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(s.Progress, "program %d: %d events, %d calls reach the ledger\n", s.program, events, calls)
	var alone, parallel []boundary
	for _, victim := range s.victims {
		for at := range map[bool]int{true: calls, false: events}[victim == victims[4] || victim == victims[5]] {
			if victim == "Temporal" {
				alone = append(alone, boundary{victim, at})
			} else {
				parallel = append(parallel, boundary{victim, at})
			}
		}
	}
	if err := s.inLanes(ctx, s.lanes, parallel); err != nil {
		return err
	}
	return s.inLanes(ctx, 1, alone)
}

// extent counts the events of all runs of an execution, and the calls that reached the ledger.
func (s *sweeper) extent(ctx context.Context, l *lane, id string) (events, calls int, err error) {
	entries, err := s.cluster.truth.Entries(ctx, id)
	if err != nil {
		return 0, 0, err
	}
	err = s.follow(ctx, signals.WorkflowID(l.name, id), false, func() bool { events++; return false })
	return events, len(entries), err
}

func (s *sweeper) inLanes(ctx context.Context, lanes int, boundaries []boundary) error {
	queue := make(chan boundary, len(boundaries))
	for _, b := range boundaries {
		queue <- b
	}
	close(queue)
	var group sync.WaitGroup
	failures := make(chan error, lanes)
	for i := range lanes {
		group.Go(func() {
			l, err := s.lane(ctx, fmt.Sprint("lane", i))
			if err != nil {
				failures <- err
				return
			}
			tending, stop := context.WithCancel(ctx)
			tended := make(chan struct{})
			go func() {
				defer close(tended)
				s.tend(tending, l)
			}()
			for b := range queue {
				if ctx.Err() == nil {
					s.execute(ctx, l, b)
				}
			}
			stop()
			<-tended
			l.worker.kill()
		})
	}
	group.Wait()
	select {
	case err := <-failures:
		return err
	default:
		return ctx.Err()
	}
}

func (s *sweeper) lane(ctx context.Context, name string) (*lane, error) {
	l := &lane{name: fmt.Sprintf("sweep-%d-%s", s.program, name)}
	var err error
	if l.client, err = s.cluster.clientOf(l.name); err != nil {
		return nil, err
	}
	l.worker = s.cluster.worker(l.name)
	if err := s.cluster.again(ctx, l.worker); err != nil {
		return nil, err
	}
	return l, insist(ctx, func(ctx context.Context) error { return s.cluster.saveSnippet(ctx, l.client) })
}

// tend starts the lane's worker again whenever it was killed.
func (s *sweeper) tend(ctx context.Context, l *lane) {
	for ctx.Err() == nil {
		select {
		case <-l.worker.ended():
			_ = s.cluster.again(ctx, l.worker)
		case <-ctx.Done():
		}
	}
}

// execute runs the program, hit at the boundary, and judges it.
func (s *sweeper) execute(ctx context.Context, l *lane, b boundary) string {
	a := newActor(s.cluster.raw, l.client, s.Seed, s.program)
	a.id = fmt.Sprintf("exec_%s_%d_%d", l.name, b.at+1, s.ended.Add(1))
	ctx, cancel := context.WithTimeout(ctx, s.Patience)
	defer cancel()
	if b.at >= 0 {
		go s.hit(ctx, l, a.id, b)
	}
	err := a.live(ctx, s.code())
	if err != nil {
		a.note("hit: %s at %d", b.victim, b.at)
	}
	s.check(context.WithoutCancel(ctx), l.name, a, err)
	return a.id
}

func (s *sweeper) hit(ctx context.Context, l *lane, id string, b boundary) {
	if b.victim == victims[4] || b.victim == victims[5] {
		_ = s.cluster.truth.Set(ctx, ledger.Trap{Execution: id, At: b.at, After: b.victim == victims[5]})
		s.count(func(k *kills) { k.Callers++ })
		return
	}
	s.awaitEvent(ctx, signals.WorkflowID(l.name, id), b.at)
	switch b.victim {
	case "worker":
		killPID(l.worker.pid())
		s.count(func(k *kills) { k.Workers++ })
	case "Temporal":
		s.cluster.temporal.kill()
		s.count(func(k *kills) { k.Temporal++ })
		_ = s.cluster.again(context.WithoutCancel(ctx), s.cluster.temporal)
	case "sandbox child":
		s.killAll(l, isSandboxChild, func(k *kills, n int) { k.Children += n })
	case "connector server":
		s.killAll(l, isDepot, func(k *kills, n int) { k.Depots += n })
	}
}

func (s *sweeper) killAll(l *lane, kind func(procInfo) bool, note func(*kills, int)) {
	for _, p := range descendants(l.worker.pid(), kind) {
		n := killPID(p.pid)
		s.count(func(k *kills) { note(k, n) })
	}
}

func (s *sweeper) count(change func(*kills)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.hits)
}

// awaitEvent returns when the runs of the workflow have more than so many events.
func (s *sweeper) awaitEvent(ctx context.Context, workflowID string, at int) {
	for ctx.Err() == nil {
		seen := 0
		err := s.follow(ctx, workflowID, true, func() bool { seen++; return seen > at })
		if err == nil && seen > at {
			return
		}
		wait(ctx, 5*time.Millisecond) // it has not started yet, or Temporal is away
	}
}

// follow tells of each event of a workflow's runs, from the first on, until enough says so or there are no more: those
// that are still to come are waited for.
func (s *sweeper) follow(ctx context.Context, workflowID string, wait bool, enough func() bool) error {
	d, err := s.cluster.raw.DescribeWorkflowExecution(ctx, workflowID, "")
	if err != nil {
		return err
	}
	for run := d.WorkflowExecutionInfo.GetFirstRunId(); run != ""; {
		events := s.cluster.raw.GetWorkflowHistory(ctx, workflowID, run, wait,
			enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
		for run = ""; events.HasNext(); {
			e, err := events.Next()
			if err != nil || enough() {
				return err
			}
			run = e.GetWorkflowExecutionContinuedAsNewEventAttributes().GetNewExecutionRunId()
		}
	}
	return nil
}
