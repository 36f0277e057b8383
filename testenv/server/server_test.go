package server_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/persistence/sql/sqlplugin/sqlite"
	sqliteschema "go.temporal.io/server/schema/sqlite"

	"github.com/temporal-codemode/codemode/testenv/server"
)

const (
	taskQueue = "greetings"
	// crashDB makes the test binary a server on that file, for a test to kill.
	crashDB = "CODEMODE_TEST_CRASH_DB"
)

var runtimeKey = temporal.NewSearchAttributeKeyKeyword("CodemodeRuntime")

func greet(ctx workflow.Context, name string) (string, error) {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: time.Minute})
	var greeting string
	err := workflow.ExecuteActivity(ctx, compose, name).Get(ctx, &greeting)
	return greeting, err
}

func compose(_ context.Context, name string) (string, error) { return "hello " + name, nil }

// longLived waits for its one update.
func longLived(ctx workflow.Context) (string, error) {
	answer := ""
	err := workflow.SetUpdateHandler(ctx, "answer", func(_ workflow.Context, text string) error {
		answer = text
		return nil
	})
	if err != nil {
		return "", err
	}
	return answer, workflow.Await(ctx, func() bool { return answer != "" })
}

func TestMain(m *testing.M) {
	if db := os.Getenv(crashDB); db != "" {
		serveUntilKilled(db)
	}
	os.Exit(m.Run())
}

func serveUntilKilled(db string) {
	s, err := server.Start(context.Background(), server.Options{DB: db})
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	fmt.Println(s.Address())
	select {}
}

func start(t *testing.T, opts server.Options) *server.Server {
	t.Helper()
	s, err := server.Start(t.Context(), opts)
	require.NoError(t, err)
	t.Cleanup(s.Stop)
	return s
}

func dial(t *testing.T, address, namespace string) client.Client {
	t.Helper()
	quiet := sdklog.NewStructuredLogger(slog.New(slog.NewTextHandler(io.Discard, nil)))
	c, err := client.Dial(client.Options{HostPort: address, Namespace: namespace, Logger: quiet})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

func work(t *testing.T, c client.Client) worker.Worker {
	t.Helper()
	w := worker.New(c, taskQueue, worker.Options{})
	w.RegisterWorkflow(greet)
	w.RegisterWorkflow(longLived)
	w.RegisterActivity(compose)
	require.NoError(t, w.Start())
	return w
}

func run(t *testing.T, c client.Client, id string) {
	t.Helper()
	handle, err := c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{
		ID:                    id,
		TaskQueue:             taskQueue,
		TypedSearchAttributes: temporal.NewSearchAttributes(runtimeKey.ValueSet("default")),
	}, greet, "world")
	require.NoError(t, err)
	var greeting string
	require.NoError(t, handle.Get(t.Context(), &greeting))
	require.Equal(t, "hello world", greeting)
}

func requireListed(t *testing.T, c client.Client, id string) {
	t.Helper()
	require.Eventually(t, func() bool {
		found, err := c.ListWorkflow(t.Context(), &workflowservice.ListWorkflowExecutionsRequest{
			Query: "CodemodeRuntime = 'default'",
		})
		return err == nil && len(found.Executions) == 1 && found.Executions[0].Execution.WorkflowId == id
	}, 5*time.Second, 10*time.Millisecond)
}

func TestRunsAndListsAWorkflow(t *testing.T) {
	s := start(t, server.Options{})
	require.Empty(t, s.UIURL())
	c := dial(t, s.Address(), "default")
	w := work(t, c)
	defer w.Stop()

	run(t, c, "greeting-1")
	requireListed(t, c, "greeting-1")
}

func TestStopFreesThePorts(t *testing.T) {
	s, err := server.Start(t.Context(), server.Options{UIPort: server.FreePort})
	require.NoError(t, err)
	ui := s.UIURL()[len("http://"):]
	c := dial(t, s.Address(), "default")
	w := work(t, c)
	defer w.Stop()

	s.Stop()
	s.Stop()

	for _, address := range []string{s.Address(), ui} {
		l, err := net.Listen("tcp", address)
		require.NoError(t, err)
		require.NoError(t, l.Close())
	}
}

func TestDatabaseFileOutlivesTheServer(t *testing.T) {
	opts := server.Options{DB: filepath.Join(t.TempDir(), "temporal.db")}
	first := start(t, opts)
	c := dial(t, first.Address(), "default")
	_, err := c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: "waiting", TaskQueue: taskQueue},
		longLived)
	require.NoError(t, err)
	first.Stop()

	c = dial(t, start(t, opts).Address(), "default")
	w := work(t, c)
	defer w.Stop()
	_, err = c.UpdateWorkflow(t.Context(), client.UpdateWorkflowOptions{
		WorkflowID: "waiting", UpdateName: "answer", Args: []any{"yes"},
		WaitForStage: client.WorkflowUpdateStageCompleted,
	})
	require.NoError(t, err)
	require.NoError(t, c.GetWorkflow(t.Context(), "waiting", "").Get(t.Context(), nil))
	run(t, c, "greeting-2")
	requireListed(t, c, "greeting-2")
}

