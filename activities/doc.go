// Package activities joins the sandbox and the connectors to history: codemode.Pass runs one pass of an execution, and
// one dynamic activity makes the gated calls, so that their type in history is <connector>.<method>.
//
// Its rule: a pass changes nothing outside its own result. The group-commit argument (package sandbox) rests on it.
// What a worker remembers of an execution is only used if it carries the nonce of the previous pass's recorded result,
// so an attempt whose result was refused leaves nothing behind.
package activities
