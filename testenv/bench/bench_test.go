package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"testing"

	"github.com/temporal-codemode/codemode/sandbox/child"

	"github.com/stretchr/testify/require"
)

func TestMain(m *testing.M) {
	child.Main()
	if ok, err := runAsPart(os.Args); ok {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// TestQuickRun checks that the smoke run works, its shape, and the goals that do not depend on the machine.
func TestQuickRun(t *testing.T) {
	o, err := parse([]string{"--quick", "--json"})
	require.NoError(t, err)
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), o, &out, io.Discard))
	var r report
	require.NoError(t, json.Unmarshal(out.Bytes(), &r), "one JSON document")

	require.Len(t, r.Reads, 2)
	require.Len(t, r.Writes, 2)
	require.Len(t, r.Resume, 4, "approved at once, and after a restart of the worker")
	require.Len(t, r.Throughput, 2)
	require.NotNil(t, r.Long)
	for _, row := range append(r.Reads, r.Writes...) {
		require.Positive(t, row.Ours.Ms.Median)
		require.Positive(t, row.Baseline.Ms.Median)
		require.GreaterOrEqual(t, row.Baseline.Events, float64(6*row.Calls), "the baseline is an activity a call")
	}
	require.Equal(t, float64(11), r.Reads[0].Baseline.Actions, "a start, and an activity a call")
	for _, g := range r.Goals {
		require.True(t, g.Timed || g.Pass, "%s: %s, got %v", g.Name, g.Want, g.Got)
	}
	for _, markdown := range []bool{false, true} {
		var text bytes.Buffer
		require.NoError(t, r.writeTables(&text, markdown))
		require.Contains(t, text.String(), "approve to completed")
	}
}

func TestParse(t *testing.T) {
	o, err := parse(nil)
	require.NoError(t, err)
	require.Equal(t, 5, o.rounds)
	require.Equal(t, parts, o.chosen())
	for _, bad := range [][]string{{"--rounds", "0"}, {"--only", "reads,lunch"}, {"--unknown"}} {
		_, err := parse(bad)
		require.Error(t, err, bad)
	}
}

func TestMedian(t *testing.T) {
	require.EqualValues(t, 2, samples{3, 1, 2}.median())
	require.EqualValues(t, 2.5, samples{4, 1, 2, 3}.median())
	require.EqualValues(t, 0, samples{}.median())
	require.Equal(t, samples{2, 3}, samples{4, 9}.over(samples{2, 3}))
}

// TestProgramsThatWait: both sides give the right answers, and the report tells of them.
func TestProgramsThatWait(t *testing.T) {
	o, err := parse([]string{"waiting", "--programs", "3", "--json"})
	require.NoError(t, err)
	require.Equal(t, "waiting", o.what)
	rows := []waitingRow{{Programs: 100, Reads: waits{10, 200}.String(), Ours: waitingSide{Ms: 2500, Most: 200}},
		{Programs: 1000, Reads: waits{10, 200}.String(), Ours: waitingSide{Most: 1100}, Ratio: 0.3}}
	var text bytes.Buffer
	require.NoError(t, writeWaiting(&text, rows, options{}))
	require.Contains(t, text.String(), "10 reads of 200ms")
	require.Contains(t, text.String(), "MiB a program beyond the first hundred  ≤ 1    1    ✓")
	for _, bad := range []string{"0", "ten", "1,,2"} {
		_, err := parse([]string{"waiting", "--programs", bad})
		require.Error(t, err, bad)
	}
}

func TestLongExecutions(t *testing.T) {
	o, err := parse([]string{"long", "--calls", "2000+0,0+1000,1000+5000"})
	require.NoError(t, err)
	works, err := longSizes(o)
	require.NoError(t, err)
	require.Equal(t, []longWork{{2000, 0}, {0, 1000}, {1000, 5000}}, works)
	require.Equal(t, "1000 writes and 5000 reads", works[2].String())
	require.Contains(t, works[2].program(), "if (true && (i + 1) % 6 === 0) await store.write")
	require.Contains(t, works[1].program(), "if (false ")
	for _, bad := range []string{"", "999", "x+1000", "2000+1000", "-1+5000"} {
		_, err := parse([]string{"long", "--calls", bad})
		require.Error(t, err, bad)
	}
	var row longRunRow
	require.NoError(t, row.times([]byte(`[1000,3000,4000,8000]`)))
	require.Equal(t, []float64{2, 4, 2}, []float64{row.First, row.Last, row.Ratio})
	row.Calls = "2000 writes"
	var text bytes.Buffer
	require.NoError(t, writeLong(&text, []longRunRow{row}, undoneRow{Writes: 5, Undone: 4}, options{}))
	require.Contains(t, text.String(), "2000 writes: last / first 1000           ≤ 1.2   2    ✗")
	require.Contains(t, text.String(), "of 5 writes undone                       ≥ 5     4    ✗")
}

func TestManyExecutions(t *testing.T) {
	_, err := parse([]string{"lists", "--executions", "5", "--pending", "6"})
	require.Error(t, err)
	var text bytes.Buffer
	require.NoError(t, writeLists(&text, []listsRow{{What: "pending", Rows: 2000, Ms: 900, Goal: 1000}}, options{}))
	require.Contains(t, text.String(), "pending, ms  ≤ 1000  900  ✓")
}
