// Package trace exports spans of requests and deliveries to an OpenTelemetry collector,
// by OTLP over HTTP.
package trace

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// Config configures the export.
type Config struct {
	Endpoint string // base URL of the collector; empty: the standard OTEL_ variables apply
	Version  string // version of the program
	Log      *slog.Logger
}

// endpointVariables are the standard variables that name a collector. The library reads
// the others, such as OTEL_EXPORTER_OTLP_HEADERS and OTEL_TRACES_SAMPLER.
var endpointVariables = []string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"}

func (c Config) enabled() bool {
	isSet := func(name string) bool { return os.Getenv(name) != "" }
	hasCollector := c.Endpoint != "" || slices.ContainsFunc(endpointVariables, isSet)
	return hasCollector && os.Getenv("OTEL_SDK_DISABLED") != "true"
}

// Tracer records spans. A nil Tracer records none.
type Tracer struct {
	provider *sdk.TracerProvider
	spans    trace.Tracer
}

// tracesPath is the path of the OTLP endpoint for spans.
const tracesPath = "v1/traces"

// Open returns a Tracer, nil if neither c nor the environment has the address of a collector. An
// unreachable collector is not an error: spans that it does not accept are dropped.
func Open(ctx context.Context, c Config) (*Tracer, error) {
	if !c.enabled() {
		return nil, nil
	}
	if err := checkVariables(); err != nil {
		return nil, fmt.Errorf("traces: %w", err)
	}
	var options []otlptracehttp.Option
	if c.Endpoint != "" {
		address, err := url.JoinPath(c.Endpoint, tracesPath)
		if err != nil {
			return nil, err
		}
		options = append(options, otlptracehttp.WithEndpointURL(address))
	}
	exporter, err := otlptracehttp.New(ctx, options...)
	if err != nil {
		return nil, fmt.Errorf("traces: %w", err)
	}
	service, err := resource.New(ctx,
		resource.WithHost(),
		resource.WithAttributes(
			attribute.String("service.name", "whd"),
			attribute.String("service.version", c.Version)),
		resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("traces: %w", err)
	}
	otel.SetErrorHandler(&errorLog{log: c.Log})
	provider := sdk.NewTracerProvider(sdk.WithBatcher(exporter), sdk.WithResource(service))
	return &Tracer{
		provider: provider,
		spans:    provider.Tracer("github.com/bizhook/whd/daemon"),
	}, nil
}

// Close sends the remaining spans, until ctx is done.
func (t *Tracer) Close(ctx context.Context) error {
	if t == nil {
		return nil
	}
	if err := t.provider.Shutdown(ctx); err != nil {
		return fmt.Errorf("the last traces were not sent: %w", err)
	}
	return nil
}

// errorLog logs export errors, at most once per interval.
type errorLog struct {
	log  *slog.Logger
	last atomic.Int64 // Unix time of the last line
}

const errorLogInterval = 60 // seconds

// Handle implements otel.ErrorHandler.
func (l *errorLog) Handle(err error) {
	now := time.Now().Unix()
	last := l.last.Load()
	if now-last >= errorLogInterval && l.last.CompareAndSwap(last, now) {
		l.log.Warn("cannot export traces; further errors are not logged for a minute", "err", err)
	}
}
