// Package ledger is the truth that chaos is judged by: a server, in a process of its own that nobody kills, which
// carries out the effects of all calls and writes each down with its key, time and arguments.
//
// Its one rule: an effect is written down before it is answered, so nothing that happened can be missing.
package ledger
