package mcpserver

import (
	"context"
	"errors"
	"io"
	"log"

	"github.com/mark3labs/mcp-go/server"
)

// ServeStdio serves one client until its input ends.
func ServeStdio(ctx context.Context, s *server.MCPServer, in io.Reader, out io.Writer) error {
	stdio := server.NewStdioServer(s)
	stdio.SetErrorLogger(log.New(io.Discard, "", 0)) // what matters comes back as an answer
	server.WithWorkerPoolSize(32)(stdio)
	err := stdio.Listen(ctx, in, out)
	if errors.Is(err, io.EOF) || ctx.Err() != nil {
		return nil
	}
	return err
}
