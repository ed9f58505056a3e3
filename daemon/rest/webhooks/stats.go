package webhooks

import (
	"context"
	"errors"
	"net/http"
	"os"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/rest/edge"
	"github.com/bizhook/whd/daemon/rest/form"
	"github.com/bizhook/whd/daemon/webhook/delivery"
	"github.com/bizhook/whd/daemon/webhook/stats"
)

// MemberWindow is the period of the statistics.
const MemberWindow = "Window"

const (
	defaultWindow  = time.Hour
	maxWindow      = 24 * time.Hour
	maxQueues      = 500             // queues in a response
	backlogTimeout = 3 * time.Second // maximum wait for a count of the backlog
	statsTimeout   = 5 * time.Second // maximum wait for all
)

// statistics has the handler of /Webhooks/Stats.
type statistics struct{ engine *delivery.Engine }

// Show returns the delivery statistics. It omits the backlog if that cannot be counted in time.
func (h *statistics) Show(x *edge.Context) error {
	f := form.Read(x)
	window := form.Or(form.Value(f, MemberWindow, parseWindow), defaultWindow)
	if err := f.Done(x); err != nil {
		return err
	}

	ctx, cancel := context.WithTimeout(x.Request.Context(), statsTimeout)
	defer cancel()
	backlog, problem := h.backlog(ctx)
	minutes := int((window + time.Minute - 1) / time.Minute) // rounded up
	report, err := h.engine.Stats(ctx, minutes, maxQueues, backlog.Subscriptions)
	if err != nil {
		return err
	}
	d := statsDocument(report)
	d.Daemon, _ = os.Hostname() // empty on error
	d.Daemons = h.engine.Daemons()
	d.InHand = h.engine.InHand()
	d.Subscriptions, d.Disabled = h.engine.Subscriptions().Count()
	d.Depth = depthDocument(backlog)
	if problem != nil {
		d.DepthMessage = fault.From(problem).Message
	}
	return x.Document(http.StatusOK, "Stats", d)
}

// backlog returns the last count of the backlog, with an error if it could not be counted.
func (h *statistics) backlog(ctx context.Context) (stats.BacklogCount, error) {
	ctx, cancel := context.WithTimeout(ctx, backlogTimeout)
	defer cancel()
	return h.engine.Backlog(ctx, 0)
}

// parseWindow parses the period of the statistics.
func parseWindow(text string) (time.Duration, error) {
	window, err := time.ParseDuration(text)
	if err != nil || window < time.Minute || window > maxWindow {
		return 0, errors.New("must be a duration such as 15m or 24h, from 1m to 24h")
	}
	return window, nil
}

func statsDocument(s stats.Report) *wire.Stats {
	d := &wire.Stats{
		ServerDateTime: wire.Timestamp(s.At),
		SinceDateTime:  wire.Timestamp(s.Since),
		Window:         wire.TimeSpan(time.Duration(s.Period.Minutes()) * time.Minute),
		Totals:         trafficDocument(s.Total),
		Latency:        s.Attempts,
		Delay:          s.Delay,
		Minutes:        minutesDocument(s),
		QueueWindow:    wire.TimeSpan(time.Duration(s.Period.QueueMinutes()) * time.Minute),
		Queues:         []wire.Queue{},
		OtherQueues:    s.Omitted,
		OtherTroubled:  s.OmittedTroubled(),
	}
	if attempts := d.Totals.Delivered + d.Totals.Failed + d.Totals.GivenUp; attempts > 0 {
		rate := float64(d.Totals.Delivered) / float64(attempts)
		d.SuccessRate = &rate
	}
	for i := range s.Queues {
		d.Queues = append(d.Queues, queueDocument(&s.Queues[i]))
	}
	// The former names of the queues.
	d.StatsLanes = wire.StatsLanes{LaneWindow: d.QueueWindow, Lanes: d.Queues, OtherLanes: d.OtherQueues}
	return d
}

func trafficDocument(t stats.Traffic) wire.Traffic {
	return wire.Traffic{
		Events:    t.Events,
		Messages:  t.Messages,
		Delivered: t.Delivered,
		Failed:    t.Failed,
		GivenUp:   t.GivenUp,
	}
}

func minutesDocument(s stats.Report) wire.Minutes {
	m := wire.Minutes{From: wire.Timestamp(stats.StartOf(s.Period.First))}
	for _, t := range s.Minutes {
		d := trafficDocument(t)
		m.Events = append(m.Events, d.Events)
		m.Messages = append(m.Messages, d.Messages)
		m.Delivered = append(m.Delivered, d.Delivered)
		m.Failed = append(m.Failed, d.Failed)
		m.GivenUp = append(m.GivenUp, d.GivenUp)
	}
	return m
}

func queueDocument(q *stats.Queue) wire.Queue {
	sub := q.Subscription
	d := wire.Queue{
		SubscriberID:        sub.Subscriber,
		SubscriberName:      sub.SubscriberInfo.Name,
		SubscriptionID:      sub.GUID,
		EventName:           sub.Pattern,
		URL:                 sub.URL,
		IsEnabled:           sub.Active(),
		DisabledReason:      sub.InactiveReason(),
		Ordered:             sub.Order.All,
		OrderedByKey:        sub.Order.ByKey,
		InFlight:            q.InFlight,
		Limit:               q.Limit,
		Breaker:             wire.BreakerClosed,
		FailingSince:        wire.Timestamp(q.FailingSince),
		NextAttemptDateTime: wire.Timestamp(q.Next),
		NotSent:             q.NotSent,
		RetryPending:        q.RetryPending,
		Pending:             q.NotSent + q.RetryPending,
		OldestDateTime:      wire.Timestamp(q.Oldest),
		Delivered:           q.Traffic.Delivered,
		Failed:              q.Traffic.Failed,
		GivenUp:             q.Traffic.GivenUp,
		P99:                 wire.TimeSpan(q.P99),
		Attempts:            q.Attempts,
		LastFailure:         q.Last,
		WaitUntilDateTime:   wire.Timestamp(q.WaitUntil),
		RateUntilDateTime:   wire.Timestamp(q.RateUntil),
		MaxPerMinute:        q.MaxPerMinute,
		HeldEvents:          q.HeldEvents,
	}
	if q.BreakerOpen {
		d.Breaker = wire.BreakerOpen
		d.NextProbeDateTime = wire.Timestamp(q.NextProbe)
	}
	return d
}

// depthDocument returns the last count of the backlog, nil if it was never counted.
func depthDocument(backlog stats.BacklogCount) *wire.Depth {
	if backlog.At.IsZero() {
		return nil
	}
	total := backlog.Total()
	return &wire.Depth{
		CountedDateTime: wire.Timestamp(backlog.At),
		NotSent:         total.NotSent,
		RetryPending:    total.RetryPending,
		OldestDateTime:  wire.Timestamp(total.Oldest),
	}
}
