package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/connectors"
	mcpconnector "github.com/temporal-codemode/codemode/connectors/mcp"
	"github.com/temporal-codemode/codemode/connectors/outbound"
	"github.com/temporal-codemode/codemode/signals"
	"github.com/temporal-codemode/codemode/testenv/npm"
	"github.com/temporal-codemode/codemode/worker/codemodeworker"
)

// npmServer is the file of an MCP server from npm.
func npmServer(t *testing.T, name string) string {
	t.Helper()
	return filepath.Join(npm.Install(t, "../../examples"), "node_modules", "@modelcontextprotocol", name, "dist",
		"index.js")
}

func (b *bench) connect(cs ...connectors.Connector) {
	b.options.Connectors = append(b.options.Connectors, cs...)
}

func TestMemoryServer(t *testing.T) {
	b := setUp(t)
	ask := true
	b.connect(mcpconnector.New("memory", mcpconnector.Options{
		Command: "node", Args: []string{npmServer(t, "server-memory")},
		Env: map[string]string{"MEMORY_FILE_PATH": filepath.Join(t.TempDir(), "memory.jsonl")},
	}))
	b.options.Rules = map[string][]connectors.Rule{"memory": {{Pattern: "delete_*", RequiresApproval: &ask}}}
	b.worker()
	o := b.run(`
		await memory.create_entities({entities: [{name: 'Ada', entityType: 'person', observations: ['wrote a program']}, {name: 'Bob', entityType: 'person', observations: []}]});
		const before = await memory.read_graph({});
		await memory.delete_entities({entityNames: ['Bob']});
		const after = await memory.search_nodes({query: 'person'});
		return [before.entities.length, after.entities.map((e) => e.name)]`)
	require.Len(t, o.Pending, 1)
	b.completed(`[2,["Ada"]]`, b.approve(o.ExecutionID, signals.Approve{}))
	d, err := b.client.Describe(b.context(), "memory.read_graph")
	require.NoError(t, err)
	require.Contains(t, string(d), "entityType: string", "results are typed")
}

func TestFilesystemServer(t *testing.T) {
	b := setUp(t)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.txt"), []byte("one"), 0o600))
	ask := true
	b.connect(mcpconnector.New("files",
		mcpconnector.Options{Command: "node", Args: []string{npmServer(t, "server-filesystem"), dir}}))
	moveAway := func(args, _ json.RawMessage) (json.RawMessage, error) {
		var in struct{ Path string }
		err := json.Unmarshal(args, &in)
		undoing, _ := json.Marshal(map[string]string{"source": in.Path, "destination": in.Path + ".undone"})
		return undoing, err
	}
	b.options.Rules = map[string][]connectors.Rule{"files": {{
		Pattern: "write_file", RequiresApproval: &ask,
		Revert: &connectors.RevertRule{Method: "move_file", Args: moveAway},
	}}}
	b.worker()
	o := b.run(fmt.Sprintf(`const dir = %q;
		const {content} = await files.read_text_file({path: dir + '/a.txt'});
		await Promise.all(['b', 'c'].map((n) => files.write_file({path: dir + '/' + n + '.txt', content: content + n})));
		try { await files.read_text_file({path: '/etc/passwd'}) } catch (e) { return [await files.read_text_file({path: dir + '/c.txt'}).then((r) => r.content), e.message.includes('denied')] }`, dir))
	require.Len(t, o.Pending, 2, "both are asked for at the same time")
	require.NoFileExists(t, filepath.Join(dir, "b.txt"))
	b.completed(`["onec",true]`, b.approve(o.ExecutionID, signals.Approve{}))
	text, err := os.ReadFile(filepath.Join(dir, "b.txt"))
	require.NoError(t, err)
	require.Equal(t, "oneb", string(text))

	undone, err := b.client.Rollback(b.context(), o.ExecutionID, signals.Rollback{By: "ada"})
	require.NoError(t, err)
	require.NotEmpty(t, undone.Reverted, undone.Failed)
	require.NoFileExists(t, filepath.Join(dir, "b.txt"))
	require.FileExists(t, filepath.Join(dir, "c.txt.undone"))
}

