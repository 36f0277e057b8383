package truncate

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/connectors/types"
)

func TestTruncationCountsLikeJavaScript(t *testing.T) {
	for _, c := range []struct {
		value string
		most  int
		want  string
	}{
		{`"` + strings.Repeat("😀", 20) + `"`, 9,
			`"😀😀😀😀\n\n--- TRUNCATED ---\nResponse was ~10 tokens (limit: 6,000). Narrow the request to reduce response size."`},
		{`{"a":[1,2,3],"b":{}}`, 2, `{}`},
		{`[{"a":1}]`, 2, `[]`},
		{`12345678901234567890`,
			5, `"12345\n\n--- TRUNCATED ---\nResponse was ~5 tokens (limit: 6,000). Narrow the request to reduce response size."`},
		{`not json`, 2, `not json`},
		{``, 2, ``},
	} {
		assert.Equal(t, c.want, string(Result(json.RawMessage(c.value), Options{MaxChars: c.most})), c.value)
	}
	assert.Equal(t, "a", Response("a", Options{}))
}

func TestTruncationOfTheScenarios(t *testing.T) {
	out := Result(json.RawMessage(`{"a":"`+strings.Repeat("x", 500)+`","b":1}`), Options{MaxChars: 200})
	assert.Regexp(t, regexp.MustCompile(`^\{"a":"x+ --- TRUNCATED --- 500 chars","b":1\}$`), string(out))
	assert.LessOrEqual(t, len(out), 200)

	list := make([]int, 100)
	for i := range list {
		list[i] = i
	}
	raw, err := json.Marshal(list)
	require.NoError(t, err)
	assert.Equal(t, `[0,1,2,3,4,5,6,7,8,9,10,"--- TRUNCATED --- 89 more items"]`,
		string(Result(raw, Options{MaxChars: 60})))
	assert.Equal(t, `{"a": 1 }`, string(Result(json.RawMessage(`{"a": 1 }`), Options{MaxChars: 7})))
	assert.Regexp(t, `^yyyyyyyy\n\n--- TRUNCATED ---\nResponse was ~13 tokens \(limit: 2\)\.`,
		Response(strings.Repeat("y", 50), Options{MaxTokens: 2}))
}

func FuzzTruncateResult(f *testing.F) {
	f.Add(`{"a":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx","b":[1,2,{"c":null}]}`, 20)
	f.Add(`["\ud83d\ude00\u2028\\u2028"]`, 5)
	f.Fuzz(func(t *testing.T, value string, most int) {
		if most <= 0 || most > 1<<20 {
			return
		}
		out := Result(json.RawMessage(value), Options{MaxChars: most})
		if !json.Valid([]byte(value)) {
			require.Equal(t, value, string(out))
			return
		}
		require.True(t, json.Valid(out))
		if v := readValue(types.Trimmed(out)); v.kind != '"' && string(out) != value && most > 1 {
			require.LessOrEqual(t, v.size, most)
		}
	})
}
