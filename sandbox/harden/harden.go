// Package harden takes a process's rights away, layer by layer, and starts processes that are to lose theirs.
//
// Its rule: a layer that the host refuses is reported, never assumed.
package harden

// Layer is one protection around a sandbox child.
type Layer struct {
	Name   string
	Active bool
	Detail string // why not, or which version
}

// LayerNames are the protections that may be required, from the outside in.
var LayerNames = []string{"namespaces", "rlimits", "no_new_privs", "landlock", "seccomp"}

// Probe is what a child finds when it tries to get out; tests and the doctor ask for it. Each field is empty when the
// attempt was refused, else what it got.
type Probe struct {
	File, Directory, Write, Connect, Signal, Limits, Spawn, Environment, Processes, Descriptors string
}
