package search

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

type one []string

func (l *one) UnmarshalJSON(raw []byte) error {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		*l = one{s}
		return nil
	}
	return json.Unmarshal(raw, (*[]string)(l))
}

type tset struct {
	name       string
	Connectors map[string]string
	Catalog    []struct {
		Path, Description string
		InputSchema       json.RawMessage
	}
	Queries []struct {
		Q    one
		Gold []one
	}
	items []Item
	ix    *Index
}

func load(dir string) (l []*tset) {
	fs, _ := filepath.Glob(dir + "/*.json")
	for _, f := range fs {
		raw, _ := os.ReadFile(f)
		s := &tset{name: filepath.Base(f)}
		if err := json.Unmarshal(raw, s); err != nil {
			panic(err)
		}
		for _, e := range s.Catalog {
			c, n, _ := strings.Cut(e.Path, ".")
			s.items = append(s.items, Item{Connector: c, Name: n, Path: e.Path, Description: e.Description, Parameters: e.InputSchema})
		}
		if m := 250; len(s.Queries) > m && os.Getenv("ALL") == "" {
			s.Queries = s.Queries[:m]
		}
		l = append(l, s)
	}
	return l
}

func (s *tset) build() { s.ix = New(s.items, s.Connectors) }

func (s *tset) score() (r1, r5, r10, r40 float64) {
	for _, q := range s.Queries {
		var lists [][]string
		for _, t := range q.Q {
			h, _ := Find(t, []*Index{s.ix}, "")
			var l []string
			for _, x := range h {
				l = append(l, x.Path)
			}
			lists = append(lists, l)
		}
		for _, g := range q.Gold {
			best := 1000
			for _, l := range lists {
				if at := slices.IndexFunc(l, func(p string) bool { return slices.Contains(g, p) }); at >= 0 {
					best = min(best, at+1)
				}
			}
			w := 1 / float64(len(q.Gold)) / float64(len(s.Queries))
			if best <= 1 {
				r1 += w
			}
			if best <= 5 {
				r5 += w
			}
			if best <= 10 {
				r10 += w
			}
			if best <= 40 {
				r40 += w
			}
		}
	}
	return
}

func total(sets []*tset, rebuild bool) (sum float64) {
	for _, s := range sets {
		if rebuild {
			s.build()
		}
		r1, r5, r10, _ := s.score()
		sum += r10 + 0.3*r1 + 0.3*r5
		if strings.HasPrefix(s.name, "ghstripe") {
			sum += r10 + 0.3*r1 + 0.3*r5
		}
	}
	return sum
}

func init() {
	if x := os.Getenv("SET"); x != "" {
		for _, kv := range strings.Split(x, ",") {
			k, val, _ := strings.Cut(kv, "=")
			var f float32
			fmt.Sscan(val, &f)
			*(*float32)(reflect.ValueOf(&tuned).Elem().FieldByName(k).Addr().UnsafePointer()) = f
		}
	}
}

func TestMisses(t *testing.T) {
	for _, s := range load(os.Getenv("MISS")) {
		s.build()
		for _, q := range s.Queries {
			h, _ := Find(q.Q[0], []*Index{s.ix}, "")
			for _, g := range q.Gold {
				at := slices.IndexFunc(h, func(x Hit) bool { return slices.Contains(g, x.Path) })
				if at < 0 || at >= 10 {
					var top []string
					for _, x := range h[:min(3, len(h))] {
						top = append(top, x.Path)
					}
					d := ""
					for _, e := range s.Catalog {
						if e.Path == g[0] {
							d = e.Description
						}
					}
					fmt.Printf("%s %d %.150s\n    want %v: %.110q\n    got %v\n", s.name, at, q.Q[0], g, d, top)
				}
			}
		}
	}
}

func TestReport(t *testing.T) {
	if os.Getenv("SETS") == "" {
		t.Skip()
	}
	var a, b, c, n float64
	defer func() { fmt.Printf("mean                       %.4f %.4f %.4f\n", a/n, b/n, c/n) }()
	for _, s := range load(os.Getenv("SETS")) {
		start := time.Now()
		s.build()
		r1, r5, r10, r40 := s.score()
		a, b, c, n = a+r1, b+r5, c+r10, n+1
		fmt.Printf("%-26s %.3f %.3f %.3f %.3f %v\n", s.name, r1, r5, r10, r40, time.Since(start).Round(time.Millisecond))
	}
}

func TestTune(t *testing.T) {
	if os.Getenv("TUNE") == "" {
		t.Skip()
	}
	sets := load(os.Getenv("TUNE"))
	rebuildFields := "saturation nameLength textLength nameNorm textNorm name pair tag connector lead text parameter value note"
	v := reflect.ValueOf(&tuned).Elem()
	best := total(sets, true)
	fmt.Printf("start %.4f\n", best)
	deadline := time.Now().Add(8 * time.Minute)
	only := os.Getenv("ONLY")
	for round := 0; round < 2; round++ {
		for i := range v.NumField() {
			name := v.Type().Field(i).Name
			if only != "" && !slices.Contains(strings.Fields(only), name) {
				continue
			}
			if name == "tag" || name == "optional" || time.Now().After(deadline) {
				continue
			}
			p := (*float32)(v.Field(i).Addr().UnsafePointer())
			re := slices.Contains(strings.Fields(rebuildFields), name)
			was := *p
			keep := was
			for _, f := range []float32{0, 0.4, 0.7, 1.4, 2} {
				*p = was * f
				if sc := total(sets, re); sc > best+0.001 {
					best, keep = sc, *p
				}
			}
			*p = keep
			if re {
				total(sets, true)
			}
			if keep != was {
				fmt.Printf("%s: %v -> %v  %.4f\n", name, was, keep, best)
			}
		}
	}
	fmt.Printf("%+v\n", tuned)
}
