package mcpserver

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/temporal-codemode/codemode/internal/truncate"
	"github.com/temporal-codemode/codemode/signals"
)

// told is what a model reads of an outcome: without the calls, and within its budget.
type told struct {
	Status      signals.Status    `json:"status"`
	ExecutionID string            `json:"executionId,omitempty"`
	Result      json.RawMessage   `json:"result,omitempty"`
	Pending     []pending         `json:"pending,omitempty"`
	Error       string            `json:"error,omitempty"`
	Position    *signals.Position `json:"position,omitempty"`
	Excerpt     string            `json:"excerpt,omitempty"`
	Warnings    []string          `json:"warnings,omitempty"`
	Logs        json.RawMessage   `json:"logs,omitempty"`
	LeftOver    []leftOver        `json:"leftOver,omitempty"`
	Message     string            `json:"message,omitempty"`
	Hints       []string          `json:"hints,omitempty"`
}

// leftOver is an effect of the program that was corrected, which the corrected one has not asked for.
type leftOver struct {
	ExecutionID string          `json:"executionId"`
	Seq         int             `json:"seq"`
	Method      string          `json:"method"`
	Args        json.RawMessage `json:"args,omitempty"`
	Error       string          `json:"error,omitempty"`
}

type pending struct {
	Seq    int             `json:"seq"`
	Method string          `json:"method"`
	Args   json.RawMessage `json:"args,omitempty"`
}

// answer gives an outcome to a client, within the budget of what a model reads: some clients give it the text, some the
// structured content, which has the calls too where they fit.
func (d *door) answer(out signals.Outcome, err error) *mcp.CallToolResult {
	if err != nil {
		return failed("%s", err)
	}
	out.Result = ordinary(out.Result)
	t := d.tell(out)
	text, err := signals.Marshal(t)
	if err != nil {
		return failed("the outcome of %s cannot be written as JSON: %s", out.ExecutionID, err)
	}
	result := structured(d.within(out, t), string(text))
	result.IsError = out.Status == signals.Failed || out.Status == signals.Rejected
	return result
}

func (d *door) tell(out signals.Outcome) told {
	t := told{
		Status: out.Status, ExecutionID: out.ExecutionID, Position: out.Position, Excerpt: out.Excerpt,
		Warnings: out.Warnings,
		Error:    truncate.Response(out.Error, truncate.Options{MaxTokens: d.Tokens / 2}),
	}
	for _, h := range out.Hints[:min(len(out.Hints), maxHints)] {
		t.Hints = append(t.Hints, h.String())
	}
	switch out.Status {
	case signals.Running:
		t.Message = "Still running: " + d.again() + " to get its outcome."
	case signals.Paused:
		t.Pending, t.Message = d.shownPending(out), d.pausedText(out)
	}
	t.LeftOver = d.shownLeftOver(out)
	if d.Surface != Direct { // where there is no code to correct
		t.Message += out.HowToGoOn()
	}
	if len(t.LeftOver) > 0 && t.Message == "" {
		t.Message = "leftOver lists what the earlier program did and this one did not ask for: undo what is not wanted."
	}
	rest := d.Tokens - len(t.Error)/4
	if len(out.Logs) > 0 {
		logs, _ := signals.Marshal(out.Logs)
		t.Logs = truncate.Result(logs, truncate.Options{MaxTokens: rest / 4})
		rest -= len(t.Logs) / 4
	}
	if len(out.Result) > 0 {
		t.Result = truncate.Result(out.Result, truncate.Options{MaxTokens: rest})
	}
	if out.Partial {
		t.Message = strings.TrimSpace(t.Message +
			" Parts of this outcome were left out for their size; the execution's record has them.")
	}
	return t
}

// within is an outcome that takes no more of a model's budget than what it is told of it.
func (d *door) within(out signals.Outcome, t told) signals.Outcome {
	if whole, err := signals.Marshal(out); err == nil && signals.Units(whole) <= d.Tokens*charsPerToken {
		return out
	}
	out.Partial, out.CallsOmitted, out.Calls = true, true, []signals.Call{}
	out.Result, out.Error, out.Logs = t.Result, t.Error, nil
	if json.Unmarshal(t.Logs, &out.Logs) != nil {
		out.Logs = nil
	}
	out.Hints = out.Hints[:min(len(out.Hints), maxHints)]
	out.Pending = slices.Clone(out.Pending[:min(len(out.Pending), maxPending)])
	for i, p := range out.Pending {
		out.Pending[i].Args, out.Pending[i].EditedArgs, out.Pending[i].Omitted = nil, nil, true
		out.Pending[i].Refused = signals.Cut(p.Refused, 200)
	}
	out.LeftOver = slices.Clone(out.LeftOver[:min(len(out.LeftOver), maxLeftOver)])
	for i, l := range out.LeftOver {
		out.LeftOver[i].Args, out.LeftOver[i].Omitted, out.LeftOver[i].Error = nil, true, signals.Cut(l.Error, 200)
	}
	return out
}

// charsPerToken is how many UTF-16 units count as a token, as in package truncate.
const charsPerToken = 4

// maxLeftOver is how many effects that are left over a model is told of one by one.
const maxLeftOver = 20

func (d *door) shownLeftOver(out signals.Outcome) []leftOver {
	var list []leftOver
	for _, l := range out.LeftOver[:min(len(out.LeftOver), maxLeftOver)] {
		args := truncate.Result(ordinary(l.Args), truncate.Options{MaxTokens: d.Tokens / 4 / maxLeftOver})
		list = append(list, leftOver{ExecutionID: l.ExecutionID, Seq: l.Seq, Method: l.Connector + "." + l.Method,
			Args: args, Error: signals.Cut(l.Error, 200)})
	}
	if more := len(out.LeftOver) - len(list); more > 0 {
		list = append(list, leftOver{Method: fmt.Sprintf("%d more", more)})
	}
	return list
}

// maxHints is how many mistakes a model is told of: the first of them explain most.
const maxHints = 5

// maxPending is how many pending calls a model is told of one by one.
const maxPending = 20

func (d *door) shownPending(out signals.Outcome) []pending {
	list := out.Pending[:min(len(out.Pending), maxPending)]
	shown := make([]pending, len(list))
	for i, p := range list {
		budget := truncate.Options{MaxTokens: d.Tokens / 2 / len(list)}
		args := truncate.Result(ordinary(p.Args), budget)
		shown[i] = pending{Seq: p.Seq, Method: p.Connector + "." + p.Method, Args: args}
	}
	return shown
}

func (d *door) pausedText(out signals.Outcome) string {
	var names []string
	for _, p := range out.Pending[:min(len(out.Pending), maxPending)] {
		names = append(names, p.Connector+"."+p.Method)
	}
	if more := len(out.Pending) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return fmt.Sprintf("Waiting for a person to approve %s. You cannot approve it: tell the user, who decides %s. "+
		"Do not run the program again; the execution goes on by itself after the decision. Then: %s.",
		strings.Join(names, ", "), d.HowToDecide(out.ExecutionID), d.again())
}

// again is how a model asks for the outcome of an execution that goes on.
func (d *door) again() string {
	if d.Surface == Direct {
		return "call " + outcomeTool + " with this executionId"
	}
	return "call again with this executionId"
}
