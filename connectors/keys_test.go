package connectors

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// over100 is the rule "args.amount > 100" in Go: it looks at amount, and a call without it is asked about.
func over100(_ Asked, args json.RawMessage) (bool, error) {
	var known map[string]any
	if err := json.Unmarshal(args, &known); err != nil {
		return true, err
	}
	amount, ok := known["amount"].(float64)
	return !ok || amount > 100, nil
}

func underRule(t *testing.T, schema string, p Policy) *Set {
	t.Helper()
	m := Method{Name: "pay", InputSchema: json.RawMessage(schema),
		Execute: func(Context, json.RawMessage) (any, error) { return "paid", nil }}
	p.ApprovalNames = []string{"amount"}
	set, err := NewSet(t.Context(), []Connector{New("bank", "", m)},
		map[string][]Rule{"bank": {{Pattern: "*", ApprovalFor: over100, Policy: p}}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, set.Close()) })
	return set
}

const paySchema = `{"type":"object","required":["amount"],"properties":{"amount":{"type":"number"},
	"to":{"$ref":"#/$defs/party"},
	"lines":{"type":"array","items":{"anyOf":[{"$ref":"#/$defs/party"},{"type":"string"}]}}},
	"patternProperties":{"^x-":{}},
	"$defs":{"party":{"allOf":[{"properties":{"id":{},"Kind":{}}}],
		"properties":{"vip":{},"next":{"$ref":"#/$defs/party"}}}}}`

func TestApprovalByArgumentsCannotBeDodgedBySpelling(t *testing.T) {
	open := Policy{AllowAdditional: true}
	for name, c := range map[string]struct {
		schema string
		policy Policy
		args   string
		want   string // in the error; empty: the call is let through, unasked
	}{
		"honest": {paySchema, Policy{}, `{"amount":1,"to":{"id":7,"vip":true},"lines":["a",{"id":1}]}`,
			""},
		"another case": {paySchema, Policy{}, `{"amount":1,"Amount":1000000}`,
			"Amount: not a known property, but amount is"},
		"of all letters": {paySchema, Policy{}, `{"AMOUNT":1000000}`,
			"AMOUNT: not a known property, but amount is"},
		"escaped": {paySchema, Policy{}, `{"amount":1,"\u0041mount":1000000}`,
			"Amount: not a known property"},
		"Kelvin": {paySchema, open, "{\"amount\":1,\"to\":{\"\u212Aind\":2}}",
			`to["\u212aind"]: not a known property, but Kind is`},
		"long s": {`{"properties":{"amount":{},"sum":{}}}`, open, `{"amount":1,"ſum":2}`,
			`["\u017fum"]: not a known property, but sum is`},
		"unknown":          {paySchema, Policy{}, `{"amount":1,"note":"x"}`, "note: not a known property"},
		"unknown, allowed": {paySchema, open, `{"amount":1,"note":"x"}`, ""},
		"case, allowed others": {paySchema, open, `{"amount":1,"Amount":2}`,
			"Amount: not a known property, but amount is"},
		"a pattern": {paySchema, Policy{}, `{"amount":1,"x-trace":"x"}`, ""},
		"by reference": {paySchema, Policy{}, `{"amount":1,"to":{"ID":1}}`,
			"to.ID: not a known property, but id is"},
		"in an array": {paySchema, Policy{}, `{"amount":1,"lines":["x",{"next":{"VIP":1}}]}`,
			"lines[1].next.VIP: not a known property, but vip is"},
		"each other": {paySchema, Policy{}, `{"amount":1,"to":{"memo":1,"Memo":2}}`,
			"to.Memo: differs from memo only in case"},
		"twice":          {paySchema, Policy{}, `{"amount":1,"amount":1000000}`, "amount: given twice"},
		"twice, escaped": {paySchema, Policy{}, `{"amount":1,"\u0061mount":1000000}`, "amount: given twice"},
		"twice, deep": {paySchema, Policy{}, `{"amount":1,"to":{"memo":[{"a":1,"a":2}]}}`,
			"to.memo[0].a: given twice"},
		"both declared": {`{"properties":{"amount":{},"id":{},"ID":{}}}`, Policy{}, `{"amount":1,"id":1,"ID":2}`,
			""},
		"no schema": {"", Policy{}, `{"amount":1,"note":"x"}`, ""},
		"no schema, case": {"", Policy{}, `{"amount":1,"Amount":2}`,
			"Amount: not a known property, but amount is"},
		"no schema, deep": {"", Policy{}, `{"amount":1,"order":{"AMOUNT":2}}`,
			"order.AMOUNT: not a known property, but amount is"},
		"no properties": {`{"type":"object"}`, Policy{}, `{"amount":1,"note":"x"}`,
			"note: not a known property"},
		"no properties, named": {`{"type":"object"}`, Policy{}, `{"amount":1}`, ""},
		"maps": {`{"properties":{"amount":{},"words":{"additionalProperties":{"properties":{"n":{}}}}}}`, Policy{},
			`{"amount":1,"words":{"a":{"N":1}}}`,
			"words.a.N: not a known property, but n is"},
	} {
		t.Run(name, func(t *testing.T) {
			_, approval, err := underRule(t, c.schema, c.policy).Check(Asked{}, "bank", "pay",
				json.RawMessage(c.args))
			if c.want == "" {
				require.NoError(t, err)
				require.False(t, approval)
				return
			}
			var invalid *InvalidArgumentsError
			require.ErrorAs(t, err, &invalid)
			require.Contains(t, err.Error(), c.want)
		})
	}
}

