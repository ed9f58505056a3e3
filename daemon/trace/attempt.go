package trace

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

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
