package payload

import (
	"fmt"
	"net/http"
	"os"
	"slices"

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

// Handler is the codec endpoint, /encode and /decode, for Web UIs of these origins. Whoever reaches it reads payloads.
func (c *Converter) Handler(origins []string) http.Handler {
	codec := converter.NewPayloadCodecHTTPHandler(c.codecs...)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if origin := r.Header.Get("Origin"); origin != "" {
			if !slices.Contains(origins, origin) {
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
