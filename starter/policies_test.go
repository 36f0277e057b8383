package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

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
	checks, own, err := checkConnectors(t.Context(), file)
	require.NoError(t, err)
	require.Equal(t, []config.Policy{
		{Method: "shop.list", Class: "read", ClassFrom: `rule "list"`, Approval: "never", Rule: "list", Reexecute: true},
		{Method: "shop.buy", Class: "write", ClassFrom: "POST", Approval: "by arguments", Rule: "buy", Revertable: true, TimeoutMs: 5000},
		{Method: "shop.cancel", Class: "idempotent", ClassFrom: "DELETE", Approval: "never"},
	}, checks[0].Methods)
	require.Equal(t, "connector broken", checks[1].Check)
	require.False(t, checks[1].OK)
	require.Equal(t, []string{"broken"}, own)
	require.Contains(t, checks[2].Detail, `rule "nothing" of connector "shop" applies to none of its tools`)
	require.Contains(t, checks[3].Detail, `Connector "broken" is not available: `)

	var out bytes.Buffer
	p := &page{to: &screen{Writer: &out}}
	showChecks(p, checks[:1])
	p.flush()
	require.Equal(t, `✓ connector shop: 3 methods
  METHOD       CLASS       FROM         APPROVAL      RULE  MORE
  shop.list    read        rule "list"  never         list  made again in each pass
  shop.buy     write       POST         by arguments  buy   can be reverted, timeout 5s
  shop.cancel  idempotent  DELETE       never         -
`, out.String())
}
