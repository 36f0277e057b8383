package cli

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"github.com/temporal-codemode/codemode"
	"github.com/temporal-codemode/codemode/signals"
)

// configure runs a worker that should not start, in a directory of its own.
func configure(t *testing.T, config string, env ...string) result {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "codemode.yaml"), []byte(config), 0o600))
	cmd := command("worker")
	cmd.Dir = dir
	cmd.Env = append(cmd.Env, env...)
	return finish(t, cmd, "")
}

func TestWorkerRefusesConfig(t *testing.T) {
	for name, c := range map[string]struct{ config, want string }{
		"unknown key": {"runtime: default\nconectors: {}\n",
			"codemode.yaml:2: unknown key \"conectors\"; did you mean \"connectors\"?\n"},
		"missing variable": {"connectors:\n  c:\n    mcp:\n      command: x\n      env: { TOKEN: " +
			"\"${NO_SUCH_VARIABLE}\" }\n", "codemode.yaml:5: environment variable NO_SUCH_VARIABLE is not set\n"},
		"two mistakes": {"runtime: 1\nlimits: 2\n",
			"codemode.yaml:1: \"runtime\" must be text, but is 1; put it in quotes\ncodemode.yaml:2: \"limits\" " +
				"must be a mapping, but is 2\n"},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, result{2, "", c.want}, configure(t, c.config))
		})
	}
}

func TestWorkerRefusesRulesThatItsToolsRefuse(t *testing.T) {
	config := strings.Replace(trackerConfig("default", filepath.Join(t.TempDir(), "s.json")), "delete_issue, args",
		"remove_issue, args", 1)
	r := configure(t, config)
	require.Equal(t, 2, r.code, r.stderr)
	require.Contains(t, r.stderr,
		`connector "tracker" has no tool "remove_issue", which a rule names to undo "create_issue"`)
}

func TestWorkerUsage(t *testing.T) {
	r := finish(t, command("worker", "--bogus"), "")
	require.Equal(t, result{2, "",
		"flag provided but not defined: -bogus: the worker takes only --codec-addr, --codec-origins, --config, " +
			"--metrics-addr, --version\n"}, r)
	r = finish(t, command("worker", "--config", "/no/such/file.yaml"), "")
	require.Equal(t, result{2,
		"", "read the configuration: open /no/such/file.yaml: no such file or directory: name it with --config FILE\n"},
		r)
	r = configure(t, "", "CODEMODE_LOG=loud")
	require.Equal(t, result{2, "", "CODEMODE_LOG is \"loud\": use debug, info, warn or error\n"}, r)
	r = configure(t, "", "CODEMODE_ENCRYPTION_KEYS=short")
	require.Equal(t, result{2,
		"", "CODEMODE_ENCRYPTION_KEYS: key 1 is not ID:BASE64 of 32 bytes: make one with  openssl rand -base64 32\n"},
		r)
	r = configure(t, "encryption: { required: true }")
	require.Equal(t, result{2, "",
		"encryption is required, and there are no keys: set CODEMODE_ENCRYPTION_KEYS=ID:BASE64, made with  openssl " +
			"rand -base64 32\n"}, r)
	r = configure(t, "", "TEMPORAL_DEPLOYMENT_NAME=alone")
	require.Equal(t, result{2,
		"", "a versioned worker needs both TEMPORAL_DEPLOYMENT_NAME and TEMPORAL_WORKER_BUILD_ID\n"}, r)
	r = configure(t, "", "TEMPORAL_PROFILE=nowhere")
	require.Equal(t, result{2,
		"", "read how to reach Temporal from the environment: unable to find profile nowhere in config data\n"}, r)
	r = finish(t, command("worker", "--help"), "")
	require.Equal(t, 0, r.code)
	require.Contains(t, r.stdout, "codemode.yaml")
}

// closedPort is an address on which nobody listens.
func closedPort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	return l.Addr().String()
}

// silentPort is an address that takes connections and never answers.
func silentPort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	return l.Addr().String()
}

func TestNoServer(t *testing.T) {
	for name, at := range map[string]string{"refused": closedPort(t), "silent": silentPort(t)} {
		t.Run(name, func(t *testing.T) {
			want := "no Temporal server can be reached at " +
				at + ": start one (temporal server start-dev) or say where it is with TEMPORAL_ADDRESS: "
			r := configure(t, "", "TEMPORAL_ADDRESS="+at)
			require.Equal(t, 5, r.code)
			require.Contains(t, r.stderr, want)
			began := time.Now()
			cmd := command("starter", "run", "-", "--json", "--id", "x")
			cmd.Env = append(cmd.Env, "TEMPORAL_ADDRESS="+at)
			r = finish(t, cmd, "return 1")
			require.Less(t, time.Since(began), 10*time.Second)
			require.Equal(t, 5, r.code)
			require.Contains(t, r.stderr, want)
			o := decode[signals.Outcome](t, r)
			require.Equal(t, signals.Failed, o.Status)
			require.Equal(t, "x", o.ExecutionID)
			require.Contains(t, o.Error, want)
		})
	}
}

