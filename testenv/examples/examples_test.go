package examples

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/temporal-codemode/codemode/sandbox/child"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"

	"github.com/temporal-codemode/codemode"
	"github.com/temporal-codemode/codemode/signals"
	"github.com/temporal-codemode/codemode/testenv/documents"
	"github.com/temporal-codemode/codemode/testenv/npm"
	"github.com/temporal-codemode/codemode/testenv/server"
	"github.com/temporal-codemode/codemode/worker/codemodeworker"
	"github.com/temporal-codemode/codemode/worker/config"
)

const folder = "../../examples"

var temporal client.Client

func TestMain(m *testing.M) {
	child.Main()
	s, err := server.Start(context.Background(), server.Options{})
	if err == nil {
		quiet := sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler))
		temporal, err = client.Dial(client.Options{HostPort: s.Address(), Logger: quiet})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	temporal.Close()
	s.Stop()
	os.Exit(code)
}

// example is one of them in a folder of its own, with a worker.
type example struct {
	t      *testing.T
	dir    string
	client *codemode.Client
	worker *codemodeworker.Worker
}

// copyOf copies an example, so that running it changes nothing here. Its npm packages are there if it wants them.
func copyOf(t *testing.T, name string) *example {
	t.Helper()
	root := t.TempDir()
	e := &example{t: t, dir: filepath.Join(root, name)}
	require.NoError(t, os.CopyFS(e.dir, os.DirFS(filepath.Join(folder, name))))
	return e
}

func (e *example) packages() *example {
	e.t.Helper()
	require.NoError(e.t,
		os.Symlink(filepath.Join(npm.Install(e.t, folder), "node_modules"),
			filepath.Join(filepath.Dir(e.dir), "node_modules")))
	return e
}

// serve starts a worker with the example's configuration.
func (e *example) serve() {
	e.t.Helper()
	cfg, err := config.Load(filepath.Join(e.dir, "codemode.yaml"))
	require.NoError(e.t, err)
	o, err := cfg.Options()
	require.NoError(e.t, err)
	o.Runtime = strings.ToLower(e.t.Name())
	e.worker, err = codemodeworker.New(e.t.Context(), temporal, o)
	require.NoError(e.t, err)
	for _, name := range e.worker.Connectors.Names() {
		require.NoError(e.t, e.worker.Connectors.Err(name))
	}
	require.NoError(e.t, e.worker.Start())
	e.t.Cleanup(e.worker.Stop)
	e.client, err = codemode.NewClient(temporal, codemode.ClientOptions{Runtime: o.Runtime})
	require.NoError(e.t, err)
}

func (e *example) context() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	e.t.Cleanup(cancel)
	return ctx
}

// run runs the program to its first outcome.
func (e *example) run() signals.Outcome {
	e.t.Helper()
	program, err := os.ReadFile(filepath.Join(e.dir, "program.ts"))
	require.NoError(e.t, err)
	o, err := e.client.Execute(e.context(), string(program), codemode.ExecuteOptions{})
	require.NoError(e.t, err)
	return o
}

func (e *example) approve(o signals.Outcome) signals.Outcome {
	e.t.Helper()
	require.Equal(e.t, signals.Paused, o.Status, o.Error)
	o, err := e.client.Approve(e.context(), o.ExecutionID, signals.Approve{By: "ada"})
	require.NoError(e.t, err)
	return o
}

func (e *example) completed(want string, o signals.Outcome) {
	e.t.Helper()
	require.Equal(e.t, signals.Completed, o.Status, o.Error)
	require.JSONEq(e.t, want, string(o.Result))
}

func TestFiles(t *testing.T) {
	e := copyOf(t, "files").packages()
	t.Setenv("MEMORY_FILE_PATH", filepath.Join(e.dir, "memory.jsonl"))
	e.serve()
	require.Empty(t, e.worker.Connectors.Warnings())
	o := e.run()
	require.Len(t, o.Pending, 1)
	require.Equal(t, "write_file", o.Pending[0].Method)
	require.NoFileExists(t, filepath.Join(e.dir, "data", "summary.txt"))
	e.completed(`{"files":1,"known":["Ada"]}`, e.approve(o))
	text, err := os.ReadFile(filepath.Join(e.dir, "data", "summary.txt"))
	require.NoError(t, err)
	require.Equal(t, "Ada was born in 1815.\n", string(text))

	undone, err := e.client.Rollback(e.context(), o.ExecutionID, signals.Rollback{By: "ada"})
	require.NoError(t, err)
	require.NotEmpty(t, undone.Reverted, undone.Failed)
	require.NoFileExists(t, filepath.Join(e.dir, "data", "summary.txt"))
	require.FileExists(t, filepath.Join(e.dir, "data", "summary.txt.undone"))
	memory, err := os.ReadFile(filepath.Join(e.dir, "memory.jsonl"))
	require.NoError(t, err)
	require.NotContains(t, string(memory), "Ada")

	again := e.run() // what the first rollback left there is in nobody's way
	e.completed(`{"files":2,"known":["Ada"]}`, e.approve(again))
	require.FileExists(t, filepath.Join(e.dir, "data", "summary-2.txt"))
	undone, err = e.client.Rollback(e.context(), again.ExecutionID, signals.Rollback{By: "ada"})
	require.NoError(t, err)
	require.NotEmpty(t, undone.Reverted, undone.Failed)
	require.Empty(t, undone.Failed)
	require.NoFileExists(t, filepath.Join(e.dir, "data", "summary-2.txt"))
}

