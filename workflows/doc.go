// Package workflows holds the durable side of programs. Execution starts passes, makes the calls that passes are
// blocked on, takes decisions, undoes, and closes. Rollback undoes what a closed execution did, Snippet keeps a
// snippet, Learnt what results look like, and Catalogue answers for clients.
//
// Its rule: deterministic, no I/O, and nothing grows unchecked. Every size is measured before it becomes a command, so
// that no workflow task can fail for size; what programs computed stays in history, where passes read it, and only
// short copies are held here for queries.
//
// Decisions come as signals and as updates, with one code path behind both (decide), in the order of history: each is
// judged against the state first and changes something only if all of its message applies. Where a call can stand is in
// phase.go, what waits for a person in pending.go, how a run hands over to the next in carry.go, and what a change of
// this code owes to histories in versions.go. Reverts run one after the other, the last effect first; which calls were
// undone, events tell, so nothing is undone twice.
package workflows
