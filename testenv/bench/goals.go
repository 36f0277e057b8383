package main

import "fmt"

// goal is a figure that a run must reach. Sizes of histories hardly vary; times do, so theirs are ratios of one run.
type goal struct {
	Name string  `json:"name"`
	Want string  `json:"want"`
	Got  float64 `json:"got"`
	Pass bool    `json:"pass"`
	// Timed goals depend on the machine and its load.
	Timed bool `json:"timed"`
}

func atMost(name string, limit, got float64, timed bool) goal {
	return goal{Name: name, Want: fmt.Sprintf("≤ %g", limit), Got: got, Pass: got <= limit, Timed: timed}
}

func atLeast(name string, limit, got float64, timed bool) goal {
	return goal{Name: name, Want: fmt.Sprintf("≥ %g", limit), Got: got, Pass: got >= limit, Timed: timed}
}

// goals judges what was measured; parts that were not run are left out.
func (b *suite) goals() []goal {
	var list []goal
	if c := find(b.reads, work{Reads: 100}); c != nil {
		list = append(list,
			atMost("events of 100 reads", 15, c.ours.events.median(), false),
			atLeast("100 reads: times faster than baseline", 10, c.baseline.ms.over(c.ours.ms).median(), true))
	}
	fifty, twoHundred := find(b.writes, work{Writes: 50}), find(b.writes, work{Writes: 200})
	if fifty != nil && twoHundred != nil {
		list = append(list,
			atMost("bytes of 200 writes / bytes of 50 writes", 4.5, twoHundred.ours.bytes.over(fifty.ours.bytes).median(), false),
			atMost("50 writes: time / baseline's", 2.2, fifty.ours.ms.over(fifty.baseline.ms).median(), true))
	}
	if ten, thousand := b.resumed(10), b.resumed(1000); ten != nil && thousand != nil {
		list = append(list, atMost("resume with 1000 calls / with 10", 5, thousand.ms.over(ten.ms).median(), true))
	}
	return list
}

func find(list []*comparison, w work) *comparison {
	for _, c := range list {
		if c.work == w {
			return c
		}
	}
	return nil
}

func (b *suite) resumed(calls int) *resumption {
	for _, r := range b.resume {
		if r.calls == calls {
			return r
		}
	}
	return nil
}
