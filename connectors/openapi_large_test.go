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
	c := OpenAPI("api", OpenAPIOptions{Document: file, BaseURL: "http://127.0.0.1:1"})
	large, err := c.(LargeConnector).Large(t.Context())
	require.NoError(t, err)
	took := time.Since(began)
	t.Logf("%d operations listed in %v, %.1f MB kept", len(large.Methods), took.Round(time.Millisecond), heap()-before)

	began = time.Now()
	defs := large.Definitions()
	t.Logf("definitions: %.1f MB in %v; %.1f MB kept", float64(len(defs))/1e6, time.Since(began).Round(time.Millisecond), heap()-before)

	began = time.Now()
	size := 0
	for _, m := range large.Methods {
		size += len(m.Arguments())
	}
	t.Logf("schemas of all arguments: %.1f MB in %v", float64(size)/1e6, time.Since(began).Round(time.Millisecond))
	began = time.Now()
	warnings := c.(Warner).Warnings()
	t.Logf("%d warnings in %v", len(warnings), time.Since(began).Round(time.Millisecond))
	for _, w := range warnings[:min(len(warnings), 3)] {
		t.Log(w)
	}
	began, before = time.Now(), heap()
	methods, err := c.Methods(t.Context())
	require.NoError(t, err)
	t.Logf("methods with complete schemas in %v, %.1f MB", time.Since(began).Round(time.Millisecond), heap()-before)
	began = time.Now()
	for _, m := range methods {
		for _, raw := range [][]byte{m.InputSchema, m.OutputSchema} {
			_, err := compileSchema(raw)
			assert.NoError(t, err, m.Name)
		}
	}
	t.Logf("all compiled in %v", time.Since(began).Round(time.Millisecond))
	runtime.KeepAlive(large)
}
