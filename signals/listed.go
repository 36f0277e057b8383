package signals

import "unicode/utf8"

// Memo fields of an execution: what lists tell of it without reading its history. Like all payloads they are encrypted
// where the client and the worker have keys. Executions work without them; lists read their histories then.
const (
	// MemoStart is a ListedStart, given by who starts the execution.
	MemoStart = "CodemodeStart"
	// MemoState is a ListedState, kept by the workflow.
	MemoState = "CodemodeState"
)

// ListedStart is what lists tell of an execution that does not change.
type ListedStart struct {
	Purpose string `json:"purpose,omitempty"`
	Code    string `json:"code,omitempty"`
	// Cut says that purpose and code are only the beginning of what they are.
	Cut bool `json:"cut,omitempty"`
	Caller
}

// What lists hold of a purpose and of a program, in bytes: the server stores it with each step of the execution, and
// sends it with each list.
const (
	listedPurpose = 500
	listedCode    = 2000
)

// Listed is what lists tell of an execution from its start on.
func (in ExecutionInput) Listed() ListedStart {
	purpose, cutPurpose := beginning(in.Purpose, listedPurpose)
	code, cutCode := beginning(in.Code, listedCode)
	return ListedStart{Purpose: purpose, Code: code, Cut: cutPurpose || cutCode, Caller: in.Caller}
}

func beginning(text string, most int) (start string, cut bool) {
	if len(text) <= most {
		return text, false
	}
	for !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most], true
}

// ListedState is where an execution stood when it last paused, or when its run before continued as new.
type ListedState struct {
	// StartedAt is when the execution began, where that was in an earlier run.
	StartedAt  int64    `json:"startedAt,omitempty"`
	At         int64    `json:"at"`
	Passes     int      `json:"passes"`
	Connectors []string `json:"connectors,omitempty"`
	// Pending is what waits for a person, for as long as the execution is paused.
	Pending []PendingAction `json:"pending,omitempty"`
	// Omitted says that there is more than can be listed: the query knows it.
	Omitted bool `json:"omitted,omitempty"`
}
