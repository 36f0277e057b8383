package cli

import (
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/temporal-codemode/codemode/signals"
)

// checked is one line of what doctor says.
func checked(t *testing.T, code int, name string, env []string, args ...string) check {
	t.Helper()
	cmd := command("starter", append([]string{"doctor", "--json"}, args...)...)
	cmd.Env = append(cmd.Env, env...)
	r := finish(t, cmd, "")
	require.Equal(t, code, r.code, r.stdout+r.stderr)
	list := decode[[]check](t, r)
	at := slices.IndexFunc(list, func(c check) bool { return c.Check == name })
	require.GreaterOrEqual(t, at, 0, r.stdout)
	return list[at]
}

// tracked starts a worker with the tracker for one test.
func tracked(t *testing.T, runtime string, env ...string) *workerProcess {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "codemode.yaml")
	require.NoError(t, os.WriteFile(path, []byte(trackerConfig(runtime, filepath.Join(dir, "state"))), 0o600))
	w, err := startWorker(path, env...)
	require.NoError(t, err)
	t.Cleanup(func() { _ = w.stop() })
	return w
}

func with(cmd *exec.Cmd, env ...string) *exec.Cmd {
	cmd.Env = append(cmd.Env, env...)
	return cmd
}

func keysVariable(ids ...string) string {
	var keys []string
	for _, id := range ids {
		secret := [32]byte{}
		copy(secret[:], id)
		keys = append(keys, id+":"+base64.StdEncoding.EncodeToString(secret[:]))
	}
	return "CODEMODE_ENCRYPTION_KEYS=" + strings.Join(keys, ",")
}

func TestDoctorFindsLostKeys(t *testing.T) {
	const runtime = "keys"
	const asks = `return await tracker.create_issue({title: "x"})`
	w := tracked(t, runtime, keysVariable("one"))
	r := finish(t, with(command("starter", "run", "-", "--runtime", runtime), keysVariable("one")), asks)
	require.Equal(t, 3, r.code, r.stderr)

	well := checked(t, 0, "keys", []string{keysVariable("one")}, "--runtime", runtime)
	require.True(t, well.OK, well.Detail)
	require.Contains(t, well.Detail, `worker and command share key "one"`)

	none := checked(t, 1, "keys", nil, "--runtime", runtime)
	require.False(t, none.OK)
	require.Contains(t, none.Detail, "this command cannot read what the worker writes: ")
	require.Contains(t, none.Fix, "CODEMODE_ENCRYPTION_KEYS")

	ahead := checked(t, 1, "keys", []string{keysVariable("two", "one")}, "--runtime", runtime)
	require.False(t, ahead.OK)
	require.Contains(t, ahead.Detail, `the worker cannot read what this command writes: `)
	require.Contains(t, ahead.Detail, `encrypted with key "two"`)

	require.NoError(t, w.stop())
	tracked(t, runtime, keysVariable("three"))
	lost := checked(t, 1, "keys", []string{keysVariable("three")}, "--runtime", runtime)
	require.False(t, lost.OK)
	require.Contains(t, lost.Detail, `1 of the 1 newest open executions cannot be read: `)
	require.Contains(t, lost.Detail, `key "one"`)

	half := checked(t, 1, "keys", []string{keysVariable("three", "one")}, "--runtime", runtime)
	require.False(t, half.OK)
	require.Contains(t, half.Detail, `the worker cannot read 1 of the 1 newest open executions: it lacks key "one"`)
}

func TestDoctorMissesTheCurrentVersion(t *testing.T) {
	const runtime = "versioned"
	tracked(t, runtime, "TEMPORAL_DEPLOYMENT_NAME=shop", "TEMPORAL_WORKER_BUILD_ID=b1")
	var found check
	require.Eventually(t, func() bool { // the server learns of the deployment a moment later
		found = checked(t, 5, "worker", nil, "--runtime", runtime)
		return strings.Contains(found.Detail, "build b1")
	}, 30*time.Second, 10*time.Millisecond)
	require.Equal(t, check{"worker", false, "task queue codemode-versioned is polled by build b1 of deployment shop, " +
		"which is not the current version: nothing new runs",
		"temporal worker deployment set-current-version --deployment-name shop --build-id b1"}, found)

	makeCurrent(t, "shop", "b1")
	require.Eventually(t, func() bool {
		r := starter(t, "", "doctor", "--runtime", runtime)
		return r.code == 0 && strings.Contains(r.stdout, "✓ builds: every open execution has a worker of its build")
	}, 30*time.Second, 10*time.Millisecond)
}

