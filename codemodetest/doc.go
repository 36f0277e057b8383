// Package codemodetest tests connectors and programs without a Temporal server: the real workflow and the real passes
// run in Temporal's test environment, where days of waiting pass at once.
//
//	func TestRefund(t *testing.T) {
//		shop := codemodetest.NewConnector("shop")
//		shop.Write("refund", map[string]any{"ok": true}).RequiresApproval = true
//		run := codemodetest.Run(t, `return await shop.refund({ order: 7 })`, codemodetest.Options{
//			Options: codemode.Options{Connectors: []connectors.Connector{shop}},
//			Decide:  codemodetest.ApproveAll,
//		})
//		if run.Outcome.Status != signals.Completed || len(shop.Calls()) != 1 { … }
//	}
//
// Programs run in the test's own process, not in a hardened child. Its one rule: what a program sees here is what it
// sees on a server.
package codemodetest
