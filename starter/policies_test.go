package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/signals"
	"github.com/temporal-codemode/codemode/worker/config"
)

func TestDoctorExplainsPolicies(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "shop.json"), []byte(`{"openapi":"3.0.0","info":{"title":"Shop","version":"1"},
		"servers":[{"url":"http://127.0.0.1:1"}],"paths":{"/orders":{"get":{"operationId":"list"},"post":{"operationId":"buy"}},
		"/orders/{id}":{"delete":{"operationId":"cancel","parameters":[{"name":"id","in":"path","required":true,"schema":{"type":"string"}}]}}}}`), 0o600))
	file := filepath.Join(dir, "codemode.yaml")
	require.NoError(t, os.WriteFile(file, []byte(`
connectors:
  shop:
    openapi: { document: ./shop.json }
    tools:
      buy:  { requiresApproval: "args.body.amount > 100", revert: { tool: cancel, args: { id: "result.id" } }, timeout: 5s }
      list: { class: read, replay: reexecute, requiresApproval: false }
      nothing: { hidden: true }
  broken:
    openapi: { document: ./missing.json }
    taskQueue: own
`), 0o600))
	loaded, err := checkConnectors(t.Context(), file)
	require.NoError(t, err)
	require.Equal(t, []config.Policy{
		{Method: "shop.list", Class: "read", ClassFrom: `rule "list"`, Approval: "never", Rule: "list",
			Reexecute: true},
		{Method: "shop.buy", Class: "write", ClassFrom: "POST", Approval: "by arguments",
			ApprovalIf: "args.body.amount > 100", Rule: "buy",
			Revertable: true, Revert: "cancel", TimeoutMs: 5000},
		{Method: "shop.cancel", Class: "idempotent", ClassFrom: "DELETE", Approval: "never"},
	}, loaded.checks[0].Methods)
	require.Equal(t, "connector broken", loaded.checks[1].Check)
	require.False(t, loaded.checks[1].OK)
	require.Equal(t, []string{"broken"}, loaded.ownQueues)
	require.Contains(t, loaded.checks[2].Detail, `rule "nothing" of connector "shop" applies to none of its tools`)
	require.Contains(t, loaded.checks[3].Detail, `Connector "broken" is not available: `)

	var out bytes.Buffer
	p := &page{to: &screen{Writer: &out}}
	showChecks(p, loaded.checks[:1])
	p.flush()
	require.Equal(t, `✓ connector shop: 3 methods
  METHOD       CLASS       FROM         APPROVAL      RULE  MORE
  shop.list    read        rule "list"  never         list  made again in each pass
  shop.buy     write       POST         by arguments  buy   approval if args.body.amount > 100, can be reverted by cancel, timeout 5s
  shop.cancel  idempotent  DELETE       never         -
`, out.String())
}

// Whatever a rule says is told, in text and as JSON.
func TestDoctorTellsAllThatARuleSays(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "shop.json"), []byte(`{"openapi":"3.0.0","info":{"title":"Shop","version":"1"},
		"servers":[{"url":"http://127.0.0.1:1"}],"paths":{"/orders":{"get":{"operationId":"list"},"post":{"operationId":"buy"}},
		"/secret":{"get":{"operationId":"secret"}}}}`), 0o600))
	file := filepath.Join(dir, "codemode.yaml")
	require.NoError(t, os.WriteFile(file, []byte(`
runtime: t
connectors:
  shop:
    openapi: { document: ./shop.json }
    taskQueue: own
    tools:
      buy:  { approvals: 2, unknown: ask, maxConcurrent: 3, ratePerSecond: 2.5, retry: { attempts: 5, backoff: 2s }, rename: order }
      list: { resolvedBy: client, class: write }
      secret: { hidden: true }
`), 0o600))
	loaded, err := checkConnectors(t.Context(), file)
	require.NoError(t, err)
	require.Len(t, loaded.checks, 1)
	document, err := signals.Marshal(loaded.checks)
	require.NoError(t, err)
	require.JSONEq(t, `[{"check":"connector shop","ok":true,"detail":"2 methods and 1 hidden, calls on task queue codemode-t-shop","methods":[
		{"method":"shop.list","class":"write","classFrom":"rule \"list\"","approval":"never","rule":"list","resolvedBy":"client"},
		{"method":"shop.order","class":"write","classFrom":"POST","approval":"always","approvals":2,"rule":"buy","renamedFrom":"buy","unknown":"ask",
			"maxConcurrent":3,"ratePerSecond":2.5,"retry":{"attempts":5,"initialMs":2000}},
		{"method":"shop.secret","class":"read","classFrom":"GET","approval":"never","rule":"secret","hidden":true}]}]`, string(document))

	var out bytes.Buffer
	p := &page{to: &screen{Writer: &out}}
	showChecks(p, loaded.checks)
	p.flush()
	require.Equal(t, `✓ connector shop: 2 methods and 1 hidden, calls on task queue codemode-t-shop
  METHOD       CLASS  FROM         APPROVAL  RULE    MORE
  shop.list    write  rule "list"  never     list    resolved by a client
  shop.order   write  POST         always    buy     renamed from buy, approvals 2, an unknown outcome asks a person, at most 3 at once, at most 2.5 a second, 5 attempts, 2s to 30s between
  shop.secret  read   GET          never     secret  hidden
`, out.String())
}

