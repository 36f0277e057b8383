package mcpserver

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// reporter tells a client how far its request has come.
type reporter struct {
	session *mcp.ServerSession
	token   any // nil: the client wants no progress
	state   *reported
}

type reported struct {
	sync.Mutex
	progress float64
}

func newReporter(r *mcp.CallToolRequest) reporter {
	return reporter{r.Session, r.Params.GetProgressToken(), &reported{}}
}

// progressEvery is often enough for clients that give up on a server that is silent for some seconds.
const progressEvery = 5 * time.Second

// during sends progress at once and then now and again, until the function that it returns is called.
func (r reporter) during(ctx context.Context, what string) (stop func()) {
	if r.token == nil {
		return func() {}
	}
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		began, ticker := time.Now(), time.NewTicker(progressEvery)
		defer ticker.Stop()
		for text := what; ; text = fmt.Sprintf("%s (%s)", what, time.Since(began).Round(time.Second)) {
			r.notify(ctx, text)
			select {
			case <-done:
				return
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
		}
	}()
	return func() {
		close(done)
		<-ended
	}
}

func (r reporter) notify(ctx context.Context, message string) {
	r.state.Lock()
	defer r.state.Unlock()
	r.state.progress++
	// A client that takes no notifications misses nothing that it needs.
	_ = r.session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: r.token,
		Progress: r.state.progress, Message: message})
}
