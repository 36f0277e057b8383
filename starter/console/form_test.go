package console

import (
	"encoding/json"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/signals"
)

// sent is what a browser sends of a form that nobody touched.
func sent(in *input, values url.Values) url.Values {
	for _, m := range in.Members {
		sent(m, values)
	}
	if in.Kind != kindGroup {
		values.Set("field:"+in.Path, in.Value)
	}
	return values
}

func TestAnUntouchedFormChangesNothing(t *testing.T) {
	const ref = `{"type":"object","properties":{"who":{"$ref":"#/$defs/person"}},"$defs":{"person":{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}}}`
	for name, c := range map[string]struct{ schema, args string }{
		"no schema": {``,
			`{"a":"x","b":[1,{"c":null}],"n":1.50,"t":true,"z":null,"e":"","o":{"p":{"q":{"r":{"s":1}}}}}`},
		"no schema, no object":      {``, `[1,2]`},
		"no schema, a text":         {``, `"line\nline"`},
		"null":                      {``, `null`},
		"values against the schema": {`{"type":"object","properties":{"n":{"type":"integer"},"s":{"type":"string"},"b":{"type":"boolean"},"e":{"enum":[1,2]}}}`, `{"n":"text","s":5,"b":null,"e":3,"more":{"x":1}}`},
		"empty texts":               {`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"required":["b"]}`, `{"a":"","b":""}`},
		"absent ones":               {`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"object","properties":{"c":{"type":"string"}}},"d":{"type":"boolean"}}}`, `{}`},
		"references":                {ref, `{"who":{"name":"Ann"}}`},
		"names with slashes":        {``, `{"a/b":{"~c":1},"":2}`},
		"big numbers": {`{"type":"object","properties":{"n":{"type":"integer"}}}`,
			`{"n":12345678901234567890}`},
		"secrets":               {``, `{"token":"t","deep":[{"password":{"x":1}}],"o":{"secret":"s"}}`},
		"anyOf":                 {`{"type":"object","properties":{"a":{"anyOf":[{"type":"string"},{"type":"number"}]}}}`, `{"a":"x"}`},
		"no JSON schema at all": {`"nonsense"`, `{"a":1}`},
		"circular":              {`{"$ref":"#/x","x":{"$ref":"#/x"}}`, `{"a":1}`},
	} {
		t.Run(name, func(t *testing.T) {
			form := newForm(json.RawMessage(c.schema), json.RawMessage(c.args))
			args, ok := newForm(json.RawMessage(c.schema), json.RawMessage(c.args)).read(sent(form, url.Values{}))
			require.True(t, ok)
			require.JSONEq(t, c.args, string(restore(args, json.RawMessage(c.args))))
			require.Empty(t, diff(json.RawMessage(c.args), restore(args, json.RawMessage(c.args))))
		})
	}
}

func TestFormsAreRead(t *testing.T) {
	const schema = `{"type":"object","properties":{"name":{"type":"string"},"n":{"type":"number"},"on":{"type":"boolean"},"pick":{"enum":["a","b"]},
		"list":{"type":"array"},"o":{"type":"object","properties":{"x":{"type":"integer"}}}},"required":["name","n"]}`
	read := func(fields map[string]string) (string, *input, bool) {
		values := url.Values{"field:/name": {"Ann"}, "field:/n": {"1"}}
		for path, text := range fields {
			values.Set("field:"+path, text)
		}
		form := newForm(json.RawMessage(schema), json.RawMessage(`{"name":"Bob","n":7,"list":[1]}`))
		args, ok := form.read(values)
		return string(args), form, ok
	}
	for name, c := range map[string]struct {
		fields map[string]string
		want   string
	}{
		"texts and numbers": {nil, `{"name":"Ann","n":1}`},
		"choices": {map[string]string{"/on": "false", "/pick": `"b"`},
			`{"name":"Ann","n":1,"on":false,"pick":"b"}`},
		"JSON": {map[string]string{"/list": `[1, {"a":"<b>"}]`},
			`{"name":"Ann","n":1,"list":[1,{"a":"<b>"}]}`},
		"a member of a group": {map[string]string{"/o/x": "3"}, `{"name":"Ann","n":1,"o":{"x":3}}`},
		"a number as written": {map[string]string{"/n": "1.50"}, `{"name":"Ann","n":1.50}`},
		"line ends":           {map[string]string{"/name": "a\r\nb"}, `{"name":"a\nb","n":1}`},
	} {
		t.Run(name, func(t *testing.T) {
			args, _, ok := read(c.fields)
			require.True(t, ok)
			require.JSONEq(t, c.want, args)
		})
	}
	for path, texts := range map[string][]string{"/n": {"", "x", `"1"`, "{}"}, "/list": {"[", "text"}} {
		for _, text := range texts {
			_, form, ok := read(map[string]string{path: text})
			require.False(t, ok, "%s: %q", path, text)
			problems := 0
			for _, m := range form.Members {
				if m.Problem != "" {
					problems++
				}
			}
			require.Equal(t, 1, problems)
		}
	}
}

