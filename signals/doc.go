// Package signals is the wire contract of Code Mode: the names of workflows, signals, updates and queries, the JSON
// shapes that cross between clients, workflows and activities, their validation, and the fold that turns the recorded
// passes of an execution into its log.
//
// Its one rule: it imports the standard library only, so that any program that talks to an execution can use it.
package signals