// everything starts a server that speaks over HTTP and gives its URL.
func everything(t *testing.T, transport, path string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	port := l.Addr().(*net.TCPAddr).Port
	require.NoError(t, l.Close())
	cmd := exec.Command("node", npmServer(t, "server-everything"), transport)
	cmd.Env = append(os.Environ(), fmt.Sprintf("PORT=%d", port))
	errors, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	go func() { // the server blocks when nobody reads what it says
		for lines := bufio.NewScanner(errors); lines.Scan(); {
		}
	}()
	address := fmt.Sprintf("127.0.0.1:%d", port)
	require.Eventually(t, func() bool {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	}, patience, 20*time.Millisecond)
	return "http://" + address + path
}

func TestEverythingServer(t *testing.T) {
	script := npmServer(t, "server-everything")
	for name, options := range map[string]func(t *testing.T) mcpconnector.Options{
		"stdio": func(*testing.T) mcpconnector.Options {
			return mcpconnector.Options{Command: "node", Args: []string{script}}
		},
		"streamable HTTP": func(t *testing.T) mcpconnector.Options {
			return mcpconnector.Options{URL: everything(t, "streamableHttp", "/mcp")}
		},
		"SSE": func(t *testing.T) mcpconnector.Options {
			return mcpconnector.Options{URL: everything(t, "sse", "/sse"), SSE: true}
		},
	} {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			b := setUp(t)
			b.connect(mcpconnector.New("every", options(t)))
			require.NoError(t, b.worker().Connectors.Err("every"))
			b.completed(`["Echo: hi", "The sum of 2 and 3 is 5.", true, "image"]`, b.run(`
				const image = await every.get_tiny_image({});
				return [await every.echo({message: 'hi'}), await every.get_sum({a: 2, b: 3}),
					typeof (await every.get_structured_content({location: 'Chicago'})).temperature === 'number',
					image.content.map((c) => c.type).find((t) => t !== 'text')]`))
		})
	}
}

// A server is killed while it works at a call: the program learns that nobody knows the outcome, and the next call
// finds a new server. Before that, the progress that the server told of stands in the activity's heartbeat.
func TestServerKilledInACall(t *testing.T) {
	b := setUp(t)
	pid := filepath.Join(t.TempDir(), "pid")
	b.connect(mcpconnector.New("every", mcpconnector.Options{
		Command: "sh", Args: []string{"-c", `echo $$ > "$1"; exec node "$2"`, "sh", pid,
			npmServer(t, "server-everything")},
	}))
	b.options.Rules = map[string][]connectors.Rule{"every": {{Pattern: "trigger-long-running-operation",
		Class: connectors.Write}}}
	b.worker()
	id := b.start(`
		try { await every.trigger_long_running_operation({duration: 600, steps: 6000}) }
		catch (e) { return [e.name, await every.echo({message: 'back'})] }`)
	b.eventually("the heartbeat tells of progress", func() bool {
		d, err := shared.client.DescribeWorkflowExecution(b.context(), signals.WorkflowID(b.runtime, id), "")
		require.NoError(t, err)
		for _, a := range d.PendingActivities {
			for _, p := range a.GetHeartbeatDetails().GetPayloads() {
				if strings.Contains(string(p.Data), `"total":6000`) {
					return true
				}
			}
		}
		return false
	})
	text, err := os.ReadFile(pid)
	require.NoError(t, err)
	first := strings.TrimSpace(string(text))
	n, err := strconv.Atoi(first)
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(n, syscall.SIGKILL))
	b.completed(`["OutcomeUnknown","Echo: back"]`, b.wait(id))
	text, err = os.ReadFile(pid)
	require.NoError(t, err)
	require.NotEqual(t, first, strings.TrimSpace(string(text)), "another process answered")
}

// changing is an MCP server in this process whose tools come and go.
func changing(tools ...string) (*mcpserver.MCPServer, connectors.Connector) {
	s := mcpserver.NewMCPServer("changing", "1", mcpserver.WithToolCapabilities(true))
	for _, name := range tools {
		addTool(s, name)
	}
	return s, mcpconnector.New("tools",
		mcpconnector.Options{Client: func(context.Context) (*client.Client,
			error) {
			return client.NewInProcessClient(s)
		}})
}

func addTool(s *mcpserver.MCPServer, name string) {
	s.AddTool(mcp.NewTool(name, mcp.WithReadOnlyHintAnnotation(name != "write")),
		func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultText(name + " was called"), nil
		})
}

