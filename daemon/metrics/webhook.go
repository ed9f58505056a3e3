package metrics

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/delivery"
	"github.com/bizhook/whd/daemon/webhook/stats"
)

// reading is what is read of the delivery for one look at /metrics.
type reading struct {
	counts      stats.Counts
	inHand      wire.InHand
	performance stats.Performance
	open        stats.BacklogCount
	counted     bool // what is open
	subs        *webhook.Snapshot
	daemons     int
}

// figure is one of the figures of the delivery. It has a value for each value of
// its label, or one for "" where it has none; and no value where that is not
// known.
type figure struct {
	kind        prometheus.ValueType
	name, label string
	help        string
	values      func(r *reading) map[string]float64
}

// deliveryFigures are the figures of the delivery, but for those of how long it
// takes. Labels have few values: no ids.
var deliveryFigures = []figure{
	{prometheus.CounterValue, "whd_webhook_events_total", "", "Events stored.", one(func(r *reading) int64 { return r.counts.Events })},
	{prometheus.CounterValue, "whd_webhook_events_refused_total", "", "Events that could not be stored.", one(func(r *reading) int64 { return r.counts.Refused })},
	{prometheus.CounterValue, "whd_webhook_messages_total", "", "Messages made of events.", one(func(r *reading) int64 { return r.counts.Messages })},
	{prometheus.CounterValue, "whd_webhook_messages_delivered_total", "", "Messages that their receivers took.", one(func(r *reading) int64 { return r.counts.Delivered })},
	{prometheus.CounterValue, "whd_webhook_messages_failed_total", "", "Messages given up.", one(func(r *reading) int64 { return r.counts.GivenUp })},
	{prometheus.CounterValue, "whd_webhook_attempts_total", "outcome", "Attempts: ok, 3xx, 4xx, 5xx, timeout, forbidden where the target is not allowed, network for other failures without an answer.", attempts},
	{prometheus.CounterValue, "whd_webhook_attempts_failed_total", "", "Attempts that failed and are made again.", one(func(r *reading) int64 { return r.counts.Failed })},
	{prometheus.CounterValue, "whd_webhook_subscriptions_disabled_total", "", "Subscriptions disabled by the service.", one(func(r *reading) int64 { return r.counts.Disabled })},
	{prometheus.CounterValue, "whd_webhook_rows_removed_total", "", "Messages and idempotency keys removed since their time had come.", one(func(r *reading) int64 { return r.counts.Removed })},

	{prometheus.GaugeValue, "whd_webhook_events_waiting", "", "Events that wait to be stored.", one(func(r *reading) int { return r.inHand.EventsWaiting })},
	{prometheus.GaugeValue, "whd_webhook_outcomes_waiting", "", "Outcomes of attempts that wait to be stored.", one(func(r *reading) int { return r.inHand.OutcomesWaiting })},
	{prometheus.GaugeValue, "whd_webhook_attempts_underway", "", "Attempts under way.", one(func(r *reading) int { return r.inHand.InFlight })},
	{prometheus.GaugeValue, "whd_webhook_messages_in_memory", "", "Messages in memory that wait for an attempt.", one(func(r *reading) int { return r.inHand.MessagesInMemory })},
	{prometheus.GaugeValue, "whd_webhook_messages_open", "status", "Messages in the whole store that are still to be sent: not_sent, retry_pending. Absent while they cannot be counted.", openMessages},
	{prometheus.GaugeValue, "whd_webhook_oldest_open_message_age_seconds", "", "Age of the oldest message in the whole store that is still to be sent; 0 without one.", oldestOpen},
	{prometheus.GaugeValue, "whd_webhook_endpoints_in_trouble", "", "Subscriptions whose endpoint is only probed now and then.", one(func(r *reading) int { return r.inHand.OpenBreakers })},
	{prometheus.GaugeValue, "whd_webhook_subscriptions", "state", "Subscriptions: enabled, or disabled by themselves or with their subscriber.", subscriptionStates},
	{prometheus.GaugeValue, "whd_webhook_daemons", "", "Daemons that work on the store.", one(func(r *reading) int { return r.daemons })},
}

