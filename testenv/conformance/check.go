package conformance

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/temporal-codemode/codemode/signals"
)

// root is the path of the value itself.
const root = "$"

// checked tells whether a step looks at its value, so that a failed operation cannot go unseen.
func (s step) checked() bool {
	return s.has("expect") || s.has("expectFirst") || s.has("resultLength") || s.has("keys")
}

// check compares the value of a step with what the step expects of it.
func (s step) check(got any) error {
	for _, key := range []string{"expect", "keys", "expectFirst"} {
		if !s.has(key) {
			continue
		}
		want, err := decode(s.keys[key])
		if err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		path, value := root, got
		if key == "expectFirst" {
			path, value = first(got)
		}
		if m := match(path, want, value); m != nil {
			return m
		}
	}
	return s.checkLength(got)
}

// first is the first element of value.results or of the value.
func first(got any) (path string, value any) {
	path = root
	if _, ok := got.(map[string]any); ok {
		path, got = path+".results", field(got, "results")
	}
	path += "[0]"
	if elements, ok := got.([]any); ok && len(elements) > 0 {
		return path, elements[0]
	}
	return path, absent{}
}

func field(v any, key string) any {
	object, _ := v.(map[string]any)
	if value, ok := object[key]; ok {
		return value
	}
	return absent{}
}

func (s step) checkLength(got any) error {
	if !s.has("resultLength") {
		return nil
	}
	want := get[int](s.keys["resultLength"])
	result := field(got, "result")
	text, ok := result.(string)
	if !ok {
		return differs(root+".result", result, fmt.Sprintf("a text of length %d", want))
	}
	if length := signals.Units(text); length != want {
		return &mismatch{root + ".result.length", fmt.Sprint(length), fmt.Sprint(want)}
	}
	return nil
}

func (s step) checkTime(took time.Duration) error {
	raw, ok := s.keys["maxMs"]
	if !ok || took <= milliseconds(get[float64](raw)) {
		return nil
	}
	return &mismatch{"maxMs", fmt.Sprintf("%d ms", took.Milliseconds()),
		fmt.Sprintf("at most %s ms", json.RawMessage(raw))}
}
