package mcp

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/connectors"
)

const hugeBytes = 300 << 20

// hugeTools are what servers that answer without measure offer.
const hugeTools = `{"tools":[{"name":"big","annotations":{"readOnlyHint":true}},{"name":"big_write"},
	{"name":"late_id","annotations":{"readOnlyHint":true}},{"name":"endless","annotations":{"readOnlyHint":true}},
	{"name":"small","annotations":{"readOnlyHint":true}}]}`

// hugeAnswer writes the answer to a request, of any length, and reports whether it has an end.
func hugeAnswer(w io.Writer, line []byte) (ends bool) {
	var request struct {
		ID     json.RawMessage
		Method string
		Params struct{ Name string }
	}
	if json.Unmarshal(line, &request) != nil || request.ID == nil {
		return true
	}
	text, id := `{"jsonrpc":"2.0",`, string(request.ID)
	switch what := request.Method + " " + request.Params.Name; what {
	case "initialize ":
		answer, _ := json.Marshal(initialized())
		fmt.Fprintf(w, `%s"id":%s,"result":%s}`, text, id, answer)
	case "tools/list ":
		fmt.Fprintf(w, `%s"id":%s,"result":%s}`, text, id, strings.ReplaceAll(hugeTools, "\n", ""))
	case "tools/call small":
		fmt.Fprintf(w, `%s"id":%s,"result":{"content":[{"type":"text","text":"here"}]}}`, text, id)
	case "tools/call big", "tools/call big_write":
		fmt.Fprintf(w, `%s"id":%s,"result":{"content":[{"type":"text","text":"`, text, id)
		repeat(w, hugeBytes)
		fmt.Fprint(w, `"}]}}`)
	case "tools/call late_id":
		fmt.Fprintf(w, `{"result":{"content":[{"type":"text","text":"`)
		repeat(w, hugeBytes)
		fmt.Fprintf(w, `"}],"id":4},"jsonrpc":"2.0","id":%s}`, id)
	case "tools/call endless":
		fmt.Fprintf(w, `%s"id":%s,"result":{"content":[{"type":"text","text":"`, text, id)
		repeat(w, 1<<50)
		return false
	default:
		fmt.Fprintf(w, `%s"id":%s,"error":{"code":-32601,"message":"no"}}`, text, id)
	}
	return true
}

func repeat(w io.Writer, n int) {
	chunk := bytes.Repeat([]byte("x"), 1<<20)
	for ; n > 0; n -= len(chunk) {
		if _, err := w.Write(chunk); err != nil {
			return
		}
	}
}

func serveHuge() {
	in := json.NewDecoder(os.Stdin)
	for {
		var line json.RawMessage
		if in.Decode(&line) != nil {
			return
		}
		if hugeAnswer(os.Stdout, line) {
			fmt.Println()
		}
	}
}

// hugeWays are ways to a server that answers without measure.
func hugeWays(t *testing.T) map[string]Options {
	t.Helper()
	over := func(answer http.HandlerFunc) Options {
		web := httptest.NewServer(answer)
		t.Cleanup(func() {
			web.CloseClientConnections()
			web.Close()
		})
		return Options{URL: web.URL}
	}
	stdio, _ := mcpServer(t, "huge")
	return map[string]Options{
		"stdio": stdio,
		"JSON": over(func(w http.ResponseWriter, r *http.Request) {
			line, _ := io.ReadAll(r.Body)
			w.Header().Set("Content-Type", "application/json")
			hugeAnswer(w, line)
		}),
		"gzip": over(func(w http.ResponseWriter, r *http.Request) {
			line, _ := io.ReadAll(r.Body)
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Encoding", "gzip")
			zip := gzip.NewWriter(w)
			hugeAnswer(zip, line)
			zip.Close()
		}),
		"event stream": over(func(w http.ResponseWriter, r *http.Request) {
			line, _ := io.ReadAll(r.Body)
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, "event: message\ndata: ")
			hugeAnswer(w, line)
			fmt.Fprint(w, "\n\n")
		}),
		"SSE": sseHuge(t),
	}
}

func sseHuge(t *testing.T) Options {
	s := server.NewMCPServer("huge", "1")
	read := mcp.WithReadOnlyHintAnnotation(true)
	answer := func(text string) server.ToolHandlerFunc {
		return func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultText(text), nil
		}
	}
	big := strings.Repeat("x", 9<<20) // mcp-go's server copies it often, in this process
	s.AddTool(mcp.NewTool("big", read), answer(big))
	s.AddTool(mcp.NewTool("big_write"), answer(big))
	s.AddTool(mcp.NewTool("small", read), answer("here"))
	web := httptest.NewServer(server.NewSSEServer(s))
	t.Cleanup(func() {
		web.CloseClientConnections()
		web.Close()
	})
	return Options{URL: web.URL + "/sse", SSE: true}
}

