package learnt

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func look(t *testing.T, text string) *Shape {
	t.Helper()
	s := Look(json.RawMessage(text))
	require.NotNil(t, s, text)
	return s
}

func text(t testing.TB, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	require.NoError(t, err)
	return string(b)
}

func TestLook(t *testing.T) {
	cases := []struct{ value, want string }{
		{`"secret"`, `{"n":1,"t":"s"}`},
		{`12`, `{"n":1,"t":"n"}`},
		{`true`, `{"n":1,"t":"b"}`},
		{`null`, `{"n":1,"t":"z"}`},
		{``, `{"n":1,"t":"u"}`},
		{`{"__codemode_bigint_v1__":"9007199254740993"}`, `{"n":1,"t":"i"}`},
		{`{"__codemode_binary_v1__":"Uint8Array","data":"aGk="}`, `{"n":1,"t":"y"}`},
		{`{"id":1,"id":"x"}`, `{"n":1,"m":1,"t":"o","f":[{"k":"id","n":1,"t":"s"}]}`},
		{`[{"id":1},{"id":2,"name":"x"}]`, `{"n":1,"t":"a","i":{"n":2,"m":2,"t":"o","f":[` +
			`{"k":"id","n":2,"t":"n"},{"k":"name","n":1,"t":"s"}]}}`},
		{`{"ada@example.com":1,"2026-01-01":"x"}`, `{"n":1,"m":1,"t":"o","o":{"n":2,"t":"sn"}}`},
	}
	for _, c := range cases {
		require.Equal(t, c.want, text(t, look(t, c.value)), c.value)
	}
}

// People, accounts and the like are keys of a mapping where what is under them is alike.
func TestAlikeObjectsAreAMapping(t *testing.T) {
	one := `{"balance":1,"open":true}`
	mapping := look(t, `{"ada":`+one+`,"bob":`+one+`,"cyd":`+one+`,"dan":`+one+`,"eve":`+one+`}`)
	require.Empty(t, mapping.Fields)
	require.NotNil(t, mapping.Other.Field("balance"))
	require.NotContains(t, text(t, mapping), "ada")
}

func TestNames(t *testing.T) {
	for _, name := range []string{
		"id", "createdAt", "created_at", "html_url", "sha256", "iso3166", "x", "URL", "HTTPStatusCode", "@type", "$ref",
		"_links", "content-type", "iPhone", "address_line1", "permissions", "XMLHttpRequest", "nextPageToken",
		"md5", "avatar_url",
		"allow_squash_merge_commit_title", "anonymous_access_enabled", "ghsa_id", "cve_id", "gcTimeoutMs",
		"fps", "lastModifiedDateTime",
		"has_downloads", "subscribers_count", "squash_merge_commit_message", "web_commit_signoff_required",
		"maxConcurrentHTTPStreams",
	} {
		require.True(t, IsName(name), name)
	}
	for _, key := range []string{
		"", "123", "2026-11-22", "2026-11-22T10:00:00Z", "ada@example.com", "example.com", "README.md",
		"/etc/passwd", "a/b",
		"550e8400-e29b-41d4-a716-446655440000", "d41d8cd98f00b204e9800998ecf8427e", "3f2a9c1",
		"exec_0001764000000", "John Smith",
		"ghp_16C7e42F292c6912E7710c838347Ae178B4a", "sk_live_51HqJ2kLzV", "AKIAIOSFODNN7EXAMPLE1234",
		"xoxb-123456789012-abc",
		"eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9", "cus_NffrFeUfNV2Hib", "ch_3MmlLrLkdIwHu7ix0snN0B15",
		"+491701234567", "A1B2C3D4",
		strings.Repeat("a", 41), strings.Repeat("x", 1<<20), "naïve", "名前", "a\u202eb",
		"tkqzpwvbxrml", "QmVhcmVyIHNlY3JldA", "192-168-0-1-x",
	} {
		require.False(t, IsName(key), key)
	}
}

