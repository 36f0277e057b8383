package codemode

import (
	"context"
	"fmt"

	"github.com/temporal-codemode/codemode/internal/snippets"
	"github.com/temporal-codemode/codemode/internal/validate"
	"github.com/temporal-codemode/codemode/signals"
)

func (c *Client) snippets() snippets.Store {
	return snippets.Store{Client: c.temporal, Runtime: c.runtime, DataConverter: c.dc}
}

// SaveSnippet keeps the program of an execution under a name, for codemode.run(name, input) in later programs. Where
// the name exists it becomes its newest version. The execution must have completed, unless forced.
func (c *Client) SaveSnippet(ctx context.Context, name string, s signals.SaveSnippet) (signals.Snippet, error) {
	record, err := c.Show(ctx, s.From)
	if err != nil {
		return signals.Snippet{}, err
	}
	if record.Status != signals.Completed && !s.Force {
		return signals.Snippet{},
			fmt.Errorf("execution %q has not completed (status: %s): a snippet is saved from a program that was "+
				"seen to work, or by force", s.From, record.Status)
	}
	if err := validate.Schema(s.InputSchema); err != nil {
		return signals.Snippet{}, fmt.Errorf("the snippet input schema cannot be used: %w", err)
	}
	guarded, stop := c.guard(ctx, "")
	defer stop()
	saved, err := c.snippets().Save(guarded, name, signals.SnippetVersion{
		Description: s.Description, Code: record.Code, Connectors: record.Connectors, InputSchema: s.InputSchema,
		ExecutionID: s.From, By: s.By,
	})
	return saved, guardError(guarded, err)
}

// Snippets lists the snippets of the runtime by name, without code. Lists may lag a second behind.
func (c *Client) Snippets(ctx context.Context) ([]signals.Snippet, error) {
	return c.snippets().List(ctx)
}

// Snippet reads a version of a snippet, 0 the newest.
func (c *Client) Snippet(ctx context.Context, name string, version int) (*signals.Snippet, error) {
	guarded, stop := c.guard(ctx, "")
	defer stop()
	s, err := c.snippets().Get(guarded, name, version)
	if err == nil && s == nil {
		return nil, noSnippet(name)
	}
	return s, guardError(guarded, err)
}

// SnippetVersions lists the versions that are kept of a snippet, newest first, without code.
func (c *Client) SnippetVersions(ctx context.Context, name string) ([]signals.SnippetVersion, error) {
	guarded, stop := c.guard(ctx, "")
	defer stop()
	list, err := c.snippets().Versions(guarded, name)
	if err == nil && list == nil {
		return nil, noSnippet(name)
	}
	return list, guardError(guarded, err)
}

// RestoreSnippet makes an older version the newest again.
func (c *Client) RestoreSnippet(ctx context.Context, name string, r signals.RestoreSnippet) (*signals.Snippet, error) {
	guarded, stop := c.guard(ctx, "")
	defer stop()
	s, err := c.snippets().Restore(guarded, name, r)
	if err == nil && s == nil {
		return nil, noSnippet(name)
	}
	return s, guardError(guarded, err)
}

// DeleteSnippet deletes a snippet with all its versions.
func (c *Client) DeleteSnippet(ctx context.Context, name string) error {
	guarded, stop := c.guard(ctx, "")
	defer stop()
	existed, err := c.snippets().Delete(guarded, name)
	if err == nil && !existed {
		return noSnippet(name)
	}
	return guardError(guarded, err)
}
