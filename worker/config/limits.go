package config

import (
	"time"

	"gopkg.in/yaml.v3"
)

func (r *reader) limits(key string, n *yaml.Node, l *Limits) {
	count := func(to *int) take { return func(key string, n *yaml.Node) { *to = r.count(key, n) } }
	millis := func(to *int64) take {
		return func(key string, n *yaml.Node) { *to = r.duration(key, n).Milliseconds() }
	}
	r.fields(n, key, map[string]take{
		"passTimeout":   func(key string, n *yaml.Node) { l.PassTimeout = r.duration(key, n) },
		"localPass":     func(key string, n *yaml.Node) { l.LocalPass = r.durationOrNone(key, n) },
		"pausedTTL":     millis(&l.PausedTTLMs),
		"runTime":       millis(&l.RunTimeMs),
		"memory":        func(key string, n *yaml.Node) { l.Memory = r.size(key, n) },
		"historyBytes":  func(key string, n *yaml.Node) { l.HistoryBytes = int(r.size(key, n)) },
		"inlineCalls":   count(&l.InlineCalls),
		"gatedCalls":    count(&l.GatedCalls),
		"passes":        count(&l.Passes),
		"historyEvents": count(&l.HistoryEvents),
	})
}

// durationOrNone reads a duration or 0, which the options write as -1.
func (r *reader) durationOrNone(key string, n *yaml.Node) time.Duration {
	if n.Kind == yaml.ScalarNode && n.Value == "0" {
		return -1
	}
	return r.duration(key, n)
}
