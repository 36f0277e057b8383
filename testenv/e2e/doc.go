// Package e2e holds the end-to-end tests of executions on the embedded Temporal server: the exact rules of the design
// that are easy to lose, and crashes with a real SIGKILL. It has no other code.
package e2e
