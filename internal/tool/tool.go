// Package tool is the text by which a model learns of the one tool codemode, and the check of what it sends back.
//
// Its rule: the text names connectors but no methods, so it does not grow with them.
package tool

import (
	"encoding/json"
	"strings"

	"github.com/temporal-codemode/codemode/signals"
)

// InputSchema is the JSON Schema of what the codemode tool takes.
const InputSchema = `{"type":"object","properties":{"code":{"type":"string",` +
	`"description":"JavaScript or TypeScript: an async function, or statements whose last expression is the result"},` +
	Continues + `},"required":["code"],"additionalProperties":false}`

// Continues are the members of that schema by which a corrected program goes on from an earlier one.
const Continues = `"continues":{"type":"string","description":"Of a corrected program: the executionId of the ` +
	`one that failed. Calls it made are not made again, equal calls get their results"},` +
	`"fresh":{"type":"boolean","description":"With continues: make its reads anew"}`

// Description is what a model is told of the codemode tool. It names the
// connectors, with hints by name where there are any, but none of their methods,
// and so does not grow with them. A custom text replaces all of it.
func Description(names []string, hints map[string]string, custom string) string {
	if custom != "" {
		return custom
	}
	var b strings.Builder
	b.WriteString(toolHead)
	b.WriteString("- The only globals are " + globals(names) +
		", beside standard JavaScript: no `fetch`, `require`, `process` or Node.js.\n")
	b.WriteString(toolRules)
	if len(names) > 0 {
		b.WriteString("\n\n## Connectors\n\n" + connectorList(names, hints))
	}
	return b.String()
}

const toolHead = "Run a JavaScript or TypeScript program that calls tools. Its return value is the result; do the " +
	"whole task in one program.\n\n" +
	"## Workflow\n\n" +
	"1. Find methods: `return await codemode.search(\"few words or a task\")` gives `{ results: [{ path, " +
	"description, signature }], more, unmatched }`: `more` names others by connector, " +
	"`unmatched` words that found nothing. `codemode.search(q, { connector, limit })` narrows it.\n" +
	"2. See full types: `return await codemode.describe(\"connector.method\")`.\n" +
	"3. Write one program: `async () => { const r = await connector.method({ ... }); return r.id }`. " +
	"Loop, filter and join in it, and return only what you need.\n\n" +
	"## Rules\n\n"

const toolRules = "- Never guess method names or arguments: discover first.\n" +
	"- Each method takes one object. `Promise.all` for parallel calls, `Date`, `Math.random` and timers are fine. " +
	"Failures throw; catch them where you can go on.\n" +
	"- Some calls need a person's approval. The program pauses there and resumes by itself, so write as if the " +
	"call just returns.\n" +
	"- Status `paused`: tell the user what is pending and wait. Do not run the code again.\n" +
	"- `codemode.step(name, fn)` runs costly work of your own once and keeps its result across pauses.\n" +
	"- `codemode.sleep(ms)` waits, for days if need be.\n" +
	"- Snippets are saved programs that `search` finds; run one with `codemode.run(name, input)`."

// globals lists names the way a sentence does, codemode last.
func globals(names []string) string {
	var list []string
	for _, name := range names {
		list = append(list, "`"+name+"`")
	}
	if len(list) == 0 {
		return "`codemode`"
	}
	return strings.Join(list, ", ") + " and `codemode`"
}

func connectorList(names []string, hints map[string]string) string {
	lines := make([]string, len(names))
	for i, name := range names {
		lines[i] = "- `" + name + "`"
		if hint := strings.Join(strings.Fields(hints[name]), " "); hint != "" {
			lines[i] += " — " + hint
		}
	}
	return strings.Join(lines, "\n")
}

// Input is what came of checking a tool's input: either is set.
type Input struct {
	Value  *Value  `json:"value,omitempty"`
	Issues []Issue `json:"issues,omitempty"`
}

// Value is a tool's input without what the tool does not know.
type Value struct {
	Code      string `json:"code"`
	Continues string `json:"continues,omitempty"`
	Fresh     bool   `json:"fresh,omitempty"`
}

// Issue is what is wrong with an input.
type Issue struct {
	Message string `json:"message"`
}

// CheckInput checks what a model gave the codemode tool.
func CheckInput(input json.RawMessage) Input {
	var members map[string]json.RawMessage // a struct would take "Code" for "code"
	var code *string
	if json.Unmarshal(input, &members) != nil || json.Unmarshal(members["code"], &code) != nil || code == nil {
		return Input{Issues: []Issue{{signals.ErrNoCode.Error()}}}
	}
	v := Value{Code: *code}
	if raw := members["continues"]; len(raw) > 0 && json.Unmarshal(raw, &v.Continues) != nil {
		return Input{Issues: []Issue{{"continues must be a string: the id of an earlier execution"}}}
	}
	if raw := members["fresh"]; len(raw) > 0 && json.Unmarshal(raw, &v.Fresh) != nil {
		return Input{Issues: []Issue{{"fresh must be true or false"}}}
	}
	v.Fresh = v.Fresh && v.Continues != ""
	return Input{Value: &v}
}
