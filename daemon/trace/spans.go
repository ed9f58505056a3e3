package trace

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// Handler records a span for each request that has a route. Of the URL the span contains
// only the route's pattern, such as /Webhooks/Subscribers/{SubscriberID}, since ids in
// paths and values in queries can be secrets.
func (t *Tracer) Handler(next http.Handler, route func(*http.Request) (pattern string, traced bool)) http.Handler {
	if t == nil {
		return next
	}
	restore := http.HandlerFunc(func(w http.ResponseWriter, redacted *http.Request) {
		next.ServeHTTP(w, original(redacted))
	})
	spanName := func(_ string, r *http.Request) string { return r.Method + " " + r.Pattern }
	spans := otelhttp.NewHandler(restore, "",
		otelhttp.WithTracerProvider(t.provider),
		otelhttp.WithMeterProvider(noop.NewMeterProvider()),
		otelhttp.WithPropagators(propagation.TraceContext{}),
		otelhttp.WithSpanNameFormatter(spanName))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		pattern, traced := route(r)
		if !traced {
			next.ServeHTTP(w, r)
			return
		}
		spans.ServeHTTP(w, redact(r, pattern))
	})
}

type originalKey struct{}

// tracedHeaders are the headers that spans may contain, or that propagate traces.
var tracedHeaders = []string{"Traceparent", "Tracestate", "User-Agent"}

// redact returns a copy of a request with only the data that a span may contain.
func redact(r *http.Request, pattern string) *http.Request {
	s := r.WithContext(context.WithValue(r.Context(), originalKey{}, r))
	s.Pattern = pattern
	s.URL = &url.URL{Path: pattern}
	s.RequestURI = pattern
	s.Header = make(http.Header, len(tracedHeaders))
	for _, name := range tracedHeaders {
		if values := r.Header[name]; values != nil {
			s.Header[name] = values
		}
	}
	return s
}

// original returns the request that was passed to redact, with the span's context.
func original(redacted *http.Request) *http.Request {
	r := redacted.Context().Value(originalKey{}).(*http.Request).WithContext(redacted.Context())
	r.Body = redacted.Body // counts bytes
	return r
}

// Part records a child span for a finished part of the request with the context ctx.
// Parts without duration are omitted.
func (t *Tracer) Part(ctx context.Context, name string, from, to time.Time) {
	hasDuration := !from.IsZero() && to.After(from)
	if t == nil || !hasDuration || !trace.SpanFromContext(ctx).IsRecording() {
		return
	}
	_, span := t.spans.Start(ctx, name, trace.WithTimestamp(from))
	span.End(trace.WithTimestamp(to))
}

// Attempt is an attempt to deliver a message.
type Attempt struct {
	Event   string // its name
	Message string // its id, which is sent as webhook-id
	Number  int    // 1 for the first
	Host    string // host of the receiver; the rest of its address may hold secrets
}

// Begin starts a span for an attempt. end finishes it with the status of the response,
// or 0 and the reason why there is none. The trace is not propagated to the receiver,
// which is a third party, and the headers of messages are specified.
func (t *Tracer) Begin(ctx context.Context, a Attempt) (within context.Context, end func(status int, failure string)) {
	if t == nil {
		return ctx, func(int, string) {}
	}
	ctx, span := t.spans.Start(ctx, "deliver "+a.Event,
		trace.WithSpanKind(trace.SpanKindClient),
		trace.WithAttributes(
			attribute.String("http.request.method", "POST"),
			attribute.String("server.address", a.Host),
			attribute.String("webhook.event", a.Event),
			attribute.String("webhook.message.id", a.Message),
			attribute.Int("webhook.attempt", a.Number)))
	return ctx, func(status int, failure string) {
		if status != 0 {
			span.SetAttributes(attribute.Int("http.response.status_code", status))
		}
		if failure != "" {
			span.SetAttributes(attribute.String("error.type", failure))
			span.SetStatus(codes.Error, failure)
		}
		span.End()
	}
}
