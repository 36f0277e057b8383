package codemode

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/temporal-codemode/codemode/signals"
)

// TransformResult shapes the final value of a completed execution for whoever asked for it: to shorten it for a model
// (see TruncateResult), or to drop what it need not see. An absent value is nil. The record keeps the value as it was.
type TransformResult func(ctx context.Context, result json.RawMessage) (json.RawMessage, error)

// transform shapes a completed outcome. One that cannot be shaped is answered as it is: what the program did is done.
func (c *Client) transform(ctx context.Context, o signals.Outcome) signals.Outcome {
	if c.shape == nil || o.Status != signals.Completed {
		return o
	}
	result, err := safely(ctx, c.shape, o.Result)
	if err != nil {
		c.log.Warn("the result could not be transformed and is given as it is", "execution", o.ExecutionID, "error",
			err)
		return o
	}
	o.Result = result
	return o
}

func safely(ctx context.Context, shape TransformResult, result json.RawMessage) (shaped json.RawMessage, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	shaped, err = shape(ctx, result)
	if err == nil && len(shaped) > 0 && !json.Valid(shaped) {
		err = fmt.Errorf("it is not valid JSON: %s", signals.Cut(string(shaped), 80))
	}
	return shaped, err
}
