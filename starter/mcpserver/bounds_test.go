package mcpserver

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/server"
	"github.com/stretchr/testify/require"
)

// endless is a body that never ends.
type endless struct{ read int }

func (e *endless) Read(p []byte) (int, error) {
	e.read += len(p)
	return len(p), nil
}

// A page that posts gigabytes costs no more than a request may.
func TestBodiesAreBounded(t *testing.T) {
	web := httptest.NewServer(Handler(server.NewMCPServer("x", "1"), nil))
	defer web.Close()
	for _, path := range []string{"/mcp", "/message?sessionId=x"} {
		body := &endless{}
		response, err := http.Post(web.URL+path, "text/plain", body)
		if err == nil { // else the server has closed the connection before it was read
			response.Body.Close()
			require.Equal(t, http.StatusRequestEntityTooLarge, response.StatusCode)
		}
		require.Less(t, body.read, 8*maxBody)
	}
	response, err := http.Post(web.URL+"/mcp", "application/json", strings.NewReader(`{"jsonrpc":"2.0","id":1,`+
		`"method":"initialize","params":{"protocolVersion":"2025-06-18","clientInfo":{"name":"x","version":"1"}}}`))
	require.NoError(t, err)
	defer response.Body.Close()
	require.Equal(t, http.StatusOK, response.StatusCode)
}
