package signals

import (
	"encoding/json"
	"strings"
)

// Target is a team's own activity or workflow that makes a call, where the connector is one over Temporal: the
// execution schedules it, and no activity of ours.
type Target struct {
	// Activity or Workflow is the type; one of them is set.
	Activity string `json:"activity,omitempty"`
	Workflow string `json:"workflow,omitempty"`
	Queue    string `json:"queue"`
	// ID is the workflow's.
	ID string `json:"id,omitempty"`
	// NoWait ends the call once the workflow has started.
	NoWait bool `json:"noWait,omitempty"`
	// KeyArgument gives the idempotency key as the second argument.
	KeyArgument bool  `json:"keyArgument,omitempty"`
	HeartbeatMs int64 `json:"heartbeatMs,omitempty"`
}

// Prepared is what an activity of ours answers whose call a team's own activity or workflow makes: what the arguments
// are after a person edited them, or what undoes a call.
type Prepared struct {
	Target
	Path      string          `json:"path"` // as programs write it
	Args      json.RawMessage `json:"args,omitempty"`
	Key       string          `json:"key"`
	Class     Class           `json:"class"`
	TimeoutMs int64           `json:"timeoutMs,omitempty"`
	Retry     *RetryLimits    `json:"retry,omitempty"`
}

// MaxTargetID bounds the workflow id of a target, in bytes: the server takes 1,000.
const MaxTargetID = 800

// LinkMemo is the memo of a workflow that an execution started for a call: the id that the call's activity would have.
const LinkMemo = "codemodeCall"

const targetSuffix = ".target"

// TargetID makes the id of what a team's own activity or workflow does, from that of the activity it stands for.
func TargetID(activityID string) string { return activityID + targetSuffix }

// StartedWorkflow is the result of a call that only starts a workflow.
type StartedWorkflow struct {
	WorkflowID string `json:"workflowId"`
	RunID      string `json:"runId"`
}

// IsTargetID reports whether an id is one of TargetID.
func IsTargetID(id string) bool { return strings.HasSuffix(id, targetSuffix) }
