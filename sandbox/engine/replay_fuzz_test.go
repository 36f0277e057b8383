package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/temporal-codemode/codemode/sandbox"
	"github.com/temporal-codemode/codemode/sandbox/child"
	"github.com/temporal-codemode/codemode/sandbox/engine"
	"github.com/temporal-codemode/codemode/signals"
)

// TestInterruptedEqualsUninterrupted generates programs and runs each twice: in passes, interrupted at random gates and
// by lost workers, with calls settling in a random order, in parked runtimes and in new ones, leaving their sandbox
// while they wait; and once through, live,
// with the results delivered in the order that came about. Result, calls and console must agree. Every fourth program
// calls synchronously. CODEMODE_FUZZ_SEED=n repeats one program; CODEMODE_FUZZ_PROGRAMS=n sets how many, up to 100,000
// and more; CODEMODE_FUZZ_ISOLATED=1 runs the passes in sandbox children. A seed that fails is kept for good as a file
// of testdata/fuzz, where go test finds it.
func TestInterruptedEqualsUninterrupted(t *testing.T) {
	if seed := os.Getenv("CODEMODE_FUZZ_SEED"); seed != "" {
		n, err := strconv.ParseUint(seed, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		t.Log(generate(n))
		if err := checkProgram(n); err != nil {
			t.Fatal(err)
		}
		return
	}
	programs := fuzzPrograms(t)
	var group sync.WaitGroup
	workers := 2
	if isolated() { // more than there are children, so that passes are asked to leave
		workers = 12
	}
	for worker := range workers {
		group.Go(func() {
			for seed := worker; seed < programs; seed += workers {
				if err := checkProgram(uint64(seed)); err != nil {
					t.Errorf("CODEMODE_FUZZ_SEED=%d: %v\n%s", seed, err, generate(uint64(seed)))
					return
				}
			}
		})
	}
	group.Wait()
}

func fuzzPrograms(t *testing.T) int {
	if text := os.Getenv("CODEMODE_FUZZ_PROGRAMS"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if testing.Short() {
		return 300
	}
	return 1000
}

func FuzzInterruptedEqualsUninterrupted(f *testing.F) {
	f.Add(uint64(1))
	f.Fuzz(func(t *testing.T, seed uint64) {
		if err := checkProgram(seed); err != nil {
			t.Fatalf("%v\n%s", err, generate(seed))
		}
	})
}

// generator writes a program from a seed.
type generator struct {
	*rand.Rand
	names int
	sync  bool
}

func synchronous(seed uint64) bool { return seed%4 == 3 }

func generate(seed uint64) string {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 1)), sync: synchronous(seed)}
	var b strings.Builder
	b.WriteString("const out = [];\nconst sleep = (ms) => new Promise(r => setTimeout(r, ms));\n")
	for range 2 + g.IntN(4) {
		b.WriteString(g.statement(3))
	}
	b.WriteString("return out;")
	return b.String()
}

func (g *generator) statement(depth int) string {
	if depth == 0 {
		return "out.push(" + g.leaf() + ");\n"
	}
	switch g.IntN(9) {
	case 0:
		return fmt.Sprintf("try { out.push(%s); } catch (e) { out.push([e.name, e.message]); }\n", g.leaf())
	case 1:
		return fmt.Sprintf("for (let i = 0; i < %d; i++) {\n%s}\n", 1+g.IntN(3), g.statement(depth-1))
	case 2:
		return fmt.Sprintf("if (out.length %% 2) {\n%s} else {\n%s}\n", g.statement(depth-1), g.statement(depth-1))
	case 3, 4:
		return g.parallel(depth)
	case 5:
		return fmt.Sprintf("store.%s({late: out.length});\n", g.pick("r_a", "w_a"))
	case 6:
		return "console.log('at', out.length, Date.now() > 0);\n"
	}
	return "out.push(" + g.leaf() + ");\n"
}

// parallel joins several chains with one of the combinators.
func (g *generator) parallel(depth int) string {
	var chains []string
	for range 2 + g.IntN(3) {
		g.names++
		own := fmt.Sprintf("c%d", g.names)
		body := strings.ReplaceAll(g.statement(depth-1)+g.statement(0), "out.", own+".")
		chains = append(chains, fmt.Sprintf("(async () => { const %s = [];\n%sreturn %s; })()", own, body, own))
	}
	combinator := g.pick("all", "allSettled", "race", "any", "all")
	return fmt.Sprintf("try { out.push(await Promise.%s([%s])); } catch (e) { out.push(String(e.message)); }\n",
		combinator, strings.Join(chains, ",\n"))
}

