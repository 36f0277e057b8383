package codemodetest

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/temporal-codemode/codemode/signals"
)

// Break is something that goes otherwise than it was recorded.
type Break struct {
	// Seq and Call are those of the call now, or of the recorded one that is not made any more; Seq is -1 for the
	// outcome.
	Seq  int
	Call string
	// What says what goes otherwise.
	What string
}

// String is a line about a break.
func (b Break) String() string {
	if b.Seq < 0 {
		return "the outcome " + b.What
	}
	return fmt.Sprintf("call %d %s %s", b.Seq, b.Call, b.What)
}

// breaks compares an execution with the recorded one.
func (f *Fixture) breaks(now Result) (list []Break) {
	say := func(c signals.Call, format string, args ...any) {
		list = append(list, Break{c.Seq, c.Connector + "." + c.Method, fmt.Sprintf(format, args...)})
	}
	left := append([]signals.Call(nil), f.record.Log...)
	var unknown []signals.Call
	for _, call := range now.Record.Log {
		at := find(left, call, true)
		if at < 0 {
			unknown = append(unknown, call)
			continue
		}
		for _, what := range differences(left[at], call) {
			say(call, "%s", what)
		}
		left = append(left[:at], left[at+1:]...)
	}
	for _, call := range unknown {
		at := find(left, call, false)
		switch {
		case at < 0 && call.State == signals.Errored:
			say(call, "is new, and fails: %s", call.Error)
		case at < 0:
			say(call, "is new")
		default:
			say(call, "has other arguments: %s, recorded %s", shown(call.Args), shown(left[at].Args))
			left = append(left[:at], left[at+1:]...)
		}
	}
	for _, call := range left {
		say(call, "is not made any more: %s", shown(call.Args))
	}
	return append(list, f.outcome(now.Outcome)...)
}

func find(list []signals.Call, call signals.Call, args bool) int {
	for i, c := range list {
		if c.Connector == call.Connector && c.Method == call.Method && (!args || same(call.Args, c.Args)) {
			return i
		}
	}
	return -1
}

// longestShown bounds the arguments in a text, in bytes.
const longestShown = 200

func shown(args []byte) string {
	if len(args) == 0 {
		return "none"
	}
	var b bytes.Buffer
	if json.Compact(&b, args) != nil {
		b.Write(args)
	}
	return signals.Cut(b.String(), longestShown)
}

// differences are those of a call that is made as it was.
func differences(then, now signals.Call) (list []string) {
	if then.State != now.State || then.Ended != now.Ended {
		what := fmt.Sprintf("ends as %s, recorded %s", ending(now), ending(then))
		if now.Error != "" {
			what += ": " + now.Error
		}
		list = append(list, what)
	}
	switch {
	case now.RequiresApproval && !then.RequiresApproval:
		list = append(list, "waits for approval now")
	case then.RequiresApproval && !now.RequiresApproval:
		list = append(list, "waits for no approval any more")
	}
	if then.Class != now.Class {
		list = append(list, fmt.Sprintf("is of class %s, recorded %s", now.Class, then.Class))
	}
	if then.Revertable && !now.Revertable {
		list = append(list, "cannot be undone any more")
	}
	return list
}

func ending(c signals.Call) string {
	if c.Ended != "" {
		return string(c.Ended)
	}
	return string(c.State)
}

// outcome compares how it ended.
func (f *Fixture) outcome(now signals.Outcome) (list []Break) {
	if now.Status != f.record.Status {
		what := fmt.Sprintf("is %s, recorded %s", now.Status, f.record.Status)
		if now.Error != "" {
			what += ": " + now.Error
		}
		return []Break{{Seq: -1, What: what}}
	}
	if now.Status == signals.Completed && !same(now.Result, f.record.Result) {
		list = append(list, Break{Seq: -1, What: fmt.Sprintf("has the result %s, recorded %s", shown(now.Result),
			shown(f.record.Result))})
	}
	return list
}
