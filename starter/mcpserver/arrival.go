package mcpserver

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/temporal-codemode/codemode/internal/wait"
)

// How the library hands requests on: one of today's transports belongs to a context of its own, one of a session over
// HTTP to that of the message which began the session. So what a message came with is looked up by a header that the
// door itself sets, and callers cannot.
const arrivalHeader = "Codemode-Arrival"

// arrival is what a message over HTTP came with.
type arrival struct {
	caller  *Caller
	session string
	open    context.Context // until the sender hangs up, or ends the session
	end     context.CancelFunc
}

// arrivals are the messages that are being answered, by their header.
type arrivals struct{ sync.Map }

// add marks a message, until done.
func (a *arrivals) add(r *http.Request, caller *Caller) (done func()) {
	id := rand.Text()
	open, end := context.WithCancel(r.Context())
	r.Header.Set(arrivalHeader, id)
	a.Store(id, arrival{caller, r.Header.Get(sessionHeader), open, end})
	return func() { a.Delete(id); end() }
}

// endAll ends what is being answered in a session.
func (a *arrivals) endAll(session string) {
	a.Range(func(_, found any) bool {
		if from, ok := found.(arrival); ok && session != "" && from.session == session {
			from.end()
		}
		return true
	})
}

var (
	errGone    = errors.New("the client has gone")
	errClosing = errors.New("the door is closing")
)

// place is where requests come in: it ends them when it ends itself.
type place struct {
	life     context.Context // the door's, or of the stream behind it
	arrivals *arrivals       // nil where a connection has one sender
	ties     bool            // a request ends with the message that brought it, and that is no wish to cancel it
	stream   string          // the id of a stream that the library knows none of
	caller   *Caller
}

type placeKey struct{}

func (p *place) in(ctx context.Context) context.Context { return context.WithValue(ctx, placeKey{}, p) }

// serving is what every request goes through, over whatever transport.
func serving(s *mcp.Server) { s.AddReceivingMiddleware(living, recovering) }

// living ties requests to those who sent them and to the door, and tells who they are from.
func living(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
		p, ok := ctx.Value(placeKey{}).(*place)
		if !ok || strings.HasPrefix(method, "notifications/") {
			return next(ctx, method, r)
		}
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		defer context.AfterFunc(p.life, func() { cancel(errClosing) })()
		from := arrival{caller: p.caller}
		if p.arrivals != nil {
			if from, ok = p.arrivals.of(r.GetExtra()); !ok {
				return nil, errGone
			}
			if p.ties {
				defer context.AfterFunc(from.open, func() { linger(ctx, cancel) })()
			}
		}
		return next(context.WithValue(ctx, callerKey{}, from.caller), method, r)
	}
}

// lingering is how long after its sender has hung up a request waits for word that it was cancelled, which older
// clients send after that.
const lingering = 3 * time.Second

func linger(ctx context.Context, cancel context.CancelCauseFunc) {
	if wait.For(ctx, lingering) == nil {
		cancel(errGone)
	}
}

func (a *arrivals) of(extra *mcp.RequestExtra) (arrival, bool) {
	if extra == nil {
		return arrival{}, false
	}
	found, ok := a.Load(extra.Header.Get(arrivalHeader))
	if !ok {
		return arrival{}, false
	}
	from, ok := found.(arrival)
	return from, ok
}

type callerKey struct{}

// caller is who was authenticated; nil where everybody may come in who has the key.
func caller(ctx context.Context) *Caller {
	who, _ := ctx.Value(callerKey{}).(*Caller)
	return who
}

// streamOf is the id of a stream that the library gives none.
func streamOf(ctx context.Context) string {
	if p, ok := ctx.Value(placeKey{}).(*place); ok {
		return p.stream
	}
	return ""
}

// recovering answers a request that panics, so that others go on.
func recovering(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (result mcp.Result, err error) {
		defer func() {
			if broken := recover(); broken != nil {
				result, err = nil, fmt.Errorf("%s broke off: %v", method, broken)
			}
		}()
		return next(ctx, method, r)
	}
}
