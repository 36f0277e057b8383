package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// operation is what a step can do.
type operation struct {
	arg   argument
	with  map[string]argument // keys that may stand beside the name
	needs []string            // those of them that must
	do    func(*run, context.Context, step) (any, error)
	// lags says that the answer comes from lists that may be behind, so it is read again until it matches.
	lags func(step) bool
	// local says that neither worker nor client is needed.
	local bool
}

// argument checks the type of a key's value.
type argument func(json.RawMessage) error

// commonKeys may stand beside every operation.
var commonKeys = map[string]argument{
	"opts": anything, "expect": anything, "expectFirst": anything, "resultLength": integer, "maxMs": number,
	"note": text,
}

// operations by the key that names them. Filled in init, since the functions refer to steps and steps to operations.
var operations map[string]operation

func init() {
	always := func(step) bool { return true }
	operations = map[string]operation{
		"run":      {arg: text, with: map[string]argument{"pad": integer, "as": text}, do: (*run).execute},
		"runMany":  {arg: stringList, do: (*run).executeMany},
		"runAsync": {arg: text, with: map[string]argument{"pad": integer, "as": text}, do: (*run).start},
		"eventually": {
			arg: oneOf("running", "paused", "completed", "error", "rejected", "rolled_back"), do: (*run).eventually,
		},
		"approve":         {arg: justTrue, do: (*run).approve},
		"approveIfPaused": {arg: justTrue, do: (*run).approveIfPaused},
		"approveTwice":    {arg: justTrue, do: (*run).approveTwice},
		"approveId":       {arg: text, do: (*run).approveID},
		"reject":          {arg: integer, do: (*run).reject},
		"rejectId": {arg: text, with: map[string]argument{"seq": integer}, needs: []string{"seq"},
			do: (*run).rejectID},
		"pending":    {arg: either(justTrue, text), do: (*run).pending, lags: step.isTrue},
		"pendingId":  {arg: text, do: (*run).pendingID},
		"exec":       {arg: justTrue, do: (*run).record},
		"executions": {arg: either(justTrue, integer), do: (*run).executions, lags: always},
		"rollback":   {arg: justTrue, do: (*run).rollback},
		"expire":     {arg: number, do: (*run).expire},
		"prune":      {arg: integer, do: (*run).prune},
		"delete":     {arg: justTrue, do: (*run).remove},
		"search":     {arg: text, do: (*run).search, lags: always},
		"describe":   {arg: text, do: (*run).describe},
		"tool": {
			arg: fields(map[string]argument{"description": text, "connectorHints": anObject}), do: (*run).tool,
		},
		"validate": {arg: anything, do: (*run).validate, local: true},
		"save":     {arg: text, with: map[string]argument{"description": text}, do: (*run).save},
		"snippets": {arg: justTrue, do: (*run).snippets, lags: always},
		"unsave":   {arg: text, do: (*run).unsave},
		"calls":    {arg: text, do: (*run).received, local: true},
		"connDescribe": {arg: text, with: map[string]argument{"keys": anything}, needs: []string{"keys"},
			do: (*run).methodNames},
		"util": {
			arg:  oneOf("sanitizeToolName", "jsonSchemaToType", "truncateResult", "truncateResponse"),
			with: map[string]argument{"args": list}, needs: []string{"args"}, do: (*run).util, local: true,
		},
		"state":   {arg: justTrue, do: (*run).state, local: true},
		"set":     {arg: fields(map[string]argument{"throwHooks": boolean}), do: (*run).set, local: true},
		"wait":    {arg: number, do: (*run).wait, local: true},
		"restart": {arg: justTrue, do: (*run).restart, local: true},
		"note":    {arg: text, do: (*run).nothing, local: true},
	}
}

func (s step) isTrue() bool { return string(s.arg) == "true" }

func (s step) has(key string) bool {
	_, ok := s.keys[key]
	return ok
}

// get decodes a key, whose type was checked when the file was read.
func get[T any](raw json.RawMessage) T {
	var v T
	_ = json.Unmarshal(raw, &v)
	return v
}

func typed[T any](what string) argument {
	return func(raw json.RawMessage) error {
		var v *T
		if err := json.Unmarshal(raw, &v); err != nil || v == nil {
			return fmt.Errorf("want %s, not %s", what, short(raw))
		}
		return nil
	}
}

var (
	text       = typed[string]("a text")
	number     = typed[float64]("a number")
	integer    = typed[int]("an integer")
	boolean    = typed[bool]("true or false")
	list       = typed[[]json.RawMessage]("a list")
	stringList = typed[[]string]("a list of texts")
	anObject   = typed[map[string]json.RawMessage]("an object")
	justTrue   = oneOf(true)
)

func anything(json.RawMessage) error { return nil }

func oneOf[T comparable](values ...T) argument {
	return func(raw json.RawMessage) error {
		if slices.Contains(values, get[T](raw)) && string(bytes.TrimSpace(raw)) != "null" {
			return nil
		}
		return fmt.Errorf("want one of %v, not %s", values, short(raw))
	}
}

func either(a, b argument) argument {
	return func(raw json.RawMessage) error {
		first := a(raw)
		if first == nil || b(raw) == nil {
			return nil
		}
		return fmt.Errorf("%w; or %w", first, b(raw))
	}
}

// fields accepts an object with no other keys than these.
func fields(known map[string]argument) argument {
	return func(raw json.RawMessage) error {
		keys, err := object(raw)
		if err != nil {
			return err
		}
		var wrong []string
		for key, value := range keys {
			if check, ok := known[key]; !ok || check(value) != nil {
				wrong = append(wrong, key)
			}
		}
		if slices.Sort(wrong); len(wrong) > 0 {
			return fmt.Errorf("unknown key or wrong type: %s", strings.Join(wrong, ", "))
		}
		return nil
	}
}
