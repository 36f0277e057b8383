package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/signals"
)

// listingRuntime has many methods, with large schemas.
type listingRuntime struct{ Runtime }

func (listingRuntime) Methods(context.Context) (list []signals.Method, err error) {
	for n := range 300 {
		schema, _ := json.Marshal(map[string]any{"type": "object", "description": strings.Repeat("x", 10_000)})
		list = append(list, signals.Method{Connector: "c", Method: fmt.Sprintf("m%03d", n), InputSchema: schema})
	}
	return list, nil
}

// A list of many tools comes in pages that clients can read, each tool once.
func TestToolsComeInPagesBySize(t *testing.T) {
	s, err := New(t.Context(), Options{Runtime: listingRuntime{}, Surface: Direct})
	require.NoError(t, err)
	here, there := mcp.NewInMemoryTransports()
	_, err = s.Connect(t.Context(), there, nil)
	require.NoError(t, err)
	c, err := mcp.NewClient(&mcp.Implementation{Name: "x", Version: "1"}, nil).Connect(t.Context(), here, nil)
	require.NoError(t, err)
	defer func() { _ = c.Close() }()
	seen, pages := map[string]bool{}, 0
	for cursor := ""; pages == 0 || cursor != ""; pages++ {
		page, err := c.ListTools(t.Context(), &mcp.ListToolsParams{Cursor: cursor})
		require.NoError(t, err)
		text, err := json.Marshal(page)
		require.NoError(t, err)
		require.Less(t, len(text), maxPage+20_000)
		for _, tool := range page.Tools {
			require.False(t, seen[tool.Name])
			seen[tool.Name] = true
		}
		cursor = page.NextCursor
	}
	require.Len(t, seen, 301)
	require.Equal(t, 6, pages)
	_, err = c.ListTools(t.Context(), &mcp.ListToolsParams{Cursor: "made up"})
	require.ErrorContains(t, err, "no such page")
}
