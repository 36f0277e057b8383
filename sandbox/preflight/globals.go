package preflight

import "github.com/temporal-codemode/codemode/internal/words"

// globals are the names that programs have without any connector. A test compares them with the runtime's.
var globals = words.Set(`globalThis undefined arguments self`)
