package codemodetest_test

import (
	"fmt"
	"testing"

	"github.com/temporal-codemode/codemode/codemodetest"
	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/signals"
	"github.com/temporal-codemode/codemode/worker/codemodeworker"
)

// t stands for the *testing.T of a test.
var t = new(example)

type example struct{ testing.TB }

func (*example) Helper() {}

func ExampleRun() {
	shop := codemodetest.NewConnector("shop")
	shop.Write("refund", map[string]any{"ok": true}).RequiresApproval = true
	run := codemodetest.Run(t, `return await shop.refund({ order: 7 })`, codemodetest.Options{
		Options: codemodeworker.Options{Connectors: []connectors.Connector{shop}},
		Decide: func(p signals.PendingAction) codemodetest.Decision {
			fmt.Printf("%s.%s %s\n", p.Connector, p.Method, p.Args)
			return codemodetest.Approve().By("ada")
		},
	})
	fmt.Println(run.Outcome.Status, string(run.Outcome.Result))
	// Output:
	// shop.refund {"order":7}
	// completed {"ok":true}
}

// A recorded execution is replayed with a program that has changed since: nothing is called, and what breaks is named.
func ExampleFixture_Replay() {
	fixture := codemodetest.LoadFixture(t, "testdata/refund.json") // codemode show ID --fixture refund.json
	now := fixture.Replay(t, codemodetest.Replay{
		Code: `const order = await shop.order({ id: 7 });
return await shop.refund({ id: order.id, amount: order.total }).catch(() => 'refused')`,
	})
	for _, b := range now.Breaks {
		fmt.Println(b)
	}
	// Output:
	// call 1 shop.refund has other arguments: {"id":7}, recorded {"amount":30,"id":7}
	// the outcome has the result "refused", recorded {"ok":true}
}