// generated makes values of few names and kinds, so that shapes meet.
func generated(r *rand.Rand, depth int) string {
	names := []string{"a", "b", "c", "items", "owner", "ada@example.com", "77"}
	switch n := r.IntN(8); {
	case n < 3 || depth > 4:
		return []string{`1`, `"text"`, `null`, `true`, `{"__codemode_bigint_v1__":"1"}`}[r.IntN(5)]
	case n < 5:
		var items []string
		for range r.IntN(4) {
			items = append(items, generated(r, depth+1))
		}
		return "[" + strings.Join(items, ",") + "]"
	}
	var members []string
	for range r.IntN(6) {
		members = append(members, fmt.Sprintf("%q:%s", names[r.IntN(len(names))]+strings.Repeat("x", r.IntN(2)),
			generated(r, depth+1)))
	}
	return "{" + strings.Join(members, ",") + "}"
}

// wide has more places than are kept.
func wide(r *rand.Rand) string {
	var members []string
	for range 100 {
		members = append(members, fmt.Sprintf(`"%c%c":{"%c":1,"%c":[{"%c":"x"}]}`, 'a'+r.IntN(26), 'a'+r.IntN(26),
			'a'+r.IntN(26), 'a'+r.IntN(26), 'a'+r.IntN(26)))
	}
	return "{" + strings.Join(members, ",") + "}"
}

// Workers agree: in whatever order and by whatever way shapes are merged, the outcome is the same, also at the bounds.
func TestMergeAgrees(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 500 {
		make := func() *Shape {
			if i%4 == 0 {
				return look(t, wide(r))
			}
			return look(t, generated(r, 0))
		}
		a, b, c := make(), make(), make()
		before := text(t, a)
		left, right := Merge(Merge(a, b), c), Merge(a, Merge(b, c))
		require.Equal(t, text(t, left), text(t, right), "in any grouping")
		require.Equal(t, text(t, Merge(a, b)), text(t, Merge(b, a)), "in any order")
		require.Equal(t, before, text(t, a), "what is merged stays as it is")
		require.NoError(t, left.Check())
		require.True(t, left.Covers(a) && left.Covers(b) && left.Covers(c))
		var again Shape
		require.NoError(t, json.Unmarshal([]byte(text(t, left)), &again))
		require.Equal(t, text(t, left), text(t, &again))
	}
}

func TestCovers(t *testing.T) {
	known := Merge(look(t, `{"id":1,"name":"x"}`), look(t, `{"id":2}`))
	for value, want := range map[string]bool{
		`{"id":5}`: true, `{"id":5,"name":"y"}`: true, `{"name":"y"}`: false, `{"id":"5"}`: false,
		`{"id":5,"more":1}`: false,
		`[]`:                false,
	} {
		require.Equal(t, want, known.Covers(look(t, value)), value)
	}
}

// planted stands in values, and in keys that no developer chooses.
const planted = "sk_live_51HqJ2kLzVtOpSeCrEt99"

// bytesOf is more than the largest shape takes as JSON.
const bytesOf = maxNodes * (longestName + 80)

// hostile are results that are made to be kept.
func hostile() map[string]string {
	keys := func(n int, key func(int) string, value string) string {
		members := make([]string, n)
		for i := range members {
			members[i] = fmt.Sprintf("%q:%s", key(i), value)
		}
		return "{" + strings.Join(members, ",") + "}"
	}
	word := func(i int) string {
		b := []byte("aaaaa")
		for at := range b {
			b[at] += byte(i % 26)
			i /= 26
		}
		return string(b)
	}
	return map[string]string{
		"100,000 keys":        keys(100_000, word, `"`+planted+`"`),
		"100,000 secret keys": keys(100_000, func(i int) string { return fmt.Sprint(planted, i) }, `{"id":1}`),
		"nested arrays":       strings.Repeat("[", 100_000) + `"` + planted + `"` + strings.Repeat("]", 100_000),
		"nested objects":      strings.Repeat(`{"a":`, 100_000) + `"` + planted + `"` + strings.Repeat("}", 100_000),
		"a key of 1 MB":       `{"` + strings.Repeat("k", 1<<20) + planted + `":1}`,
		"a text of 1 MB":      `{"id":"` + strings.Repeat(planted, 40_000) + `"}`,
		"a long array":        "[" + strings.Repeat(`{"`+planted+`":"`+planted+`"},`, 20_000) + "1]",
		"wide everywhere":     keys(100, word, keys(100, word, keys(10, word, "1"))),
	}
}

