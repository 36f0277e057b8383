package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/starter/mcpserver"
	"github.com/temporal-codemode/codemode/testenv/server"
)

// wire speaks bare JSON-RPC of today's revision with a door.
type wire interface {
	// ask sends a request and gives its answer, and what came before it.
	ask(t *testing.T, ctx context.Context, method, name string, params map[string]any, can string) (answer rpc,
		before []rpc)
}

type rpc struct {
	ID     json.RawMessage
	Method string
	Params json.RawMessage
	Result json.RawMessage
	Error  *struct {
		Code    int
		Message string
		Data    json.RawMessage
	}
	status int // of HTTP
}

// What a client declares that it can.
const (
	canTasks    = `{"elicitation":{"form":{}},"extensions":{"io.modelcontextprotocol/tasks":{}}}`
	canAsk      = `{"elicitation":{"form":{}}}`
	canOnlyTask = `{"extensions":{"io.modelcontextprotocol/tasks":{}}}`
)

func message(id int, method string, params map[string]any, can string) string {
	with := map[string]any{"_meta": map[string]any{"io.modelcontextprotocol/protocolVersion": "2026-07-28",
		"io.modelcontextprotocol/clientInfo":         map[string]any{"name": "raw", "version": "1"},
		"io.modelcontextprotocol/clientCapabilities": json.RawMessage(can)}}
	for name, value := range params {
		with[name] = value
	}
	text, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": with})
	return string(text)
}

// overHTTP is a door at an address.
type overHTTP struct{ url, token string }

func (w overHTTP) ask(t *testing.T, ctx context.Context, method, name string, params map[string]any, can string) (rpc,
	[]rpc) {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, "POST", w.url, strings.NewReader(message(7, method, params, can)))
	require.NoError(t, err)
	for header, value := range map[string]string{"Content-Type": "application/json",
		"Accept": "application/json, text/event-stream", "Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": method,
		"Mcp-Name": name, "Authorization": "Bearer " + w.token} {
		r.Header.Set(header, value)
	}
	answer, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer func() { _ = answer.Body.Close() }()
	var all []rpc
	add := func(text string) {
		m := rpc{status: answer.StatusCode}
		require.NoError(t, json.Unmarshal([]byte(text), &m), text)
		all = append(all, m)
	}
	if strings.HasPrefix(answer.Header.Get("Content-Type"), "application/json") {
		text, err := io.ReadAll(answer.Body)
		require.NoError(t, err)
		add(string(text))
	} else {
		lines := bufio.NewScanner(answer.Body)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				add(data)
			}
		}
	}
	require.NotEmpty(t, all)
	return all[len(all)-1], all[:len(all)-1]
}

// overStdio is a door behind pipes.
type overStdio struct {
	mu    sync.Mutex
	ids   int
	out   io.Writer
	lines *bufio.Scanner
}

func (w *overStdio) ask(t *testing.T, _ context.Context, method, _ string, params map[string]any, can string) (rpc,
	[]rpc) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ids++
	_, err := fmt.Fprintln(w.out, message(w.ids, method, params, can))
	require.NoError(t, err)
	var before []rpc
	for w.lines.Scan() {
		var m rpc
		require.NoError(t, json.Unmarshal(w.lines.Bytes(), &m))
		if m.Method == "" && string(m.ID) == fmt.Sprint(w.ids) {
			return m, before
		}
		before = append(before, m)
	}
	require.Fail(t, "the door ended")
	return rpc{}, nil
}

// everybody is known by tokens that are their names, and may do all.
func everybody(token string) (mcpserver.Caller, bool) {
	return mcpserver.Caller{Name: token, MayRun: true, MayDecide: true}, true
}

func doorOverHTTP(t *testing.T, o mcpserver.Options) string {
	t.Helper()
	s, err := mcpserver.New(t.Context(), o)
	require.NoError(t, err)
	h, err := mcpserver.NewHTTP(s, mcpserver.HTTPOptions{Authenticate: everybody})
	require.NoError(t, err)
	web := httptest.NewServer(h)
	t.Cleanup(func() { _ = h.Close(); web.CloseClientConnections(); web.Close() })
	return web.URL + "/mcp"
}

func doorOverStdio(t *testing.T, o mcpserver.Options) *overStdio {
	t.Helper()
	to := reach(t, "stdio", o)
	lines := bufio.NewScanner(to.in)
	lines.Buffer(nil, 1<<20)
	return &overStdio{out: to.out, lines: lines}
}

// tasked is a door and what a rule of the specification is tried with.
type tasked struct {
	*testing.T
	wire wire
	bank *bank
	o    mcpserver.Options
}

// object is a JSON object.
type object = map[string]any

func (d tasked) result(method, id string, params object) object {
	d.Helper()
	return d.resultAs(method, id, params, canTasks)
}

