package console

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/temporal-codemode/codemode"
	"github.com/temporal-codemode/codemode/signals"
)

// stream is an open stream of server-sent events.
type stream struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

// keepAlive is how often a quiet stream says something, so that proxies keep it open.
const keepAlive = 20 * time.Second

// openStream begins a stream; done gives its place back.
func (c *Console) openStream(v *visit) (s *stream, done func(), err error) {
	select {
	case c.streams <- struct{}{}:
	default:
		return nil, nil, failed(http.StatusServiceUnavailable, "too many pages listen at once")
	}
	done = func() { <-c.streams }
	s = &stream{v.w, http.NewResponseController(v.w)}
	_ = s.control.SetWriteDeadline(time.Time{})
	v.w.Header().Set("Content-Type", "text/event-stream")
	v.w.Header().Set("X-Accel-Buffering", "no")
	return s, done, nil
}

func (s *stream) send(name string, data any) error {
	text, err := signals.Marshal(data)
	if err != nil {
		return err
	}
	return s.write(fmt.Sprintf("event: %s\ndata: %s\n\n", name, text))
}

func (s *stream) write(text string) error {
	if _, err := s.w.Write([]byte(text)); err != nil {
		return err
	}
	return s.control.Flush()
}

// closed turns the end of a connection into the end of a handler: there is nobody left to tell of an error.
func closed(error) error { return nil }

// pageEvents tells pages that the inbox changed, and that executions did something which they name: one stream serves
// all pages of a browser, since browsers keep few connections to one host. Pages fetch what they show.
func (c *Console) pageEvents(v *visit) error {
	followed, err := c.followed(v)
	if err != nil {
		return err
	}
	ticks := time.NewTicker(c.Every)
	defer ticks.Stop()
	if len(followed) == 0 {
		ticks.Stop()
	}
	return c.watch(v, ticks.C, func(s *stream) error {
		for _, f := range followed {
			if err := f.tell(v.context(), s); err != nil {
				return err
			}
		}
		return nil
	}, func(s *stream, now snapshot) error {
		return s.send("inbox", map[string]any{"version": now.Version, "pending": len(now.Items)})
	})
}

// followedExecution is an execution whose pages are open.
type followedExecution struct {
	client Client
	name   string // as pages name it: runtime/id
	id     string
	length int64 // of its history when pages were last told
	gone   bool
}

// maxFollowed bounds the executions that one browser follows: those of the pages that were opened last.
const maxFollowed = 30

func (c *Console) followed(v *visit) ([]*followedExecution, error) {
	var list []*followedExecution
	for _, name := range v.r.URL.Query()["execution"] {
		runtime, id, _ := strings.Cut(name, "/")
		r, err := c.runtime(runtime)
		if err != nil {
			return nil, err
		}
		if signals.CheckExecutionID(id) != nil {
			return nil, notFound("There is no such execution.")
		}
		list = append(list, &followedExecution{client: r.Client, name: name, id: id})
	}
	return list[max(0, len(list)-maxFollowed):], nil
}

// tell tells pages if the execution did anything; at first it tells how far it is.
func (f *followedExecution) tell(ctx context.Context, s *stream) error {
	if f.gone {
		return nil
	}
	now, err := f.client.HistoryLength(ctx, f.id)
	if f.gone = errors.Is(err, codemode.ErrNotFound); err != nil || now == f.length {
		return nil //nolint:nilerr // a server that does not answer has no news
	}
	f.length = now
	return s.send("execution", map[string]any{"execution": f.name, "events": now})
}

// apiEvents tells programs of each call that begins to wait, at first of all that do, and of each that no longer does.
func (c *Console) apiEvents(v *visit) error {
	told := map[key]bool{}
	return c.watch(v, nil, nil, func(s *stream, now snapshot) error {
		waiting := map[key]bool{}
		for _, item := range now.Items {
			k := keyOf(item)
			if waiting[k] = true; !told[k] {
				if err := s.send("pending", publicItem(item)); err != nil {
					return err
				}
			}
		}
		for k := range told {
			if !waiting[k] {
				if err := s.send("decided", settled{k.Runtime, k.Execution, k.Seq, k.Digest}); err != nil {
					return err
				}
			}
		}
		told = waiting
		return nil
	})
}

// settled names a call that waits no longer.
type settled struct {
	Runtime     string `json:"runtime"`
	ExecutionID string `json:"executionId"`
	Seq         int    `json:"seq"`
	ArgsDigest  string `json:"argsDigest"`
}

// watch calls tell with the inbox as it is, and again after each change, until the connection or the session ends; and
// look at each tick.
func (c *Console) watch(v *visit, ticks <-chan time.Time, look func(*stream) error,
	tell func(*stream, snapshot) error) error {
	s, done, err := c.openStream(v)
	if err != nil {
		return err
	}
	defer done()
	changes, stop := c.inbox.subscribe()
	defer stop()
	beat := time.NewTicker(keepAlive)
	defer beat.Stop()
	if err := tell(s, c.inbox.snapshot(c.names())); err != nil {
		return closed(err)
	}
	if look != nil {
		if err := look(s); err != nil {
			return closed(err)
		}
	}
	for {
		select {
		case <-v.context().Done():
			return nil
		case <-changes:
			err = tell(s, c.inbox.snapshot(c.names()))
		case <-ticks:
			err = look(s)
		case <-beat.C:
			err = s.write(": still here\n\n")
		}
		if err != nil || !c.stillIn(v) {
			return closed(err)
		}
	}
}

// stillIn says that the session of a stream has not ended.
func (c *Console) stillIn(v *visit) bool {
	return v.session == nil || c.sessions.find(v.r, time.Now()) != nil
}

// executionOf finds the runtime and the id that a page's address names.
func (c *Console) executionOf(v *visit) (Runtime, string, error) {
	r, err := c.runtime(v.r.PathValue("runtime"))
	if err != nil {
		return r, "", err
	}
	id := v.r.PathValue("id")
	if signals.CheckExecutionID(id) != nil || strings.Contains(id, "/") {
		return r, "", notFound("There is no such execution.")
	}
	return r, id, nil
}