// Without such a rule nobody is deceived by names, but a key that is given twice is two calls in one everywhere.
func TestKeysWithoutARule(t *testing.T) {
	set, err := NewSet(t.Context(), []Connector{New("bank", "", Method{Name: "pay",
		InputSchema: json.RawMessage(`{"properties":{"amount":{}}}`),
		Execute:     func(Context, json.RawMessage) (any, error) { return nil, nil }}, Method{Name: "undo",
		Execute: func(Context, json.RawMessage) (any, error) { return nil, nil }})}, nil)
	require.NoError(t, err)
	_, _, err = set.Check(Asked{}, "bank", "pay",
		json.RawMessage(`{"amount":1,"Amount":2,"words":{"The":1,"the":2}}`))
	require.NoError(t, err)
	_, _, err = set.Check(Asked{}, "bank", "pay", json.RawMessage(`{"words":[{"the":1,"the":2}]}`))
	require.ErrorContains(t, err, "words[0].the: given twice")

	set, err = NewSet(t.Context(), []Connector{New("bank", "", Method{Name: "pay",
		Execute: func(Context, json.RawMessage) (any, error) { return nil, nil }}, Method{Name: "undo",
		Execute: func(Context, json.RawMessage) (any, error) { return nil, nil }})},
		map[string][]Rule{"bank": {{Pattern: "pay", Revert: &RevertRule{Method: "undo",
			Args: func(args, _ json.RawMessage) (json.RawMessage, error) { return args, nil }}}}})
	require.NoError(t, err)
	_, _, err = set.Check(Asked{}, "bank", "pay", json.RawMessage(`{"id":1,"ID":2}`))
	require.ErrorContains(t, err, "ID: differs from id only in case", "the undoing call would name another id")
}

func TestFuncTakesExactlyItsFields(t *testing.T) {
	type line struct {
		Amount int `json:"amount"`
	}
	type Base struct{ Note string }
	type order struct {
		Base
		line       // as encoding/json does it, its fields are the order's
		ID     int `json:"id,omitempty"`
		Lines  []*line
		ByName map[string]line
		Any    any
		Raw    json.RawMessage
		At     *time.Time
		Skip   int `json:"-"`
	}
	m := Func("pay", "", Write, func(_ Context, in order) (order, error) { return in, nil })
	for args, want := range map[string]string{
		`{"amount":1,"id":2,"Note":"x","Lines":[{"amount":3}],"ByName":{"a":{"amount":4},"A":{"amount":5}}}`: "",
		`{"Any":{"Amount":1,"amount":2},"Raw":{"x":1,"X":2},"At":"2026-01-02T03:04:05Z"}`:                    "",
		`{"amount":1,"Amount":1000000}`:         "Amount: not a known property, but amount is",
		`{"AMOUNT":1}`:                          "AMOUNT: not a known property, but amount is",
		"{\"LINE\\u017F\":[]}":                  "not a known property, but Lines is",
		`{"Lines":[{"amount":1},{"Amount":1}]}`: "Lines[1].Amount: not a known property, but amount is",
		`{"ByName":{"x":{"Amount":1}}}`:         "ByName.x.Amount: not a known property",
		`{"other":1}`:                           "other: not a known property",
		`{"Skip":1}`:                            "Skip: not a known property",
		`{"amount":1,"amount":2}`:               "amount: given twice",
		`{"Any":{"a":1,"a":2}}`:                 "Any.a: given twice",
		`{"Lines":{"amount":1}}`:                "Lines: expected array, but got object",
	} {
		_, err := m.Execute(Context{}, json.RawMessage(args))
		if want == "" {
			require.NoError(t, err, args)
			continue
		}
		var invalid *InvalidArgumentsError
		require.ErrorAs(t, err, &invalid, args)
		require.Contains(t, strings.Join(invalid.Problems, ";"), want, args)
	}
}