func (d tasked) resultAs(method, id string, params object, can string) object {
	d.Helper()
	a, _ := d.wire.ask(d.T, d.Context(), method, id, params, can)
	require.Nil(d, a.Error, "%+v", a.Error)
	var r object
	require.NoError(d, json.Unmarshal(a.Result, &r))
	return r
}

func (d tasked) refused(method, id string, params object, can string) rpc {
	d.Helper()
	a, _ := d.wire.ask(d.T, d.Context(), method, id, params, can)
	require.NotNil(d, a.Error, "%s", a.Result)
	return a
}

func (d tasked) call(code string) object {
	d.Helper()
	return d.result("tools/call", "codemode", object{"name": "codemode", "arguments": object{"code": code}})
}

func (d tasked) get(id string) object {
	d.Helper()
	return d.result("tasks/get", id, object{"taskId": id})
}

// task starts a program that is one, and gives its id.
func (d tasked) task(code string) string {
	d.Helper()
	r := d.call(code)
	require.Equal(d, "task", r["resultType"], "%v", r)
	return r["taskId"].(string)
}

// until looks at a task until it stands as wanted.
func (d tasked) until(id, status string) (t object) {
	d.Helper()
	require.Eventually(d, func() bool { t = d.get(id); return t["status"] == status }, patience, 20e6, "%v", t)
	return t
}

func (d tasked) questions(id string) map[string]any {
	d.Helper()
	return d.until(id, "input_required")["inputRequests"].(map[string]any)
}

func (d tasked) answer(id string, answers object) {
	d.Helper()
	r := d.result("tasks/update", id, object{"taskId": id, "inputResponses": answers})
	delete(r, "_meta")
	require.Equal(d, object{"resultType": "complete"}, r, "an empty result")
}

func decided(decision string, more ...any) object {
	content := object{"decision": decision}
	for i := 0; i+1 < len(more); i += 2 {
		content[more[i].(string)] = more[i+1]
	}
	return object{"action": "accept", "content": content}
}

const sleepy = "await codemode.sleep(60000); return 1"

