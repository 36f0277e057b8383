package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/temporal-codemode/codemode/sandbox"
	"github.com/temporal-codemode/codemode/sandbox/engine"
	"github.com/temporal-codemode/codemode/signals"
)

// TestCorrectedProgramsGoOn generates programs and lets an exception end each at a random place. The corrected program
// goes on from there, in passes that are interrupted like the first one's. What both did together must be what the
// corrected program asked for, each once, and what it left over; and for programs that do not depend on the order in
// which calls settle, nothing may be left over, and both must have done what the program does when it runs alone.
// CODEMODE_FUZZ_SEED=n repeats one program; CODEMODE_FUZZ_PROGRAMS=n sets how many.
func TestCorrectedProgramsGoOn(t *testing.T) {
	if seed := os.Getenv("CODEMODE_FUZZ_SEED"); seed != "" {
		n, err := strconv.ParseUint(seed, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		t.Log(generateCorrected(n))
		if _, err := checkCorrected(n); err != nil {
			t.Fatal(err)
		}
		return
	}
	programs := fuzzPrograms(t)
	var group sync.WaitGroup
	var mu sync.Mutex
	var total correctedRun
	for worker := range 2 {
		group.Go(func() {
			for seed := worker; seed < programs; seed += 2 {
				ran, err := checkCorrected(uint64(seed))
				if err != nil {
					t.Errorf("CODEMODE_FUZZ_SEED=%d: %v\n%s", seed, err, generateCorrected(uint64(seed)))
					return
				}
				mu.Lock()
				total.add(ran)
				mu.Unlock()
			}
		})
	}
	group.Wait()
	t.Logf("%d programs, %d stopped by the exception; %d effects, of which %d were carried and %d left over; "+
		"%d reads carried", programs, total.stopped, total.effects, total.carried, total.leftOver, total.reads)
}

// correctedRun counts what became of a program.
type correctedRun struct{ stopped, effects, carried, leftOver, reads int }

func (r *correctedRun) add(other correctedRun) {
	r.stopped += other.stopped
	r.effects += other.effects
	r.carried += other.carried
	r.leftOver += other.leftOver
	r.reads += other.reads
}

// orderly programs do the same whatever settles first.
func orderly(seed uint64) bool { return seed%2 == 0 }

// generateCorrected writes a program in which mark() stands before every statement.
func generateCorrected(seed uint64) string {
	g := &markedGenerator{generator{Rand: rand.New(rand.NewPCG(seed, 5)), sync: seed%8 == 7}, orderly(seed)}
	var b strings.Builder
	b.WriteString("const out = [];\nconst sleep = (ms) => new Promise(r => setTimeout(r, ms));\n")
	for range 2 + g.IntN(4) {
		b.WriteString(g.marked(g.statement(3)))
	}
	b.WriteString("mark();\nreturn out;")
	return b.String()
}

type markedGenerator struct {
	generator
	orderly bool
}

// marked puts mark() before every statement, and lets what it throws through every catch.
func (g *markedGenerator) marked(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "}") && !strings.HasPrefix(line, "return") && !strings.HasPrefix(line, "(async") {
			b.WriteString("mark(); ")
		}
		b.WriteString(line)
	}
	text = strings.ReplaceAll(b.String(), "catch (e) {", "catch (e) { if (e instanceof Bug) throw e;")
	return text
}

func (g *markedGenerator) statement(depth int) string {
	if !g.orderly {
		return g.generator.statement(depth)
	}
	return g.orderlyStatement(depth, "out", true)
}

func (g *markedGenerator) orderlyStatement(depth int, own string, alone bool) string {
	if depth == 0 {
		return fmt.Sprintf("%s.push(%s);\n", own, g.orderlyLeaf(own, alone))
	}
	switch g.IntN(7) {
	case 0:
		return fmt.Sprintf("for (let i = 0; i < %d; i++) {\n%s}\n", 1+g.IntN(3),
			g.orderlyStatement(depth-1, own, alone))
	case 1:
		return fmt.Sprintf("if (%s.length %% 2) {\n%s} else {\n%s}\n", own, g.orderlyStatement(depth-1, own, alone),
			g.orderlyStatement(depth-1, own, alone))
	case 2, 3:
		var chains []string
		for range 2 + g.IntN(3) {
			g.names++
			mine := fmt.Sprintf("c%d", g.names)
			chains = append(chains, fmt.Sprintf("(async () => { const %s = [];\n%s%sreturn %s; })()", mine,
				g.orderlyStatement(depth-1, mine, false), g.orderlyStatement(0, mine, false), mine))
		}
		if g.sync {
			return fmt.Sprintf("%s.push(await Promise.all([%s]));\n", own, strings.Join(chains, ",\n"))
		}
		return fmt.Sprintf("%s.push(await Promise.all([%s]));\n", own, strings.Join(chains, ",\n"))
	case 4:
		return fmt.Sprintf("store.%s({late: %s.length});\n", g.pick("r_a", "w_a"), own)
	}
	return fmt.Sprintf("%s.push(%s);\n", own, g.orderlyLeaf(own, alone))
}

