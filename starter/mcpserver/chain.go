package mcpserver

import (
	"encoding/json"
	"fmt"
	"sort"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/temporal-codemode/codemode/signals"
)

// chain writes the answers of call_tool_chain: one block of JSON that stays parseable however much it must be
// shortened.
type chain struct {
	limit int // characters of the result that the caller wants
	chars int // characters of the whole answer
}

// What success is comes first, so that even a client that cuts answers off sees it.
type chainSuccess struct {
	Success bool            `json:"success"`
	Value   json.RawMessage `json:"nonMcpContentResults"`
	Logs    []string        `json:"logs"`
}

type chainFailure struct {
	Success bool     `json:"success"`
	Error   string   `json:"error"`
	Value   *string  `json:"nonMcpContentResults"`
	Logs    []string `json:"logs"`
}

func (c chain) success(out signals.Outcome) *mcp.CallToolResult {
	value := ordinary(out.Result)
	if len(value) == 0 {
		value = json.RawMessage("null")
	}
	logs := shortened(append(bridgeLines(out.Logs), warningLines(out)...), c.chars/4)
	room := c.chars - encoded(chainSuccess{Value: json.RawMessage("null"), Logs: logs})
	value = c.cut(value, room)
	return block(chainSuccess{Success: true, Value: value, Logs: logs})
}

const cutMark = "...\nmax_output_size exceeded"

// cut shortens a value that is too long to the beginning of its JSON, as a string with a mark at its end.
func (c chain) cut(value json.RawMessage, room int) json.RawMessage {
	if utf8.RuneCount(value) <= room && signals.Units(value) <= c.limit {
		return value
	}
	text := []rune(string(value))
	marked := func(keep int) json.RawMessage {
		short, _ := signals.Marshal(string(text[:keep]) + cutMark)
		return short
	}
	return marked(longest(min(len(text), c.limit, max(0, room)), func(keep int) bool {
		return utf8.RuneCount(marked(keep)) <= room
	}))
}

// longest is the most of n that fits.
func longest(n int, fits func(keep int) bool) int {
	return sort.Search(n, func(keep int) bool { return !fits(keep + 1) })
}

func (c chain) failure(message string, logs []string) *mcp.CallToolResult {
	message = fitted(message, c.chars/3) // it is said twice
	line := "[ERROR] Code execution failed: " + message
	logs = append(shortened(bridgeLines(logs), c.chars/5), line)
	return block(chainFailure{Error: message, Logs: logs})
}

func block(v any) *mcp.CallToolResult {
	text, err := signals.Marshal(v)
	if err != nil {
		return failed("the answer cannot be written as JSON: %s", err)
	}
	return said(string(text))
}

// encoded is how many characters the JSON of a value has, which is what clients count.
func encoded(v any) int {
	text, _ := signals.Marshal(v)
	return utf8.RuneCount(text)
}

// bridgeLines are console lines with the bridge's prefixes.
func bridgeLines(logs []string) []string {
	lines := make([]string, len(logs))
	for i, line := range logs {
		switch {
		case strings.HasPrefix(line, "[warn] "):
			line = "[WARN] " + line[len("[warn] "):]
		case strings.HasPrefix(line, "[error] "):
			line = "[ERROR] " + line[len("[error] "):]
		}
		lines[i] = line
	}
	return lines
}

// warningLines tell what a program lost: the bridge has no other place for it.
func warningLines(out signals.Outcome) []string {
	lines := make([]string, len(out.Warnings))
	for i, warning := range out.Warnings {
		lines[i] = "[WARN] " + warning
	}
	return lines
}

// shortened keeps the newest lines that fit.
func shortened(lines []string, room int) []string {
	size, from := 0, len(lines)
	for from > 0 {
		if size += encoded(lines[from-1]) + 1; size > room {
			break
		}
		from--
	}
	if from == 0 {
		return lines
	}
	if from == len(lines) {
		return []string{fitted(lines[len(lines)-1], room)}
	}
	return append([]string{fmt.Sprintf("[%d earlier lines left out]", from)}, lines[from:]...)
}

// fitted cuts a text to what its JSON may take.
func fitted(text string, room int) string {
	if encoded(text) <= room {
		return text
	}
	all := []rune(text)
	keep := longest(min(len(all), room), func(keep int) bool { return encoded(string(all[:keep])+"…") <= room })
	return string(all[:keep]) + "…"
}

func milliseconds(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) + "ms" }
