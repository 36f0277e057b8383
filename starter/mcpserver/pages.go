package mcpserver

import (
	"context"
	"encoding/json"
	"sort"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxPage is how many bytes of tools a page of the list has: clients bound what they read of a server at a time. A page
// has one tool at least.
const maxPage = 512 << 10

// paging cuts the list of tools into pages by their size. A page begins after the tool that its cursor names.
func paging(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
		params, ok := r.GetParams().(*mcp.ListToolsParams)
		if !ok || method != "tools/list" {
			return next(ctx, method, r)
		}
		after := ""
		if params != nil {
			after, params.Cursor = params.Cursor, ""
		}
		result, err := next(ctx, method, r)
		list, ok := result.(*mcp.ListToolsResult)
		if err != nil || !ok {
			return result, err
		}
		return list, cut(list, after)
	}
}

// cut keeps the page of a list, which is sorted by name.
func cut(list *mcp.ListToolsResult, after string) error {
	from := sort.Search(len(list.Tools), func(i int) bool { return list.Tools[i].Name > after })
	if after != "" && (from == 0 || list.Tools[from-1].Name != after) {
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "there is no such page: begin anew"}
	}
	list.Tools = list.Tools[from:]
	size := 0
	for i, t := range list.Tools {
		text, err := json.Marshal(t)
		if err != nil {
			return err
		}
		if size += len(text); size > maxPage && i > 0 {
			list.NextCursor, list.Tools = list.Tools[i-1].Name, list.Tools[:i]
			return nil
		}
	}
	return nil
}
