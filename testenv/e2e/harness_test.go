package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/temporal-codemode/codemode/sandbox/child"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/worker"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/temporal-codemode/codemode"
	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/signals"
	"github.com/temporal-codemode/codemode/testenv/server"
	"github.com/temporal-codemode/codemode/worker/codemodeworker"
	"github.com/temporal-codemode/codemode/workflows"
)

const childVariable = "CODEMODE_E2E_WORKER"

// childConfig tells a worker process what to be.
type childConfig struct {
	Address, Runtime, Dir, Name string
	LocalPass                   time.Duration
	Limits                      signals.Limits
}

var shared struct {
	server *server.Server
	client client.Client
}

func TestMain(m *testing.M) {
	child.Main()
	if config := os.Getenv(childVariable); config != "" {
		runChild(config)
		return
	}
	s, err := server.Start(context.Background(), server.Options{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	shared.server, shared.client = s, dial(s.Address())
	code := m.Run()
	shared.client.Close()
	s.Stop()
	os.Exit(code)
}

var quiet = sdklog.NewStructuredLogger(slog.New(slog.NewTextHandler(os.Stderr,
	&slog.HandlerOptions{Level: slog.LevelError + 1})))

func dial(address string) client.Client {
	c, err := client.Dial(client.Options{HostPort: address, Logger: quiet})
	if err != nil {
		panic(err)
	}
	return c
}

// runChild is a worker process: it serves until it is killed.
func runChild(config string) {
	var cfg childConfig
	if err := json.Unmarshal([]byte(config), &cfg); err != nil {
		panic(err)
	}
	l := &lab{dir: cfg.Dir, name: cfg.Name}
	w, err := codemodeworker.New(context.Background(), dial(cfg.Address), codemodeworker.Options{
		Runtime: cfg.Runtime, Connectors: []connectors.Connector{l.connector()}, LocalPass: cfg.LocalPass,
		Limits: cfg.Limits,
	})
	if err != nil {
		panic(err)
	}
	if err := w.Start(); err != nil {
		panic(err)
	}
	fmt.Println("ready")
	select {}
}

// bench is one test's runtime: its connector, client and workers.
type bench struct {
	t       *testing.T
	lab     *lab
	runtime string
	client  *codemode.Client
	options codemodeworker.Options
	address string
	// The client of workers, and its converter where that is not the SDK's default.
	temporal  client.Client
	converter converter.DataConverter
}

// setUp gives the test a runtime of its own, without a worker yet.
func setUp(t *testing.T) *bench {
	t.Parallel()
	b := &bench{t: t, lab: &lab{dir: t.TempDir(), name: "first"}, address: shared.server.Address(),
		temporal: shared.client}
	b.runtime = strings.ToLower(strings.ReplaceAll(t.Name(), "/", "-"))
	b.client = b.clientFor(shared.client)
	b.options = codemodeworker.Options{Runtime: b.runtime, Connectors: []connectors.Connector{b.lab.connector()}}
	return b
}

// eachWay runs a test with passes inside workflow tasks, as long as they may be, and with each pass an activity of its
// own: what survives a crash must not depend on it.
func eachWay(t *testing.T, test func(t *testing.T, b *bench)) {
	t.Parallel()
	for name, localPass := range map[string]time.Duration{"local": 5 * time.Second, "activity": -1} {
		t.Run(name, func(t *testing.T) {
			b := setUp(t)
			b.options.LocalPass = localPass
			test(t, b)
		})
	}
}

// clientFor makes a client that reads as the SDK's default converter does.
func (b *bench) clientFor(c client.Client) *codemode.Client { return b.clientReading(c, nil) }

func (b *bench) clientReading(c client.Client, dc converter.DataConverter) *codemode.Client {
	cc, err := codemode.NewClient(c, codemode.ClientOptions{Runtime: b.runtime, DataConverter: dc})
	require.NoError(b.t, err)
	return cc
}

// worker starts a worker in this process; it is stopped with the test.
func (b *bench) worker() *codemodeworker.Worker {
	b.t.Helper()
	w, err := codemodeworker.New(context.Background(), b.temporal, b.options)
	require.NoError(b.t, err)
	require.NoError(b.t, w.Start())
	b.t.Cleanup(w.Stop)
	return w
}

// process starts a worker in a process of its own.
func (b *bench) process(name string) *os.Process {
	b.t.Helper()
	config, _ := json.Marshal(childConfig{Address: b.address, Runtime: b.runtime, Dir: b.lab.dir, Name: name,
		LocalPass: b.options.LocalPass, Limits: b.options.Limits})
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childVariable+"="+string(config))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(b.t, err)
	require.NoError(b.t, cmd.Start())
	b.t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(b.t, err)
	require.Equal(b.t, "ready\n", line)
	return cmd.Process
}

func (b *bench) signal(p *os.Process, s syscall.Signal) {
	b.t.Helper()
	require.NoError(b.t, p.Signal(s))
}

// run executes to the first outcome.
func (b *bench) run(code string) signals.Outcome {
	b.t.Helper()
	o, err := b.client.Execute(b.context(), code, codemode.ExecuteOptions{})
	require.NoError(b.t, err)
	return o
}

// start executes without waiting and returns the id.
func (b *bench) start(code string) string {
	b.t.Helper()
	o, err := b.client.Execute(b.context(), code, codemode.ExecuteOptions{NoWait: true})
	require.NoError(b.t, err)
	return o.ExecutionID
}

func (b *bench) wait(id string) signals.Outcome {
	b.t.Helper()
	o, err := b.client.Wait(b.context(), id, 0)
	require.NoError(b.t, err)
	return o
}

func (b *bench) approve(id string, a signals.Approve) signals.Outcome {
	b.t.Helper()
	o, err := b.client.Approve(b.context(), id, a)
	require.NoError(b.t, err)
	return o
}

func (b *bench) show(id string) signals.Record {
	b.t.Helper()
	r, err := b.client.Show(b.context(), id)
	require.NoError(b.t, err)
	require.NotNil(b.t, r)
	return *r
}

// patience is far above what anything here takes, but for the heartbeat timeout of 10 s.
const patience = 90 * time.Second

func (b *bench) context() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	b.t.Cleanup(cancel)
	return ctx
}