func (g *generator) leaf() string {
	switch g.IntN(13) {
	case 11:
		return "await codemode.search('q' + out.length)"
	case 12:
		return "await codemode.run('snippet', {n: out.length})"
	case 0:
		return "Math.random()"
	case 1:
		if g.sync { // live, calls return at times of their own
			return "Math.min(0, Date.now())"
		}
		return "Date.now()"
	case 2:
		return fmt.Sprintf("await sleep(%s)", g.pick("1", "2", "5", "1500", "90000000"))
	case 3:
		return "await codemode.step('s', () => Math.random() + out.length)"
	case 4:
		return "await codemode.step('n', async () => { const x = await store.r_s({n: out.length}); return [x, " +
			"Math.random()] })"
	case 5:
		return "await codemode.step('f', () => { throw new RangeError('s' + out.length) }).catch(e => e.name + " +
			"e.message)"
	case 6:
		return fmt.Sprintf("await Promise.race([store.%s({r: out.length}), sleep(%d)])", g.pick("r_a", "w_a"),
			1+g.IntN(3))
	case 7:
		return "crypto.randomUUID()"
	}
	method := g.pick("r_a", "r_b", "w_a", "w_b", "a_a", "f_a")
	if g.sync {
		return fmt.Sprintf("(() => { try { return store.%s({n: out.length, x: %s}).m } catch (e) { return "+
			"e.message } finally { console.log('f') } })()",
			method, g.pick("1", "Math.random()", "'é'"))
	}
	return fmt.Sprintf("await store.%s({n: out.length, x: %s}).catch(e => e.message)",
		method, g.pick("1", "Math.random()", "Date.now()", "'é'"))
}

func (g *generator) pick(options ...string) string { return options[g.IntN(len(options))] }

// answer is what a method gives, the same in both runs.
func answer(c sandbox.Call) sandbox.Settlement {
	h := fnv.New32a()
	h.Write(c.Args)
	if strings.HasPrefix(c.Method, "f_") && h.Sum32()%2 == 0 {
		return sandbox.Settlement{Err: &signals.CallError{Message: c.Method + " failed"}}
	}
	if c.Connector == sandbox.PlatformConnector && c.Method == "run" {
		value, _ := json.Marshal(map[string]string{"source": fuzzSnippet})
		return sandbox.Settlement{Value: value}
	}
	value, _ := json.Marshal(map[string]any{"m": c.Method, "args": c.Args, "seq": c.Seq})
	return sandbox.Settlement{Value: value}
}

const fuzzSnippet = `async ({n}) => {
	const [a, b] = await Promise.all([store.r_a({n}), codemode.search('in ' + n)]);
	console.log('snippet', n);
	return [a, b, await store.w_a({x: Math.random()}), await codemode.step('s', () => Math.random())];
}`

// fuzzHost gates writes, approvals, and reads at random.
type fuzzHost struct {
	mu     sync.Mutex
	random *rand.Rand
}

func (h *fuzzHost) draw(n int) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.random.IntN(n)
}

func (h *fuzzHost) Admit(c sandbox.Call) sandbox.Admission {
	switch {
	case c.Connector == sandbox.PlatformConnector:
		return sandbox.Admission{Class: "read"}
	case strings.HasPrefix(c.Method, "a_"):
		return sandbox.Admission{Gated: true, Approval: true, Class: "write"}
	case strings.HasPrefix(c.Method, "w_"), h.draw(4) == 0:
		return sandbox.Admission{Gated: true, Class: "write"}
	}
	return sandbox.Admission{Class: "read", EveryCall: h.draw(2) == 0}
}

func (h *fuzzHost) Call(_ context.Context, c sandbox.Call) sandbox.Settlement {
	time.Sleep(time.Duration(h.draw(400)) * time.Microsecond)
	longest := 2000
	if isolated() {
		longest = 20_000
	}
	if h.draw(8) == 0 { // long enough to leave
		time.Sleep(time.Duration(h.draw(longest)) * time.Microsecond)
	}
	if c.Connector != sandbox.PlatformConnector && h.draw(20) == 0 {
		return sandbox.Settlement{Escalate: true}
	}
	return answer(c)
}

func checkProgram(seed uint64) error {
	code := generate(seed)
	passes, err := interrupted(seed, code)
	if err != nil {
		return err
	}
	value, logs, err := engine.Uninterrupted(code, passes.pass)
	if err != nil {
		return err
	}
	if passes.value != value {
		return fmt.Errorf("results differ:\n%s\n%s", passes.value, value)
	}
	if a, b := strings.Join(passes.logs, "\n"), strings.Join(logs, "\n"); a != b {
		return fmt.Errorf("console differs:\n%s\n--\n%s", a, b)
	}
	return nil
}

// fuzzExecutor runs one program's passes.
type fuzzExecutor interface {
	Run(context.Context, sandbox.Pass, sandbox.Host) (sandbox.Result, error)
	Forget()      // the next pass replays
	Name() string // is no other executor's
}

