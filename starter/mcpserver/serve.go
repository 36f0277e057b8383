package mcpserver

import (
	"context"
	"errors"
	"io"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxMessage has room for the longest program, escaped.
const maxMessage = 16 << 20

// ServeStdio serves one client until its input ends.
func ServeStdio(ctx context.Context, s *Server, in io.Reader, out io.Writer) error {
	serving(s.Server)
	at := &place{life: ctx}
	var over mcp.Transport = &mcp.IOTransport{Reader: io.NopCloser(in), Writer: quietCloser{out},
		MaxLineLength: maxMessage}
	if s.tasks != nil {
		over = listeningTransport{over, s.tasks, at.in(ctx)}
	}
	err := s.Run(at.in(ctx), over)
	if errors.Is(err, io.EOF) || ctx.Err() != nil {
		return nil
	}
	return err
}

// quietCloser leaves the writer open: it is the process's.
type quietCloser struct{ io.Writer }

// Close does nothing.
func (quietCloser) Close() error { return nil }
