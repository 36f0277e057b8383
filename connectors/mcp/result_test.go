package mcp

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/connectors/wire"
)

func TestUnwrapToolResult(t *testing.T) {
	const image = `{"type":"image","data":"AA==","mimeType":"image/png"}`
	for _, c := range []struct{ name, in, want, failure string }{
		{name: "toolResult beats isError", in: `{"toolResult":{"old":true},"isError":true,"content":[]}`,
			want: `{"old":true}`},
		{name: "toolResult null", in: `{"toolResult":null,"structuredContent":{"a":1}}`, want: `null`},
		{name: "error texts",
			in: `{"isError":true,"structuredContent":{"a":1},"content":[{"type":"text","text":"line1"},` + image +
				`,{"type":"text","text":"line2"}]}`, failure: "line1\nline2"},
		{name: "error without content", in: `{"isError":true,"content":[]}`, failure: "Tool call failed"},
		{name: "error with empty text", in: `{"isError":true,"content":[{"type":"text","text":""}]}`,
			failure: "Tool call failed"},
		{name: "structured beats text",
			in:   `{"structuredContent":{"b":1,"a":2},"content":[{"type":"text","text":"ignored"}]}`,
			want: `{"b":1,"a":2}`},
		{name: "structured null is none", in: `{"structuredContent":null,"content":[{"type":"text","text":"x"}]}`,
			want: `"x"`},
		{name: "structured false counts", in: `{"structuredContent":false,"content":[]}`, want: `false`},
		{name: "text as JSON", in: `{"content":[{"type":"text","text":" [{\"n\": 1}]\n"}]}`, want: `[{"n":1}]`},
		{name: "text as number", in: `{"content":[{"type":"text","text":"42"}]}`, want: `42`},
		{name: "text as null", in: `{"content":[{"type":"text","text":"null"}]}`, want: `null`},
		{name: "text that is no JSON", in: `{"content":[{"type":"text","text":"007"}]}`, want: `"007"`},
		{name: "empty text", in: `{"content":[{"type":"text","text":""}]}`, want: `""`},
		{name: "HTML", in: `{"content":[{"type":"text","text":"<b>&"}]}`, want: `"<b>&"`},
		{name: "several texts", in: `{"content":[{"type":"text","text":"one"},{"type":"text","text":"two"}]}`,
			want: `"one\ntwo"`},
		{name: "several texts, JSON together",
			in: `{"content":[{"type":"text","text":"[1,"},{"type":"text","text":"2]"}]}`, want: `[1,2]`},
		{name: "big integer in text", in: `{"content":[{"type":"text","text":"12345678901234567890"}]}`,
			want: `{"__codemode_bigint_v1__":"12345678901234567890"}`},
		{name: "big integer structured",
			in:   `{"structuredContent":{"id":9007199254740993,"n":9007199254740991},"content":[]}`,
			want: `{"id":{"__codemode_bigint_v1__":"9007199254740993"},"n":9007199254740991}`},
		{name: "mixed content whole", in: `{"content":[{"type":"text","text":"t"}, ` + image + `]}`,
			want: `{"content":[{"type":"text","text":"t"},` + image + `]}`},
		{name: "empty content whole", in: `{"content":[]}`, want: `{"content":[]}`},
		{name: "no content whole", in: `{"_meta":{"id":9007199254740993}}`,
			want: `{"_meta":{"id":{"__codemode_bigint_v1__":"9007199254740993"}}}`},
	} {
		got, err := unwrapToolResult(json.RawMessage(c.in))
		if c.failure != "" {
			require.EqualError(t, err, c.failure, c.name)
			continue
		}
		require.NoError(t, err, c.name)
		assert.Equal(t, c.want, string(got), c.name)
	}
	for _, broken := range []string{"", `[]`, `{"content":{}}`, `{"isError":"yes"}`,
		`{"resultType":"input_required","requestState":"s"}`} {
		_, err := unwrapToolResult(json.RawMessage(broken))
		var failure toolFailure
		assert.Error(t, err, broken)
		assert.False(t, errors.As(err, &failure), broken)
	}
}

func FuzzUnwrapToolResult(f *testing.F) {
	for _, seed := range []string{
		`{"content":[{"type":"text","text":"12345678901234567890"}]}`,
		`{"toolResult":{"x":1}}`, `{"isError":true}`, `{"structuredContent":{"a":9007199254740993}}`,
		`{"content":[{"type":"image"}]}`, `{"content":[null]}`, `{"content":[{"type":"text"}]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		got, err := unwrapToolResult(in)
		if err != nil {
			require.Nil(t, got)
			require.NotEmpty(t, err.Error())
			return
		}
		require.True(t, json.Valid(got), "%s gave %s", in, got)
		require.Equal(t, string(wire.TagBigInts(got)), string(got), "integers that lose digits are tagged")
	})
}

// FuzzToolResult: whatever a server answers is wire JSON or an error.
func FuzzToolResult(f *testing.F) {
	for _, seed := range []string{
		`{"content":[{"type":"text","text":"{\"a\":1}"}]}`, `{"structuredContent":{"__codemode_bigint_v1__":"x"}}`,
		`{"toolResult":12345678901234567890,"isError":true}`, `{"isError":true,"content":[{"type":"image"}]}`, `[]`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if !json.Valid(raw) {
			return // transports have read it as JSON
		}
		result, err := unwrapToolResult(raw)
		if err != nil {
			return
		}
		_, err = wire.Plain(result)
		require.NoError(t, err)
	})
}
