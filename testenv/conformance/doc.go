// Package conformance runs black-box scenarios against a real server and a real worker: programs and decisions go in,
// and the JSON that comes out is compared with what a file expects.
//
//	go test ./testenv/conformance                            # testdata/scenarios.json
//	CODEMODE_SCENARIOS=/a/file go test ./testenv/conformance # another file, absolute path; skips nothing
//	go test ./testenv/conformance -run TestConformance/appr-14
//
// Each scenario is a flat subtest named by its id. One embedded server serves the whole file; each scenario has
// runtimes of its own and a worker in a child process, which is this test binary executed again. The connectors of the
// scenarios live in the child, so that the step restart can kill them along with it.
//
//   - scenario.go, options.go, operations.go: the file format; mistakes in it fail the scenario before it starts
//   - match.go, check.go: expectations
//   - run.go, steps.go: what the steps do, through the client that Go programs use
//
// - features.go: the steps beyond running, deciding and showing; what a file asks for and nobody knows fails as "not
// supported yet"
//   - child.go, worker.go: both ends of the pipe to the worker process
//   - fixtures.go, store.go, mcp.go: the connectors
package conformance
