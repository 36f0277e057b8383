package mcpserver

import (
	"context"
	"errors"
	"time"

	"github.com/temporal-codemode/codemode"
	"github.com/temporal-codemode/codemode/internal/wait"
	"github.com/temporal-codemode/codemode/signals"
)

// detachMeta is what a client says in _meta of a call whose program goes on when the call is cancelled.
const detachMeta = "codemode/detach"

// cancelled reports whether the client itself ended the request: by a notification, or over HTTP of today's revision
// by hanging up, which is that revision's way to say so. A client that has gone, or a door that closes, is no wish.
func cancelled(ctx context.Context) bool {
	if ctx.Err() == nil || !errors.Is(context.Cause(ctx), context.Canceled) {
		return false
	}
	p, ok := ctx.Value(placeKey{}).(*place)
	return !ok || p.life.Err() == nil
}

// stopPatience is how long a program that was cancelled may take to be found: its start may be under way.
const stopPatience = 10 * time.Second

// stopIfCancelled ends the program of a call that its client cancelled, unless it asked to detach: no further call is
// made.
func (s *session) stopIfCancelled(ctx context.Context, id string) {
	durable, ok := s.Runtime.(Durable)
	if detached, _ := s.request.Params.GetMeta()[detachMeta].(bool); !ok || detached || !cancelled(ctx) {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopPatience)
	defer cancel()
	by := signals.Cancellation{By: s.by(), AssertedBy: s.asserted(), Reason: "cancelled by its client"}
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		_, err := durable.RequestCancel(ctx, id, by)
		if !errors.Is(err, codemode.ErrNotFound) || wait.For(ctx, pause) != nil {
			return // an execution that cannot be reached now ends by its own limits
		}
	}
}
