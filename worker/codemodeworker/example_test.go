package codemodeworker_test

import (
	"context"
	"fmt"
	"log"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"

	"github.com/temporal-codemode/codemode"
	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/sandbox/child"
	"github.com/temporal-codemode/codemode/worker/codemodeworker"
	"github.com/temporal-codemode/codemode/worker/config"
)

type order struct {
	ID int `json:"id" jsonschema:"Order number"`
}

// shop is a connector of Go functions.
func shop() connectors.Connector {
	status := connectors.Func("status", "State of an order.", connectors.Read,
		func(_ connectors.Context, o order) (string, error) {
			return fmt.Sprintf("order %d is shipped", o.ID), nil
		})
	refund := connectors.Func("refund", "Refund an order.", connectors.Write,
		func(ctx connectors.Context, o order) (string, error) {
			return "refunded under key " + ctx.IdempotencyKey, nil
		})
	refund.RequiresApproval = true
	refund.InputSchema = connectors.SchemaFor[order]()
	return connectors.New("shop", "Orders of the web shop.", status, refund)
}

// A worker of its own for the runtime "default".
func ExampleNew() {
	child.Main() // first of all, in main: programs run in children, which are this binary
	ctx := context.Background()
	temporal, err := codemode.Dial(ctx, client.Options{})
	if err != nil {
		log.Fatal(err) // says that there is no server, or no such namespace
	}
	defer temporal.Close()
	w, err := codemodeworker.New(ctx, temporal, codemodeworker.Options{Connectors: []connectors.Connector{shop()}})
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(w.Run(worker.InterruptCh()))
}

// A runtime on a worker that has workflows of its own.
func ExampleNewPlugin() {
	child.Main() // first of all, in main
	plugin, err := codemodeworker.NewPlugin(codemodeworker.Options{Runtime: "billing",
		Connectors: []connectors.Connector{shop()}})
	if err != nil {
		log.Fatal(err)
	}
	temporal, err := client.Dial(client.Options{})
	if err != nil {
		log.Fatal(err)
	}
	w := worker.New(temporal, codemodeworker.TaskQueue("billing"), worker.Options{Plugins: []worker.Plugin{plugin}})
	log.Fatal(w.Run(worker.InterruptCh()))
}

// The stock worker in a program of your own.
func ExampleRun() {
	child.Main() // first of all, in main
	config, err := config.Load("codemode.yaml")
	if err != nil {
		log.Fatal(err) // every mistake with its line
	}
	options, err := config.Options()
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(codemodeworker.Run(context.Background(), options, codemodeworker.RunOptions{
		Ready: func(line string) { log.Println(line) },
	}))
}

func ExampleTaskQueue() {
	fmt.Println(codemodeworker.TaskQueue(""), codemodeworker.TaskQueue("billing"))
	// Output: codemode-default codemode-billing
}