// deliveryTimes are the histograms.
var deliveryTimes = []struct {
	name, help string
	value      func(r *reading) stats.Durations
}{
	{"whd_webhook_attempt_seconds", "Time that an attempt takes.", func(r *reading) stats.Durations { return r.performance.Took }},
	{"whd_webhook_delivery_seconds", "Time from publishing to delivery, of messages that the first attempt delivers.", func(r *reading) stats.Durations { return r.performance.Delay }},
}

func one[N int | int64](value func(r *reading) N) func(*reading) map[string]float64 {
	return func(r *reading) map[string]float64 { return map[string]float64{"": float64(value(r))} }
}

func attempts(r *reading) map[string]float64 {
	values := make(map[string]float64)
	for outcome, n := range r.performance.Attempts {
		values[outcome] = float64(n)
	}
	return values
}

func openMessages(r *reading) map[string]float64 {
	if !r.counted {
		return nil
	}
	total := r.open.Total()
	return map[string]float64{"not_sent": float64(total.NotSent), "retry_pending": float64(total.RetryPending)}
}

func oldestOpen(r *reading) map[string]float64 {
	if !r.counted {
		return nil
	}
	age := 0.0
	if oldest := r.open.Total().Oldest; !oldest.IsZero() {
		age = max(0, r.open.At.Sub(oldest).Seconds())
	}
	return map[string]float64{"": age}
}

func subscriptionStates(r *reading) map[string]float64 {
	all, disabled := r.subs.Count()
	return map[string]float64{"enabled": float64(all - disabled), "disabled": float64(disabled)}
}

// engineCollector shows the figures of the delivery.
type engineCollector struct {
	engine *delivery.Engine
	descs  map[string]*prometheus.Desc
}

func newEngineCollector(e *delivery.Engine) *engineCollector {
	c := &engineCollector{engine: e, descs: make(map[string]*prometheus.Desc)}
	for _, f := range deliveryFigures {
		var labels []string
		if f.label != "" {
			labels = []string{f.label}
		}
		c.descs[f.name] = prometheus.NewDesc(f.name, f.help, labels, nil)
	}
	for _, t := range deliveryTimes {
		c.descs[t.name] = prometheus.NewDesc(t.name, t.help, nil, nil)
	}
	return c
}

// Describe is prometheus.Collector's.
func (c *engineCollector) Describe(to chan<- *prometheus.Desc) {
	for _, d := range c.descs {
		to <- d
	}
}

// The bounds of what /metrics asks of the store.
const (
	openAge      = 15 * time.Second // that a count stays good for
	openPatience = 2 * time.Second  // that a look waits for a new one
)

// Collect is prometheus.Collector's.
func (c *engineCollector) Collect(to chan<- prometheus.Metric) {
	r := c.read()
	for _, f := range deliveryFigures {
		for label, value := range f.values(r) {
			var labels []string
			if f.label != "" {
				labels = []string{label}
			}
			to <- prometheus.MustNewConstMetric(c.descs[f.name], f.kind, value, labels...)
		}
	}
	for _, t := range deliveryTimes {
		d := t.value(r)
		to <- prometheus.MustNewConstHistogram(c.descs[t.name], d.Count, d.Total.Seconds(), d.Buckets)
	}
}

func (c *engineCollector) read() *reading {
	ctx, cancel := context.WithTimeout(context.Background(), openPatience)
	defer cancel()
	e := c.engine
	open, err := e.Backlog(ctx, openAge)
	return &reading{e.Counts(), e.InHand(), e.Performance(), open, err == nil, e.Subscriptions(), e.Daemons()}
}

// WatchEngine shows the figures of the delivery.
func (m *Metrics) WatchEngine(e *delivery.Engine) { m.registry.MustRegister(newEngineCollector(e)) }
