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

// openTraces begins to tell a collector of requests and deliveries, where one
// is named.
func (d *Daemon) openTraces(ctx context.Context) (err error) {
	d.traces, err = trace.Open(ctx, trace.Config{Endpoint: d.config.Trace.Endpoint, Version: Version(), Log: d.log})
	if d.traces != nil {
		d.onStop("traces", func(ctx context.Context) error {
			ctx, cancel := context.WithTimeout(ctx, traceLimit(ctx))
			defer cancel()
			if err := d.traces.Close(ctx); err != nil {
				d.log.Warn(err.Error()) // a collector that is away keeps nobody from stopping
			}
			return nil
		})
	}
	return err
}

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

// sender makes attempts, with spans where they are wanted.
func (d *Daemon) sender() delivery.Sender {
	if d.traces == nil {
		return d.webhooks.sender
	}
	return tracedSender{d.webhooks.sender, d.traces}
}

// traceParts tells of parts of requests, nil where nobody wants to know.
func (d *Daemon) traceParts() func(ctx context.Context, part string, from, to time.Time) {
	if d.traces == nil {
		return nil
	}
	return d.traces.Part
}