func TestHostileResults(t *testing.T) {
	all := &Shape{}
	for name, value := range hostile() {
		s := Look(json.RawMessage(value))
		require.NotContains(t, text(t, s), "sk_live", name)
		require.NotContains(t, text(t, s), "kkk", name)
		require.LessOrEqual(t, len(text(t, s)), bytesOf, name)
		if s != nil {
			all = Merge(all, s)
			require.NoError(t, all.Check(), name)
			require.LessOrEqual(t, len(text(t, all)), bytesOf, name)
		}
	}
}

// Whatever a result holds, its shape is bounded and holds none of the values, and merging agrees.
func FuzzLook(f *testing.F) {
	for _, value := range hostile() {
		if len(value) < 1<<20 {
			f.Add([]byte(value), []byte(`{"id":1}`))
		}
	}
	f.Fuzz(func(t *testing.T, a, b []byte) {
		if !json.Valid(a) || !json.Valid(b) {
			return // results are valid
		}
		marked := `{"` + planted + `":` + string(a) + `,"id":"` + planted + `","list":[` + string(b) + `]}`
		x, y := look(t, marked), look(t, string(b))
		require.Equal(t, text(t, Merge(x, y)), text(t, Merge(y, x)))
		require.NoError(t, Merge(x, y).Check())
		require.LessOrEqual(t, len(text(t, Merge(x, y))), bytesOf)
		require.NotContains(t, text(t, x), "sk_live")
	})
}

func TestStateTakesABatchOnce(t *testing.T) {
	var s State
	b := Batch{ID: "w1-1", Methods: []Method{{Name: "get", Result: look(t, `{"id":1}`)}}}
	s.Add(b)
	s.Add(b)
	require.Equal(t, 1, s.Of("get").Seen)
	b.ID = "w2-1"
	s.Add(b)
	require.Equal(t, 2, s.Of("get").Seen)
	require.Equal(t, 2, s.Version)
	require.Nil(t, s.Of("put"))
}

func TestStateRefusesWhatNoWorkerMakes(t *testing.T) {
	var s State
	secret := &Shape{Seen: 1, Kinds: Object, Fields: []Field{{Name: planted, Shape: Shape{Seen: 1}}}}
	unsorted := &Shape{Fields: []Field{{Name: "b"}, {Name: "a"}}}
	deep := &Shape{}
	for range 50 {
		deep = &Shape{Items: deep}
	}
	for i, shape := range []*Shape{nil, secret, unsorted, deep, {Other: secret}, {Items: unsorted}} {
		s.Add(Batch{ID: fmt.Sprint(i), Methods: []Method{{Name: "get", Result: shape}}})
	}
	require.Empty(t, s.Methods)
	s.Add(Batch{ID: strings.Repeat("x", 1000)})
	require.Len(t, s.Recent, 6)
}

func TestStateIsBounded(t *testing.T) {
	var s State
	r := rand.New(rand.NewPCG(3, 4))
	large := bounded(look(t, wide(r)))
	for i := range 300 {
		s.Add(Batch{ID: fmt.Sprint(i), Methods: []Method{{Name: fmt.Sprintf("m%03d", i), Result: large}}})
	}
	require.LessOrEqual(t, len(text(t, s)), maxState+maxRecent*maxID+300*40)
	require.Nil(t, s.Of("m000"), "the oldest goes")
	require.NotNil(t, s.Of("m299"))
	require.Len(t, s.Recent, maxRecent)
}