func TestNoServerForEveryVerb(t *testing.T) {
	at := closedPort(t)
	for verb, document := range map[string]string{
		"approve x": `"status":"error","executionId":"x"`, "wait x": `"status":"error","executionId":"x"`,
		"reject x": "false\n", "cancel x": "false\n", "pending": "[]\n", "list": "[]\n", "show x": "null\n",
	} {
		cmd := command("starter", append(strings.Fields(verb), "--json")...)
		cmd.Env = append(cmd.Env, "TEMPORAL_ADDRESS="+at)
		r := finish(t, cmd, "")
		require.Equal(t, 5, r.code, verb)
		require.Contains(t, r.stdout, document, verb)
		decode[any](t, r)
	}
}

func TestNoNamespace(t *testing.T) {
	want := "the Temporal server at " + address +
		" has no namespace \"nowhere\": create it (temporal operator namespace create --namespace nowhere)" +
		" or choose another with TEMPORAL_NAMESPACE\n"
	require.Equal(t, result{5, "", want}, configure(t, "", "TEMPORAL_NAMESPACE=nowhere"))
	cmd := command("starter", "list")
	cmd.Env = append(cmd.Env, "TEMPORAL_NAMESPACE=nowhere")
	require.Equal(t, result{5, "", "error: " + want}, finish(t, cmd, ""))
}

func TestNoWorker(t *testing.T) {
	id, runtime := fresh("alone"), fresh("lonely")
	o := run(t, 5, "return 1", "--runtime", runtime, "--id", id)
	require.Equal(t, signals.Running, o.Status)
	require.Equal(t, id, o.ExecutionID)
	require.Equal(t, `no worker polls task queue "codemode-`+runtime+
		`": start one (codemode-worker --config codemode.yaml); execution "`+id+`" goes on as soon as it runs`, o.Error)
	require.Equal(t, signals.Running, outcome(t, 5, "wait", id, "--runtime", runtime).Status)
	require.Equal(t, signals.Running, outcome(t, 5, "approve", id, "--runtime", runtime).Status)
	r := starter(t, "", "show", id, "--runtime", runtime, "--json")
	require.Equal(t, 0, r.code, "records need no worker: %s", r.stderr)
	require.Equal(t, signals.Running, decode[signals.Record](t, r).Status)
	worker(t, "runtime: "+runtime)
	require.Equal(t, `1`, string(outcome(t, 0, "wait", id, "--runtime", runtime).Result))
}

func TestUsage(t *testing.T) {
	for args, document := range map[string]string{
		"":                                   "",
		"bogus":                              "",
		"run":                                `"status":"error"`,
		"run a b":                            `"status":"error"`,
		"run no-such-file":                   `"status":"error"`,
		"run - --id /":                       `"status":"error"`,
		"run - --timeout -1s":                `"status":"error"`,
		"run - --timeout soon":               `"status":"error"`,
		"approve":                            `"status":"error"`,
		"approve x --seq one":                `"status":"error"`,
		"approve x --seq=-1":                 `"status":"error"`,
		"approve x --args {":                 `"status":"error"`,
		"approve x --args 1 --seq 1 --seq 2": `"status":"error"`,
		"wait x --after -1":                  `"status":"error"`,
		"reject":                             "false\n",
		"reject x --seq=-1":                  "false\n",
		"cancel a b":                         "false\n",
		"pending a b":                        "[]\n",
		"list --limit 0":                     "[]\n",
		"list --status done":                 "[]\n",
		"list --runtime a/b":                 "[]\n",
		"show":                               "null\n",
		"show x --bogus":                     "null\n",
		"doctor x":                           "[]\n",
	} {
		t.Run(args, func(t *testing.T) {
			r := starter(t, "", append(strings.Fields(args), "--json")...)
			require.Equal(t, 2, r.code, r.stderr)
			require.Contains(t, r.stdout, document)
			decode[any](t, r)
			require.Contains(t, r.stderr, "error: ")
			plain := starter(t, "", strings.Fields(args)...)
			require.Equal(t, 2, plain.code)
			require.Empty(t, plain.stdout)
		})
	}
}

func TestStaleDigest(t *testing.T) {
	id := fresh("stale")
	o := run(t, 3, create(id), "--id", id)
	tc, err := client.Dial(client.Options{HostPort: address})
	require.NoError(t, err)
	defer tc.Close()
	c, err := codemode.NewClient(tc, codemode.ClientOptions{})
	require.NoError(t, err)
	verdict, err := c.Decide(context.Background(), id, signals.Approve{Seqs: []int{0}, ArgsDigest: "0123456789abcdef"})
	require.NoError(t, err)
	require.False(t, verdict.Accepted)
	require.Equal(t, `argsDigest "0123456789abcdef" is stale: tracker.create_issue (seq 0) is pending with "`+
		o.Pending[0].ArgsDigest+`"; look at its arguments again.`, verdict.Error)
	require.Equal(t, 0, effects(t, id))
	require.Equal(t, 0, starter(t, "", "approve", id).code, "the starter sends the digest that it saw")
}

func TestWorkerReadyAndStop(t *testing.T) {
	config := trackerConfig("ready", filepath.Join(t.TempDir(), "s.json")) +
		"  broken:\n    mcp: { command: ./no-such-server }\n"
	w := worker(t, config)
	require.Equal(t, "worker ready: runtime ready, task queue codemode-ready, connectors tracker (5 methods), "+
		"broken (not available)", w.ready)
	require.NoError(t, w.stop(), "exit 0")
	require.True(t, w.stderr.contains("level=WARN msg="))
	require.True(t, w.stderr.contains("no-such-server"))
	require.False(t, w.stderr.contains("\x1b"))
}