// TestDoctorKnowsTheRuntimeOfAConfiguration: that is the one whose workers and queues count.
func TestDoctorKnowsTheRuntimeOfAConfiguration(t *testing.T) {
	path := filepath.Join(t.TempDir(), "codemode.yaml")
	require.NoError(t, os.WriteFile(path, []byte("runtime: elsewhere"), 0o600))
	require.Contains(t, checked(t, 5, "worker", nil, "--config", path).Detail,
		"task queue codemode-elsewhere is polled by nobody")
	require.Contains(t, checked(t, 0, "worker", nil, "--config", path, "--runtime", "default").Detail,
		"task queue codemode-default is polled")
}

// TestNamespaces: search attributes are those of the namespace that is used, and deleting there comes to an end.
func TestNamespaces(t *testing.T) {
	c, err := client.NewNamespaceClient(client.Options{HostPort: address})
	require.NoError(t, err)
	defer c.Close()
	require.NoError(t, c.Register(t.Context(), &workflowservice.RegisterNamespaceRequest{Namespace: "elsewhere",
		WorkflowExecutionRetentionPeriod: durationpb.New(24 * time.Hour)}))
	env := "TEMPORAL_NAMESPACE=elsewhere"
	require.Eventually(t, func() bool { // the server knows it a moment later
		return finish(t, with(command("starter", "list"), env), "").code == 0
	}, time.Minute, 50*time.Millisecond)
	require.Equal(t, check{"search attributes", false, "CodemodeRuntime, CodemodeStatus missing: lists are slower",
		"start a worker that may add them, or: temporal operator search-attribute create --namespace elsewhere " +
			"--name CodemodeRuntime --type Keyword --name CodemodeStatus --type Keyword"},
		checked(t, 5, "search attributes", []string{env}))
	tracked(t, "default", env)
	require.True(t, checked(t, 0, "search attributes", []string{env}).OK)
	r := finish(t, with(command("starter", "run", "-", "--json"), env), `return 1`)
	require.Equal(t, 0, r.code, r.stdout)
	id := decode[signals.Outcome](t, r).ExecutionID
	r = finish(t, with(command("starter", "delete", id), env), "")
	require.Equal(t, 0, r.code, fmt.Sprint(r))
	require.Equal(t, 4, finish(t, with(command("starter", "show", id), env), "").code)
}

// TestDoctorMissesAPinnedBuild: what waits for a person waits for the build that it began on, too. A worker counts as
// gone some seconds after its last poll could have ended.
func TestDoctorMissesAPinnedBuild(t *testing.T) {
	t.Parallel()
	const runtime, deployment = "pinned", "TEMPORAL_DEPLOYMENT_NAME=pinned"
	w := tracked(t, runtime, deployment, "TEMPORAL_WORKER_BUILD_ID=b1")
	makeCurrent(t, runtime, "b1")
	r := starter(t, `return await tracker.create_issue({title: "x"})`, "run", "-", "--runtime", runtime)
	require.Equal(t, 3, r.code, r.stderr)
	require.NoError(t, w.stop())
	tracked(t, runtime, deployment, "TEMPORAL_WORKER_BUILD_ID=b2")
	makeCurrent(t, runtime, "b2")
	require.Eventually(t, func() bool {
		r := starter(t, "", "doctor", "--runtime", runtime)
		return r.code == 5 && strings.Contains(r.stdout,
			"✗ builds: 1 open executions wait for build b1 of deployment pinned, which has no worker\n")
	}, 3*time.Minute, time.Second)
}

func makeCurrent(t *testing.T, deployment, build string) {
	t.Helper()
	c, err := client.Dial(client.Options{HostPort: address})
	require.NoError(t, err)
	defer c.Close()
	require.Eventually(t, func() bool {
		_, err := c.WorkerDeploymentClient().GetHandle(deployment).SetCurrentVersion(t.Context(),
			client.WorkerDeploymentSetCurrentVersionOptions{BuildID: build})
		return err == nil
	}, 30*time.Second, 10*time.Millisecond)
}
