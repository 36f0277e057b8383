package conformance

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"
)

// rawOptions are options by key, so that those of a step can overlay those of its scenario.
type rawOptions map[string]json.RawMessage

// options say which worker a step needs, and which client.
type options struct {
	Conns         []string `json:"conns"`
	Timeout       float64  `json:"timeout"` // ms; 0 leaves the default
	MaxExecutions *int     `json:"maxExecutions"`
	Name          string   `json:"name"`
	Transform     string   `json:"transform"`
}

var optionKeys = map[string]argument{
	"conns": stringList, "timeout": number, "maxExecutions": integer, "name": text, "transform": oneOf("wrap", "throw"),
}

func decodeOptions(under rawOptions, text json.RawMessage) (rawOptions, error) {
	all := rawOptions{}
	maps.Copy(all, under)
	if text == nil {
		return all, nil
	}
	own, err := object(text)
	if err != nil {
		return nil, fmt.Errorf("opts: %w", err)
	}
	for _, key := range slices.Sorted(maps.Keys(own)) {
		check, known := optionKeys[key]
		if !known {
			return nil, fmt.Errorf("unknown option %q", key)
		}
		if err := check(own[key]); err != nil {
			return nil, fmt.Errorf("option %s: %w", key, err)
		}
	}
	maps.Copy(all, own)
	return all, nil
}

func (r rawOptions) decode() options {
	o := options{Conns: []string{"store"}}
	for key, into := range map[string]any{
		"conns": &o.Conns, "timeout": &o.Timeout, "maxExecutions": &o.MaxExecutions, "name": &o.Name,
		"transform": &o.Transform,
	} {
		if value, ok := r[key]; ok {
			_ = json.Unmarshal(value, into) // its type was checked
		}
	}
	return o
}

func milliseconds(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }
