package activities

import (
	"context"
	"fmt"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/proto"

	"github.com/temporal-codemode/codemode/internal/history"
	"github.com/temporal-codemode/codemode/signals"
	"github.com/temporal-codemode/codemode/signals/payload"
)

// Carry answers with a part of the log of the run before, which this run's history holds from then on.
func (a *Activities) Carry(ctx context.Context, in signals.CarryInput) (converter.RawValue, error) {
	pulse := beat(ctx)
	defer pulse.stop()
	run := activity.GetInfo(ctx).WorkflowExecution
	_, log := a.carried.known(run.RunID)
	if log == nil {
		h, err := history.Read(ctx, activity.GetClient(ctx), a.DataConverter, run.ID, run.RunID)
		if err != nil {
			return converter.RawValue{}, fmt.Errorf("read the log of %s: %w", in.ExecutionID, err)
		}
		if log, err = h.Log(); err != nil {
			return converter.RawValue{}, fmt.Errorf("fold the log of %s: %w", in.ExecutionID, err)
		}
		a.memory.put(&remembered{runID: run.RunID, nonce: log.Nonce, code: h.Input.Code, log: log,
			bytes: len(h.Input.Code)})
	}
	parts := log.Carry()
	if in.Part >= len(parts) {
		return converter.RawValue{}, fmt.Errorf("the log of %s has %d parts, not %d", in.ExecutionID, len(parts),
			in.Part+1)
	}
	a.carried.keep(run.RunID, nil, log)
	part := parts[in.Part]
	if in.Part == 0 {
		for _, each := range parts {
			part.Bytes += a.encodedBytes(each)
		}
	}
	if in.Part == len(parts)-1 {
		a.carried.keep("", nil, nil)
	}
	return payload.Raw(part)
}

// encodedBytes is what a value takes in history, where only a Converter compresses what is written.
func (a *Activities) encodedBytes(v any) int {
	raw := payload.MustRaw(v)
	if _, compresses := a.DataConverter.(*payload.Converter); compresses {
		if p, err := a.DataConverter.ToPayload(raw); err == nil {
			return proto.Size(p)
		}
	}
	return proto.Size(raw.Payload())
}
