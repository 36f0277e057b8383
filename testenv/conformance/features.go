package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/temporal-codemode/codemode"
	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/connectors/types"
	"github.com/temporal-codemode/codemode/internal/tool"
	"github.com/temporal-codemode/codemode/internal/truncate"
	"github.com/temporal-codemode/codemode/signals"
)

// notSupported is what a step asked for and the project does not have yet. It fails the step whatever that expects.
type notSupported string

func (n notSupported) Error() string { return "not supported yet: " + string(n) }

type toolOptions struct {
	Description    string            `json:"description"`
	ConnectorHints map[string]string `json:"connectorHints"`
}

// features are what the steps need beyond running, deciding and showing. Answers are encoded as JSON.
type features struct{}

func (features) Options(o options, c *codemode.ClientOptions) error {
	c.MaxExecutions = o.MaxExecutions
	switch o.Transform {
	case "wrap":
		c.TransformResult = func(_ context.Context, result json.RawMessage) (json.RawMessage, error) {
			return json.Marshal(map[string]json.RawMessage{"shaped": result})
		}
	case "throw":
		c.TransformResult = func(context.Context, json.RawMessage) (json.RawMessage, error) {
			return nil,
				errors.New("no shape")
		}
	}
	return nil
}

// done answers as the reference does: whether there was something.
func done(err error) (bool, error) {
	if errors.Is(err, codemode.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// Rollback of an execution that does not exist does nothing.
func (features) Rollback(ctx context.Context, c *codemode.Client, id string) (failed string, err error) {
	r, err := c.Rollback(ctx, id, signals.Rollback{})
	if err == nil && r.Err() != nil {
		failed = r.Err().Error()
	}
	if errors.Is(err, codemode.ErrNotFound) {
		err = nil
	}
	return failed, err
}

func (features) Expire(ctx context.Context, c *codemode.Client, maxAge time.Duration) (any, error) {
	return c.Expire(ctx, maxAge)
}

func (features) Prune(ctx context.Context, c *codemode.Client, keep int) (any, error) {
	return c.Prune(ctx, keep)
}

func (features) Delete(ctx context.Context, c *codemode.Client, id string) (any, error) {
	return done(c.Delete(ctx, id))
}

func (features) Search(ctx context.Context, c *codemode.Client, query string) (any, error) {
	return c.Search(ctx, query, codemode.SearchOptions{})
}

func (features) Describe(ctx context.Context, c *codemode.Client, target string) (any, error) {
	return c.Describe(ctx, target)
}

func (features) Tool(ctx context.Context, c *codemode.Client, t toolOptions) (string, error) {
	tool, err := c.Tool(ctx, codemode.ToolOptions{Description: t.Description, Hints: t.ConnectorHints})
	return tool.Description, err
}

func (features) Validate(input json.RawMessage) (any, error) {
	return tool.CheckInput(input), nil
}

func (features) Save(ctx context.Context, c *codemode.Client, name, id, description string) (any, error) {
	return c.SaveSnippet(ctx, name, signals.SaveSnippet{From: id, Description: description, Force: true})
}

func (features) Snippets(ctx context.Context, c *codemode.Client) (any, error) {
	return c.Snippets(ctx)
}

func (features) Unsave(ctx context.Context, c *codemode.Client, name string) (any, error) {
	return done(c.DeleteSnippet(ctx, name))
}

func (features) Util(function string, args []json.RawMessage) (any, error) {
	call, ok := utilities[function]
	if !ok {
		return nil, notSupported("util " + function)
	}
	if len(args) != len(call.takes) {
		return nil, fmt.Errorf("%s takes %d arguments", function, len(call.takes))
	}
	for i, check := range call.takes {
		if err := check(args[i]); err != nil {
			return nil, fmt.Errorf("%s, argument %d: %w", function, i+1, err)
		}
	}
	return call.do(args), nil
}

// utilities are the pure functions by the reference's names.
var utilities = map[string]struct {
	takes []argument
	do    func(args []json.RawMessage) any
}{
	"sanitizeToolName": {[]argument{text},
		func(a []json.RawMessage) any { return connectors.SanitizeToolName(get[string](a[0])) }},
	"jsonSchemaToType": {[]argument{anything, text},
		func(a []json.RawMessage) any { return types.FromSchema(a[0], get[string](a[1])) }},
	"truncateResult": {[]argument{anything, anything}, func(a []json.RawMessage) any {
		return truncate.Result(a[0], get[truncate.Options](a[1]))
	}},
	"truncateResponse": {[]argument{text, anything}, func(a []json.RawMessage) any {
		return truncate.Response(get[string](a[0]), get[truncate.Options](a[1]))
	}},
}
