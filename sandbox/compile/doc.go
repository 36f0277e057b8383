// Package compile turns the text that a model wrote into a program that goja runs.
//
// Its rule: whatever the text, compiling it ends soon, with a program or with a reason, and the positions in both are
// those of the text.
package compile