// newFuzzExecutor runs passes in this process, or in sandbox children when CODEMODE_FUZZ_ISOLATED is set.
func newFuzzExecutor(seed uint64) fuzzExecutor {
	if !isolated() {
		return &engine.Parking{Leaving: engine.Leaving{Random: rand.New(rand.NewPCG(seed, 4))}}
	}
	return &isolatedFuzz{Pool: children(), number: isolatedFuzzes.Add(1)}
}

func isolated() bool { return os.Getenv("CODEMODE_FUZZ_ISOLATED") != "" }

var isolatedFuzzes atomic.Int64

// isolatedFuzz shares the pool of children with other programs.
type isolatedFuzz struct {
	*child.Pool
	number int64
	fresh  bool
}

func (x *isolatedFuzz) Run(ctx context.Context, pass sandbox.Pass, host sandbox.Host) (sandbox.Result, error) {
	if x.fresh {
		pass.After, x.fresh = "", false
	}
	return x.Pool.Run(ctx, pass, host)
}

func (x *isolatedFuzz) Forget()      { x.fresh = true }
func (x *isolatedFuzz) Name() string { return fmt.Sprint("state", x.number) }

type fuzzRun struct {
	pass   sandbox.Pass
	open   []sandbox.OpenCall
	timers []signals.Timer
	logs   []string
	value  string
	random *rand.Rand
}

// interrupted runs the program in passes, as the workflow does.
func interrupted(seed uint64, code string) (*fuzzRun, error) {
	run := &fuzzRun{random: rand.New(rand.NewPCG(seed, 2))}
	run.pass = sandbox.Pass{Code: code, Seed: strconv.FormatUint(seed, 10), Start: 1_700_000_000_000,
		Connectors: []string{"store"}, Synchronous: synchronous(seed)}
	host := &fuzzHost{random: rand.New(rand.NewPCG(seed, 3))}
	executor := newFuzzExecutor(seed)
	for n := range 2000 {
		run.pass.Open, run.pass.As = run.open, fmt.Sprintf("%s-%d", executor.Name(), n)
		if run.random.IntN(4) == 0 {
			executor.Forget()
		}
		if run.random.IntN(3) == 0 {
			run.pass.Limits.BufferBytes = 600 // ends the pass soon
		} else {
			run.pass.Limits.BufferBytes = 0
		}
		r, err := executor.Run(context.Background(), run.pass, host)
		if err != nil {
			return nil, err
		}
		if run.random.IntN(6) == 0 && r.End != sandbox.Failed {
			continue // the worker was lost: nothing of this pass is known
		}
		if err := run.take(r); err != nil {
			return nil, err
		}
		run.pass.After = run.pass.As
		if r.End == sandbox.Completed {
			run.value = string(r.Value)
			return run, nil
		}
		if r.End == sandbox.Blocked {
			run.settleSome()
		}
	}
	return nil, fmt.Errorf("the program did not end")
}

func (run *fuzzRun) take(r sandbox.Result) error {
	if r.Failure != nil {
		return fmt.Errorf("failed in passes: %+v", *r.Failure)
	}
	run.pass.Log = append(run.pass.Log, r.Entries...)
	for _, b := range r.Blocked {
		run.open = append(run.open,
			sandbox.OpenCall{Seq: b.Seq, Connector: b.Connector, Method: b.Method, Args: b.Args, Pending: b.Approval})
	}
	run.logs, run.pass.Lines, run.timers = append(run.logs, r.Logs...), r.Lines, r.Timers
	return nil
}

// settleSome settles a random part of what is open, at least one thing, in random order.
func (run *fuzzRun) settleSome() {
	settled := 0
	for settled == 0 {
		run.random.Shuffle(len(run.open), func(i, j int) { run.open[i], run.open[j] = run.open[j], run.open[i] })
		for len(run.open) > 0 && run.random.IntN(3) > 0 {
			o := run.open[0]
			run.open = run.open[1:]
			s := answer(sandbox.Call{Seq: o.Seq, Connector: o.Connector, Method: o.Method, Args: o.Args})
			run.pass.Log = append(run.pass.Log,
				signals.Entry{ID: o.Seq, Connector: o.Connector, Method: o.Method, Args: o.Args, Value: s.Value,
					Error: s.Err, At: time.Now().UnixMilli()})
			settled++
		}
		if len(run.open) > 0 && run.open[0].Pending && run.random.IntN(2) == 0 {
			run.open[0].Pending = false // approved, and yet to be made
			settled++
		}
		if len(run.timers) > 0 && run.random.IntN(2) == 0 {
			run.pass.Log = append(run.pass.Log, signals.Entry{Timer: true, ID: run.timers[0].ID, At: run.timers[0].Due})
			run.timers = nil
			settled++
		}
	}
}
