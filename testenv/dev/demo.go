package main

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/temporal-codemode/codemode"
	"github.com/temporal-codemode/codemode/signals"
	"github.com/temporal-codemode/codemode/testenv/tracker"
)

//go:embed demo.ts
var demoProgram string

// demo runs the program, kills the worker while it is paused, and takes the decision.
func (e *environment) demo(ctx context.Context, o options) error {
	c, closeClient, err := e.client()
	if err != nil {
		return err
	}
	defer closeClient()
	say("The program that a model might write:")
	fmt.Println(indent(demoProgram))
	outcome, err := c.Execute(ctx, demoProgram,
		codemode.ExecuteOptions{Purpose: "File follow-ups for the most discussed bugs"})
	if err != nil {
		return err
	}
	if outcome.Status != signals.Paused {
		return fmt.Errorf("the demo should pause for an approval, but is %s: %s", outcome.Status, outcome.Error)
	}
	e.showPause(outcome)
	if err := e.crash(ctx); err != nil {
		return err
	}
	if outcome, err = e.decide(ctx, c, outcome, o.yes); err != nil {
		return err
	}
	if err := e.showEnd(outcome); err != nil {
		return err
	}
	if err := e.correct(ctx, c, o); err != nil {
		return err
	}
	if o.yes {
		return nil
	}
	say("All stays up until you press Ctrl-C. Try:  go run ./starter list")
	<-ctx.Done()
	return nil
}

func say(format string, args ...any) { fmt.Printf("\n» "+format+"\n\n", args...) }

func indent(text string) string {
	return "    " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n    ")
}

func (e *environment) showPause(o signals.Outcome) {
	reads := 0
	for _, c := range o.Calls {
		if c.State == signals.Applied && c.Class == signals.Read {
			reads++
		}
	}
	say("It has read %d times and is paused: these calls wait for a person.", reads)
	for _, a := range o.Pending {
		fmt.Printf("    #%d %s.%s %s\n", a.Seq, a.Connector, a.Method, a.Args)
	}
	if url := e.server.UIURL(); url != "" {
		fmt.Printf("\n    in the Web UI: %s/namespaces/default/workflows/%s\n", url,
			strings.ReplaceAll(signals.WorkflowID("default", o.ExecutionID), "/", "%2F"))
	}
}

// crash kills the worker and starts another: a paused execution needs none, and no memory of it is lost.
func (e *environment) crash(ctx context.Context) error {
	before := e.worker.pid()
	e.worker.kill()
	say("Killed the worker (kill -9 %d). The execution is safe in Temporal.", before)
	if err := e.startWorker(ctx); err != nil {
		return err
	}
	fmt.Printf("    another worker runs as process %d\n", e.worker.pid())
	return nil
}

func (e *environment) decide(ctx context.Context, c *codemode.Client, o signals.Outcome, yes bool) (signals.Outcome,
	error) {
	if yes {
		say("Approving (--yes).")
	} else if !ask(ctx, fmt.Sprintf("Approve these %d calls? [y/N] ", len(o.Pending))) {
		seq := o.Pending[0].Seq
		if _, err := c.Reject(ctx, o.ExecutionID,
			signals.Reject{Seq: &seq, Reason: "refused at the terminal", By: "demo"}); err != nil {
			return o, err
		}
		return c.Wait(ctx, o.ExecutionID, 0)
	}
	return c.Approve(ctx, o.ExecutionID, signals.Approve{By: "demo", AsOf: o.Pass})
}

func ask(ctx context.Context, question string) bool {
	fmt.Print("\n", question)
	answer := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(os.Stdin).ReadString('\n')
		answer <- line
	}()
	select {
	case line := <-answer:
		return strings.HasPrefix(strings.ToLower(strings.TrimSpace(line)), "y")
	case <-ctx.Done():
		return false
	}
}

func (e *environment) showEnd(o signals.Outcome) error {
	say("The execution is %s after %d passes.", o.Status, o.Pass)
	if o.Error != "" {
		fmt.Println(indent(o.Error))
	}
	for _, line := range o.Logs {
		fmt.Println("    console:", line)
	}
	if len(o.Result) > 0 {
		var value any
		if err := json.Unmarshal(o.Result, &value); err != nil {
			return err
		}
		pretty, _ := json.MarshalIndent(value, "    ", "  ")
		fmt.Println("    result:", string(pretty))
	}
	return e.showEffects()
}

// showEffects tells what the tracker was made to do.
func (e *environment) showEffects() error {
	state, err := tracker.Load(e.state)
	if err != nil {
		return err
	}
	fmt.Printf("    tracker: %d issues created\n", state.Count("create_issue"))
	for _, effect := range state.Effects {
		var args bytes.Buffer
		if err := json.Compact(&args, effect.Args); err != nil {
			return err
		}
		fmt.Printf("      %s %s\n", effect.Tool, &args)
	}
	return nil
}