// While an execution waits for a person, its server loses the tool whose result it has, and gets another one.
func TestToolsChangeWhilePaused(t *testing.T) {
	b := setUp(t)
	s, c := changing("old", "write")
	ask := true
	b.connect(c)
	b.options.Rules = map[string][]connectors.Rule{"tools": {{Pattern: "write", RequiresApproval: &ask}}}
	w := b.worker()
	o := b.run(`const first = await tools.old(); const second = await tools.write();
		let gone; try { await tools.old() } catch (e) { gone = e.message }
		return [first, second, gone, await tools.added(), (await codemode.search('added')).results.length]`)
	require.Equal(t, signals.Paused, o.Status, o.Error)
	s.DeleteTools("old")
	addTool(s, "added")
	b.eventually("the worker knows", func() bool {
		_, was := w.Connectors.Lookup("tools", "old")
		_, is := w.Connectors.Lookup("tools", "added")
		return was != nil && is == nil
	})
	b.completed(`["old was called","write was called",
		"Tool \"old\" not found on tools. Find it with codemode.search(\"what it does\").","added was called",1]`,
		b.approve(o.ExecutionID, signals.Approve{}))
}

// The calls of a connector with a task queue of its own are made by a worker that runs no programs.
func TestConnectorOnItsOwnTaskQueue(t *testing.T) {
	b := setUp(t)
	b.options.OwnQueues = []string{"lab"}
	b.worker()
	id := b.start(`return [await lab.read_name({}), await lab.put({name: 'x'})]`)
	b.eventually("the read waits for its worker",
		func() bool { return strings.Contains(fmt.Sprint(b.events(id)), "codemode-"+b.runtime+"-lab") })
	serving := b.options
	serving.Serve, serving.Connectors = []string{"lab"},
		[]connectors.Connector{(&lab{dir: b.lab.dir, name: "other"}).connector()}
	other, err := codemodeworker.New(b.context(), shared.client, serving)
	require.NoError(t, err)
	require.NoError(t, other.Start())
	t.Cleanup(other.Stop)
	b.completed(`["other","x"]`, b.wait(id))
	b.eventually("the queue is known to be served", func() bool {
		served, err := b.client.Served(b.context(), "lab")
		return err == nil && served
	})
	served, err := b.client.Served(b.context(), "nobody")
	require.NoError(t, err)
	require.False(t, served)

	serving.Serve = []string{"nobody"}
	_, err = codemodeworker.New(b.context(), shared.client, serving)
	require.EqualError(t, err, `the connector "nobody" cannot be served alone: it has no task queue of its own`)
}

// serveHTTP answers with JSON.
func serveHTTP(t *testing.T, answer func(method, path, body string) string) string {
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, answer(r.Method, r.URL.Path, string(body)))
	}))
	t.Cleanup(web.Close)
	return web.URL
}

// What a program fetches is a call like any other: a POST waits for a person, a GET is replayed.
func TestFetchIsLoggedAndApproved(t *testing.T) {
	b := setUp(t)
	var mu sync.Mutex
	var seen []string
	url := serveHTTP(t, func(method, path, body string) string {
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, method+" "+path+" "+body)
		return fmt.Sprintf(`{"n":%d}`, len(seen))
	})
	ask := true
	b.connect(outbound.New(outbound.Options{Hosts: []string{url}}))
	b.options.Rules = map[string][]connectors.Rule{outbound.Name: {{Pattern: "post", RequiresApproval: &ask}}}
	b.worker()
	o := b.run(fmt.Sprintf(`const url = %q;
		const {n} = await (await fetch(url + '/a')).json();
		const made = await fetch(url + '/b', {method: 'POST', body: JSON.stringify({n})});
		let refused; try { await fetch('http://127.0.0.1:1/') } catch (e) { refused = e.message.includes('not an allowed host') }
		return [n, made.ok, await made.json(), refused]`, url))
	require.Len(t, o.Pending, 1)
	var args struct{ URL, Body string }
	require.NoError(t, json.Unmarshal(o.Pending[0].Args, &args))
	require.Equal(t, `{"n":1}`, args.Body, "whoever approves can read it")
	b.completed(`[1,true,{"n":2},true]`, b.approve(o.ExecutionID, signals.Approve{}))
	require.Equal(t, []string{"GET /a ", `POST /b {"n":1}`}, seen)
}
