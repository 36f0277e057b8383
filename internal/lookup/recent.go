package lookup

import (
	"context"

	"golang.org/x/time/rate"

	"github.com/temporal-codemode/codemode/signals"
)

// Recent asks for a runtime's list of snippets no more often than the server answers to everybody: its index is shared
// by all runtimes of a namespace, and a program may search thousands of times.
type Recent struct {
	limit *rate.Limiter
	turn  chan struct{} // holds one element when nobody asks
	list  []signals.Snippet
}

// Searches in a row that each see the newest list, and how many a second do after that.
const (
	freshLists     = 10
	freshPerSecond = 0.5
)

func NewRecent() *Recent {
	r := &Recent{limit: rate.NewLimiter(freshPerSecond, freshLists), turn: make(chan struct{}, 1)}
	r.turn <- struct{}{}
	return r
}

// Of reads snippets as its reader does, and lists at times what was listed last.
func (r *Recent) Of(reader SnippetReader) SnippetReader { return recentReader{reader, r} }

type recentReader struct {
	SnippetReader
	recent *Recent
}

func (r recentReader) List(ctx context.Context) ([]signals.Snippet, error) {
	select {
	case <-r.recent.turn:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { r.recent.turn <- struct{}{} }()
	if r.recent.list != nil && !r.recent.limit.Allow() {
		return r.recent.list, nil
	}
	list, err := r.SnippetReader.List(ctx)
	if err != nil {
		return nil, err
	}
	r.recent.list = list
	return list, nil
}
