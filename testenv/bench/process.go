package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/worker"

	"github.com/temporal-codemode/codemode"
	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/sandbox/engine"
	"github.com/temporal-codemode/codemode/signals"
	"github.com/temporal-codemode/codemode/worker/codemodeworker"
)

// workerArg makes this binary one of the two workers: they have processes of their own, so that their processor time
// can be told from the server's.
const workerArg = "worker-in-this-process"

// workerConfig is the argument after workerArg.
type workerConfig struct {
	Address    string
	Baseline   bool
	InProcess  bool
	CPUProfile string
	// HistoryEvents is after how many a run continues as new; 0 is the default.
	HistoryEvents int
}

// process is a worker as the bench sees it.
type process struct {
	config workerConfig
	cmd    *exec.Cmd
	stdin  io.Closer
}

func startProcess(c workerConfig) (*process, error) {
	text, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(os.Args[0], workerArg, string(text))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &process{config: c, cmd: cmd, stdin: in}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "ready\n" {
		p.stop()
		return nil, fmt.Errorf("a worker process did not start: %q, %w", line, err)
	}
	return p, nil
}

func (p *process) stop() {
	_ = p.stdin.Close()
	_ = p.cmd.Wait()
}

// serveHere is the worker process: it serves until its standard input ends.
func serveHere(config string) error {
	var c workerConfig
	if err := json.Unmarshal([]byte(config), &c); err != nil {
		return err
	}
	t, err := codemode.Dial(context.Background(),
		client.Options{HostPort: c.Address, Logger: sdklog.NewStructuredLogger(silent())})
	if err != nil {
		return err
	}
	defer t.Close()
	w, err := c.worker(t)
	if err != nil {
		return err
	}
	return profiled(unused(c.CPUProfile), func() error {
		if err := w.Start(); err != nil {
			return err
		}
		defer w.Stop()
		fmt.Println("ready")
		_, err := io.Copy(io.Discard, os.Stdin)
		return err
	})
}

// unused is a path at which there is no file yet, for a worker that replaces another: FILE, then FILE.2 and so on.
func unused(path string) string {
	if path == "" {
		return ""
	}
	for n, free := 2, path; ; n++ {
		if _, err := os.Stat(free); err != nil {
			return free
		}
		free = fmt.Sprintf("%s.%d", path, n)
	}
}

// worker is ours or the baseline's, each with the SDK's default options.
func (c workerConfig) worker(t client.Client) (worker.Worker, error) {
	if c.Baseline {
		w := worker.New(t, baselineQueue, worker.Options{})
		registerBaseline(w)
		return w, nil
	}
	o := codemodeworker.Options{Connectors: []connectors.Connector{store()},
		Limits: signals.Limits{HistoryEvents: c.HistoryEvents}}
	if c.InProcess {
		o.Executor = &engine.InProcess{}
	}
	return codemodeworker.New(context.Background(), t, o)
}

// processorTime is what the worker has used, with its sandbox children, those that have ended too; 0 where the system
// does not tell.
func (p *process) processorTime() time.Duration {
	var total time.Duration
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		pid, parent, used, err := readStat(path)
		if err == nil && (pid == p.cmd.Process.Pid || parent == p.cmd.Process.Pid) {
			total += used
		}
	}
	return total
}

// tick is the unit of processor times in /proc.
const tick = 10 * time.Millisecond

// readStat reads a process's number, its parent's, and the processor time of its threads, in nanoseconds, since ticks
// would miss a worker that runs for less than one at a time. Of the children that it has waited for there are only
// ticks.
func readStat(path string) (pid, parent int, used time.Duration, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, 0, 0, err
	}
	name, rest, ok := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	if !ok || len(fields) < 15 {
		return 0, 0, 0, errors.New("not the stat of a process")
	}
	pid, _ = strconv.Atoi(strings.Fields(name)[0])
	parent, _ = strconv.Atoi(fields[1])
	for _, ended := range fields[13:15] {
		n, _ := strconv.Atoi(ended)
		used += time.Duration(n) * tick
	}
	threads, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "task/*/schedstat"))
	for _, thread := range threads {
		text, _ := os.ReadFile(thread)
		if onCPU, _, ok := strings.Cut(string(text), " "); ok {
			n, _ := strconv.ParseInt(onCPU, 10, 64)
			used += time.Duration(n)
		}
	}
	return pid, parent, used, nil
}
