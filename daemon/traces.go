package daemon

import (
	"context"
	"net/url"
	"time"

	"github.com/bizhook/whd/daemon/trace"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// traceGrace is how long the last spans may take to be sent, and no more than half
// of what is left for all that is to be ended.
const traceGrace = 3 * time.Second

// traceLimit is how long the last spans may take, by what is left of the grace period.
func traceLimit(ctx context.Context) time.Duration {
	if end, limited := ctx.Deadline(); limited {
		return min(traceGrace, time.Until(end)/2)
	}
	return traceGrace
}

// tracedSender makes a span of each attempt.
type tracedSender struct {
	delivery.Sender
	traces *trace.Tracer
}

// Send is webhook.Sender's.
func (s tracedSender) Send(ctx context.Context, m *webhook.Message, sub *webhook.Subscription, at time.Time) webhook.Outcome {
	a := trace.Attempt{Event: m.Event.Name, Message: m.GUID, Number: m.Attempts + 1}
	if to, err := url.Parse(m.URL); err == nil {
		a.Host = to.Hostname()
	}
	ctx, end := s.traces.Begin(ctx, a)
	o := s.Sender.Send(ctx, m, sub, at)
	failure := string(o.Cause)
	if failure == "" && !o.Success() {
		failure = "refused"
	}
	end(o.Code, failure)
	return o
}
