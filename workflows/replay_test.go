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

// TestRecordedHistoriesReplay replays executions that ran on a real server. Make them anew, before the first release
// only, with: CODEMODE_WRITE_HISTORIES=$PWD/workflows/testdata go test ./testenv/e2e
func TestRecordedHistoriesReplay(t *testing.T) {
	files, err := filepath.Glob("testdata/*.json")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(files), 10)
	replayer, err := NewReplayer(worker.WorkflowReplayerOptions{})
	require.NoError(t, err)
	quiet := log.NewStructuredLogger(slog.New(slog.NewTextHandler(io.Discard, nil)))
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			require.NoError(t, replayer.ReplayWorkflowHistoryFromJSONFile(quiet, file))
		})
	}
}
