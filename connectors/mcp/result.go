package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/temporal-codemode/codemode/connectors/wire"
	"github.com/temporal-codemode/codemode/internal/rawjson"
)

// toolFailure is the text of a result that has isError.
type toolFailure string

func (f toolFailure) Error() string { return string(f) }

// toolResult is what a tools/call answers. It is read from the bytes that came
// in: mcp-go's type has no toolResult and turns integers into floats.
type toolResult struct {
	ResultType        mcp.ResultType    `json:"resultType"`
	ToolResult        json.RawMessage   `json:"toolResult"`
	IsError           bool              `json:"isError"`
	StructuredContent json.RawMessage   `json:"structuredContent"`
	Content           []json.RawMessage `json:"content"`
}

// unwrapToolResult gives the value that a tool result stands for, as wire JSON.
// The first that applies counts: toolResult, even beside isError; isError, as an
// error; structuredContent; content that is all text, parsed when it is JSON;
// the whole result.
func unwrapToolResult(raw json.RawMessage) (json.RawMessage, error) {
	if len(raw) == 0 {
		return nil, errors.New("the MCP server answered tools/call without a result")
	}
	var r toolResult
	if err := json.Unmarshal(raw, &r); err != nil {
		return nil, fmt.Errorf("the MCP server answered tools/call with a result of the wrong shape: %w", err)
	}
	if r.ResultType == mcp.ResultTypeInputRequired {
		return nil, errors.New("the tool asks for input from a person or a model, which a program cannot give")
	}
	texts, onlyText := textParts(r.Content)
	text := strings.Join(texts, "\n")
	switch {
	case len(r.ToolResult) > 0:
		return lossless(r.ToolResult), nil
	case r.IsError && text == "":
		return nil, toolFailure("Tool call failed")
	case r.IsError:
		return nil, toolFailure(text)
	case len(r.StructuredContent) > 0 && string(r.StructuredContent) != "null":
		return lossless(r.StructuredContent), nil
	case onlyText && json.Valid([]byte(text)):
		return lossless([]byte(text)), nil
	case onlyText:
		return rawjson.Marshal(text)
	}
	return lossless(raw), nil
}

// textParts gives the texts among content blocks, and whether there are blocks
// and all of them are text.
func textParts(content []json.RawMessage) (texts []string, only bool) {
	only = len(content) > 0
	for _, raw := range content {
		var block struct {
			Type string  `json:"type"`
			Text *string `json:"text"`
		}
		if json.Unmarshal(raw, &block) != nil || block.Type != "text" || block.Text == nil {
			only = false
			continue
		}
		texts = append(texts, *block.Text)
	}
	return texts, only
}

// lossless makes wire JSON from valid JSON, without white space.
func lossless(raw []byte) json.RawMessage {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return raw
	}
	return wire.FromJSON(b.Bytes())
}
