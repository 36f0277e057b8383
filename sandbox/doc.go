// Package sandbox is the contract between who runs a pass of a program and who drives the passes.
//
// A pass is a pure function: of the code, of the log of what settled before, and of the answers of its [Host]. It holds
// no right to an effect. Calls that may be repeated are made while it runs (inline); all others end it (gated), and
// whoever drives the passes makes them in between. An [Executor] runs passes: package engine in the calling process,
// package child in hardened child processes. The rule of the package: it knows no JavaScript engine, no Temporal and no
// connectors, so that whoever needs only its types builds nothing else.
//
// # What an engine must promise
//
//   - A call is numbered when the program issues it, and its arguments are serialized then.
//   - Results reach the program one at a time, with all microtasks drained between; the order of delivery is the log's.
//   - Replayed results come in recorded order, before anything live.
//   - A value that crosses (argument, result, step value, final value) is what its JSON says, live as on replay; bytes
//     and bigints have tagged forms.
//   - Date, performance.now and timers read a virtual clock: the largest settle or due time delivered so far. Random
//     numbers come from generators seeded by the execution; each step has one of its own, so that skipping the step on
//     replay shifts nothing.
//   - Timers are numbered apart from calls and their firing is logged.
//   - No exception marks a pause: a pass that ends is dropped, with no catch or finally run.
//   - A program that can never go on is told so at once.
//   - A program that has ended waits a moment for the calls that it did not await; then they are cancelled, recorded as
//     dropped, and never delivered.
//
// # Waiting holds nothing
//
// An executor with few sandboxes may take the sandbox of a pass whose program can only wait. The pass ends there as
// Left: what it delivered so far is known, its calls go on at the host, and nothing of it is in history. It goes on as
// a pass whose log is longer by what it delivered, in the same runtime or in any other, and that gets the results of
// calls already made instead of making them. So a pass that left does what it would have done, and its [Result] holds
// the entries of all its stays. Its time is what it spends in sandboxes and waiting for calls, not waiting for a sandbox.
//
// # Why a pass may die at any moment
//
// Nothing irreversible happens inside a pass. Whatever a gated call, a pause or a final result was based on is recorded
// already, because the pass had to end, and so hand over its log, before any of these could happen. If a worker dies in
// a pass, only repeatable reads are lost and repeated. A stale pass, its worker cut off and then back, holds no right
// to an effect, and its late result is refused.
package sandbox
