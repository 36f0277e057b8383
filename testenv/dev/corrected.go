package main

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"github.com/temporal-codemode/codemode"
	"github.com/temporal-codemode/codemode/signals"
	"github.com/temporal-codemode/codemode/testenv/tracker"
)

// correctedProgram is what the second act ends with. It begins with the same program, in which one name is wrong.
//
//go:embed corrected.ts
var correctedProgram string

const right, wrong = "bugs[0].title.trim()", "bugs[0].name.trim()"

// correct is the second act: a program fails after one of its two issues was created, and the corrected one goes on.
func (e *environment) correct(ctx context.Context, c *codemode.Client, o options) error {
	mistaken := strings.Replace(correctedProgram, right, wrong, 1)
	say("A second program, with a mistake (%s), fails after the first of its two issues:", wrong)
	fmt.Println(indent(mistaken))
	failed, err := e.runToEnd(ctx, c, o, mistaken, codemode.ExecuteOptions{})
	if err != nil {
		return err
	}
	if failed.Status != signals.Failed {
		return e.showEnd(failed) // somebody refused its issue
	}
	fmt.Println(indent(failed.Error))
	if err := e.showEffects(); err != nil {
		return err
	}
	say("The corrected program (%s) goes on from there: nobody is asked again about what is done.", right)
	outcome, err := e.runToEnd(ctx, c, o, correctedProgram, codemode.ExecuteOptions{Continues: failed.ExecutionID})
	if err != nil {
		return err
	}
	for _, call := range outcome.Calls {
		from := "made now"
		if call.CarriedFrom != nil {
			from = "carried from " + call.CarriedFrom.ExecutionID
		}
		fmt.Printf("    #%d %s.%s: %s\n", call.Seq, call.Connector, call.Method, from)
	}
	if err := e.showEnd(outcome); err != nil || outcome.Status != signals.Completed {
		return err
	}
	return e.checkIssues()
}

// runToEnd runs a program and decides what it asks.
func (e *environment) runToEnd(ctx context.Context, c *codemode.Client, o options, code string,
	how codemode.ExecuteOptions) (signals.Outcome, error) {
	outcome, err := c.Execute(ctx, code, how)
	for err == nil && outcome.Status == signals.Paused {
		e.showPause(outcome)
		outcome, err = e.decide(ctx, c, outcome, o.yes)
	}
	return outcome, err
}

// checkIssues holds the tracker against what both acts should have created.
func (e *environment) checkIssues() error {
	state, err := tracker.Load(e.state)
	if err != nil {
		return err
	}
	titles := map[string]int{}
	for _, issue := range state.Issues {
		titles[issue.Title]++
	}
	if n := titles["4 open bugs"]; n != 1 {
		return fmt.Errorf("the overview should be there once, and is %d times", n)
	}
	if n := titles["Look at: Login fails with single sign-on"]; n != 1 {
		return fmt.Errorf("the task should be there once, and is %d times", n)
	}
	return nil
}