func freeAddress(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	return l.Addr().String()
}

func TestStripe(t *testing.T) {
	document, err := documents.Stripe(t.Context())
	require.NoError(t, err)
	binary := filepath.Join(t.TempDir(), "stripe-mock")
	out, err := exec.Command("go", "build", "-o", binary, "github.com/stripe/stripe-mock").CombinedOutput()
	require.NoError(t, err, string(out))
	address := freeAddress(t)
	mock := exec.Command(binary, "-http-addr", address)
	require.NoError(t, mock.Start())
	t.Cleanup(func() { _ = mock.Process.Kill(); _ = mock.Wait() })
	require.Eventually(t, func() bool {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	}, time.Minute, 20*time.Millisecond)

	t.Setenv("STRIPE_DOCUMENT", document)
	t.Setenv("STRIPE_URL", "http://"+address)
	t.Setenv("STRIPE_KEY", "sk_test_123")
	e := copyOf(t, "stripe")
	e.serve()
	require.Len(t, e.worker.Connectors.Methods("stripe"), 594)
	o := e.run()
	require.Len(t, o.Pending, 1, "a small refund needs nobody")
	require.Equal(t, "PostRefunds", o.Pending[0].Method)
	e.completed(`{"customer":"customer","refunds":["refund","refund"]}`, e.approve(o))
	undone, err := e.client.Rollback(e.context(), o.ExecutionID, signals.Rollback{By: "ada"})
	require.NoError(t, err)
	require.NotEmpty(t, undone.Reverted, undone.Failed)
}

// githubExcerpt is as much of GitHub's document as the program needs, and what it must not get.
const githubExcerpt = `{"openapi":"3.0.3","info":{"title":"GitHub","version":"1"},"servers":[{"url":%q}],"paths":{
	"/repos/{owner}/{repo}/issues":{
		"parameters":[{"name":"owner","in":"path","required":true,"schema":{"type":"string"}},{"name":"repo","in":"path","required":true,"schema":{"type":"string"}}],
		"get":{"operationId":"issues/list-for-repo","parameters":[{"name":"state","in":"query","schema":{"type":"string"}},
			{"name":"per_page","in":"query","schema":{"type":"integer"}},{"name":"page","in":"query","schema":{"type":"integer"}}],"responses":{"200":{"description":"ok"}}},
		"post":{"operationId":"issues/create","responses":{"201":{"description":"ok"}}}},
	"/repos/secrets":{"get":{"operationId":"secret-scanning/list","responses":{"200":{"description":"ok"}}}}}}`

func TestGitHub(t *testing.T) {
	var seen []string
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.Header.Get("Authorization")+" "+r.URL.String())
		issues := []any{}
		for range 50 {
			issues = append(issues, map[string]any{"labels": []any{map[string]any{"name": "bug"}}})
		}
		if r.URL.Query().Get("page") == "2" {
			issues = issues[:3]
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(issues)
	}))
	t.Cleanup(web.Close)
	t.Setenv("GITHUB_TOKEN", "ghp_example")
	e := copyOf(t, "github")
	document := fmt.Appendf(nil, githubExcerpt, web.URL)
	require.NoError(t, os.WriteFile(filepath.Join(e.dir, "api.github.com.json"), document, 0o600))
	e.serve()
	require.Len(t, e.worker.Connectors.Methods("github"), 1, "one reads; one writes and one is hidden")
	e.completed(`{"bug":53}`, e.run())
	require.Equal(t, []string{
		"Bearer ghp_example /repos/temporalio/sdk-go/issues?state=open&per_page=50&page=1",
		"Bearer ghp_example /repos/temporalio/sdk-go/issues?state=open&per_page=50&page=2",
	}, seen)
}
