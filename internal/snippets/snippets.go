// Package snippets reads and changes the snippets of a runtime through a Temporal client. Each is a workflow; what is
// asked by name is exact, lists lag a moment behind.
package snippets

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"strings"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"

	"github.com/temporal-codemode/codemode/internal/rpcerr"
	"github.com/temporal-codemode/codemode/internal/wait"
	"github.com/temporal-codemode/codemode/signals"
	"github.com/temporal-codemode/codemode/signals/payload"
)

// Store is the snippets of one runtime.
type Store struct {
	Client  client.Client
	Runtime string
	// DataConverter must be the client's own.
	DataConverter converter.DataConverter
}

// Get reads a version of a snippet, 0 the newest; nil where there is no such snippet. Its workflow answers, so a worker
// of the runtime must run.
func (s Store) Get(ctx context.Context, name string, version int) (*signals.Snippet, error) {
	if err := signals.CheckSnippetName(name); err != nil {
		return nil, nil
	}
	v := signals.Snippet{Name: name}
	found, err := s.query(ctx, name, &v.SnippetVersion, signals.QuerySnippet, version)
	if err != nil || !found {
		return nil, err
	}
	return &v, nil
}

// Versions lists the versions that are kept of a snippet, newest first, without code; nil where there is no such
// snippet.
func (s Store) Versions(ctx context.Context, name string) ([]signals.SnippetVersion, error) {
	var list []signals.SnippetVersion
	_, err := s.query(ctx, name, &list, signals.QueryVersions)
	return list, err
}

func (s Store) query(ctx context.Context, name string, into any, query string, args ...any) (found bool, err error) {
	response, err := s.Client.QueryWorkflowWithOptions(ctx, &client.QueryWorkflowWithOptionsRequest{
		WorkflowID: signals.SnippetWorkflowID(s.Runtime, name), QueryType: query, Args: args,
		QueryRejectCondition: enums.QUERY_REJECT_CONDITION_NOT_OPEN,
	})
	switch {
	case rpcerr.NotFound(err):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("read snippet %q: %w", name, err)
	case response.QueryRejected != nil:
		return false, nil
	}
	return true, response.QueryResult.Get(into)
}

// List lists all snippets by name, without code.
func (s Store) List(ctx context.Context) ([]signals.Snippet, error) {
	list := []signals.Snippet{}
	request := &workflowservice.ListWorkflowExecutionsRequest{PageSize: 1000, Query: fmt.Sprintf(
		`WorkflowType = %q AND ExecutionStatus = "Running" AND WorkflowId STARTS_WITH %q`, signals.SnippetWorkflow,
		signals.SnippetPrefix(s.Runtime))}
	for {
		page, err := s.Client.ListWorkflow(ctx, request)
		if err != nil {
			return nil, fmt.Errorf("list snippets: %w", err)
		}
		for _, w := range page.Executions {
			if snippet, ok := s.listed(w); ok {
				list = append(list, snippet)
			}
		}
		if request.NextPageToken = page.NextPageToken; len(request.NextPageToken) == 0 {
			sort.Slice(list, func(i, j int) bool { return list[i].Name < list[j].Name })
			return list, nil
		}
	}
}

func (s Store) listed(w *workflow.WorkflowExecutionInfo) (signals.Snippet, bool) {
	snippet := signals.Snippet{Name: strings.TrimPrefix(w.Execution.WorkflowId, signals.SnippetPrefix(s.Runtime))}
	memo := w.GetMemo().GetFields()[signals.MemoSnippet]
	if memo == nil || s.DataConverter.FromPayload(memo, &snippet.SnippetVersion) != nil {
		return snippet, false // started, and nothing saved yet
	}
	return snippet, true
}

// Save makes v the newest version of a snippet, which is made if there is none.
func (s Store) Save(ctx context.Context, name string, v signals.SnippetVersion) (signals.Snippet, error) {
	if err := signals.CheckSnippetName(name); err != nil {
		return signals.Snippet{}, err
	}
	if err := v.Check(); err != nil {
		return signals.Snippet{}, err
	}
	saved := signals.Snippet{Name: name}
	err := s.retried(ctx, func() error { return s.save(ctx, name, v, &saved.SnippetVersion) })
	if err != nil {
		return saved, fmt.Errorf("save snippet %q: %w", name, err)
	}
	s.awaitListed(ctx, name, saved.Version)
	saved.Code = v.Code
	return saved, nil
}

