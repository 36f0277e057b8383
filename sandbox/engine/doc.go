// Package engine runs one pass of one program, in goja.
//
// Its rule: same code and same log, same behaviour, on every machine. Whatever may change how a log replays is in
// [Version].
package engine
