package workflows

import (
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/temporal-codemode/codemode/signals"
	"github.com/temporal-codemode/codemode/signals/payload"
)

// Snippet keeps one snippet until it is deleted. Its state is in its input, so that its history can begin anew.
func Snippet(ctx workflow.Context, state signals.SnippetState) error {
	s := &snippet{state: state}
	if err := s.handle(ctx); err != nil {
		return err
	}
	if v, err := state.Find(0); err == nil {
		if err := s.publish(ctx, v); err != nil {
			return err
		}
	}
	_ = workflow.Await(ctx, func() bool {
		return s.deleted || workflow.AllHandlersFinished(ctx) && workflow.GetInfo(ctx).GetContinueAsNewSuggested()
	})
	if s.deleted || ctx.Err() != nil {
		return ctx.Err()
	}
	return workflow.NewContinueAsNewError(ctx, signals.SnippetWorkflow, payload.MustRaw(s.state))
}

type snippet struct {
	state   signals.SnippetState
	deleted bool
}

func (s *snippet) handle(ctx workflow.Context) error {
	if err := workflow.SetQueryHandler(ctx, signals.QuerySnippet, s.query); err != nil {
		return err
	}
	if err := workflow.SetQueryHandler(ctx, signals.QueryVersions, s.versions); err != nil {
		return err
	}
	save := workflow.UpdateHandlerOptions{
		Validator:   func(_ workflow.Context, v signals.SnippetVersion) error { return v.Check() },
		Description: "save a version of the snippet",
	}
	if err := workflow.SetUpdateHandlerWithOptions(ctx, signals.UpdateSave, s.save, save); err != nil {
		return err
	}
	if err := workflow.SetUpdateHandlerWithOptions(ctx, signals.UpdateRestore, s.restore, workflow.UpdateHandlerOptions{
		Description: `make an older version the newest: {"version": 1}`,
	}); err != nil {
		return err
	}
	return workflow.SetUpdateHandlerWithOptions(ctx, signals.UpdateDelete, s.remove, workflow.UpdateHandlerOptions{
		Description: "delete the snippet with all its versions",
	})
}

func (s *snippet) query(version int) (converter.RawValue, error) {
	v, err := s.state.Find(version)
	if err != nil {
		return converter.RawValue{}, err
	}
	return payload.Raw(v)
}

func (s *snippet) versions() ([]signals.SnippetVersion, error) {
	list := []signals.SnippetVersion{}
	for i := len(s.state.Versions) - 1; i >= 0; i-- {
		list = append(list, s.state.Versions[i].Listed())
	}
	return list, nil
}

func (s *snippet) save(ctx workflow.Context, v signals.SnippetVersion) (signals.SnippetVersion, error) {
	if s.deleted {
		return v, errDeleted(s.state.Name)
	}
	v.CreatedAt = workflow.Now(ctx).UnixMilli()
	v = s.state.Add(v)
	return v.Listed(), s.publish(ctx, v)
}

func (s *snippet) restore(ctx workflow.Context, r signals.RestoreSnippet) (signals.SnippetVersion, error) {
	v, err := s.state.Find(r.Version)
	if err != nil {
		return v, temporal.NewApplicationError(err.Error(), "")
	}
	v.By = r.By
	return s.save(ctx, v)
}

func (s *snippet) remove(workflow.Context) (bool, error) {
	existed := !s.deleted
	s.deleted = true
	return existed, nil
}

func errDeleted(name string) error {
	return temporal.NewApplicationError("snippet "+name+" is being deleted: save it again", "Deleted")
}

// listedSchema bounds the input schemas that lists carry, in bytes.
const listedSchema = 4096

// publish shows the newest version in lists and in the Web UI.
func (s *snippet) publish(ctx workflow.Context, v signals.SnippetVersion) error {
	workflow.SetCurrentDetails(ctx, v.Description+"\n\n```ts\n"+signals.Cut(v.Code, 10_000)+"\n```")
	listed := v.Listed()
	if len(listed.InputSchema) > listedSchema {
		listed.InputSchema = nil
	}
	return workflow.UpsertMemo(ctx, map[string]any{signals.MemoSnippet: payload.MustRaw(listed)})
}
