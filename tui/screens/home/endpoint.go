package home

import (
	"strings"
	"time"

	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

// isStopped reports whether an endpoint receives nothing, or only single messages at intervals.
func isStopped(q wire.Queue) bool { return !q.IsEnabled || q.Breaker == wire.BreakerOpen }

// isUnsteady reports whether so many attempts fail that an endpoint has a sign of its own, although
// it is not in trouble: the messages are delivered by retries.
func isUnsteady(q wire.Queue) bool {
	const steadyShare = 0.9
	failed := q.Failed + q.GivenUp
	return failed > 0 && float64(q.Delivered) < steadyShare*float64(q.Delivered+failed)
}

// sign returns the sign of an endpoint's state, with a space after it.
func (e endpointList) sign(q wire.Queue) theme.Span {
	t := e.session.Theme
	switch {
	case ui.InTrouble(q) && isStopped(q):
		return theme.Span{Text: t.Stopped + " ", Role: theme.Failure}
	case ui.InTrouble(q):
		return theme.Span{Text: t.Alert + " ", Role: theme.Warning}
	case isUnsteady(q):
		return theme.Span{Text: t.Retry + " ", Role: theme.Warning}
	}
	return theme.Span{Text: t.Healthy + " ", Role: theme.Success}
}

// affected counts the messages that an endpoint in trouble has not received, "" if its failures are
// older than the statistics.
func affected(q wire.Queue) string {
	switch {
	case isStopped(q) && q.Pending > 0:
		return display.Short(q.Pending) + " wait"
	case q.GivenUp > 0:
		return display.Short(q.GivenUp) + " failed"
	case q.Pending > 0:
		return display.Short(q.Pending) + " retrying"
	case q.Failed > 0:
		return display.Short(q.Failed) + " failed"
	}
	return ""
}

// reason explains why an endpoint in trouble receives nothing.
func (o *Overview) reason(q wire.Queue) string {
	if !q.IsEnabled && q.DisabledReason == "" {
		return "disabled"
	}
	if !q.IsEnabled {
		return "disabled: " + q.DisabledReason
	}
	if q.Breaker == wire.BreakerOpen {
		return "paused after failures"
	}
	if g := o.groupOf(q.SubscriptionID); g != nil {
		return g.result()
	}
	if q.LastFailure == nil {
		return "failing"
	}
	return ui.FailureText(*q.LastFailure)
}

// nextProbe returns the time of the next attempt of an endpoint that is paused; zero if it is not.
func nextProbe(q wire.Queue) time.Time {
	if !q.IsEnabled || q.Breaker != wire.BreakerOpen {
		return time.Time{}
	}
	return time.Time(q.NextProbeDateTime)
}

// lastFailure returns the time of the last failure of an endpoint; zero for none, or if it is
// disabled.
func lastFailure(q wire.Queue) time.Time {
	if !q.IsEnabled || q.LastFailure == nil {
		return time.Time{}
	}
	return time.Time(q.LastFailure.At)
}

// deliveries are counts of messages and attempts to endpoints.
type deliveries struct {
	delivered int64 // messages
	retried   int64 // attempts that failed, and are followed by another one
	givenUp   int64 // messages
	retrying  int64 // messages that wait for another attempt
}

// deliveriesOf returns the counts of an endpoint.
func deliveriesOf(q wire.Queue) deliveries {
	return deliveries{
		delivered: q.Delivered,
		retried:   q.Failed,
		givenUp:   q.GivenUp,
		retrying:  q.RetryPending,
	}
}

// add adds other counts.
func (d *deliveries) add(counts deliveries) {
	d.delivered += counts.delivered
	d.retried += counts.retried
	d.givenUp += counts.givenUp
	d.retrying += counts.retrying
}

// share returns the share of messages that were delivered, by whichever attempt; "" if nothing was
// sent.
func (d deliveries) share() string {
	ended := d.delivered + d.givenUp
	if ended > 0 {
		return ui.Percent(float64(d.delivered) / float64(ended))
	}
	if d.retried > 0 {
		return ui.Percent(0)
	}
	return ""
}

// words describes the counts of endpoints that are not in trouble.
func (d deliveries) words() string {
	switch {
	case d.retrying > 0:
		return display.Short(d.retrying) + " retrying"
	case d.share() == "":
		return "no messages"
	case d.givenUp > 0:
		return d.share() + " delivered"
	case d.delivered == 0:
		return "none delivered"
	case d.retried > 0:
		return "all delivered, some by retries"
	}
	return "all delivered"
}

// fitEndpoint cuts the host of an endpoint in its middle, and its path only if that is not enough.
func fitEndpoint(t *theme.Theme, name string, width int) string {
	host, path, hasPath := strings.Cut(name, " ")
	const minHost, minWidth = 9, 20
	if !hasPath || theme.Width(name) <= width || width < minWidth {
		return t.TruncateMiddle(name, width)
	}
	hostWidth := theme.Width(host)
	room := max(width-1-theme.Width(path), min(minHost, hostWidth), width/3)
	host = t.TruncateMiddle(host, min(room, hostWidth))
	return host + " " + t.TruncateMiddle(path, width-1-theme.Width(host))
}
