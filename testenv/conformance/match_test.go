package conformance

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMatch(t *testing.T) {
	for _, tc := range []struct{ want, got, mismatch string }{
		{`1`, `1`, ``},
		{`1`, `1.0`, ``},
		{`1000`, `1e3`, ``},
		{`0.1`, `0.10`, ``},
		{`-0`, `0`, ``},
		{`9007199254740993`, `9007199254740992`, `$: got 9007199254740992, want 9007199254740993`},
		{`1`, `"1"`, `$: got "1", want 1`},
		{`1`, `true`, `$: got true, want 1`},
		{`"a"`, `"a"`, ``},
		{`"a"`, `"ab"`, `$: got "ab", want "a"`},
		{`true`, `true`, ``},
		{`null`, `null`, ``},
		{`null`, `0`, `$: got 0, want null`},
		{`null`, `{}`, `$: got {}, want null`},
		{`null`, ``, `$: got nothing, want null`},
		{`"a"`, `["a"]`, `$: got ["a"], want "a"`},

		{`[]`, `[]`, ``},
		{`[1,[2]]`, `[1,[2]]`, ``},
		{`[1]`, `[1,2]`, `$.length: got 2 in [1,2], want 1`},
		{`[1,[2]]`, `[1,[3]]`, `$[1][0]: got 3, want 2`},
		{`[]`, `{}`, `$: got {}, want []`},
		{`[]`, ``, `$: got nothing, want []`},

		{`{}`, `{"a":1}`, ``},
		{`{}`, `[]`, `$: got [], want {}`},
		{`{"a":{"b-c":1}}`, `{"a":{"b-c":2},"d":0}`, `$.a["b-c"]: got 2, want 1`},
		{`{"a":null}`, `{}`, `$.a: got nothing, want null`},
		{`{"$ref":"#"}`, `{"$ref":"#"}`, ``},

		{`{"a":1,"$absent":["b"]}`, `{"a":1,"c":2}`, ``},
		{`{"a":1,"$absent":["b"]}`, `{"a":1,"b":null}`, `$.b: got null, want no such key`},
		{`{"$absent":["b"]}`, `{}`, ``},
		{`{"$absent":["b"]}`, `{"b":1}`, `$.b: got 1, want no such key`},
		{`{"$absent":["b"]}`, `[]`, `$: got [], want {"$absent":["b"]}`},

		{`{"$re":"^a.c$"}`, `"abc"`, ``},
		{`{"$re":"b"}`, `"abc"`, ``},
		{`{"$re":"a.c"}`, `"a\nc"`, `$: got "a\nc", want a text that /a.c/ finds`},
		{`{"$re":"1"}`, `1`, `$: got 1, want a text that /1/ finds`},
		{`{"$re":"("}`, `"("`, `$: got an expectation that cannot be read, want a proper argument of $re, not "("`},
		{`{"$re":"a","b":1}`, `"a"`, `$: got "a", want {"$re":"a","b":1}`},

		{`{"$len":2}`, `[1,2]`, ``},
		{`{"$len":3}`, `"a😀"`, ``},
		{`{"$len":0}`, `{}`, `$: got {}, want a list or text of length 0`},
		{`{"$len":1}`, `[]`, `$: got [], want a list or text of length 1`},

		{`{"a":{"$any":true}}`, `{"a":null}`, ``},
		{`{"a":{"$any":true}}`, `{}`, `$.a: got nothing, want any value`},

		{`{"$oneOf":["a",{"$len":2}]}`, `"xy"`, ``},
		{`{"$oneOf":["a","b"]}`, `"c"`, `$: got "c", want one of ["a","b"]`},
		{`{"$oneOf":[]}`, `"c"`, `$: got "c", want one of []`},

		{`{"$set":[]}`, `[1]`, ``},
		{`{"$set":[2,1]}`, `[1,2,3]`, ``},
		{`{"$set":[1,1]}`, `[1,2]`, `$: got [1,2], want elements of their own for [1,1]`},
		{`{"$set":[{"$any":true},{"$oneOf":[1,2]},1]}`, `[1,2,3]`, ``}, // the obvious choice for the first leaves none
		{`{"$set":[1]}`, `{}`, `$: got {}, want a list with [1]`},
	} {
		t.Run(fmt.Sprintf("%s against %s", tc.want, tc.got), func(t *testing.T) {
			want, err := decode([]byte(tc.want))
			require.NoError(t, err)
			var got any = absent{}
			if tc.got != "" {
				got, err = decode([]byte(tc.got))
				require.NoError(t, err)
			}
			text := ""
			if m := match(root, want, got); m != nil {
				text = m.Error()
			}
			require.Equal(t, tc.mismatch, text)
		})
	}
}

func TestCheck(t *testing.T) {
	for _, tc := range []struct{ step, got, mismatch string }{
		{`{"search":"q","expectFirst":{"p":1}}`, `{"results":[{"p":1},{"p":2}]}`, ``},
		{`{"search":"q","expectFirst":{"p":2}}`, `{"results":[{"p":1}]}`, `$.results[0].p: got 1, want 2`},
		{`{"search":"q","expectFirst":{"p":2}}`, `{"results":[]}`, `$.results[0]: got nothing, want {"p":2}`},
		{`{"search":"q","expectFirst":{"p":2}}`, `{"THROWN":"x"}`, `$.results[0]: got nothing, want {"p":2}`},
		{`{"calls":"mcp","expectFirst":1}`, `[1,2]`, ``},
		{`{"connDescribe":"c","keys":["a"]}`, `["b"]`, `$[0]: got "b", want "a"`},
		{`{"run":"1","resultLength":3}`, `{"result":"a😀"}`, ``},
		{`{"run":"1","resultLength":3}`, `{"result":"a"}`, `$.result.length: got 1, want 3`},
		{`{"run":"1","resultLength":0}`, `{}`, `$.result: got nothing, want a text of length 0`},
		{`{"run":"1","expect":{"status":"completed"},"resultLength":1}`, `{"status":"error"}`,
			`$.status: got "error", want "completed"`},
	} {
		t.Run(tc.step, func(t *testing.T) {
			s, err := decodeStep(nil, []byte(tc.step))
			require.NoError(t, err)
			got, err := decode([]byte(tc.got))
			require.NoError(t, err)
			err = s.check(got)
			if tc.mismatch == "" {
				require.NoError(t, err)
				return
			}
			require.EqualError(t, err, tc.mismatch)
		})
	}
}

// An undefined value is a missing key; a list is never missing; long integers keep their digits.
func TestAsJSON(t *testing.T) {
	got, err := asJSON(struct {
		A *int   `json:"a,omitempty"`
		B []int  `json:"b"`
		C uint64 `json:"c"`
	}{B: []int{}, C: 1<<63 + 1})
	require.NoError(t, err)
	require.Equal(t, `{"b":[],"c":9223372036854775809}`, show(got))
	got, err = asJSON(absent{})
	require.NoError(t, err)
	require.Equal(t, "nothing", show(got))
	_, err = decode([]byte(`1 2`))
	require.Error(t, err)
}
