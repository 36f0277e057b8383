package cli

import (
	"testing"

	"github.com/stretchr/testify/require"
)

type check struct {
	Check  string `json:"check"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
	Fix    string `json:"fix"`
}

func doctor(t *testing.T, code int, env []string, args ...string) []check {
	t.Helper()
	cmd := command("starter", append([]string{"doctor", "--json"}, args...)...)
	cmd.Env = append(cmd.Env, env...)
	r := finish(t, cmd, "")
	require.Equal(t, code, r.code, r.stdout+r.stderr)
	list := decode[[]check](t, r)
	require.Equal(t, "sandbox", list[len(list)-1].Check) // what it finds is up to this host
	return list[:len(list)-1]
}

func TestDoctorFindsAllWell(t *testing.T) {
	list := doctor(t, 0, nil)
	for _, c := range list {
		require.True(t, c.OK, c.Detail)
		require.Empty(t, c.Fix)
	}
	require.Regexp(t, `^`+address+`, namespace default, version \d+\.\d+`, list[0].Detail)
	require.Equal(t, check{"search attributes", true, "CodemodeRuntime, CodemodeStatus", ""}, list[1])
	require.Equal(t, check{"worker", true, "task queue codemode-default is polled", ""}, list[2])
	require.Equal(t, "keys", list[3].Check)
	require.Contains(t, list[3].Detail, "payloads are not encrypted")
	require.Regexp(t, "^✓ server: .*\n✓ search attributes: .*\n✓ worker: .*\n", text(t, 0, "doctor"))
}

func TestDoctorMissesTheWorker(t *testing.T) {
	list := doctor(t, 5, nil, "--runtime", "nobody")
	require.True(t, list[0].OK)
	require.Equal(t, check{"worker", false, "task queue codemode-nobody is polled by nobody",
		"start a worker: codemode-worker --config codemode.yaml (with runtime: nobody)"}, list[2])
	require.Contains(t, text(t, 5, "doctor", "--runtime", "nobody"),
		"✗ worker: task queue codemode-nobody is polled by nobody\n  → start a worker: codemode-worker --config "+
			"codemode.yaml (with runtime: nobody)\n")
}

func TestDoctorMissesTheServer(t *testing.T) {
	at := closedPort(t)
	list := doctor(t, 5, []string{"TEMPORAL_ADDRESS=" + at})
	require.Contains(t, list[0].Detail, at+" cannot be reached: ")
	require.Equal(t, "start one (temporal server start-dev) or set TEMPORAL_ADDRESS", list[0].Fix)
	for _, c := range list {
		require.False(t, c.OK)
	}
}

func TestDoctorMissesTheNamespace(t *testing.T) {
	list := doctor(t, 5, []string{"TEMPORAL_NAMESPACE=nowhere"})
	require.Equal(t, check{"server", false, address + ` answers, but has no namespace "nowhere"`,
		"temporal operator namespace create --namespace nowhere, or set TEMPORAL_NAMESPACE"}, list[0])
}
