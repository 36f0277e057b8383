package mcpserver

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/temporal-codemode/codemode"
	"github.com/temporal-codemode/codemode/signals"
)

// Tasks are executions as MCP's extension of that name sees them: the task's id is the execution's, and the door keeps
// nothing, so any door answers for any task.

// tasksExtension is what clients declare that take a task in place of a result.
const tasksExtension = "io.modelcontextprotocol/tasks"

// taskAfter is how long a program may take to be answered at once, with its outcome.
const taskAfter = 2 * time.Second

// pollEvery is how often clients are told to look.
const pollEvery = 2 * time.Second

// The statuses of a task. None is failed: that is for what the protocol itself refuses, not for programs that throw.
const (
	taskWorking   = "working"
	taskAsks      = "input_required"
	taskCompleted = "completed"
	taskCancelled = "cancelled"
)

// endedByCancel is what a record calls the end of an execution that was cancelled.
const endedByCancel = "cancel"

// task is an execution as a task.
type task struct {
	mcp.ResultBase
	ResultType     string              `json:"resultType,omitempty"`
	ID             string              `json:"taskId"`
	Status         string              `json:"status"`
	StatusMessage  string              `json:"statusMessage,omitempty"`
	CreatedAt      string              `json:"createdAt"`
	LastUpdatedAt  string              `json:"lastUpdatedAt"`
	TTL            *int64              `json:"ttlMs"` // null: the namespace's retention says how long
	PollInterval   int64               `json:"pollIntervalMs,omitempty"`
	InputRequests  mcp.InputRequestMap `json:"inputRequests,omitempty"`
	Result         *mcp.CallToolResult `json:"result,omitempty"`
	pass           int
	round          round
	isOver         bool
	pendingActions []signals.PendingAction
}

// acknowledged is an answer that says nothing but yes.
type acknowledged struct {
	mcp.ResultBase
	ResultType string `json:"resultType"`
}

type taskParams struct {
	mcp.ParamsBase
	TaskID string `json:"taskId"`
}

type taskAnswers struct {
	mcp.ParamsBase
	TaskID         string               `json:"taskId"`
	InputResponses mcp.InputResponseMap `json:"inputResponses"`
}

// addTasks offers tasks, where executions outlive the calls that start them.
func (d *door) addTasks() error {
	d.mcp.AddReceivingMiddleware(givingTasks)
	return errors.Join(
		mcp.AddReceivingCustomMethod(d.mcp, "tasks/get", d.getTask),
		mcp.AddReceivingCustomMethod(d.mcp, "tasks/update", d.updateTask),
		mcp.AddReceivingCustomMethod(d.mcp, "tasks/cancel", d.cancelTask),
	)
}

// takesTasks reports whether a request declares the extension.
func takesTasks(r described) bool {
	if r.ProtocolVersion() < stateless {
		return false
	}
	can := r.ClientCapabilities()
	if can == nil {
		return false
	}
	_, declared := can.Extensions[tasksExtension]
	return declared
}

// missingExtension refuses a request about tasks of a client that has not said that it knows them.
func missingExtension() *jsonrpc.Error {
	return &jsonrpc.Error{Code: mcp.CodeMissingRequiredClientCapabilities,
		Message: "Missing required client capability",
		Data:    json.RawMessage(`{"requiredCapabilities":{"extensions":{"` + tasksExtension + `":{}}}}`)}
}

func noTask() error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "there is no such task"}
}

// taskKey is where a call of a tool leaves a task that is its answer.
type taskKey struct{}

// givingTasks answers calls of tools with the tasks that they have become.
func givingTasks(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
		var become *task
		result, err := next(context.WithValue(ctx, taskKey{}, &become), method, r)
		if err == nil && become != nil {
			return become, nil
		}
		return result, err
	}
}

// runTask runs a program that is a task once it takes longer. It exists on the server before anybody is told of it.
func (s *session) runTask(ctx context.Context, durable Durable, code string, o codemode.ExecuteOptions, answer answerer,
) (*mcp.CallToolResult, error) {
	o.NoWait = true
	out, err := s.Runtime.Execute(ctx, code, o)
	if err != nil || out.Status.Terminal() {
		return answer(out, err), nil
	}
	soon, cancel := context.WithTimeout(ctx, taskAfter)
	defer cancel()
	out, err = durable.Wait(soon, o.ID, 0)
	switch {
	case err == nil && out.Status.Terminal():
		return answer(out, err), nil
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	}
	seed, err := s.taskOf(ctx, o.ID)
	if err != nil {
		return nil, err
	}
	seed.ResultType, seed.InputRequests, seed.Result = "task", nil, nil
	become, ok := ctx.Value(taskKey{}).(**task)
	if !ok {
		return nil, errors.New("the door gives no tasks here")
	}
	*become = seed
	return &mcp.CallToolResult{}, nil
}

