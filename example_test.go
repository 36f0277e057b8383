package codemode_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"time"

	"go.temporal.io/sdk/client"

	"github.com/temporal-codemode/codemode"
	"github.com/temporal-codemode/codemode/signals"
)

func ExampleClient_Execute() {
	ctx, c := context.Background(), connect()
	outcome, err := c.Execute(ctx, "return await shop.status({ id: 7 })",
		codemode.ExecuteOptions{Purpose: "Where is order 7?"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(outcome.Status, string(outcome.Result))
}

// What waits for a person is bound to its arguments: an approval of others is refused.
func ExampleClient_Approve() {
	ctx, c := context.Background(), connect()
	outcome, err := c.Execute(ctx, "return await shop.refund({ id: 7 })", codemode.ExecuteOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range outcome.Pending {
		fmt.Printf("%s.%s %s\n", p.Connector, p.Method, p.Args)
		outcome, err = c.Approve(ctx, p.ExecutionID,
			signals.Approve{Seqs: []int{p.Seq}, ArgsDigest: p.ArgsDigest, By: "ada", Note: "seen the parcel"})
	}
	fmt.Println(outcome.Status, err)
}

func ExampleClient_Reject() {
	ctx, c := context.Background(), connect()
	pending, err := c.Pending(ctx, "") // of the whole runtime
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range pending {
		// With Continue the program goes on with a RejectedError; without, the execution ends.
		done, err := c.Reject(ctx, p.ExecutionID,
			signals.Reject{Seq: &p.Seq, Reason: "not this week", Continue: true, By: "ada"})
		fmt.Println(done, err)
	}
}

func ExampleClient_Wait() {
	ctx, c := context.Background(), connect()
	started, err := c.Execute(ctx, "await codemode.sleep(86_400_000); return 'a day later'",
		codemode.ExecuteOptions{NoWait: true})
	if err != nil {
		log.Fatal(err)
	}
	outcome, err := c.Wait(ctx, started.ExecutionID, 0) // from any process, at any time
	fmt.Println(outcome.Status, err)
}

func ExampleClient_Rollback() {
	ctx, c := context.Background(), connect()
	result, err := c.Rollback(ctx, "exec_…", signals.Rollback{By: "ada"})
	fmt.Println(result.Reverted, result.Failed, err)
}

func ExampleClient_Show() {
	ctx, c := context.Background(), connect()
	record, err := c.Show(ctx, "exec_…")
	if err != nil || record == nil {
		log.Fatal("no such execution: ", err)
	}
	for _, call := range record.Log {
		fmt.Println(call.Seq, call.Connector, call.Method, call.State, call.DecidedBy)
	}
}

func ExampleClient_Executions() {
	ctx, c := context.Background(), connect()
	records, err := c.Executions(ctx, codemode.ListOptions{Status: signals.Paused, Limit: 50})
	fmt.Println(len(records), err)
}

// Retention belongs to the namespace; these are for what should be gone before.
func ExampleClient_Prune() {
	ctx, c := context.Background(), connect()
	_, _ = c.Expire(ctx, 8*time.Hour) // paused for longer
	_, _ = c.Prune(ctx, 1000)         // all but the newest thousand
	_ = c.Delete(ctx, "exec_secret")  // one, at once
}

func ExampleClient_SaveSnippet() {
	ctx, c := context.Background(), connect()
	snippet, err := c.SaveSnippet(ctx, "refund-order",
		signals.SaveSnippet{From: "exec_…", Description: "Refunds an order; takes {id}."})
	if err != nil {
		log.Fatal(err)
	}
	outcome, err := c.Execute(ctx, `return await codemode.run("refund-order", { id: 7 })`, codemode.ExecuteOptions{})
	fmt.Println(snippet.Version, outcome.Status, err)
	snippets, err := c.Snippets(ctx)
	fmt.Println(len(snippets), err)
	err = c.DeleteSnippet(ctx, "refund-order")
	fmt.Println(err)
}

func ExampleClient_Search() {
	ctx, c := context.Background(), connect()
	found, err := c.Search(ctx, "refund an order", codemode.SearchOptions{Limit: 5})
	fmt.Println(string(found), err)
	types, err := c.Describe(ctx, "shop.refund")
	fmt.Println(string(types), err)
}

// One tool for any model's API.
func ExampleClient_Tool() {
	ctx, c := context.Background(), connect()
	tool, err := c.Tool(ctx, codemode.ToolOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(tool.Name, tool.Description, string(tool.InputSchema))
	fromTheModel := json.RawMessage(`{"code": "return await shop.status({ id: 7 })"}`)
	outcome, err := c.CallTool(ctx, fromTheModel, codemode.ExecuteOptions{})
	fmt.Println(outcome.Status, err)
}

// Results are shortened for the model; the record keeps the whole value.
func ExampleNewClient() {
	temporal, err := codemode.Dial(context.Background(), client.Options{})
	if err != nil {
		log.Fatal(err)
	}
	c, err := codemode.NewClient(temporal, codemode.ClientOptions{
		Runtime: "billing",
		TransformResult: func(_ context.Context, result json.RawMessage) (json.RawMessage, error) {
			return codemode.TruncateResult(result, codemode.TruncateOptions{MaxTokens: 2000}), nil
		},
	})
	fmt.Println(c != nil, err)
}

func ExampleTruncateResult() {
	long := json.RawMessage(`["first","second","third","fourth","fifth","sixth"]`)
	short := codemode.TruncateResult(long, codemode.TruncateOptions{MaxChars: 50})
	fmt.Println(json.Valid(short), len(short) <= 50)
	// Output: true true
}

func ExampleTruncateResponse() {
	fmt.Println(codemode.TruncateResponse("a text that is short enough", codemode.TruncateOptions{MaxTokens: 100}))
	// Output: a text that is short enough
}

func connect() *codemode.Client {
	temporal, err := codemode.Dial(context.Background(), client.Options{})
	if err != nil {
		log.Fatal(err)
	}
	c, err := codemode.NewClient(temporal, codemode.ClientOptions{})
	if err != nil {
		log.Fatal(err)
	}
	return c
}