func TestDiff(t *testing.T) {
	changes := diff(json.RawMessage(`{"a":1,"b":{"c":"x","d":2},"gone":1,"token":"t"}`),
		json.RawMessage(`{"a":1.0,"b":{"c":"y","d":2},"new":null,"token":"u"}`))
	var lines []string
	for _, c := range changes {
		lines = append(lines, c.Path+" "+c.Before.Text+">"+c.After.Text)
	}
	require.Equal(t, []string{"a 1>1.0", "b.c x>y", "gone 1>null", "new null>null"}, lines)
	require.True(t, changes[2].Gone && changes[3].Added)
	require.Len(t, diff(nil, json.RawMessage(`null`)), 1, "nothing differs from null")
}

func TestRestoreTouchesOnlyWhatWasMasked(t *testing.T) {
	issued := json.RawMessage(`{"token":"t","text":"•••","list":[{"key":"k","secret":"s"}]}`)
	require.JSONEq(t, `{"token":"t","text":"•••","list":[{"secret":"s"},{"secret":"•••"}],"other":"•••"}`,
		string(restore(json.RawMessage(
			`{"token":"•••","text":"•••","list":[{"secret":"•••"},{"secret":"•••"}],"other":"•••"}`), issued)))
}

func TestWhatHidesIsVisible(t *testing.T) {
	require.Equal(t, "a\\u202eb\\u0000c\\u200bd\ne", signals.Visible("a\u202eb\x00c\u200bd\ne"))
	list := arguments(json.RawMessage(`{"z":"é","a\u202e":{"b":1},"password":"p"}`))
	require.Len(t, list, 3)
	names := map[string]argument{}
	for _, a := range list {
		names[a.Name] = a
	}
	require.Contains(t, names, "a\\u202e")
	require.True(t, names["password"].Hidden)
	require.Equal(t, "é", names["z"].Text)
	require.Equal(t, "[\n  1\n]", arguments(json.RawMessage(`[1]`))[0].Text)
	require.Empty(t, arguments(nil))
	long := showText("line\nline\n" + string(make([]byte, 200_000)))
	require.True(t, long.Cut)
	require.NotEmpty(t, long.Fold)
}

func TestMoments(t *testing.T) {
	now := time.UnixMilli(100 * 3600_000)
	for ms, want := range map[int64]string{
		now.UnixMilli() - 5_000: "5 s ago", now.UnixMilli() - 120_000: "2 min ago",
		now.UnixMilli() + 90*60_000: "in 1 h 30 min", 0: "", 1: "4 days ago",
	} {
		require.Equal(t, want, momentAt(ms, now).Text)
	}
}

func FuzzForm(f *testing.F) {
	f.Add(`{"type":"object","properties":{"a":{"type":"string"}}}`, `{"a":"x"}`, "y")
	f.Add(`{"$ref":"#/x","x":{"enum":[1]}}`, `{"a":{"token":1}}`, "[")
	f.Fuzz(func(t *testing.T, schema, args, text string) {
		if !json.Valid([]byte(args)) {
			return
		}
		form := newForm(json.RawMessage(schema), json.RawMessage(args))
		read, ok := form.read(url.Values{"field:/a": {text}, "field:": {text}})
		if ok && len(read) > 0 {
			require.True(t, json.Valid(read))
			restore(read, json.RawMessage(args))
		}
	})
}