func (g *markedGenerator) orderlyLeaf(own string, alone bool) string {
	values := []string{"1", "'é'", "{a: [1, null], b: 2}"}
	if alone {
		values = append(values, "Math.random()", "crypto.randomUUID()", "Math.random()")
	}
	switch g.IntN(10) {
	case 0:
		return fmt.Sprintf("await codemode.search('q' + %s.length)", own)
	case 1:
		return "await sleep(" + g.pick("1", "2", "1500") + ")"
	case 2:
		return fmt.Sprintf("await codemode.step('s', () => %s.length)", own)
	}
	method := g.pick("r_a", "r_b", "w_a", "w_b", "a_a", "f_a")
	if g.sync {
		return fmt.Sprintf("(() => { try { return store.%s({n: %s.length, x: %s}).m } catch (e) { return "+
			"e.message } })()", method, own, g.pick(values...))
	}
	return fmt.Sprintf("await store.%s({n: %s.length, x: %s}).catch(e => e.message)", method, own, g.pick(values...))
}

const (
	correct = "class Bug extends Error {}\nconst mark = () => {};\n"
	wrong   = "class Bug extends Error {}\nlet left = %d;\n" +
		"const mark = () => { if (left-- === 0) throw new Bug('bug'); };\n"
)

// ledger is what really was done.
type ledger []string

func effectOf(connector, method string, args json.RawMessage) string {
	canonical, _ := signals.Canonical(args)
	return connector + "." + method + string(canonical)
}

// continuing runs one execution in passes, as the workflow does.
type continuing struct {
	id     string
	log    *signals.Log
	pass   sandbox.Pass
	open   []signals.Blocked
	asked  map[int]bool
	timers []signals.Timer
	random *rand.Rand
	done   *ledger
	ended  sandbox.End
	value  string
}

// continuingHost answers calls, and hands out what an earlier execution did.
type continuingHost struct {
	shelf  *signals.Shelf
	mu     sync.Mutex
	random *rand.Rand
}

func (h *continuingHost) draw(n int) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.random.IntN(n)
}

func (h *continuingHost) Admit(c sandbox.Call) sandbox.Admission {
	if c.Connector == sandbox.PlatformConnector {
		return sandbox.Admission{Class: "read"}
	}
	if o, ok := h.shelf.Take(c.Seq, c.Connector, c.Method, c.Args, true); ok {
		return sandbox.Admission{Class: o.Class, Approval: o.Approval,
			Carried: &sandbox.Carried{Value: o.Value, Err: o.Error, At: o.At, Order: o.Order}}
	}
	switch {
	case strings.HasPrefix(c.Method, "a_"):
		h.shelf.Acts()
		return sandbox.Admission{Gated: true, Approval: true, Class: "write"}
	case strings.HasPrefix(c.Method, "w_"), strings.HasPrefix(c.Method, "f_"):
		h.shelf.Acts()
		return sandbox.Admission{Gated: true, Class: "write"}
	}
	return sandbox.Admission{Class: "read", EveryCall: !h.shelf.Has(c.Connector, c.Method)}
}

func (h *continuingHost) Call(_ context.Context, c sandbox.Call) sandbox.Settlement {
	time.Sleep(time.Duration(h.draw(100)) * time.Microsecond)
	if c.Connector != sandbox.PlatformConnector && h.draw(20) == 0 {
		return sandbox.Settlement{Escalate: true}
	}
	return answered(c)
}

// answered is what a method gives, whatever the number of the call.
func answered(c sandbox.Call) sandbox.Settlement {
	c.Seq = 0
	return answer(c)
}

