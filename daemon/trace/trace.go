// Package trace tells an OpenTelemetry collector how requests and deliveries
// went, by OTLP over HTTP.
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

// Config says where spans go.
type Config struct {
	Endpoint string // base URL of the collector; empty: what the standard variables say
	Version  string // of the program
	Log      *slog.Logger
}

// endpointVariables are those of the standard that name a collector. What else
// it has, such as OTEL_EXPORTER_OTLP_HEADERS and OTEL_TRACES_SAMPLER, the library
// reads.
var endpointVariables = []string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"}

func (c Config) wanted() bool {
	named := slices.ContainsFunc(endpointVariables, func(name string) bool { return os.Getenv(name) != "" })
	return (named || c.Endpoint != "") && os.Getenv("OTEL_SDK_DISABLED") != "true"
}

// Tracer makes spans. A nil one makes none, and costs nothing.
type Tracer struct {
	provider *sdk.TracerProvider
	spans    trace.Tracer
}

// tracesPath is where a collector takes spans.
const tracesPath = "v1/traces"

// Open makes a Tracer, nil where neither the settings nor the variables name a
// collector. One that is away is no error: what it does not take is dropped.
func Open(ctx context.Context, c Config) (*Tracer, error) {
	if !c.wanted() {
		return nil, nil
	}
	if err := checkVariables(); err != nil {
		return nil, fmt.Errorf("traces: %w", err)
	}
	var options []otlptracehttp.Option
	if c.Endpoint != "" {
		to, err := url.JoinPath(c.Endpoint, tracesPath)
		if err != nil {
			return nil, err
		}
		options = append(options, otlptracehttp.WithEndpointURL(to))
	}
	exporter, err := otlptracehttp.New(ctx, options...)
	if err != nil {
		return nil, fmt.Errorf("traces: %w", err)
	}
	about, err := resource.New(ctx, resource.WithHost(),
		resource.WithAttributes(attribute.String("service.name", "whd"), attribute.String("service.version", c.Version)),
		resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("traces: %w", err)
	}
	otel.SetErrorHandler(&complaints{log: c.Log})
	p := sdk.NewTracerProvider(sdk.WithBatcher(exporter), sdk.WithResource(about))
	return &Tracer{p, p.Tracer("github.com/bizhook/whd/daemon")}, nil
}

// Close sends what is left, until ctx is done.
func (t *Tracer) Close(ctx context.Context) error {
	if t == nil {
		return nil
	}
	if err := t.provider.Shutdown(ctx); err != nil {
		return fmt.Errorf("the last traces were not sent: %w", err)
	}
	return nil
}

// complaints logs what goes wrong with sending, once in a while: nothing that
// the service does depends on it.
type complaints struct {
	log  *slog.Logger
	last atomic.Int64 // second of the last line
}

const complaintEvery = 60 // seconds

// Handle is otel.ErrorHandler's.
func (c *complaints) Handle(err error) {
	now, last := time.Now().Unix(), c.last.Load()
	if now-last >= complaintEvery && c.last.CompareAndSwap(last, now) {
		c.log.Warn("traces cannot be sent; what is left out is not told again for a minute", "err", err)
	}
}
