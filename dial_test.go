package codemode

import (
	"context"
	"net"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/grpc"
	"google.golang.org/grpc/stats"
)

func TestLoopback(t *testing.T) {
	for address, want := range map[string]bool{
		"localhost:7233":                true,
		"127.0.0.1:7233":                true,
		"[::1]:7233":                    true,
		"temporal:7233":                 false,
		"10.0.0.1:7233":                 false,
		"ns.acct.tmprl.cloud:7233":      false,
		"dns:///temporal.internal:7233": false,
		"localhost":                     false,
	} {
		require.Equal(t, want, loopback(address), address)
	}
}

// TestDialDoesNotCompressOnTheSameMachine looks at what a server is sent.
func TestDialDoesNotCompressOnTheSameMachine(t *testing.T) {
	seen := &compressions{}
	server := grpc.NewServer(grpc.StatsHandler(seen))
	workflowservice.RegisterWorkflowServiceServer(server, workflowservice.UnimplementedWorkflowServiceServer{})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	dial := func(o client.Options) []string {
		o.HostPort = listener.Addr().String()
		c, err := Dial(t.Context(), o)
		require.NoError(t, err)
		c.Close()
		return seen.take()
	}
	none := dial(client.Options{})
	require.NotEmpty(t, none)
	require.NotContains(t, none, "gzip")
	asked := client.Options{ConnectionOptions: client.ConnectionOptions{GrpcCompression: &client.GrpcCompressionGzip{}}}
	require.Contains(t, dial(asked), "gzip", "who asks for it has it")
}

// compressions are those of the requests that a server was sent.
type compressions struct {
	mu   sync.Mutex
	seen []string
}

func (c *compressions) take() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	seen := c.seen
	c.seen = nil
	return seen
}

func (c *compressions) HandleRPC(_ context.Context, s stats.RPCStats) {
	if h, ok := s.(*stats.InHeader); ok {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.seen = append(c.seen, h.Compression)
	}
}

func (c *compressions) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context   { return ctx }
func (c *compressions) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }
func (c *compressions) HandleConn(context.Context, stats.ConnStats)                       {}
