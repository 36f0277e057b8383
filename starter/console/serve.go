package console

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"
)

// ListenAndServe serves a console on a listener, and keeps it current, until ctx is done.
func ListenAndServe(ctx context.Context, l net.Listener, c *Console) error {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() { c.Run(ctx) })
	defer running.Wait()
	defer cancel()
	server := &http.Server{
		Handler: c, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute, WriteTimeout: 2 * time.Minute,
		IdleTimeout: 2 * time.Minute,
		BaseContext: func(net.Listener) context.Context { return ctx }, // streams end with ctx
	}
	running.Go(func() {
		<-ctx.Done()
		_ = server.Close()
	})
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
