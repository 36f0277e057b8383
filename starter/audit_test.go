package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode"
	"github.com/temporal-codemode/codemode/signals"
)

func TestMoments(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.FixedZone("", 3600))
	for text, want := range map[string]string{
		"": "0001-01-01T00:00:00Z", "24h": "2026-02-28T12:00:00+01:00", "2026-01-31": "2026-01-31T00:00:00+01:00",
		"2026-01-31T15:04:05Z": "2026-01-31T15:04:05Z", "2026-01-31T15:04": "2026-01-31T15:04:00+01:00",
		"2026-01-31 15:04:05": "2026-01-31T15:04:05+01:00", "2026-01-31T15:04:05+05:00": "2026-01-31T15:04:05+05:00",
	} {
		got, err := moment("--since", text, now)
		require.NoError(t, err, text)
		require.Equal(t, want, got.Format(time.RFC3339), text)
	}
	for _, text := range []string{"yesterday", "-3h", "2026-13-01", "31.1.2026"} {
		_, err := moment("--since", text, now)
		require.ErrorContains(t, err, "--since")
	}
}

func TestAuditFlags(t *testing.T) {
	now := time.Now()
	for _, f := range []auditFlags{
		{form: "xml"}, {form: formCSV, since: "x"}, {form: formCSV, until: "x"},
		{form: formCSV, since: "1h", until: "2h"},
		{form: formCSV, AuditOptions: codemode.AuditOptions{Kind: "approved"}},
		{form: formCSV, AuditOptions: codemode.AuditOptions{Method: "["}},
	} {
		require.Error(t, f.read(now), "%+v", f)
	}
}

// What a program or a stranger wrote is a text in every spreadsheet, and whole in every reader of CSV.
func TestAuditAsCSV(t *testing.T) {
	seq := 3
	var out bytes.Buffer
	require.NoError(t, writeCSV(&out, []codemode.AuditEntry{{
		Decision: signals.Decision{Kind: signals.SignalApprove, Approved: true, By: "=cmd|' /C calc'!A1",
			At: 1_700_000_000_123, Note: "a \"quote\",\nand a line"},
		ExecutionID: "exec_1", Seq: &seq, Method: "shop.refund", Args: json.RawMessage(`{"amount":1}`), Call: "applied",
		Execution: signals.Completed, Purpose: "@SUM(1)",
	}}))
	rows, err := csv.NewReader(&out).ReadAll()
	require.NoError(t, err)
	require.Equal(t, csvHeader, rows[0])
	require.Equal(t, []string{"2023-11-14T22:13:20.123Z", "approve", "true", "'=cmd|' /C calc'!A1", "", "exec_1", "3",
		"shop.refund", "applied", "completed", "a \"quote\",\nand a line", "false", "false", "false", `{"amount":1}`,
		"", "", "'@SUM(1)", "", "", ""}, rows[1])
}