// taskRules are what the extension says that servers MUST do, in its words.
var taskRules = []struct {
	must string
	try  func(tasked)
}{
	{"declare support for the tasks extension in server/discover", func(d tasked) {
		r := d.result("server/discover", "", object{})
		require.Contains(d, r["capabilities"].(object)["extensions"], "io.modelcontextprotocol/tasks")
	}},
	{"NOT return CreateTaskResult to a client that did not include the extension capability on its request, " +
		"regardless of prior declarations", func(d tasked) {
		d.task(sleepy)
		r := d.resultAs("tools/call", "codemode", object{"name": "codemode",
			"arguments": object{"code": "return await bank.pay({amount: 1})"}}, canAsk)
		require.Equal(d, "input_required", r["resultType"])
	}},
	{"set resultType to task when returning a CreateTaskResult, and NOT on other result types", func(d tasked) {
		require.Equal(d, "complete", d.call("return 1")["resultType"], "what is quick is no task")
		require.Equal(d, "complete", d.get(d.task(sleepy))["resultType"])
	}},
	{"NOT return CreateTaskResult until a tasks/get for the returned taskId would resolve", func(d tasked) {
		another := tasked{d.T, overHTTP{doorOverHTTP(d.T, d.o), ownerOf(d)}, d.bank, d.o}
		require.Equal(d, "working", another.get(d.task(sleepy))["status"], "at any door")
	}},
	{"return a Task with status working", func(d tasked) {
		r := d.get(d.task(sleepy))
		require.Equal(d, "working", r["status"])
		for _, field := range []string{"taskId", "createdAt", "lastUpdatedAt", "ttlMs"} {
			require.Contains(d, r, field)
		}
		require.NotContains(d, r, "result")
	}},
	{"return a Task with status input_required and all outstanding requests", func(d tasked) {
		require.Len(d, d.questions(d.task(threePayments)), 3)
	}},
	{"NOT send inputRequests that the client has not declared support for", func(d tasked) {
		id := d.task("return await bank.pay({amount: 1})")
		r := d.resultAs("tasks/get", id, object{"taskId": id}, canOnlyTask)
		require.Equal(d, "working", r["status"])
		require.NotContains(d, r, "inputRequests")
		require.Contains(d, r["statusMessage"], "Waiting for a person")
	}},
	{"return a Task with status completed and a result", func(d tasked) {
		id := d.task("await codemode.sleep(2200); return 'slept'")
		require.Contains(d, fmt.Sprint(d.until(id, "completed")["result"]), "slept")
	}},
	{"NOT use failed for a tool result with isError, but completed", func(d tasked) {
		id := d.task("await codemode.sleep(2200); throw new Error('boom')")
		result := d.until(id, "completed")["result"].(object)
		require.Equal(d, true, result["isError"])
		require.Contains(d, fmt.Sprint(result), "boom")
	}},
	{"return a Task with status cancelled, and acknowledge tasks/cancel with an empty result", func(d tasked) {
		id := d.task("await codemode.sleep(60000); return await bank.pay({amount: 1})")
		r := d.result("tasks/cancel", id, object{"taskId": id})
		delete(r, "_meta")
		require.Equal(d, object{"resultType": "complete"}, r)
		d.until(id, "cancelled")
		require.Empty(d, d.bank.payments())
		d.result("tasks/cancel", id, object{"taskId": id})
	}},
	{"ignore responses to keys that are not outstanding, and take a part of them", func(d tasked) {
		id := d.task(threePayments)
		all := keys(d.questions(id))
		d.answer(id, object{all[0]: decided("approve"), "9-none": decided("approve")})
		require.Eventually(d, func() bool { return len(d.questions(id)) == 2 }, patience, 20e6)
		d.answer(id, object{all[0]: decided("reject"), all[1]: decided("reject"), all[2]: decided("approve")})
		d.until(id, "completed")
		require.Len(d, d.bank.payments(), 2, "what was answered once is answered")
	}},
	{"NOT reuse a key for a subsequent request after a response for that key has been delivered", func(d tasked) {
		id := d.task("await bank.pay({amount: 1}); return await bank.pay({amount: 1})")
		first := keys(d.questions(id))[0]
		require.Equal(d, []string{first}, keys(d.questions(id)), "the same question has the same key")
		d.answer(id, object{first: decided("approve")})
		var second string
		require.Eventually(d, func() bool {
			open := keys(d.questions(id))
			if len(open) == 1 {
				second = open[0]
			}
			return second != "" && second != first
		}, patience, 20e6)
		d.answer(id, object{first: decided("approve")})
		require.Equal(d, []string{second}, keys(d.questions(id)), "nobody has answered this one")
		d.answer(id, object{second: decided("approve", "args.amount", 2)})
		d.until(id, "completed")
		require.Equal(d, []int{1, 2}, d.bank.payments())
	}},
	{"refuse answers that cannot be used, and leave the question open", func(d tasked) {
		id := d.task("return await bank.pay({amount: 1})")
		key := keys(d.questions(id))[0]
		unusable := object{"taskId": id, "inputResponses": object{key: decided("maybe")}}
		a := d.refused("tasks/update", id, unusable, canTasks)
		require.Equal(d, -32602, a.Error.Code)
		unusable = object{"taskId": id, "inputResponses": object{key: decided("approve", "args.amount", 1.5)}}
		a = d.refused("tasks/update", id, unusable, canTasks)
		require.Contains(d, a.Error.Message, "Invalid arguments for bank.pay")
		require.Equal(d, []string{key}, keys(d.questions(id)))
	}},
	{"return -32602 for an invalid or nonexistent taskId", func(d tasked) {
		for _, id := range []string{"", "exec_0000000000000000_none", "../x"} {
			for _, method := range []string{"tasks/get", "tasks/cancel", "tasks/update"} {
				a := d.refused(method, id, object{"taskId": id, "inputResponses": object{}}, canTasks)
				require.Equal(d, -32602, a.Error.Code)
			}
		}
	}},
	{"return -32021 to clients that do not declare the extension", func(d tasked) {
		id := d.task(sleepy)
		for method, params := range map[string]object{"tasks/get": {"taskId": id}, "tasks/cancel": {"taskId": id},
			"tasks/update":         {"taskId": id, "inputResponses": object{}},
			"subscriptions/listen": {"notifications": object{"taskIds": []string{id}}}} {
			a := d.refused(method, id, params, canAsk)
			require.Equal(d, -32021, a.Error.Code, method)
			require.JSONEq(d, `{"requiredCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}`,
				string(a.Error.Data))
			if a.status != 0 {
				require.Equal(d, 400, a.status)
			}
		}
	}},
	{"generate task ids that nobody can guess", func(d tasked) {
		require.Regexp(d, `^exec_[0-9]{16}_[a-z2-7]{26}$`, d.task(sleepy))
	}},
	{"acknowledge a subscription first, and send each task as tasks/get gives it", func(d tasked) {
		id := d.task("await codemode.sleep(3000); return 'slept'")
		params := object{"notifications": object{"taskIds": []string{id, "exec_none"}}}
		answer, before := d.wire.ask(d.T, d.Context(), "subscriptions/listen", "", params, canTasks)
		require.Nil(d, answer.Error)
		require.NotEmpty(d, before)
		require.Equal(d, "notifications/subscriptions/acknowledged", before[0].Method)
		require.Contains(d, string(before[0].Params), `"notifications":{"taskIds":["`+id+`"]}`)
		for _, m := range append(before, answer) {
			require.Contains(d, string(m.Params)+string(m.Result), `"io.modelcontextprotocol/subscriptionId":`)
		}
		var last object
		for _, m := range before[1:] {
			require.Equal(d, "notifications/tasks", m.Method, "neither progress nor messages")
			last = nil
			require.NoError(d, json.Unmarshal(m.Params, &last))
		}
		want := d.get(id)
		delete(want, "_meta")
		delete(want, "resultType")
		delete(last, "_meta")
		require.Equal(d, want, last)
		require.Equal(d, "completed", last["status"])
	}},
}