func TestDatabaseFileOutlivesAKilledProcess(t *testing.T) {
	db := filepath.Join(t.TempDir(), "temporal.db")
	process := exec.Command(os.Args[0])
	process.Env = append(os.Environ(), crashDB+"="+db)
	output, err := process.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, process.Start())
	t.Cleanup(func() { _ = process.Process.Kill() })
	address, err := bufio.NewReader(output).ReadString('\n')
	require.NoError(t, err)

	c := dial(t, strings.TrimSpace(address), "default")
	_, err = c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: "survivor", TaskQueue: taskQueue},
		greet, "world")
	require.NoError(t, err)
	require.NoError(t, process.Process.Kill())
	require.Error(t, process.Wait())

	c = dial(t, start(t, server.Options{DB: db}).Address(), "default")
	w := work(t, c)
	defer w.Stop()
	require.NoError(t, c.GetWorkflow(t.Context(), "survivor", "").Get(t.Context(), nil))
}

func TestUpdateWithStart(t *testing.T) {
	c := dial(t, start(t, server.Options{}).Address(), "default")
	w := work(t, c)
	defer w.Stop()

	_, err := c.UpdateWithStartWorkflow(t.Context(), client.UpdateWithStartWorkflowOptions{
		StartWorkflowOperation: c.NewWithStartWorkflowOperation(client.StartWorkflowOptions{
			ID: "asked", TaskQueue: taskQueue, WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_FAIL,
		}, longLived),
		UpdateOptions: client.UpdateWorkflowOptions{
			UpdateName: "answer", Args: []any{"yes"}, WaitForStage: client.WorkflowUpdateStageCompleted,
		},
	})
	require.NoError(t, err)
}

func TestNamespaceKeepsThirtyDays(t *testing.T) {
	c := dial(t, start(t, server.Options{Namespace: "team"}).Address(), "team")
	answer, err := c.WorkflowService().DescribeNamespace(t.Context(),
		&workflowservice.DescribeNamespaceRequest{Namespace: "team"})
	require.NoError(t, err)
	require.Equal(t, 30*24*time.Hour, answer.Config.WorkflowExecutionRetentionTtl.AsDuration())
}

// TestForeignDatabase opens a file as another dev server leaves it: the namespace there, our search attributes not.
func TestForeignDatabase(t *testing.T) {
	db := filepath.Join(t.TempDir(), "foreign.db")
	store := &config.SQL{
		PluginName: sqlite.PluginName, DatabaseName: db, ConnectAttributes: map[string]string{"mode": "rwc"},
	}
	require.NoError(t, sqliteschema.SetupSchema(store))
	namespace, err := sqliteschema.NewNamespaceConfig("active", "default", false, nil)
	require.NoError(t, err)
	require.NoError(t, sqliteschema.CreateNamespaces(store, namespace))

	c := dial(t, start(t, server.Options{DB: db}).Address(), "default")
	w := work(t, c)
	defer w.Stop()
	run(t, c, "greeting-3")
	requireListed(t, c, "greeting-3")
}

func TestPortInUse(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = l.Close() }()
	port := l.Addr().(*net.TCPAddr).Port

	for use, opts := range map[string]server.Options{
		"Temporal":            {Address: l.Addr().String()},
		"the Temporal Web UI": {UIPort: port},
	} {
		_, err := server.Start(t.Context(), opts)
		require.ErrorContains(t, err, "port "+strconv.Itoa(port)+" on 127.0.0.1, wanted for "+use)
		require.ErrorContains(t, err, "choose another port")
	}
}

func TestRefusesWhatItCannotServe(t *testing.T) {
	for _, c := range []struct {
		opts server.Options
		want string
	}{
		{server.Options{Address: "0.0.0.0:7233"}, "listens on loopback only"},
		{server.Options{Address: "example.com:7233"}, "listens on loopback only"},
		{server.Options{Address: "7233"}, "want host:port"},
		{server.Options{Address: "127.0.0.1:http"}, "must be a number"},
		{server.Options{UIPort: -2}, "web UI port -2"},
		{server.Options{DB: filepath.Join(t.TempDir(), "missing", "temporal.db")}, "missing"},
	} {
		_, err := server.Start(t.Context(), c.opts)
		require.ErrorContains(t, err, c.want)
	}
}

func TestWebUI(t *testing.T) {
	s := start(t, server.Options{Address: "localhost:0", UIPort: server.FreePort})
	for _, path := range []string{"/", "/namespaces/default/workflows", "/api/v1/namespaces/default"} {
		response, err := http.Get(s.UIURL() + path)
		require.NoError(t, err)
		body, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		require.Equal(t, http.StatusOK, response.StatusCode, path)
		require.NotEmpty(t, body)
	}
}