func (r *continuing) run(code string) error {
	r.pass.Code, r.pass.Connectors = code, []string{"store"}
	executor := newFuzzExecutor(r.random.Uint64())
	for n := range 3000 {
		r.pass.Open = nil
		for _, b := range r.open {
			r.pass.Open = append(r.pass.Open, sandbox.OpenCall{Seq: b.Seq, Connector: b.Connector, Method: b.Method,
				Args: b.Args, Pending: r.asked[b.Seq]})
		}
		r.pass.Log, r.pass.As = r.log.Order, fmt.Sprintf("%s-%s-%d", r.id, executor.Name(), n)
		if r.random.IntN(4) == 0 {
			executor.Forget()
		}
		if r.pass.Limits.BufferBytes = 0; r.random.IntN(3) == 0 {
			r.pass.Limits.BufferBytes = 600
		}
		shelf := r.log.Shelf(time.Now(), time.Hour)
		result, err := executor.Run(context.Background(), r.pass,
			&continuingHost{shelf: shelf, random: rand.New(rand.NewPCG(r.random.Uint64(), 1))})
		if err != nil {
			return err
		}
		if r.random.IntN(6) == 0 {
			continue // the worker was lost
		}
		r.take(result, shelf)
		r.pass.After, r.pass.Lines = r.pass.As, result.Lines
		switch result.End {
		case sandbox.Completed, sandbox.Failed:
			if result.Failure != nil && result.Failure.Kind != sandbox.Thrown {
				return fmt.Errorf("%+v", *result.Failure)
			}
			r.ended, r.value = result.End, string(result.Value)
			return r.close()
		case sandbox.Blocked:
			if err := r.settleSome(); err != nil {
				return err
			}
		}
	}
	return fmt.Errorf("the program did not end")
}

func (r *continuing) take(result sandbox.Result, shelf *signals.Shelf) {
	pass := signals.PassResult{Entries: result.Entries, Lines: result.Lines}
	for i := range pass.Entries {
		if o := shelf.Taken(pass.Entries[i].ID); o != nil && !pass.Entries[i].Timer {
			pass.Entries[i].CarriedFrom, pass.Entries[i].Revertable = &o.From, o.Revertable
		}
	}
	for _, b := range result.Blocked {
		pass.Blocked = append(pass.Blocked, signals.Blocked{Seq: b.Seq, Connector: b.Connector, Method: b.Method,
			Args: b.Args, Class: b.Class, Approval: b.Approval})
		r.asked[b.Seq] = b.Approval
	}
	r.log.Add(pass)
	r.open, r.timers = append(r.open, pass.Blocked...), result.Timers
}

// make makes a gated call.
func (r *continuing) make(b signals.Blocked) error {
	s := answered(sandbox.Call{Seq: b.Seq, Connector: b.Connector, Method: b.Method, Args: b.Args})
	if s.Err == nil && b.Class != signals.Read {
		*r.done = append(*r.done, effectOf(b.Connector, b.Method, b.Args))
	}
	return r.log.Give([]signals.Given{{ID: b.Seq, At: time.Now().UnixMilli(), Value: s.Value, Error: s.Err}}, nil)
}

func (r *continuing) settleSome() error {
	for settled := 0; settled == 0; {
		r.random.Shuffle(len(r.open), func(i, j int) { r.open[i], r.open[j] = r.open[j], r.open[i] })
		for len(r.open) > 0 && r.random.IntN(3) > 0 {
			b := r.open[0]
			r.open = r.open[1:]
			settled++
			if err := r.make(b); err != nil {
				return err
			}
		}
		if len(r.timers) > 0 && (len(r.open) == 0 || r.random.IntN(2) == 0) {
			settled++
			if err := r.log.Give([]signals.Given{{Kind: signals.GivenTimer, ID: r.timers[0].ID, At: r.timers[0].Due}},
				nil); err != nil {
				return err
			}
			r.timers = nil
		}
	}
	return nil
}

// close makes what was issued, but for what waits for a person.
func (r *continuing) close() error {
	for _, b := range r.open {
		if r.asked[b.Seq] {
			continue
		}
		if err := r.make(b); err != nil {
			return err
		}
	}
	return nil
}

