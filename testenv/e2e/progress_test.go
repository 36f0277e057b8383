package e2e

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/sandbox/engine"
	"github.com/temporal-codemode/codemode/starter/mcpserver"
)

// TestProgressNamesTheCall: its place, and how far its connector says that it has come; of reads and of writes.
func TestProgressNamesTheCall(t *testing.T) {
	b := setUp(t)
	gate := make(chan struct{})
	copying := func(name string, class connectors.Class) connectors.Method {
		return connectors.Func(name, "Copies.", class, func(ctx connectors.Context, _ struct{}) (string, error) {
			ctx.Progress(connectors.Progress{Done: 3, Total: 7, Message: "copying"})
			select {
			case <-gate:
			case <-ctx.Done():
			}
			return "copied", ctx.Err()
		})
	}
	b.options.Executor = &engine.InProcess{}
	b.options.Connectors = []connectors.Connector{connectors.New("files", "", copying("read", connectors.Read),
		copying("write", connectors.Write))}
	b.worker()
	for _, method := range []string{"read", "write"} {
		t.Run(method, func(t *testing.T) {
			gate = make(chan struct{})
			u := official(t, reach(t, "http", mcpserver.Options{Runtime: b.client}), &person{})
			answer := make(chan string, 1)
			go func() {
				text, _, _ := u.call(context.Background(), map[string]any{
					"code": "return await Promise.all([1, 2, 3].map(() => files." + method + "({})))"})
				answer <- text
			}()
			want := "files." + method + ", call 1 of about 3, 3 of 7, copying, and 2 more"
			b.eventually("it says so", func() bool { return strings.Contains(strings.Join(u.progress(), "\n"), want) })
			close(gate)
			require.Contains(t, <-answer, `["copied","copied","copied"]`)
			require.True(t, strings.HasPrefix(u.progress()[0], "execution exec_"))
		})
	}
}
