package signals

// RunningCall is a call that is being made, and how far its connector says that it has come.
type RunningCall struct {
	Seq int `json:"seq"`
	// Method is connector.method.
	Method string `json:"method"`
	// Done of Total; Total is 0 when that is not known.
	Done    float64 `json:"done,omitempty"`
	Total   float64 `json:"total,omitempty"`
	Message string  `json:"message,omitempty"`
}

// Heartbeat is what the activities of passes and calls tell while they run.
type Heartbeat struct {
	// Call is how far a call has come, of the activity that makes it.
	Call *struct {
		Done    float64 `json:"done,omitempty"`
		Total   float64 `json:"total,omitempty"`
		Message string  `json:"message,omitempty"`
	} `json:"call,omitempty"`
	// Reads are the reads that a pass is making, the oldest first and no more than MaxReads.
	Reads []RunningCall `json:"reads,omitempty"`
	// Issued is how many calls the program has issued so far, where the pass knows.
	Issued int `json:"issued,omitempty"`
}

// MaxReads is how many reads a heartbeat names.
const MaxReads = 3