func (s Store) save(ctx context.Context, name string, v signals.SnippetVersion, saved *signals.SnippetVersion) error {
	id := signals.SnippetWorkflowID(s.Runtime, name)
	start := s.Client.NewWithStartWorkflowOperation(client.StartWorkflowOptions{
		ID: id, TaskQueue: signals.TaskQueue(s.Runtime), StaticSummary: signals.Cut("snippet "+name, 200),
		WorkflowIDConflictPolicy: enums.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
		WorkflowIDReusePolicy:    enums.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
	}, signals.SnippetWorkflow, payload.MustRaw(signals.SnippetState{Runtime: s.Runtime, Name: name}))
	handle, err := s.Client.UpdateWithStartWorkflow(ctx, client.UpdateWithStartWorkflowOptions{
		StartWorkflowOperation: start,
		UpdateOptions: client.UpdateWorkflowOptions{
			WorkflowID: id, UpdateName: signals.UpdateSave, Args: []any{payload.MustRaw(v)},
			WaitForStage: client.WorkflowUpdateStageCompleted,
		},
	})
	if err != nil {
		return err
	}
	return handle.Get(ctx, saved)
}

// Restore makes an older version the newest again; nil where there is no such snippet.
func (s Store) Restore(ctx context.Context, name string, r signals.RestoreSnippet) (*signals.Snippet, error) {
	restored := signals.Snippet{Name: name}
	err := s.retried(ctx, func() error {
		return s.update(ctx, name, signals.UpdateRestore, &restored.SnippetVersion, payload.MustRaw(r))
	})
	if rpcerr.NotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("restore version %d of snippet %q: %w", r.Version, name, err)
	}
	s.awaitListed(ctx, name, restored.Version)
	return &restored, nil
}

// Delete deletes a snippet with all its versions, and reports whether there was one.
func (s Store) Delete(ctx context.Context, name string) (bool, error) {
	if signals.CheckSnippetName(name) != nil {
		return false, nil
	}
	var existed bool
	err := s.update(ctx, name, signals.UpdateDelete, &existed)
	if rpcerr.NotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("delete snippet %q: %w", name, err)
	}
	s.awaitListed(ctx, name, 0)
	return existed, nil
}

func (s Store) update(ctx context.Context, name, update string, into any, args ...any) error {
	handle, err := s.Client.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
		WorkflowID: signals.SnippetWorkflowID(s.Runtime, name), UpdateName: update, Args: args,
		WaitForStage: client.WorkflowUpdateStageCompleted,
	})
	if err != nil {
		return err
	}
	return handle.Get(ctx, into)
}

// retried repeats what met the snippet just when it was deleted or its history began anew.
func (s Store) retried(ctx context.Context, try func() error) error {
	for attempt := 1; ; attempt++ {
		err := try()
		var app *temporal.ApplicationError
		gone := errors.As(err, &app) && (app.Type() == "Deleted" || app.Type() == "AcceptedUpdateCompletedWorkflow")
		if !gone || attempt == 5 || wait.For(ctx, 100*time.Millisecond) != nil {
			return err
		}
	}
}

// listedWithin bounds the wait for lists, and so for search, to know of a change.
const listedWithin = 3 * time.Second

// awaitListed waits until lists show a version of the snippet, or with 0, none.
func (s Store) awaitListed(ctx context.Context, name string, version int) {
	ctx, cancel := context.WithTimeout(ctx, listedWithin)
	defer cancel()
	for every := 20 * time.Millisecond; ; every = min(2*every, 500*time.Millisecond) { // lists are rationed
		list, err := s.List(ctx)
		listed := 0
		for _, snippet := range list {
			if snippet.Name == name {
				listed = snippet.Version
			}
		}
		if err != nil || version == 0 && listed == 0 || version > 0 && listed >= version ||
			wait.For(ctx, every) != nil {
			return
		}
	}
}
