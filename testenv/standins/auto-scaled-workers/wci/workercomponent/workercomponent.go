// Package workercomponent adds nothing to the Temporal server's own workers.
package workercomponent

import "go.uber.org/fx"

// Module is empty.
var Module = fx.Options()
