package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestBenchSearch scores a set of which every share can be counted by hand.
func TestBenchSearch(t *testing.T) {
	file := filepath.Join(t.TempDir(), "set.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"catalog":[
		{"path":"shop.list_orders","description":"List orders."},{"path":"shop.refund","description":"Pay an order back."},
		{"path":"a-b.x","description":"Lamps"},{"path":"a_b.x","description":"Doors"},{"path":"codemode.then","description":"Windows"},
		{"path":"plain-tool","description":"Weather of a city","inputSchema":{"type":"object","properties":{"town":{}}}}],"queries":[
		{"q":"list orders","gold":["shop.list_orders"]},
		{"q":["nothing of the kind","refund"],"gold":[["shop.refund","shop.other"]]},
		{"q":"weather","gold":["plain-tool","shop.missing"]},
		{"q":"lamps","gold":["a-b.x"]},{"q":"doors","gold":["a_b.x"]},{"q":"windows","gold":["codemode.then"]},
		{"q":"zebra","gold":["shop.refund"]},{"q":"quagga","gold":["shop.refund"]}]}`), 0o600))
	var out bytes.Buffer
	require.NoError(t, benchSearch(t.Context(), []string{"--set", file, "--json"}, &out))
	var scores searchScores
	require.NoError(t, json.Unmarshal(out.Bytes(), &scores))
	require.Positive(t, scores.Tokens)
	require.Less(t, scores.Tokens, 1500.0)
	scores.Tokens = 0
	// All but half of one are shown: the two that no word finds are named beside what there is.
	require.Equal(t, searchScores{Recall1: 0.6875, Recall5: 0.6875, Recall10: 0.6875, MRR: 0.75, Shown: 0.9375,
		Looks: 1.5, Queries: 8}, scores)
	require.NoError(t, benchSearch(t.Context(), []string{"--set", file}, &out))
	require.Contains(t, out.String(), "plain BM25")
	require.Error(t, benchSearch(t.Context(), []string{"--set", "missing.json"}, &out))
}

// Our search beats the textbook's by ten points on the set that comes with the project.
func TestOwnSet(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join("..", "..", ownSet))
	require.NoError(t, err)
	var set searchSet
	require.NoError(t, json.Unmarshal(raw, &set))
	require.GreaterOrEqual(t, len(set.Queries), 200)
	ours, err := set.ours()
	require.NoError(t, err)
	require.GreaterOrEqual(t, set.score(ours).Recall10, set.score(set.plain().answer).Recall10+0.1)
}

func TestBenchDiscovery(t *testing.T) {
	file := filepath.Join("..", "conformance", "testdata", "api.json")
	var out bytes.Buffer
	require.NoError(t, benchDiscovery(t.Context(), []string{"--json", file}, &out))
	var rows []discoveryRow
	require.NoError(t, json.Unmarshal(out.Bytes(), &rows))
	require.Len(t, rows, 1)
	require.Equal(t, 7, rows[0].Operations)
	require.Positive(t, rows[0].TokensP99)
	require.NoError(t, benchDiscovery(t.Context(), []string{file}, &out))
	require.Contains(t, out.String(), goalsOfDiscovery)
}
