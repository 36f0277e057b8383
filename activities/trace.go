package activities

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/temporal-codemode/codemode/sandbox"
)

// startSpan opens the span of an inline call under the pass's. Passes and gated calls have theirs from the SDK's
// tracing interceptor; without one this costs nothing. Arguments and results are never part of it.
func startSpan(ctx context.Context, executionID string, c sandbox.Call) (context.Context, trace.Span) {
	tracer := trace.SpanFromContext(ctx).TracerProvider().Tracer("github.com/temporal-codemode/codemode")
	return tracer.Start(ctx, c.Connector+"."+c.Method, trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(
		attribute.String("codemode.execution", executionID), attribute.Int("codemode.seq", c.Seq),
	))
}

func endSpan(span trace.Span, s sandbox.Settlement) {
	switch {
	case s.Escalate:
		span.AddEvent("escalated to a call of the workflow")
	case s.Err != nil:
		span.SetStatus(codes.Error, "the call failed")
	}
	span.End()
}
