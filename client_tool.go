package codemode

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/temporal-codemode/codemode/internal/tool"
	"github.com/temporal-codemode/codemode/signals"
)

// CallTool runs what a model gave the tool: {"code": "…"}, and "continues" where it corrects a program. Anything else
// starts nothing and is an error outcome that says what was expected, so that the model can correct itself.
func (c *Client) CallTool(ctx context.Context, input json.RawMessage, o ExecuteOptions) (signals.Outcome, error) {
	checked := tool.CheckInput(input)
	if checked.Value == nil {
		return signals.ErrorOutcome("", checked.Issues[0].Message), nil
	}
	if checked.Value.Continues != "" {
		o.Continues, o.Fresh = checked.Value.Continues, checked.Value.Fresh
	}
	out, err := c.Execute(ctx, checked.Value.Code, o)
	var wrong *continuesError
	if errors.As(err, &wrong) {
		return signals.ErrorOutcome("", wrong.Error()), nil
	}
	return out, err
}
