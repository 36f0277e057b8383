package lookup

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/temporal-codemode/codemode/signals"
)

type counting struct {
	SnippetReader
	lists atomic.Int32
}

func (c *counting) List(context.Context) ([]signals.Snippet, error) {
	c.lists.Add(1)
	return []signals.Snippet{{Name: "s"}}, nil
}

// A program that searches without end does not use up what all runtimes may ask of the server.
func TestListsAreAskedForNowAndThen(t *testing.T) {
	from, recent := &counting{}, NewRecent()
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			for range 500 {
				list, err := recent.Of(from).List(t.Context())
				assert.NoError(t, err)
				assert.Len(t, list, 1)
			}
		})
	}
	all.Wait()
	assert.GreaterOrEqual(t, from.lists.Load(), int32(freshLists))
	assert.Less(t, from.lists.Load(), int32(50))
}
