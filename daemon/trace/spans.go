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

// Handler makes a span of each request that has a route. The route, a pattern
// such as /Webhooks/Subscribers/{SubscriberID}, is all that the span tells of the
// address: ids in paths and values in queries are secrets in part.
func (t *Tracer) Handler(next http.Handler, route func(*http.Request) (pattern string, traced bool)) http.Handler {
	if t == nil {
		return next
	}
	spans := otelhttp.NewHandler(http.HandlerFunc(func(w http.ResponseWriter, shown *http.Request) {
		next.ServeHTTP(w, whole(shown))
	}), "", otelhttp.WithTracerProvider(t.provider), otelhttp.WithMeterProvider(noop.NewMeterProvider()),
		otelhttp.WithPropagators(propagation.TraceContext{}),
		otelhttp.WithSpanNameFormatter(func(_ string, r *http.Request) string { return r.Method + " " + r.Pattern }))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		pattern, traced := route(r)
		if !traced {
			next.ServeHTTP(w, r)
			return
		}
		spans.ServeHTTP(w, shown(r, pattern))
	})
}

type wholeKey struct{}

// shownHeaders are those that a span may tell of, or that it is told by.
var shownHeaders = []string{"Traceparent", "Tracestate", "User-Agent"}

// shown is a request with what a span may tell of it.
func shown(r *http.Request, pattern string) *http.Request {
	s := r.WithContext(context.WithValue(r.Context(), wholeKey{}, r))
	s.Pattern = pattern
	s.URL = &url.URL{Path: pattern}
	s.RequestURI = pattern
	s.Header = make(http.Header, len(shownHeaders))
	for _, name := range shownHeaders {
		if values := r.Header[name]; values != nil {
			s.Header[name] = values
		}
	}
	return s
}

// whole is the request that another one was shown for, in the span's context.
func whole(shown *http.Request) *http.Request {
	r := shown.Context().Value(wholeKey{}).(*http.Request).WithContext(shown.Context())
	r.Body = shown.Body // which counts
	return r
}

// Part tells of a part of the request whose context this is, once it is over.
// Parts of no length are left out.
func (t *Tracer) Part(ctx context.Context, name string, from, to time.Time) {
	if t == nil || from.IsZero() || !to.After(from) || !trace.SpanFromContext(ctx).IsRecording() {
		return
	}
	_, span := t.spans.Start(ctx, name, trace.WithTimestamp(from))
	span.End(trace.WithTimestamp(to))
}

// Attempt is an attempt to deliver a message.
type Attempt struct {
	Event   string // its name
	Message string // its id, which its receiver knows as webhook-id
	Number  int    // 1 for the first
	Host    string // of the receiver; the rest of its address may hold secrets
}

// Begin makes a span of an attempt, which end finishes with the status of the
// answer or, where that is 0, with why none came. The receiver is not told: it is
// somebody else's, and the headers of a message are promised.
func (t *Tracer) Begin(ctx context.Context, a Attempt) (within context.Context, end func(status int, failure string)) {
	if t == nil {
		return ctx, func(int, string) {}
	}
	ctx, span := t.spans.Start(ctx, "deliver "+a.Event, trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(
		attribute.String("http.request.method", "POST"), attribute.String("server.address", a.Host),
		attribute.String("webhook.event", a.Event), attribute.String("webhook.message.id", a.Message), attribute.Int("webhook.attempt", a.Number)))
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
