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
func ServeStdio(ctx context.Context, s *mcp.Server, in io.Reader, out io.Writer) error {
	serving(s)
	at := &place{life: ctx}
	err := s.Run(at.in(ctx), &mcp.IOTransport{Reader: io.NopCloser(in), Writer: quietCloser{out},
		MaxLineLength: maxMessage})
	if errors.Is(err, io.EOF) || ctx.Err() != nil {
		return nil
	}
	return err
}

// quietCloser leaves the writer open: it is the process's.
type quietCloser struct{ io.Writer }

// Close does nothing.
func (quietCloser) Close() error { return nil }