func (b *bench) eventually(what string, condition func() bool) {
	b.t.Helper()
	require.Eventually(b.t, condition, patience, 5*time.Millisecond, what)
}

// completed checks the result of a finished execution, and that its history is healthy.
func (b *bench) completed(want string, o signals.Outcome) {
	b.t.Helper()
	require.Equal(b.t, signals.Completed, o.Status, o.Error)
	require.JSONEq(b.t, want, string(o.Result))
	b.healthy(o.ExecutionID)
}

// healthy: no workflow task of the execution failed, and its history replays.
func (b *bench) healthy(id string) {
	b.t.Helper()
	b.healthyWorkflow(signals.WorkflowID(b.runtime, id), "")
}

// healthyWorkflow is for workflows of all kinds; as names the history that is kept of it.
func (b *bench) healthyWorkflow(workflowID, as string) {
	b.t.Helper()
	var history historypb.History
	events := shared.client.GetWorkflowHistory(b.context(), workflowID, "",
		false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		e, err := events.Next()
		require.NoError(b.t, err)
		require.NotEqual(b.t, enums.EVENT_TYPE_WORKFLOW_TASK_FAILED, e.EventType, "%s", e)
		history.Events = append(history.Events, e)
	}
	replayer, err := workflows.NewReplayer(worker.WorkflowReplayerOptions{DataConverter: b.converter})
	require.NoError(b.t, err)
	require.NoError(b.t, replayer.ReplayWorkflowHistory(quiet, &history))
	b.keep(&history, as)
}

// keep writes a test's history, if it is not large, where CODEMODE_WRITE_HISTORIES says, for the replay tests of
// package workflows.
func (b *bench) keep(history *historypb.History, as string) {
	dir := os.Getenv("CODEMODE_WRITE_HISTORIES")
	if dir == "" || b.converter != nil { // what only keys open is nobody's to replay
		return
	}
	text, err := protojson.MarshalOptions{Indent: " "}.Marshal(history)
	require.NoError(b.t, err)
	if len(text) > 100_000 {
		return
	}
	require.NoError(b.t, os.WriteFile(filepath.Join(dir, b.runtime+as+".json"), text, 0o644))
}
