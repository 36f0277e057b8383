package config

import (
	"time"

	"go.yaml.in/yaml/v3"
)

func (r *reader) limits(key string, n *yaml.Node, l *Limits) {
	count := func(to *int) take { return func(key string, n *yaml.Node) { *to = r.count(key, n) } }
	millis := func(to *int64) take {
		return func(key string, n *yaml.Node) { *to = r.duration(key, n).Milliseconds() }
	}
	r.fields(n, key, map[string]take{
		"passTimeout": func(key string, n *yaml.Node) { l.PassTimeout = r.duration(key, n) },
		"localPass":   func(key string, n *yaml.Node) { l.LocalPass = r.durationOrOff(key, n) },
		"pausedTTL":   millis(&l.PausedTTLMs),
		"runTime":     millis(&l.RunTimeMs),
		"carriedReads": func(key string, n *yaml.Node) {
			if l.CarriedReadsMs = r.durationOrOff(key, n).Milliseconds(); isOff(n) {
				l.CarriedReadsMs = off
			}
		},
		"memory":        func(key string, n *yaml.Node) { l.Memory = r.size(key, n) },
		"logBytes":      func(key string, n *yaml.Node) { l.LogBytes = int(r.size(key, n)) },
		"historyBytes":  func(key string, n *yaml.Node) { l.HistoryBytes = int(r.size(key, n)) },
		"inlineCalls":   count(&l.InlineCalls),
		"gatedCalls":    count(&l.GatedCalls),
		"passes":        count(&l.Passes),
		"historyEvents": count(&l.HistoryEvents),
	})
}

// durationOrOff reads a duration, or off, which the options write as -1.
func (r *reader) durationOrOff(key string, n *yaml.Node) time.Duration {
	switch {
	case isOff(n):
		return off
	case isZero(n):
		r.fail(n, "%s cannot be 0: leave it out for the default, or write off", key)
		return 0
	}
	return r.duration(key, n)
}

// off is how options write that something is switched off: their zero is the default.
const off = -1

func isOff(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Value == "off" }

func isZero(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Value == "0" }
