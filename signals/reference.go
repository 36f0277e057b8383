package signals

//lint:file-ignore ST1005 These sentences are the reference's, capitals and full stops included.

// The reference is Cloudflare's codemode (npm package @cloudflare/codemode, version 0.5.6), whose behaviour programs
// and models know. Taken from it are the shapes of outcomes, records, search and describe, the limits that programs can
// see, how TypeScript types are printed, and the sentences in this file, word by word: callers match on them. Whoever
// needs one of them takes it from here; every other error text is ours and starts in lower case.

import (
	"errors"
	"fmt"
	"strings"
)

// TooLarge says that a value cannot be recorded for its size. The last sentence is ours: programs have no files.
func TooLarge(what string, size, limit int) string {
	return fmt.Sprintf("%s is too large to record durably (%d bytes > %d byte limit). "+
		"Write large data to a file or workspace instead and pass/return a small reference (such as a path). "+
		"A program here has no files of its own: read in pages, filter, or return less.", what, size, limit)
}

// NotSerializable says that a value cannot be recorded because it has no JSON.
func NotSerializable(what, why string) string {
	return fmt.Sprintf("%s could not be recorded durably (not serializable: %s). "+
		"Only JSON-compatible values (plus binary and bigint) can cross a durable replay boundary.", what, why)
}

// SnippetNotFound is what codemode.run answers for an unknown name.
func SnippetNotFound(name string) string { return fmt.Sprintf("Snippet %q not found.", name) }

// SnippetNeeds is what codemode.run answers where a snippet's connectors are not there.
func SnippetNeeds(name string, connectors []string) string {
	return fmt.Sprintf("Snippet %q requires connector(s) %s that are not configured on this runtime.", name,
		quoted(connectors))
}

func quoted(names []string) string {
	list := make([]string, len(names))
	for i, n := range names {
		list[i] = fmt.Sprintf("%q", n)
	}
	return strings.Join(list, ", ")
}

// NotPaused is the answer to an approval that does not apply.
func NotPaused(executionID string, status Status) string {
	return fmt.Sprintf(`Execution %q is not paused (status: %s); only a paused run can be approved.`, executionID,
		status)
}

// NoExecution is the answer to an approval of an unknown execution.
func NoExecution(executionID string) string {
	return fmt.Sprintf("No execution %q to resume.", executionID)
}

// MissingConnectors is the answer to an approval that reached a worker without the connectors of the execution.
func MissingConnectors(executionID string, names []string) string {
	return fmt.Sprintf("Execution %q requires connector(s) %s that are not configured on this runtime.", executionID,
		quoted(names))
}

// InvalidRuntime refuses a name that cannot be part of workflow ids and task queues.
func InvalidRuntime(name string) error {
	return fmt.Errorf(`Invalid codemode runtime name %q — use letters, digits, "_", "-" or "."`, name)
}

// ToolNotFound is the answer to a call of a method that does not exist; of a look-up without a connector.
func ToolNotFound(method, connector string) string {
	if connector == "" {
		return fmt.Sprintf("Tool %q not found", method)
	}
	return fmt.Sprintf("Tool %q not found on %s", method, connector)
}

// ErrNoCode is the answer to a tool input without a program.
var ErrNoCode = errors.New("Expected an object with a string code property")

// The ends that people and clocks bring about.
const (
	ExecutionRejected  = "Execution rejected by user"
	ExecutionExpired   = "Expired awaiting approval"
	ExecutionCancelled = "Execution cancelled"
)

// ErrTimedOut is how a program ends that takes too long.
var ErrTimedOut = errors.New("Execution timed out")

// ActionRejected ends an execution, or is thrown into the program, where a call was refused.
func ActionRejected(call string) string { return fmt.Sprintf("Action %s rejected by user", call) }

// RollbackFailed sums up a rollback that undid not everything.
func RollbackFailed(reverted, failed int, errors string) error {
	return fmt.Errorf("Rollback reverted %d action(s) but %d failed: %s", reverted, failed, errors)
}

// Names of connectors and tools that cannot be.

// DuplicateConnector refuses a second connector of a name.
func DuplicateConnector(name string) string {
	return fmt.Sprintf("Duplicate connector name %q — "+
		"each connector needs a unique namespace (pass a distinct `name` option).", name)
}

// PlatformName refuses a connector of the platform's own name.
func PlatformName(name string) string {
	return fmt.Sprintf("Connector name %q is reserved for the codemode platform SDK.", name)
}

// NoIdentifier refuses a connector's name that programs cannot write.
func NoIdentifier(name string) string {
	return fmt.Sprintf("Connector name %q is not a valid JavaScript identifier", name)
}

// ReservedName refuses a connector's name that would hide something.
func ReservedName(name string) string { return fmt.Sprintf("Connector name %q is reserved", name) }

// SameTool refuses two tools of a connector under one name.
func SameTool(first, second, connector, name string) string {
	return fmt.Sprintf("Tools %q and %q on %s both map to %q — rename one of them.", first, second, connector, name)
}

// SameMCPTool refuses two tools of an MCP server under one name.
func SameMCPTool(first, second, connector, name string) error {
	return fmt.Errorf("MCP tools %q and %q on %s both map to %q. Override toolName() to disambiguate.",
		first, second, connector, name)
}

// ApprovedAnew refuses a tool that is approved and then made anew.
func ApprovedAnew(connector, tool string) string {
	return fmt.Sprintf("Connector %q tool %q cannot combine requiresApproval with replay: \"reexecute\" — "+
		"approved actions must be logged, not re-executed.", connector, tool)
}