// taskOf is how an execution stands, as whoever asks may see it.
func (s *session) taskOf(ctx context.Context, id string) (*task, error) {
	durable, ok := s.Runtime.(Durable)
	if !ok || signals.CheckExecutionID(id) != nil {
		return nil, noTask()
	}
	at, err := durable.Standing(ctx, id)
	switch {
	case errors.Is(err, codemode.ErrNotFound):
		return nil, noTask()
	case err != nil:
		return nil, err
	case s.who != nil && at.Caller.StartedAs != s.who.Name:
		return nil, noTask() // it is somebody else's, who need not be told that there is one
	}
	t := &task{ResultType: "complete", ID: id, CreatedAt: timeOf(at.CreatedAt), LastUpdatedAt: timeOf(at.UpdatedAt),
		PollInterval: pollEvery.Milliseconds(), pass: at.Pass, pendingActions: at.Pending}
	switch {
	case at.EndedBy != nil && at.EndedBy.Kind == endedByCancel:
		t.Status, t.StatusMessage, t.isOver = taskCancelled, at.Error, true
	case at.Status.Terminal():
		t.Status, t.Result, t.isOver = taskCompleted, s.answerOf(at.Outcome), true
	case at.Status == signals.Paused:
		s.ask(ctx, t, at.Outcome)
	default:
		t.Status, t.StatusMessage = taskWorking, "execution "+id+" is running"
	}
	return t, nil
}

// ask says what a task waits for: of its client, if that can ask people, else of people elsewhere.
func (s *session) ask(ctx context.Context, t *task, out signals.Outcome) {
	t.Status, t.StatusMessage = taskWorking, s.pausedText(out)
	if t.round = s.round(ctx, out); !t.round.isEmpty() {
		t.Status, t.InputRequests = taskAsks, t.round.requests()
	}
}

// answerOf is what the call would have been answered with.
func (s *session) answerOf(out signals.Outcome) *mcp.CallToolResult {
	if s.Surface == Direct {
		return s.plainAnswer(out, nil)
	}
	return s.answer(out, nil)
}

func timeOf(ms int64) string { return time.UnixMilli(ms).UTC().Format(time.RFC3339Nano) }

// about is the session of a request about a task, which has to know what tasks are.
func about[P mcp.Params](ctx context.Context, d *door, ss *mcp.ServerSession, params P) (*session, error) {
	r := &mcp.ServerRequest[P]{Session: ss, Params: params} // of today's revision the request says all itself
	if r.ProtocolVersion() < stateless {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "tasks need MCP " + stateless}
	}
	if !takesTasks(r) {
		return nil, missingExtension()
	}
	return &session{door: d, client: clientOf(r), who: caller(ctx), left: map[string]bool{},
		refused: map[string]string{}, asked: map[string]int{}}, nil
}

func (d *door) getTask(ctx context.Context, ss *mcp.ServerSession, p *taskParams) (*task, error) {
	s, err := about(ctx, d, ss, p)
	if err != nil {
		return nil, err
	}
	return s.taskOf(ctx, p.TaskID)
}

// updateTask takes answers to what a task asks. Those to questions that are not open, or no more, are left aside.
func (d *door) updateTask(ctx context.Context, ss *mcp.ServerSession, p *taskAnswers) (*acknowledged, error) {
	s, err := about(ctx, d, ss, p)
	if err != nil {
		return nil, err
	}
	t, err := s.taskOf(ctx, p.TaskID)
	if err != nil {
		return nil, err
	}
	given := answersOf(p.InputResponses, t.round.calls)
	list := s.decisions(ctx, t.pendingActions, t.round.calls, given)
	if err := s.unusable(); err != nil {
		return nil, err
	}
	if durable, ok := s.Runtime.(Durable); ok {
		_, err = s.send(ctx, durable, p.TaskID, list)
	}
	return &acknowledged{ResultType: "complete"}, cmp.Or(err, s.unusable())
}

// unusable is the error of an answer that was not taken, so that its question stays open.
func (s *session) unusable() error {
	for key, why := range s.refused {
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "inputResponses[" + key + "]: " + why}
	}
	return nil
}

// cancelTask asks the execution to end: no further call is made. It may still end otherwise.
func (d *door) cancelTask(ctx context.Context, ss *mcp.ServerSession, p *taskParams) (*acknowledged, error) {
	s, err := about(ctx, d, ss, p)
	if err != nil {
		return nil, err
	}
	if _, err := s.taskOf(ctx, p.TaskID); err != nil {
		return nil, err
	}
	if durable, ok := s.Runtime.(Durable); ok {
		by := signals.Cancellation{By: s.by(), AssertedBy: s.asserted(), Reason: "cancelled by its client"}
		_, err = durable.RequestCancel(ctx, p.TaskID, by)
	}
	return &acknowledged{ResultType: "complete"}, err
}
