package signals

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"
)

// SnippetWorkflow is the workflow type that keeps one snippet: all its versions, until it is deleted.
const SnippetWorkflow = "codemode.Snippet"

// Updates of a snippet's workflow. Save takes a SnippetVersion, restore a RestoreSnippet, delete nothing; all answer
// with a SnippetVersion without code.
const (
	UpdateSave    = "save"
	UpdateRestore = "restore"
	UpdateDelete  = "delete"
)

// QuerySnippet answers with a SnippetVersion; its argument is the version, 0 for the newest. QueryVersions lists all
// that are kept, newest first, without code.
const (
	QuerySnippet  = "snippet"
	QueryVersions = "versions"
)

// MemoSnippet is the memo field of a snippet's workflow from which lists are made: its SnippetVersion without code.
const MemoSnippet = "snippet"

// SnippetPrefix is what the workflow ids of all snippets of a runtime start with.
func SnippetPrefix(runtime string) string { return "codemode/" + runtime + "/snippet/" }

// SnippetWorkflowID is the workflow id of a snippet.
func SnippetWorkflowID(runtime, name string) string { return SnippetPrefix(runtime) + name }

// SaveSnippet asks for a snippet to be made of an execution's program.
type SaveSnippet struct {
	// From is the execution whose program and connectors are kept.
	From        string `json:"executionId"`
	Description string `json:"description,omitempty"`
	// InputSchema is the JSON Schema of what codemode.run may pass as input; without one anything goes.
	InputSchema json.RawMessage `json:"inputSchema,omitempty"`
	// Force saves the program of an execution that has not completed, too.
	Force bool   `json:"force,omitempty"`
	By    string `json:"by,omitempty"`
}

// RestoreSnippet makes an older version the newest again.
type RestoreSnippet struct {
	Version int    `json:"version"`
	By      string `json:"by,omitempty"`
}

// Snippet is saved source that programs find by search and run by name.
type Snippet struct {
	Name string `json:"name"`
	SnippetVersion
}

// SnippetVersion is what was saved at one time. Versions count from 1; times are epoch milliseconds.
type SnippetVersion struct {
	Version     int             `json:"version"`
	Description string          `json:"description"`
	Code        string          `json:"code,omitempty"`
	Connectors  []string        `json:"connectors"`
	InputSchema json.RawMessage `json:"inputSchema,omitempty"`
	ExecutionID string          `json:"executionId,omitempty"`
	By          string          `json:"by,omitempty"`
	CreatedAt   int64           `json:"createdAt"`
}

// SnippetState is the whole state of a snippet's workflow, and its input.
type SnippetState struct {
	Runtime string `json:"runtime"`
	Name    string `json:"name"`
	// Versions are those kept, oldest first.
	Versions []SnippetVersion `json:"versions,omitempty"`
	Last     int              `json:"last,omitempty"`
}

// Most that a snippet keeps: versions, and bytes of all of them together, the newest always.
const (
	maxVersions     = 50
	maxVersionBytes = 1_500_000
)

// CheckSnippetName refuses names that cannot be part of a workflow id.
func CheckSnippetName(name string) error {
	if name == "" || len(name) > 200 || strings.ContainsFunc(name, unicode.IsControl) {
		return fmt.Errorf("invalid snippet name %q: use 1 to 200 bytes without control characters", Cut(name, 80))
	}
	return nil
}

// Check refuses what cannot be kept.
func (v SnippetVersion) Check() error {
	if message := CheckSize("The snippet's code", v.Code); message != "" {
		return errors.New(message)
	}
	if message := CheckSize("The snippet input schema", v.InputSchema); message != "" {
		return errors.New(message)
	}
	if len(v.InputSchema) > 0 && !json.Valid(v.InputSchema) {
		return errors.New("the snippet input schema is not valid JSON")
	}
	if size := len(v.Code) + len(v.InputSchema); size > MaxValueBytes {
		return fmt.Errorf("a snippet of %d bytes with its schema is too large: %d is the most", size, MaxValueBytes)
	}
	return checkTexts(v.By, "", v.Description, strings.Join(v.Connectors, ""))
}

// Add makes v the newest version and gives it its number. The oldest ones go where there is no room.
func (s *SnippetState) Add(v SnippetVersion) SnippetVersion {
	s.Last++
	v.Version = s.Last
	s.Versions = append(s.Versions, v)
	total := 0
	for i := len(s.Versions) - 1; i >= 0; i-- {
		total += len(s.Versions[i].Code) + len(s.Versions[i].InputSchema) + maxText
		if kept := len(s.Versions) - i; kept > 1 && (kept > maxVersions || total > maxVersionBytes) {
			s.Versions = s.Versions[i+1:]
			break
		}
	}
	return v
}

// Find gives a version, 0 the newest.
func (s *SnippetState) Find(version int) (SnippetVersion, error) {
	for i := len(s.Versions) - 1; i >= 0; i-- {
		if v := s.Versions[i]; version == 0 || v.Version == version {
			return v, nil
		}
	}
	return SnippetVersion{}, fmt.Errorf("snippet %q has no version %d", s.Name, version)
}

// Listed is the version without its code.
func (v SnippetVersion) Listed() SnippetVersion {
	v.Code = ""
	return v
}
