package main

import (
	"encoding/json"
	"io"
	"runtime"
	"slices"
)

// report is what a run prints; its JSON is the document of --json.
type report struct {
	Environment environment     `json:"environment"`
	Reads       []comparisonRow `json:"reads,omitempty"`
	Writes      []comparisonRow `json:"writes,omitempty"`
	Resume      []resumeRow     `json:"resume,omitempty"`
	Throughput  []loadRow       `json:"throughput,omitempty"`
	Long        *longRow        `json:"long,omitempty"`
	Goals       []goal          `json:"goals"`
}

type environment struct {
	Go   string `json:"go"`
	CPUs int    `json:"cpus"`
	DB   string `json:"db"`
	// Sandbox is where passes run: "child processes" or "in process".
	Sandbox string `json:"sandbox"`
	Rounds  int    `json:"rounds"`
	Quick   bool   `json:"quick"`
}

// spread is a median and how far the measurements lay apart.
type spread struct {
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
}

type sideRow struct {
	Ms     spread  `json:"ms"`
	Events float64 `json:"events"`
	Bytes  float64 `json:"bytes"`
	// Actions are what Temporal Cloud bills, counted from history.
	Actions float64 `json:"actions"`
	// Processor time in milliseconds: of the worker with its sandbox, and of the server with the client.
	WorkerCPU spread `json:"workerCPU"`
	ServerCPU spread `json:"serverCPU"`
}

type comparisonRow struct {
	Calls    int     `json:"calls"`
	Baseline sideRow `json:"baseline"`
	Ours     sideRow `json:"ours"`
	// Ratio is our time through the baseline's, pair by pair.
	Ratio spread `json:"ratio"`
}

type resumeRow struct {
	Calls int `json:"calls"`
	// Approved is when: "at once", or after the "worker restarted".
	Approved string `json:"approved"`
	Ms       spread `json:"ms"`
	// Ratio is to the smallest log.
	Ratio spread `json:"ratio"`
}

type loadRow struct {
	Concurrent int     `json:"concurrent"`
	Executions int     `json:"executions"`
	Baseline   rateRow `json:"baseline"`
	Ours       rateRow `json:"ours"`
	// Ratio of our rate to the baseline's.
	Ratio spread `json:"ratio"`
}

type rateRow struct {
	PerSecond spread `json:"perSecond"`
	// Processor time of one execution, in milliseconds.
	WorkerCPU spread `json:"workerCPU"`
	ServerCPU spread `json:"serverCPU"`
}

// longRow is how long answers take while a pass takes long, in milliseconds.
type longRow struct {
	Query    spread `json:"query"`
	Decision spread `json:"decision"`
	Cancel   spread `json:"cancel"`
}

func spreadOf(s samples) spread {
	if len(s) == 0 {
		return spread{}
	}
	return spread{Median: s.median(), Min: slices.Min(s), Max: slices.Max(s)}
}

func (b *suite) report() report {
	r := report{
		Environment: environment{Go: runtime.Version(), CPUs: runtime.NumCPU(), DB: "memory",
			Sandbox: "child processes", Rounds: b.options.rounds, Quick: b.options.quick},
		Reads: comparisonRows(b.reads), Writes: comparisonRows(b.writes), Goals: b.goals(),
	}
	if b.options.db != "" {
		r.Environment.DB = "a file"
	}
	if b.options.inProcess {
		r.Environment.Sandbox = "in process"
	}
	for _, x := range b.resume {
		smallest := slices.IndexFunc(b.resume, func(r *resumption) bool { return r.restarted == x.restarted })
		r.Resume = append(r.Resume,
			resumeRow{Calls: x.calls, Approved: x.when(), Ms: spreadOf(x.ms),
				Ratio: spreadOf(x.ms.over(b.resume[smallest].ms))})
	}
	for _, l := range b.throughput {
		r.Throughput = append(r.Throughput, loadRow{
			Concurrent: l.concurrent, Executions: l.executions,
			Baseline: rateRowOf(l.baseline), Ours: rateRowOf(l.ours),
			Ratio: spreadOf(l.ours.perSecond.over(l.baseline.perSecond)),
		})
	}
	if a := b.long; a != nil {
		r.Long = &longRow{spreadOf(a.query), spreadOf(a.decision), spreadOf(a.cancel)}
	}
	return r
}

func comparisonRows(list []*comparison) []comparisonRow {
	var rows []comparisonRow
	for _, c := range list {
		rows = append(rows, comparisonRow{
			Calls: c.work.Reads + c.work.Writes, Baseline: rowOf(c.baseline), Ours: rowOf(c.ours),
			Ratio: spreadOf(c.ours.ms.over(c.baseline.ms)),
		})
	}
	return rows
}

func rowOf(s side) sideRow {
	return sideRow{
		Ms: spreadOf(s.ms), Events: s.events.median(), Bytes: s.bytes.median(), Actions: s.actions.median(),
		WorkerCPU: spreadOf(s.worker), ServerCPU: spreadOf(s.server),
	}
}

func rateRowOf(r rate) rateRow {
	return rateRow{PerSecond: spreadOf(r.perSecond), WorkerCPU: spreadOf(r.worker), ServerCPU: spreadOf(r.server)}
}

func (r report) writeJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(r)
}