// The work is bounded, whatever schema and arguments are: what cannot be compared within the bound is refused.
func TestComparingNamesIsBounded(t *testing.T) {
	var defs []string
	for i := range 400 {
		defs = append(defs, fmt.Sprintf(`"d%d":{"properties":{"p%d":{"$ref":"#/$defs/d0"}},
			"anyOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]}`, i, i, (i+1)%400, (i+7)%400))
	}
	schema := `{"properties":{"amount":{},"x":{"$ref":"#/$defs/d0"}},"$defs":{` + strings.Join(defs, ",") + `}}`
	b, err := underRule(t, schema, Policy{}).Lookup("bank", "pay")
	require.NoError(t, err)
	var names []string
	for i := range 50_000 {
		names = append(names, fmt.Sprintf(`"n%d":1`, i))
	}
	problems := b.checkKeys(json.RawMessage(`{"amount":1,"x":{` + strings.Join(names, ",") + `}}`))
	require.Contains(t, problems, "too many names for the rule that decides about approval: send less at once")
	require.Empty(t, b.checkKeys(json.RawMessage(`{"amount":1,"x":{"p3":{"p9":{}}}}`)))
}

func TestARuleThatLeavesNoArgumentsIsAWarning(t *testing.T) {
	const want = `every argument of bank.pay that rule "*" does not name is refused`
	warned := func(schema string, p Policy) string { return strings.Join(underRule(t, schema, p).Warnings(), "\n") }
	require.Contains(t, warned(`{"type":"object"}`, Policy{}), want)
	require.NotContains(t, warned(`{"type":"object"}`, Policy{AllowAdditional: true}), want)
	require.NotContains(t, warned(`{"anyOf":[{"properties":{"amount":{}}}]}`, Policy{}), want)
	require.NotContains(t, warned("", Policy{}), want)
}

func FuzzKeys(f *testing.F) {
	for _, seed := range []string{`{"amount":1}`, `{"a":{"b":[1,{"c":"x\"y"}]}}`, `[[[]]]`, `"x"`,
		` {"a" : 1 , "a": 2 } `,
		`{"":0,"\ud800":1,"\ud801":2}`, `{"K":1,"\u212a":2}`, `-1.5e3`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		if !json.Valid(in) {
			t.Skip()
		}
		for _, folds := range []bool{false, true} {
			problems := keyProblems(in, nil, folds)
			require.Equal(t, repeated(t, in, folds), len(problems) > 0, "%s: %v", in, problems)
		}
	})
}

// repeated finds with encoding/json what two readers could disagree about.
func repeated(t *testing.T, raw json.RawMessage, folds bool) bool {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(string(raw)))
	var objects [][]string // the keys of the objects that are open; nil for an array
	var wantsKey []bool
	for {
		token, err := d.Token()
		if err != nil {
			return false
		}
		top := len(objects) - 1
		if text, ok := token.(string); ok && top >= 0 && wantsKey[top] {
			for _, other := range objects[top] {
				if other == text || folds && strings.EqualFold(other, text) {
					return true
				}
			}
			objects[top], wantsKey[top] = append(objects[top], text), false
			continue
		}
		switch token {
		case json.Delim('{'):
			objects, wantsKey = append(objects, []string{}), append(wantsKey, true)
			continue
		case json.Delim('['):
			objects, wantsKey = append(objects, nil), append(wantsKey, false)
			continue
		case json.Delim('}'), json.Delim(']'):
			objects, wantsKey = objects[:top], wantsKey[:top]
			top--
		}
		if top >= 0 {
			wantsKey[top] = objects[top] != nil
		}
	}
}