// Whatever a server answers, it takes no more memory than an answer may, ends with an error that says so, and leaves
// the other calls of the session alone.
func TestAnswersAreBounded(t *testing.T) {
	for way, opts := range hugeWays(t) {
		t.Run(way, func(t *testing.T) {
			set := mcpSet(t, opts)
			require.NoError(t, set.Err("mcp"))
			for _, tool := range []string{"big", "late_id", "endless"} {
				if _, err := set.Lookup("mcp", tool); way == "SSE" && err != nil {
					continue
				}
				before := allocated()
				_, err := invoke(t.Context(), t, set, tool, ``)
				require.Error(t, err, tool)
				if way != "SSE" { // whose server is in this process
					assert.Less(t, allocated()-before, uint64(100<<20), "%s: bytes allocated", tool)
				}
				assert.EqualError(t, err, "mcp."+tool+": the answer is larger than 8388608 bytes: "+
					"ask for less, by a filter or page by page")
				assert.Equal(t, `"here"`, mustInvoke(t, set, "small", ``))
			}
			_, err := invoke(t.Context(), t, set, "big_write", ``)
			var result *connectors.ResultError
			require.ErrorAs(t, err, &result)
			assert.Equal(t, `"here"`, mustInvoke(t, set, "small", ``))
		})
	}
}

// A call beside one whose answer is too large is answered: over stdio they share the connection.
func TestLargeAnswersLeaveTheSession(t *testing.T) {
	opts, starts := mcpServer(t, "huge")
	set := mcpSet(t, opts)
	large := make(chan error, 1)
	go func() {
		_, err := invoke(t.Context(), t, set, "big", ``)
		large <- err
	}()
	for range 5 {
		assert.Equal(t, `"here"`, mustInvoke(t, set, "small", ``))
	}
	require.ErrorContains(t, <-large, "the answer is larger than")
	assert.Equal(t, 1, starts())
}

func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// The list of tools counts as one answer, however many pages it has.
func TestToolPagesAreBounded(t *testing.T) {
	pages := 0
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var request struct {
			ID     json.RawMessage
			Method string
		}
		if json.NewDecoder(r.Body).Decode(&request) != nil || request.ID == nil {
			return
		}
		w.Header().Set("Content-Type", "application/json")
		if request.Method == "initialize" {
			answer, _ := json.Marshal(initialized())
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, request.ID, answer)
			return
		}
		pages++
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"nextCursor":"%d","tools":[{"name":"t%d",`+
			`"description":%q}]}}`, request.ID, pages, pages, strings.Repeat("x", 1<<20))
	}))
	defer web.Close()
	set := mcpSet(t, Options{URL: web.URL})
	require.ErrorContains(t, set.Err("mcp"), "tools/list: the pages take more than 8388608 bytes together")
	assert.Less(t, pages, 10)
}

func TestBoundedStream(t *testing.T) {
	const long = `{"id":7,"result":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}`
	refused := `{"jsonrpc":"2.0","id":7,"error":{"code":-32099,"message":"the answer is larger than 40 bytes: ` +
		`ask for less, by a filter or page by page"}}`
	for _, c := range []struct {
		name, in string
		framing  framing
		want     []string // the messages that are JSON
	}{
		{"short", `{"id":1}` + "\n\r\n" + `{"id":2}` + "\r\n", lines, []string{`{"id":1}`, `{"id":2}`}},
		{"long", long + "\n" + `{"id":2}` + "\n", lines, []string{refused, `{"id":2}`}},
		{"id at the end", `{"result":{"id":3,"x":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\",{"},"id":7}` + "\n", lines,
			[]string{refused}},
		{"id in another member", `{"result":"\"id\":3,xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}` + "\n", lines, nil},
		{"notification", `{"method":"x","params":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}` + "\n{\"id\":2}\n", lines,
			[]string{`{"id":2}`}},
		{"server's request", `{"id":7,"method":"x","params":"xxxxxxxxxxxxxxxxxxxxxxxxxxxx"}` + "\n", lines, nil},
		{"events", "event: message\ndata: " + long + "\n\ndata: {\"id\":2}\n\n", events, []string{refused, `{"id":2}`}},
		{"event in lines", "data: {\"id\":7,\ndata: \"result\":\"xxxxxxxxxxxxxxxxxxxxxxxxxxx\"}\n\n" +
			"data: {\"id\":2}\n\n", events, []string{refused, `{"id":2}`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, r := range []io.Reader{strings.NewReader(c.in), iotest.OneByteReader(strings.NewReader(c.in))} {
				out, err := io.ReadAll(&bounded{r: r, limit: 40, framing: c.framing, shared: true})
				require.NoError(t, err)
				var got []string
				for line := range strings.SplitSeq(string(out), "\n") {
					line = strings.TrimSpace(strings.TrimPrefix(line, "data: "))
					if line != "" && json.Valid([]byte(line)) {
						got = append(got, line)
					}
				}
				assert.Equal(t, c.want, got)
			}
		})
	}
}

// FuzzBoundedStream: what is passed on is what came, up to the limit, and the rest costs no memory.
func FuzzBoundedStream(f *testing.F) {
	f.Add([]byte(`{"id":7,"result":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}`+"\n"), true)
	f.Add([]byte("event: message\ndata: {\"id\":\"a\"}\n\n"), false)
	f.Fuzz(func(t *testing.T, in []byte, asLines bool) {
		kind := events
		if asLines {
			kind = lines
		}
		out, err := io.ReadAll(&bounded{r: bytes.NewReader(in), limit: 1 << 20, framing: kind, shared: true})
		require.NoError(t, err)
		require.Equal(t, string(in), string(out))
		told := false
		cut := &bounded{r: bytes.NewReader(in), limit: 16, framing: kind, shared: true, told: func() { told = true }}
		out, err = io.ReadAll(cut)
		require.Equal(t, told, err != nil)
		for line := range bytes.SplitSeq(out, []byte("\n")) {
			require.LessOrEqual(t, len(line), 16+len(cut.instead())+maxID)
		}
	})
}
