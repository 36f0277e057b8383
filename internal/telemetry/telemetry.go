// Package telemetry sends traces where OpenTelemetry's own environment variables say, for the worker and the command
// line alike.
//
// Its rule: without these variables there are no spans, and nothing costs anything.
package telemetry

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/opentelemetry"
)

// Traces is where spans go. Its zero value drops them.
type Traces struct {
	provider *sdktrace.TracerProvider
}

// Trace makes a client send spans. service is the name of this program, unless OTEL_SERVICE_NAME or
// OTEL_RESOURCE_ATTRIBUTES say another. Queries have none: they only look.
func Trace(ctx context.Context, o *client.Options, service string) (Traces, error) {
	if os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT") == "" && os.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") == "" {
		return Traces{}, nil
	}
	exporter, err := otlptracegrpc.New(ctx)
	if err != nil {
		return Traces{}, fmt.Errorf("export traces: %w", err)
	}
	about, err := resource.New(ctx, resource.WithAttributes(attribute.String("service.name", service)),
		resource.WithFromEnv(), resource.WithTelemetrySDK())
	if err != nil && !errors.Is(err, resource.ErrPartialResource) {
		return Traces{}, fmt.Errorf("read OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	t := Traces{sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(about))}
	interceptor, err := opentelemetry.NewTracingInterceptor(
		opentelemetry.TracerOptions{Tracer: t.provider.Tracer("temporal-sdk-go"), DisableQueryTracing: true})
	if err != nil {
		return Traces{}, fmt.Errorf("trace: %w", err)
	}
	o.Interceptors = append(o.Interceptors, interceptor)
	return t, nil
}

// Start opens a span for something that a person asked for: all that comes of it is in one trace.
func (t Traces) Start(ctx context.Context, name string) (context.Context, trace.Span) {
	var provider trace.TracerProvider = noop.NewTracerProvider()
	if t.provider != nil {
		provider = t.provider
	}
	return provider.Tracer("github.com/temporal-codemode/codemode").Start(ctx, name)
}

// flushWithin bounds how long spans that are left may take: a collector that is away keeps nobody.
const flushWithin = 3 * time.Second

// Stop sends what is left.
func (t Traces) Stop() {
	if t.provider == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), flushWithin)
	defer cancel()
	_ = t.provider.Shutdown(ctx)
}
