package workflows

import (
	"io"
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/worker"
)

// TestRecordedHistoriesReplay replays workflows that ran on a real server. There is a folder for each version of the
// workflow code (versions.go), which is only ever added to: whatever a release has begun, every later one goes on with.
// For a new version: CODEMODE_WRITE_HISTORIES=$PWD/workflows/testdata/NAME go test ./testenv/e2e
func TestRecordedHistoriesReplay(t *testing.T) {
	files, err := filepath.Glob("testdata/*/*.json")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(files), 100)
	replayer, err := NewReplayer(worker.WorkflowReplayerOptions{})
	require.NoError(t, err)
	quiet := log.NewStructuredLogger(slog.New(slog.NewTextHandler(io.Discard, nil)))
	for _, file := range files {
		t.Run(file, func(t *testing.T) {
			require.NoError(t, replayer.ReplayWorkflowHistoryFromJSONFile(quiet, file))
		})
	}
}
