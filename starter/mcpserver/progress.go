package mcpserver

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/temporal-codemode/codemode"
	"github.com/temporal-codemode/codemode/signals"
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

const (
	// progressEvery is often enough for clients that give up on a server that is silent for some seconds.
	progressEvery = 5 * time.Second
	// lookEvery is how often there is a look at what an execution does.
	lookEvery = 2 * time.Second
)

// during sends progress at once, when there is news, and now and again, until the function that it returns is called.
func (r reporter) during(ctx context.Context, what string, news func(context.Context) string) (stop func()) {
	if r.token == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		began, ticker := time.Now(), time.NewTicker(lookEvery)
		defer ticker.Stop()
		r.notify(ctx, what)
		for told, last := time.Now(), ""; ; {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			now := news(ctx)
			if ctx.Err() != nil || now == last && time.Since(told) < progressEvery {
				continue
			}
			told, last = time.Now(), now
			r.notify(ctx, fmt.Sprintf("%s%s (%s)", what, now, time.Since(began).Round(time.Second)))
		}
	}()
	return func() {
		cancel()
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

// nothingNew is all there is to say of some waits.
func nothingNew(context.Context) string { return "" }

// doing tells what an execution is doing: ": tracker.create_issue, call 12 of about 40, 3 of 7, Copying".
func (d *door) doing(id string) func(context.Context) string {
	durable, ok := d.Runtime.(Durable)
	if !ok {
		return nothingNew
	}
	return func(ctx context.Context) string {
		p, err := durable.Progress(ctx, id)
		if err != nil || len(p.Calls) == 0 {
			return ""
		}
		return ": " + describeProgress(p)
	}
}

// describeProgress names the oldest call that is being made.
func describeProgress(p codemode.Progress) string {
	c := p.Calls[0]
	text := fmt.Sprintf("%s, call %d of about %d", c.Method, c.Seq+1, max(p.Issued, c.Seq+1))
	if c.Total > 0 {
		text += fmt.Sprintf(", %s of %s", number(c.Done), number(c.Total))
	}
	if c.Message != "" {
		text += ", " + signals.Visible(c.Message)
	}
	if more := len(p.Calls) - 1; more > 0 {
		text += fmt.Sprintf(", and %d more", more)
	}
	return text
}

func number(n float64) string { return strconv.FormatFloat(n, 'g', 6, 64) }
