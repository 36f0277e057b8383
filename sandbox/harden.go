package sandbox

// Layer is one protection around a sandbox child.
type Layer struct {
	Name   string
	Active bool
	Detail string // why not, or which version
}

// Probe is what a child finds when it tries to get out; tests and the doctor ask for it. Each field is empty when the
// attempt was refused, else what it got.
type Probe struct {
	File, Directory, Write, Connect, Signal, Spawn, Environment, Processes string
}
