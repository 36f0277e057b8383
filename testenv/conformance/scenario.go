package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

// Scenario is one entry of a scenario file.
type Scenario struct {
	ID    string
	Title string

	options rawOptions
	steps   []step
}

// step is one step of a scenario: the operation, its argument, and all the keys that stand beside it.
type step struct {
	number int // from 1
	name   string
	op     operation
	arg    json.RawMessage
	keys   map[string]json.RawMessage

	options rawOptions // of the scenario, overlaid with those of the step
}

// Load reads a scenario file. A mistake inside a scenario is not an error here: it comes with the scenario.
func Load(path string) ([]Loaded, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var entries []json.RawMessage
	if err := json.Unmarshal(text, &entries); err != nil {
		return nil, fmt.Errorf("%s is not a list of scenarios: %w", path, err)
	}
	if len(entries) == 0 {
		return nil, fmt.Errorf("%s has no scenarios", path)
	}
	seen := map[string]bool{}
	var all []Loaded
	for i, entry := range entries {
		l := decodeScenario(entry)
		if l.ID == "" || seen[l.ID] || strings.Contains(l.ID, "/") {
			return nil, fmt.Errorf("%s: scenario %d has no id of its own that can name a subtest: %q", path, i+1, l.ID)
		}
		seen[l.ID] = true
		all = append(all, l)
	}
	return all, nil
}

// Loaded is a scenario, or with Err what is wrong with it.
type Loaded struct {
	Scenario
	Err error
}

// readerKeys are for people who read the file.
var readerKeys = []string{"section", "title", "cls", "note", "hidden"}

func decodeScenario(text json.RawMessage) Loaded {
	var l Loaded
	keys, err := object(text)
	if err != nil {
		return Loaded{Err: err}
	}
	_ = json.Unmarshal(keys["id"], &l.ID)
	_ = json.Unmarshal(keys["title"], &l.Title)
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if key != "id" && key != "opts" && key != "steps" && !slices.Contains(readerKeys, key) {
			l.Err = fmt.Errorf("unknown scenario key %q", key)
			return l
		}
	}
	if l.options, l.Err = decodeOptions(nil, keys["opts"]); l.Err != nil {
		return l
	}
	l.steps, l.Err = decodeSteps(l.options, keys["steps"])
	return l
}

func decodeSteps(options rawOptions, text json.RawMessage) ([]step, error) {
	var entries []json.RawMessage
	if err := json.Unmarshal(text, &entries); err != nil {
		return nil, fmt.Errorf("steps: %w", err)
	}
	if len(entries) == 0 {
		return nil, fmt.Errorf("no steps")
	}
	var steps []step
	for i, entry := range entries {
		s, err := decodeStep(options, entry)
		if err != nil {
			return nil, fmt.Errorf("step %d: %w", i+1, err)
		}
		s.number = i + 1
		steps = append(steps, s)
	}
	return steps, nil
}

func decodeStep(options rawOptions, text json.RawMessage) (s step, err error) {
	if s.keys, err = object(text); err != nil {
		return s, err
	}
	if s.options, err = decodeOptions(options, s.keys["opts"]); err != nil {
		return s, err
	}
	if s.name, err = operationName(s.keys); err != nil {
		return s, err
	}
	s.op, s.arg = operations[s.name], s.keys[s.name]
	if err := s.op.arg(s.arg); err != nil {
		return s, fmt.Errorf("%s: %w", s.name, err)
	}
	return s, s.checkKeys()
}

// operationName finds the one key that says what a step does. A note is an operation only when it stands alone.
func operationName(keys map[string]json.RawMessage) (string, error) {
	var names []string
	for key := range keys {
		if _, ok := operations[key]; ok && key != "note" {
			names = append(names, key)
		}
	}
	slices.Sort(names)
	_, noted := keys["note"]
	switch {
	case len(names) == 1:
		return names[0], nil
	case len(names) > 1:
		return "", fmt.Errorf("it has several operations: %s", strings.Join(names, ", "))
	case noted:
		return "note", nil
	}
	return "", fmt.Errorf("no known operation among its keys: %s", strings.Join(slices.Sorted(maps.Keys(keys)), ", "))
}

func (s step) checkKeys() error {
	for _, key := range slices.Sorted(maps.Keys(s.keys)) {
		check, known := commonKeys[key]
		if own, ok := s.op.with[key]; ok {
			check, known = own, true
		}
		if key != s.name && !known {
			return fmt.Errorf("unknown key %q beside %s", key, s.name)
		}
		if key != s.name && check(s.keys[key]) != nil {
			return fmt.Errorf("%s: %w", key, check(s.keys[key]))
		}
	}
	for _, key := range s.op.needs {
		if _, ok := s.keys[key]; !ok {
			return fmt.Errorf("%s needs the key %q", s.name, key)
		}
	}
	return nil
}

// object decodes a JSON object and refuses a key that is given twice, of which one would be skipped silently.
func object(text json.RawMessage) (map[string]json.RawMessage, error) {
	keys := map[string]json.RawMessage{}
	d := json.NewDecoder(bytes.NewReader(text))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return nil, fmt.Errorf("not a JSON object: %s", short(text))
	}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return nil, err
		}
		key := token.(string)
		if _, twice := keys[key]; twice {
			return nil, fmt.Errorf("the key %q is given twice", key)
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, err
		}
		keys[key] = value
	}
	return keys, nil
}
