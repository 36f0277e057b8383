package connectors

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// largeDocuments names a folder with documents that are too large to be kept
// here, such as GitHub's, Stripe's and Kubernetes'.
const largeDocuments = "OPENAPI_DOCUMENTS"

func TestOpenAPILargeDocuments(t *testing.T) {
	folder := os.Getenv(largeDocuments)
	if folder == "" {
		t.Skip("set " + largeDocuments + " to a folder of OpenAPI documents")
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	require.NoError(t, err)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) { measure(t, file) })
	}
}

func heap() float64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc) / (1 << 20)
}

func measure(t *testing.T, file string) {
	before, began := heap(), time.Now()
	c := OpenAPI("api", OpenAPIOptions{Document: file, BaseURL: "http://127.0.0.1:1"}).(LazyConnector)
	methods, err := c.LazyMethods(t.Context())
	require.NoError(t, err)
	took := time.Since(began)
	t.Logf("%d operations listed in %v, %.1f MB kept", len(methods), took.Round(time.Millisecond), heap()-before)

	began = time.Now()
	var input, output, most int
	for _, m := range methods {
		in, out := m.Schemas()
		input, output = input+len(in), output+len(out)
		most = max(most, len(in), len(out))
	}
	t.Logf("all schemas in %v: %.1f MB in, %.1f MB out, the largest %d kB; %.1f MB kept",
		time.Since(began).Round(time.Millisecond), float64(input)/1e6, float64(output)/1e6, most/1000, heap()-before)

	began = time.Now()
	slowest := time.Duration(0)
	unusable := 0
	for _, m := range methods {
		each := time.Now()
		in, out := m.Schemas()
		for _, raw := range [][]byte{in, out} {
			if _, err := compileSchema(raw); err != nil {
				unusable++
				if unusable < 5 {
					t.Logf("%s: %v", m.Name, err)
				}
			}
		}
		slowest = max(slowest, time.Since(each))
	}
	assert.Zero(t, unusable)
	t.Logf("all compiled in %v, the slowest in %v", time.Since(began).Round(time.Millisecond), slowest.Round(time.Millisecond))
	began = time.Now()
	warnings := c.(Warner).Warnings()
	t.Logf("%d warnings in %v", len(warnings), time.Since(began).Round(time.Millisecond))
	for _, w := range warnings[:min(len(warnings), 10)] {
		t.Log(w)
	}
	began = time.Now()
	before = heap()
	eager, err := c.Methods(t.Context())
	require.NoError(t, err)
	t.Logf("all methods with schemas in %v, %.1f MB", time.Since(began).Round(time.Millisecond), heap()-before)
	runtime.KeepAlive(eager)
	runtime.KeepAlive(methods)
}
