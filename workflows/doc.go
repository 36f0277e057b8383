// Package workflows holds the Execution workflow: the durable side of a program's run. It starts passes, makes the calls
// that passes are blocked on, takes decisions, and closes.
//
// Its rule: deterministic, no I/O, and nothing grows unchecked. Every size is measured before it becomes a command, so
// that no workflow task can fail for size; what programs computed stays in history, where passes read it, and only
// short copies are held here for queries.
package workflows
