package payload

import (
	"bytes"
	"encoding/base64"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/temporal-codemode/codemode/signals"
)

func newKey(id string, fill byte) Key {
	return Key{ID: id, Secret: [32]byte(bytes.Repeat([]byte{fill}, 32))}
}

// A million units of any script take less than what the server refuses, even where nothing can be compressed.
func TestAMillionUnitsOfAnyScriptFit(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	scripts := map[string]func() rune{
		"latin":         func() rune { return rune('a' + random.IntN(26)) },
		"chinese":       func() rune { return rune(0x4E00 + random.IntN(0x5000)) },
		"all the plane": func() rune { return rune(0x800 + random.IntN(0xD000)) },
		"emoji":         func() rune { return rune(0x10000 + random.IntN(0x100000)) },
	}
	c, err := NewConverter(newKey("a", 1))
	require.NoError(t, err)
	for name, letter := range scripts {
		t.Run(name, func(t *testing.T) {
			var text strings.Builder
			for units := 2; units < signals.MaxValueUnits-1; {
				r := letter()
				if r == 0x2028 || r == 0x2029 { // which Go escapes
					continue
				}
				text.WriteRune(r)
				units++
				if r > 0xFFFF {
					units++
				}
			}
			raw, err := Raw(text.String())
			require.NoError(t, err)
			require.LessOrEqual(t, len(raw.Payload().Data), MaxValueBytes(c))
			p, err := c.ToPayload(raw)
			require.NoError(t, err)
			require.Less(t, proto.Size(p), 2_010_000)
			var back string
			require.NoError(t, c.FromPayload(p, &back))
			require.True(t, back == text.String())
		})
	}
}

func TestSmallPayloadsStayReadable(t *testing.T) {
	c, err := NewConverter()
	require.NoError(t, err)
	p, err := c.ToPayload(map[string]int{"a": 1})
	require.NoError(t, err)
	require.Equal(t, `{"a":1}`, string(p.Data))
	require.Equal(t, "json/plain", string(p.Metadata["encoding"]))
}

func TestClientsWithTheDefaultConverterReadLargeValues(t *testing.T) {
	c, err := NewConverter()
	require.NoError(t, err)
	large := strings.Repeat("value ", 100_000)
	p, err := c.ToPayload(large)
	require.NoError(t, err)
	require.Less(t, len(p.Data), 10_000)
	var back string
	require.NoError(t, Reader(nil).FromPayload(p, &back))
	require.Equal(t, large, back)
	require.NoError(t, converter.NewCodecDataConverter(converter.GetDefaultDataConverter(),
		converter.NewZlibCodec(converter.ZlibCodecOptions{})).FromPayload(p, &back),
		"and so does the SDK's own codec")
}

func TestEncryption(t *testing.T) {
	older, newer := newKey("older", 1), newKey("newer", 2)
	before, err := NewConverter(older)
	require.NoError(t, err)
	after, err := NewConverter(newer, older)
	require.NoError(t, err)
	p, err := before.ToPayload("a secret")
	require.NoError(t, err)
	require.NotContains(t, string(p.Data), "secret")
	require.Equal(t, "older", string(p.Metadata["encryption-key-id"]))
	var back string
	require.NoError(t, after.FromPayload(p, &back), "older keys still open what they closed")
	require.Equal(t, "a secret", back)

	q, err := after.ToPayload("a secret")
	require.NoError(t, err)
	require.ErrorContains(t, before.FromPayload(q, &back), `encrypted with key "newer"`)
	require.ErrorContains(t, Reader(nil).FromPayload(q, &back), "set CODEMODE_ENCRYPTION_KEYS")
	q.Data[len(q.Data)-1] ^= 1
	require.ErrorContains(t, after.FromPayload(q, &back), "does not open")
	_, err = NewConverter(older, older)
	require.ErrorContains(t, err, "two keys")
}

func TestParseKeys(t *testing.T) {
	secret := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{7}, 32))
	keys, err := ParseKeys(" b:" + secret + ", a:" + secret + ",")
	require.NoError(t, err)
	require.Equal(t, []string{"b", "a"}, []string{keys[0].ID, keys[1].ID})
	keys, err = ParseKeys("")
	require.NoError(t, err)
	require.Empty(t, keys)
	for _, wrong := range []string{"x", ":" + secret, "a:" + secret[:8], "a:!" + secret, "a:" + secret + ",b"} {
		_, err := ParseKeys(wrong)
		require.ErrorContains(t, err, "openssl rand -base64 32")
		require.NotContains(t, err.Error(), secret)
	}
}

func TestConfigure(t *testing.T) {
	t.Setenv(KeysEnv, "a:"+base64.StdEncoding.EncodeToString(make([]byte, 32)))
	var o client.Options
	c, err := Configure(&o)
	require.NoError(t, err)
	require.True(t, c.Secret())
	require.Same(t, c, o.DataConverter)
	require.NotNil(t, o.FailureConverter, "error texts are encrypted too")
	own := converter.GetDefaultDataConverter()
	o = client.Options{DataConverter: own}
	_, err = Configure(&o)
	require.NoError(t, err)
	require.Equal(t, own, o.DataConverter)
}