func newContinuing(id string, seed, stream uint64, done *ledger) *continuing {
	start := time.Now().UnixMilli()
	return &continuing{id: id, log: signals.NewLog(), asked: map[int]bool{}, done: done,
		random: rand.New(rand.NewPCG(seed, stream)), pass: sandbox.Pass{Seed: "first", Start: start, Began: start,
			Synchronous: seed%8 == 7}}
}

// goOn is an execution that continues one that has ended.
func (r *continuing) goOn(id string, seed, stream uint64) *continuing {
	next := newContinuing(id, seed, stream, r.done)
	calls := r.log.Calls()
	signals.End(calls, nil)
	for _, part := range signals.OfferParts(signals.EarlierPart{Seed: "first"},
		r.log.OffersOf(r.id, calls, func(signals.Call) *signals.CallError { return nil })) {
		next.log.Offer(part)
	}
	next.pass.Start = r.pass.Start
	return next
}

func checkCorrected(seed uint64) (ran correctedRun, err error) {
	program := generateCorrected(seed)
	random := rand.New(rand.NewPCG(seed, 6))
	var done ledger
	last := newContinuing("a", seed, 7, &done)
	for i := range 1 + random.IntN(2) { // two of them wrong, now and then
		if i > 0 {
			last = last.goOn("b", seed, 8)
		}
		if err := last.run(fmt.Sprintf(wrong, random.IntN(12)*(i+1)) + program); err != nil {
			return ran, fmt.Errorf("the wrong program: %w", err)
		}
		if last.ended == sandbox.Failed {
			ran.stopped = 1
		}
	}
	last = last.goOn("c", seed, 9)
	if err := last.run(correct + program); err != nil {
		return ran, fmt.Errorf("the corrected program: %w", err)
	}
	if last.ended != sandbox.Completed {
		return ran, fmt.Errorf("the corrected program %s", last.ended)
	}
	if err := last.compare(&ran); err != nil {
		return ran, err
	}
	if !orderly(seed) {
		return ran, nil
	}
	var alone ledger
	once := newContinuing("d", seed, 10, &alone)
	if err := once.run(correct + program); err != nil {
		return ran, fmt.Errorf("the program alone: %w", err)
	}
	slices.Sort(alone)
	slices.Sort(done)
	switch {
	case !slices.Equal(alone, done):
		return ran, fmt.Errorf("effects differ from those of the program alone:\n%s\n--\n%s", strings.Join(done, "\n"),
			strings.Join(alone, "\n"))
	case ran.leftOver > 0:
		return ran, fmt.Errorf("%d effects are left over", ran.leftOver)
	case once.value != last.value:
		return ran, fmt.Errorf("results differ:\n%s\n%s", last.value, once.value)
	}
	return ran, nil
}

// compare holds what was done against what the program asked for and what it left over, and its result against a run
// without passes.
func (r *continuing) compare(ran *correctedRun) error {
	var asked ledger
	used := map[signals.CarriedFrom]bool{}
	for _, c := range r.log.Calls() {
		if c.CarriedFrom != nil {
			if used[*c.CarriedFrom] {
				return fmt.Errorf("call %+v was carried twice", *c.CarriedFrom)
			}
			used[*c.CarriedFrom] = true
		}
		switch {
		case c.State != signals.Applied || c.Connector != "store":
		case c.Class == signals.Read && c.CarriedFrom != nil:
			ran.reads++
		case c.Class != signals.Read:
			asked = append(asked, effectOf(c.Connector, c.Method, c.Args))
			if c.CarriedFrom != nil {
				ran.carried++
			}
		}
	}
	for _, l := range r.log.LeftOver() {
		asked = append(asked, effectOf(l.Connector, l.Method, l.Args))
		ran.leftOver++
	}
	done := slices.Clone(*r.done)
	ran.effects = len(done)
	slices.Sort(asked)
	slices.Sort(done)
	if !slices.Equal(asked, done) {
		return fmt.Errorf("done:\n%s\n-- asked for and left over:\n%s", strings.Join(done, "\n"),
			strings.Join(asked, "\n"))
	}
	r.pass.Log = r.log.Order
	value, _, err := engine.Uninterrupted(r.pass.Code, r.pass)
	if err != nil {
		return fmt.Errorf("live: %w", err)
	}
	if value != r.value {
		return fmt.Errorf("results differ:\n%s\n%s", r.value, value)
	}
	return nil
}
