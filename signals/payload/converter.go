package payload

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"

	"github.com/temporal-codemode/codemode/signals"
)

// Converter keeps large values below Temporal's limits and, with keys, everything secret from whoever reads the
// server's database. Workers and clients of a runtime must have the same.
type Converter struct {
	converter.DataConverter
	codecs []converter.PayloadCodec
	secret bool
}

// NewConverter makes a converter around the SDK's default one. Without keys it only compresses.
func NewConverter(keys ...Key) (*Converter, error) {
	codecs := []converter.PayloadCodec{locked{}, compression{}}
	if len(keys) > 0 {
		e, err := newEncryption(keys)
		if err != nil {
			return nil, err
		}
		codecs[0] = e
	}
	return &Converter{
		DataConverter: converter.NewCodecDataConverter(converter.GetDefaultDataConverter(), codecs...), codecs: codecs,
		secret: len(keys) > 0,
	}, nil
}

// Configure gives a client the converter that the environment's keys make. One that the client has already stays.
func Configure(o *client.Options) (*Converter, error) {
	keys, err := ParseKeys(os.Getenv(KeysEnv))
	if err != nil {
		return nil, err
	}
	c, err := NewConverter(keys...)
	if err != nil {
		return nil, err
	}
	if o.DataConverter == nil {
		c.Use(o)
	}
	return c, nil
}

// Use gives a client this converter. With keys the texts of failures are encrypted too.
func (c *Converter) Use(o *client.Options) {
	o.DataConverter = c
	if c.secret {
		o.FailureConverter = temporal.NewDefaultFailureConverter(
			temporal.DefaultFailureConverterOptions{DataConverter: c, EncodeCommonAttributes: true})
	}
}

// Require refuses from now on to read what is not encrypted, so that nobody without the keys starts or decides
// anything. Without keys it changes nothing: see Secret.
func (c *Converter) Require() {
	if e, ok := c.codecs[0].(*encryption); ok {
		e.only = true
	}
}

// Secret reports whether payloads are encrypted.
func (c *Converter) Secret() bool { return c.secret }

// Reader reads what any Converter without keys wrote, beside what dc itself reads: a client with the SDK's default
// converter understands the large values of a worker that compresses them.
func Reader(dc converter.DataConverter) converter.DataConverter {
	if dc == nil {
		dc = converter.GetDefaultDataConverter()
	}
	if c, ok := dc.(*Converter); ok {
		return c
	}
	return reader{converter.NewCodecDataConverter(dc, locked{}, compression{})}
}

type reader struct{ converter.DataConverter }

// MaxValueBytes is how many bytes of UTF-8 one value may take through dc: all that a million units can, if it
// compresses.
func MaxValueBytes(dc converter.DataConverter) int {
	if _, ok := dc.(*Converter); ok {
		return 3 * signals.MaxValueUnits
	}
	return signals.MaxValueBytes
}

// Endpoint is the codec endpoint, /encode and /decode. Whoever may use it reads payloads.
type Endpoint struct {
	// Origins are those of the Web UIs that may use it.
	Origins []string
	// Token is what every request has to bring along. Without one the endpoint is for this machine: requests under
	// other names than its own are refused.
	Token string
}

// LeastToken is how many characters a token has at least, so that nobody guesses it.
const LeastToken = 24

// CheckAddress refuses an address at which others would reach the endpoint without a token.
func (e Endpoint) CheckAddress(address string) error {
	host, _, err := net.SplitHostPort(address)
	switch {
	case err != nil:
		return fmt.Errorf("%q is no address to listen on: %w", address, err)
	case e.Token != "" && len(e.Token) < LeastToken:
		return fmt.Errorf("the codec endpoint's token has fewer than %d characters: openssl rand -base64 %d makes one",
			LeastToken, LeastToken)
	case e.Token == "" && !thisMachine(host):
		return fmt.Errorf("the codec endpoint on %s would show payloads to everybody: serve it on 127.0.0.1, or set %s",
			address, TokenEnv)
	}
	return nil
}

// TokenEnv is the environment variable with the codec endpoint's token.
const TokenEnv = "CODEMODE_CODEC_TOKEN"

func thisMachine(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// refuses says why a request is not answered.
func (e Endpoint) refuses(r *http.Request) (status int, why string) {
	host, _, err := net.SplitHostPort(r.Host)
	if err != nil {
		host = r.Host
	}
	given := sha256.Sum256([]byte(r.Header.Get("Authorization")))
	wanted := sha256.Sum256([]byte("Bearer " + e.Token))
	switch {
	case e.Token == "" && !thisMachine(strings.Trim(host, "[]")):
		return http.StatusForbidden, fmt.Sprintf("the codec endpoint is not served under the name %q", host)
	case e.Token != "" && r.Method != http.MethodOptions && subtle.ConstantTimeCompare(given[:], wanted[:]) != 1:
		return http.StatusUnauthorized, "the codec endpoint wants its token"
	}
	return 0, ""
}

// Handler is the endpoint.
func (c *Converter) Handler(e Endpoint) http.Handler {
	codecs := slices.Clone(c.codecs)
	if strict, ok := codecs[0].(*encryption); ok { // people may see what a worker refuses
		lenient := *strict
		lenient.only = false
		codecs[0] = &lenient
	}
	codec := converter.NewPayloadCodecHTTPHandler(codecs...)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if status, why := e.refuses(r); status != 0 {
			http.Error(w, why, status)
			return
		}
		if origin := r.Header.Get("Origin"); origin != "" {
			if !slices.Contains(e.Origins, origin) {
				http.Error(w, fmt.Sprintf("origin %q may not use this codec endpoint", origin), http.StatusForbidden)
				return
			}
			w.Header().Set("Access-Control-Allow-Origin", origin)
			w.Header().Set("Access-Control-Allow-Headers", "Authorization,Content-Type,X-Namespace")
			w.Header().Set("Access-Control-Allow-Credentials", "true")
			w.Header().Add("Vary", "Origin")
		}
		if r.Method == http.MethodOptions {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxOpened)
		codec.ServeHTTP(w, r)
	})
}
