package child

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/fxamacker/cbor/v2"
	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/sandbox"
	"github.com/temporal-codemode/codemode/sandbox/internal/sandboxtest"
	"github.com/temporal-codemode/codemode/signals"
)

// hostileEnv makes this binary a child that its program has taken over: it sends what the variable names.
const hostileEnv = "CODEMODE_TEST_HOSTILE"

func init() {
	if kind := os.Getenv(hostileEnv); kind != "" {
		beHostile(hostileFrames()[kind])
	}
}

func beHostile(send func(l *link)) {
	l := newLink(os.Stdin, os.Stdout, maxFrameToChild)
	if _, _, err := l.receive(); err == nil { // the pass
		send(l)
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(0)
}

func raw(kind frameKind, size uint32, body []byte) []byte {
	return append(append(binary.BigEndian.AppendUint32(nil, size), byte(kind)), body...)
}

func whole(kind frameKind, body []byte) []byte { return raw(kind, uint32(len(body)), body) }

// manyNulls is a map of one field with an array of nothings.
func manyNulls(field string, count int) []byte {
	key, _ := cbor.Marshal(field)
	body := append([]byte{0xa1}, key...)
	body = binary.BigEndian.AppendUint32(append(body, 0x9a), uint32(count))
	return append(body, strings.Repeat("\xf6", count)...)
}

// hostileFrames are what a child sends that no engine would.
func hostileFrames() map[string]func(l *link) {
	write := func(bytes ...[]byte) func(l *link) {
		return func(l *link) {
			for _, b := range bytes {
				_, _ = l.w.Write(b)
			}
		}
	}
	result := func(r sandbox.Result) func(l *link) { return func(l *link) { _ = l.send(frameResult, r) } }
	call := func(kind frameKind, c sandbox.Call) func(l *link) { return func(l *link) { _ = l.send(kind, c) } }
	return map[string]func(l *link){
		"length without a body":      write(raw(frameResult, 0xffffffff, nil)),
		"too large a frame":          write(raw(frameResult, maxFrameToWorker+1, make([]byte, maxFrameToWorker+1))),
		"cut off":                    cutOff,
		"no CBOR":                    write(whole(frameResult, []byte("\xff\xff\xff"))),
		"empty":                      write(whole(frameResult, nil)),
		"unknown kind":               write(whole('?', nil)),
		"the worker's own kind":      write(whole(frameSettlement, []byte{0xf6})),
		"a second greeting":          write(whole(frameReady, []byte{0xa0})),
		"a million entries":          write(whole(frameResult, manyNulls("Entries", 1<<20))),
		"a million blocked calls":    write(whole(frameResult, manyNulls("Blocked", 1<<20))),
		"two million lines":          write(whole(frameResult, manyNulls("Logs", 1<<21))),
		"nested without end":         write(whole(frameResult, []byte(strings.Repeat("\x81", 1<<20)))),
		"a count without elements":   write(whole(frameResult, []byte("\xa1\x67Entries\x9b\x7f\xff\xff\xff\xff\xff"))),
		"text that is no UTF-8":      write(whole(frameResult, []byte("\xa1\x63End\x64\xff\xfe\xff\xfe"))),
		"an end of its own":          result(sandbox.Result{End: "won"}),
		"a value that is no JSON":    result(sandbox.Result{End: sandbox.Completed, Value: json.RawMessage(`{"a":`)}),
		"a failure without one":      result(sandbox.Result{End: sandbox.Failed}),
		"a step that is no JSON":     result(stepped(signals.Entry{Method: "s", Value: json.RawMessage("x")})),
		"a call nobody made":         result(stepped(signals.Entry{Connector: "store", Value: []byte("1")})),
		"blocked on what it likes":   result(sandbox.Result{End: sandbox.Blocked, Blocked: []sandbox.BlockedCall{{}}}),
		"arguments that are no JSON": call(frameCall, sandbox.Call{Connector: "a", Method: "b", Args: []byte("{")}),
		"a look-up of its own": call(frameCall, sandbox.Call{Connector: sandbox.PlatformConnector, Method: "search",
			Args: []byte("{}")}),
		"a step to be made": call(frameAdmit, sandbox.Call{Connector: sandbox.StepConnector, Method: "s"}),
		"a name without end": call(frameAdmit, sandbox.Call{Connector: "store",
			Method: strings.Repeat("x", sandbox.MaxName+1)}),
		"the same call twice": func(l *link) {
			for range 2 {
				_ = l.send(frameAdmit, sandbox.Call{Connector: "store", Method: "echo"})
			}
		},
		"calls without end": func(l *link) {
			for n := 0; l.send(frameCall, sandbox.Call{Seq: n, Connector: "store", Method: "hang"}) == nil; n++ {
			}
		},
		"nothing":             func(*link) {},
		"a byte now and then": func(l *link) { drip(l) },
	}
}

func cutOff(l *link) {
	_, _ = l.w.Write(raw(frameResult, 100, []byte("x")))
	os.Exit(0)
}

func stepped(e signals.Entry) sandbox.Result {
	if e.Connector == "" {
		e.Connector = sandbox.StepConnector
	}
	return sandbox.Result{End: sandbox.Completed, Entries: []signals.Entry{e}}
}

func drip(l *link) {
	for b := range strings.SplitSeq(strings.Repeat("\x00", 1_000), "") {
		if _, err := l.w.Write([]byte(b)); err != nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// hostileChild starts one as the pool would.
func hostileChild(t *testing.T, kind string) *process {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = []string{hostileEnv + "=" + kind}
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	return &process{cmd: cmd, stdin: in, stderr: &tail{}, exited: make(chan struct{}), memory: 64 << 20,
		link: newLink(bufio.NewReader(out), in, maxFrameToWorker)}
}

// Whatever a child sends, its pass ends within its time as a failure, costs the worker little, and leaves the place to
// the next one.
func TestHostileFrames(t *testing.T) {
	x, err := New(Options{Children: 1})
	require.NoError(t, err)
	defer func() { _ = x.Close() }()
	host := &sandboxtest.Host{Methods: map[string]func(json.RawMessage) (string, error){}}
	host.Methods["hang"] = func(json.RawMessage) (string, error) { select {} }
	for kind := range hostileFrames() {
		t.Run(kind, func(t *testing.T) {
			hostile := hostileChild(t, kind)
			hostile.passes = 1_000_000 // so that it is the one that is taken
			x.mu.Lock()
			x.idle = append(x.idle, hostile)
			x.mu.Unlock()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			pass := sandbox.Pass{Code: "return 1", Connectors: []string{"store"},
				Limits: sandbox.Limits{Timeout: 300 * time.Millisecond}}
			r, err := x.Run(t.Context(), pass, host)
			runtime.ReadMemStats(&after)
			require.NoError(t, err)
			require.Equal(t, sandbox.Failed, r.End, "%+v", r)
			require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(80<<20))
			<-hostile.exited

			r, err = x.Run(t.Context(), sandbox.Pass{Code: "return 1", Connectors: []string{"store"}}, host)
			require.NoError(t, err)
			sandboxtest.RequireValue(t, "1", r)
		})
	}
}
