package signals

// Hooks says which lifecycle hooks the connectors of an execution have; what nobody listens to is not scheduled.
type Hooks struct {
	PassEnd bool `json:"passEnd,omitempty"`
	Dispose bool `json:"dispose,omitempty"`
}

// HookInput tells connectors that a pass left an execution paused or ended, or that it is over.
type HookInput struct {
	ExecutionID string `json:"executionId"`
	Status      Status `json:"status"`
}

// HookOutput lists what hooks failed with. That is for the record only.
type HookOutput struct {
	Errors []string `json:"errors,omitempty"`
}