func TestDoctorFailsForWhatIsWrong(t *testing.T) {
	require.Equal(t, exitDone, checksAnswer([]check{{Check: "search attributes"}, {Check: "server", OK: true}}).code)
	require.Equal(t, exitError, checksAnswer([]check{{Check: "server", OK: true}, {Check: "configuration"}}).code)
	require.Equal(t, exitNobody, checksAnswer([]check{{Check: "configuration"}, {Check: "worker"}}).code)
}

// What is said of other people's documents is a warning and no failure, and a line for each kind is enough.
func TestDoctorGroupsWarnings(t *testing.T) {
	dir := t.TempDir()
	document := `{"openapi":"3.0.0","info":{"title":"Shop","version":"1"},
		"servers":[{"url":"http://127.0.0.1:1"}],"paths":{`
	for n := range 5 {
		document += fmt.Sprintf(`"/%d/{id}":{"get":{"operationId":"get_%d","parameters":[
			{"name":"id","in":"path","required":true,"schema":{"type":"string"}},
			{"name":"id","in":"query","schema":{"type":"string"}}]}},`, n, n)
	}
	document += `"/then":{"get":{"operationId":"then"}},"/x/{y}":{"get":{"operationId":"x"}}}}`
	require.NoError(t, os.WriteFile(filepath.Join(dir, "shop.json"), []byte(document), 0o600))
	file := filepath.Join(dir, "codemode.yaml")
	require.NoError(t, os.WriteFile(file,
		[]byte("connectors:\n  shop:\n    openapi: { document: ./shop.json }\n"), 0o600))
	loaded, err := checkConnectors(t.Context(), file)
	require.NoError(t, err)
	require.Len(t, loaded.checks, 1+5+1+1)
	for _, c := range loaded.checks[1:] {
		require.True(t, c.OK && c.Warning, c.Detail)
	}
	require.Equal(t, exitDone, checksAnswer(loaded.checks).code)
	shown := rendered(false, func(p *page) {
		showChecks(p, append(loaded.checks[1:], check{Check: "configuration",
			Connector: "shop", Kind: "rule", Detail: "rule x", Fix: "see y"}))
	})
	require.Equal(t, `! configuration: 6 × renamed, connector shop
    OpenAPI connector "shop": GET /then is named "then_2", since "then" is reserved
    OpenAPI connector "shop": GET /0/{id}: the query parameter "id" is named "id_query", since that name is taken
    OpenAPI connector "shop": GET /1/{id}: the query parameter "id" is named "id_query", since that name is taken
    3 more: --json lists all
  → see `+file+`
! configuration: OpenAPI connector "shop": GET /x/{y}: the path's {y} is not among the parameters: `+
		`it is taken for a required string
  → see `+file+`
✗ configuration: rule x
  → see y
`, shown)
}