func ownerOf(d tasked) string {
	if w, ok := d.wire.(overHTTP); ok {
		return w.token
	}
	return ""
}

// TestTasksKeepTheSpecification: each rule on bare JSON-RPC, over HTTP and over standard input and output.
func TestTasksKeepTheSpecification(t *testing.T) {
	b, k := askingBank(t)
	o := mcpserver.Options{Runtime: b.client}
	for name, w := range map[string]func(*testing.T) wire{
		"http":  func(t *testing.T) wire { return overHTTP{doorOverHTTP(t, o), "ada"} },
		"stdio": func(t *testing.T) wire { return doorOverStdio(t, o) },
	} {
		t.Run(name, func(t *testing.T) {
			door := w(t)
			for _, rule := range taskRules {
				if name == "stdio" && strings.HasPrefix(rule.must, "NOT return CreateTaskResult until") {
					continue // who comes in without a token starts nothing in anybody's name
				}
				t.Run(rule.must, func(t *testing.T) { rule.try(tasked{t, door, k, o}) })
			}
		})
	}
}

// Tasks are their callers': no other is told that there are any.
func TestTasksBelongToTheirCallers(t *testing.T) {
	b, _ := askingBank(t)
	o := mcpserver.Options{Runtime: b.client}
	url := doorOverHTTP(t, o)
	ada, bob := tasked{t, overHTTP{url, "ada"}, nil, o}, tasked{t, overHTTP{url, "bob"}, nil, o}
	id := ada.task("return await bank.pay({amount: 1})")
	ada.questions(id)
	for _, method := range []string{"tasks/get", "tasks/cancel", "tasks/update"} {
		a := bob.refused(method, id, object{"taskId": id, "inputResponses": object{}}, canTasks)
		require.Equal(t, -32602, a.Error.Code)
		require.Equal(t, "there is no such task", a.Error.Message)
	}
	_, before := bob.wire.ask(t, t.Context(), "subscriptions/listen", "",
		object{"notifications": object{"taskIds": []string{id}}}, canTasks)
	require.Len(t, before, 1)
	require.Contains(t, string(before[0].Params), `"notifications":{}`)
}

// TestTaskOutlivesEverything: door, worker and server are killed between a task's question, its answer and its result.
func TestTaskOutlivesEverything(t *testing.T) {
	b := setUp(t)
	db := filepath.Join(t.TempDir(), "temporal.db")
	s, err := server.Start(context.Background(), server.Options{DB: db})
	require.NoError(t, err)
	b.address = s.Address()
	b.lab.open("open")
	first := b.process("first")
	door := func() tasked {
		c := dial(b.address)
		t.Cleanup(c.Close)
		o := mcpserver.Options{Runtime: b.clientFor(c)}
		return tasked{t, overHTTP{doorOverHTTP(t, o), "ada"}, nil, o}
	}
	d := door()
	id := d.task(`const r = await lab.read({name: 'a', gate: 'open'}); await lab.ask({name: 'x'}); return r`)
	question := keys(d.questions(id))[0]
	b.signal(first, syscall.SIGKILL)
	s.Stop()

	s, err = server.Start(context.Background(), server.Options{DB: db, Address: b.address})
	require.NoError(t, err)
	d = door()
	require.Equal(t, "working", d.get(id)["status"], "nobody knows yet what it waits for")
	second := b.process("second")
	require.Equal(t, []string{question}, keys(d.questions(id)), "the same, which its client need not ask again")
	d = door()
	d.answer(id, object{question: decided("approve")})
	d.until(id, "completed")
	b.signal(second, syscall.SIGKILL)
	s.Stop()

	s, err = server.Start(context.Background(), server.Options{DB: db, Address: b.address})
	require.NoError(t, err)
	t.Cleanup(s.Stop)
	done := door().get(id)
	require.Equal(t, "completed", done["status"], "with no worker")
	require.Contains(t, fmt.Sprint(done["result"]), `"result":"a"`)
	require.Len(t, b.lab.effects("read"), 1)
	require.Len(t, b.lab.effects("ask"), 1)
}
