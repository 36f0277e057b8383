// Package codemode runs model-written JavaScript and TypeScript on Temporal. A model writes one program that calls many
// tools, the methods of connectors: MCP servers, OpenAPI documents, Go functions. Each run of it is a workflow. It
// survives crashes, pauses where a person has to approve, can be undone, and its history is its audit record. The
// program notices none of it.
//
// # Serve programs
//
// A worker serves one runtime, a named set of executions. [NewWorker] makes one of its own, [NewPlugin] adds a runtime
// to a worker that a team runs already, [RunWorker] serves a codemode.yaml.
//
//	w, err := codemode.NewWorker(ctx, temporalClient, codemode.Options{Connectors: []connectors.Connector{tracker}})
//	err = w.Run(worker.InterruptCh())
//
// # Run programs, and decide what they wait for
//
// Any program with a Temporal client does, wherever it runs:
//
//	c, err := codemode.NewClient(temporalClient, codemode.ClientOptions{})
//	outcome, err := c.Execute(ctx, "return await tracker.list_issues({})", codemode.ExecuteOptions{})
//	if outcome.Status == signals.Paused {
//		outcome, err = c.Approve(ctx, outcome.ExecutionID, signals.Approve{By: "ada", AsOf: outcome.Pass})
//	}
//
// [Client.Show] reads the record, [Client.Rollback] undoes what can be undone, [Client.SaveSnippet] keeps a program
// that others find and run by name.
//
// # Give a model the tool
//
// [Client.Tool] is what any model's API is told: a name, a description, an input schema. [Client.CallTool] takes what
// the model sends back.
//
// # Without Temporal
//
// [RunOnce] runs a program over the same connectors in the same sandbox, without durability and approvals. Package
// codemodetest tests programs and connectors with the real workflow, and without a server.
//
// The zero value of every options struct works. Outcomes are data: a program that fails is an outcome with status
// error; Go errors are for what kept an answer from coming, such as a [NoServerError] or a [NoWorkerError].
package codemode