func TestCodecEndpoint(t *testing.T) {
	c, err := NewConverter(newKey("a", 1))
	require.NoError(t, err)
	c.Require()
	server := httptest.NewServer(c.Handler(Endpoint{Origins: []string{"http://ui"}}))
	defer server.Close()
	p, err := c.ToPayload("hello")
	require.NoError(t, err)
	body, err := protojson.Marshal(&commonpb.Payloads{Payloads: []*commonpb.Payload{p}})
	require.NoError(t, err)
	host := ""
	ask := func(method, origin string) (*http.Response, string) {
		request, err := http.NewRequestWithContext(t.Context(), method, server.URL+"/decode", bytes.NewReader(body))
		require.NoError(t, err)
		request.Header.Set("Origin", origin)
		request.Host = host
		response, err := server.Client().Do(request)
		require.NoError(t, err)
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		return response, string(text)
	}
	response, text := ask(http.MethodPost, "http://ui")
	require.Equal(t, http.StatusOK, response.StatusCode, text)
	require.Equal(t, "http://ui", response.Header.Get("Access-Control-Allow-Origin"))
	var opened commonpb.Payloads
	require.NoError(t, protojson.Unmarshal([]byte(text), &opened))
	require.Equal(t, `"hello"`, string(opened.Payloads[0].Data))
	response, _ = ask(http.MethodOptions, "http://ui")
	require.Equal(t, http.StatusNoContent, response.StatusCode)
	host = "evil.example"
	response, _ = ask(http.MethodPost, "http://ui")
	require.Equal(t, http.StatusForbidden, response.StatusCode, "another name that leads here")
	host = ""
	response, _ = ask(http.MethodPost, "http://evil")
	require.Equal(t, http.StatusForbidden, response.StatusCode)
	require.Empty(t, response.Header.Get("Access-Control-Allow-Origin"))
}

func TestCodecEndpointWithAToken(t *testing.T) {
	c, err := NewConverter(newKey("a", 1))
	require.NoError(t, err)
	token := strings.Repeat("t", LeastToken)
	handler := c.Handler(Endpoint{Origins: []string{"https://ui"}, Token: token})
	for given, want := range map[string]int{
		"": http.StatusUnauthorized, "Bearer " + token[1:]: http.StatusUnauthorized, "Bearer " + token: http.StatusOK,
	} {
		request := httptest.NewRequest(http.MethodPost, "https://codec.example.com/decode", strings.NewReader(`{}`))
		request.Header.Set("Authorization", given)
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, request)
		require.Equal(t, want, answer.Code, given)
	}
}

func TestCodecEndpointAddresses(t *testing.T) {
	token := strings.Repeat("t", LeastToken)
	for _, c := range []struct{ address, token, want string }{
		{"127.0.0.1:8081", "", ""}, {"localhost:0", "", ""}, {"[::1]:1", "", ""},
		{"0.0.0.0:8081", "", "would show payloads to everybody"}, {":8081", "", "would show payloads to everybody"},
		{"10.0.0.1:1", "", "would show payloads to everybody"}, {":8081", token, ""},
		{":8081", "short", "fewer than 24 characters"}, {"8081", "", "no address"},
	} {
		err := Endpoint{Token: c.token}.CheckAddress(c.address)
		if c.want == "" {
			require.NoError(t, err, c.address)
		} else {
			require.ErrorContains(t, err, c.want, c.address)
		}
	}
}

// Who may write to the namespace and has no key decides nothing where encryption is required.
func TestRequiredEncryption(t *testing.T) {
	strict, err := NewConverter(newKey("a", 1))
	require.NoError(t, err)
	strict.Require()
	plain, err := converter.GetDefaultDataConverter().ToPayload(map[string]any{"seqs": []int{0}})
	require.NoError(t, err)
	var back any
	require.ErrorContains(t, strict.FromPayload(plain, &back), "a payload came in clear, and encryption is required")
	compressed, err := NewConverter()
	require.NoError(t, err)
	large, err := compressed.ToPayload(strings.Repeat("x", 300_000))
	require.NoError(t, err)
	require.Error(t, strict.FromPayload(large, &back))
	own, err := strict.ToPayload("mine")
	require.NoError(t, err)
	require.NoError(t, strict.FromPayload(own, &back))
	require.Equal(t, "mine", back)
	compressed.Require()
	require.NoError(t, compressed.FromPayload(plain, &back), "without keys there is nothing to require")
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte("x"), "binary/zlib")
	f.Fuzz(func(t *testing.T, data []byte, encoding string) {
		c, err := NewConverter(newKey("a", 1))
		require.NoError(t, err)
		var back any // whatever a server holds is an error at worst
		_ = c.FromPayload(&commonpb.Payload{Metadata: map[string][]byte{"encoding": []byte(encoding),
			"encryption-key-id": []byte("a")}, Data: data}, &back)
	})
}
