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

// snapshot is the state of the delivery engine at one scrape.
type snapshot struct {
	counts      stats.Counts
	inHand      wire.InHand
	performance stats.Performance
	open        stats.BacklogCount
	counted     bool // whether open is known
	subs        *webhook.Snapshot
	daemons     int
}

// deliveryMetric is a metric of the delivery engine. values returns a value for each
// value of the label, or a single one under "" if there is no label; it returns
// nothing while the value is unknown.
type deliveryMetric struct {
	kind        prometheus.ValueType
	name, label string
	help        string
	values      func(r *snapshot) map[string]float64
}

// deliveryMetrics are the counters and gauges of webhook delivery. Labels have few
// values: ids are not used as labels.
var deliveryMetrics = []deliveryMetric{
	{prometheus.CounterValue, "whd_webhook_events_total", "", "Events stored.", unlabelled(func(r *snapshot) int64 { return r.counts.Events })},
	{prometheus.CounterValue, "whd_webhook_events_refused_total", "", "Events that could not be stored.", unlabelled(func(r *snapshot) int64 { return r.counts.Refused })},
	{prometheus.CounterValue, "whd_webhook_messages_total", "", "Messages created from events.", unlabelled(func(r *snapshot) int64 { return r.counts.Messages })},
	{prometheus.CounterValue, "whd_webhook_messages_delivered_total", "", "Messages delivered.", unlabelled(func(r *snapshot) int64 { return r.counts.Delivered })},
	{prometheus.CounterValue, "whd_webhook_messages_failed_total", "", "Messages that failed permanently.", unlabelled(func(r *snapshot) int64 { return r.counts.GivenUp })},
	{prometheus.CounterValue, "whd_webhook_attempts_total", "outcome", "Delivery attempts by outcome: ok, 3xx, 4xx, 5xx, timeout, forbidden (target not allowed), network (other failures without a response).", attempts},
	{prometheus.CounterValue, "whd_webhook_attempts_failed_total", "", "Failed attempts that are retried.", unlabelled(func(r *snapshot) int64 { return r.counts.Failed })},
	{prometheus.CounterValue, "whd_webhook_attempts_uncharged_total", "cause", "Attempts that were not charged to their endpoint, by cause: descriptors, memory, ports (a lack of these), network (none), connection_lost.", uncharged},
	{prometheus.CounterValue, "whd_webhook_subscriptions_disabled_total", "", "Subscriptions disabled by the service.", unlabelled(func(r *snapshot) int64 { return r.counts.Disabled })},
	{prometheus.CounterValue, "whd_webhook_rows_removed_total", "", "Messages and idempotency keys removed at the end of their retention.", unlabelled(func(r *snapshot) int64 { return r.counts.Removed })},

	{prometheus.GaugeValue, "whd_webhook_events_waiting", "", "Events waiting to be stored.", unlabelled(func(r *snapshot) int { return r.inHand.EventsWaiting })},
	{prometheus.GaugeValue, "whd_webhook_outcomes_waiting", "", "Outcomes of attempts waiting to be stored.", unlabelled(func(r *snapshot) int { return r.inHand.OutcomesWaiting })},
	{prometheus.GaugeValue, "whd_webhook_attempts_underway", "", "Attempts in flight.", unlabelled(func(r *snapshot) int { return r.inHand.InFlight })},
	{prometheus.GaugeValue, "whd_webhook_oldest_attempt_age_seconds", "", "How long the oldest attempt in flight has been running; 0 if there is none.", oldestAttempt},
	{prometheus.GaugeValue, "whd_webhook_requests_overdue", "", "Requests of attempts that did not end at the limit of the attempt.", unlabelled(func(r *snapshot) int { return r.inHand.Overdue })},
	{prometheus.GaugeValue, "whd_webhook_deliveries_paused", "", "1 while deliveries are paused because of a failure of this machine, such as a lack of file descriptors.", paused},
	{prometheus.GaugeValue, "whd_webhook_messages_in_memory", "", "Messages in memory waiting for an attempt.", unlabelled(func(r *snapshot) int { return r.inHand.MessagesInMemory })},
	{prometheus.GaugeValue, "whd_webhook_messages_open", "status", "Undelivered messages in the store by status: not_sent, retry_pending. Absent while they cannot be counted.", openMessages},
	{prometheus.GaugeValue, "whd_webhook_oldest_open_message_age_seconds", "", "Age of the oldest undelivered message in the store; 0 if there is none.", oldestOpen},
	{prometheus.GaugeValue, "whd_webhook_endpoints_in_trouble", "", "Subscriptions whose circuit breaker is open.", unlabelled(func(r *snapshot) int { return r.inHand.OpenBreakers })},
	{prometheus.GaugeValue, "whd_webhook_subscriptions", "state", "Subscriptions by state: enabled or disabled, including those of disabled subscribers.", subscriptionStates},
	{prometheus.GaugeValue, "whd_webhook_daemons", "", "Daemons that share the store.", unlabelled(func(r *snapshot) int { return r.daemons })},
}

// deliveryHistograms are the histograms of webhook delivery.
var deliveryHistograms = []struct {
	name, help string
	value      func(r *snapshot) stats.DurationHistogram
}{
	{"whd_webhook_attempt_seconds", "Duration of delivery attempts.", func(r *snapshot) stats.DurationHistogram { return r.performance.Durations }},
	{"whd_webhook_delivery_seconds", "Time from publishing to delivery of messages delivered by the first attempt.", func(r *snapshot) stats.DurationHistogram { return r.performance.Delays }},
}

// unlabelled returns the values of a metric that has no label.
func unlabelled[N int | int64](value func(r *snapshot) N) func(*snapshot) map[string]float64 {
	return func(r *snapshot) map[string]float64 { return map[string]float64{"": float64(value(r))} }
}

func attempts(r *snapshot) map[string]float64 {
	values := make(map[string]float64)
	for outcome, n := range r.performance.Attempts {
		values[outcome] = float64(n)
	}
	return values
}

func oldestAttempt(r *snapshot) map[string]float64 {
	return map[string]float64{"": time.Duration(r.inHand.OldestAttempt).Seconds()}
}

func uncharged(r *snapshot) map[string]float64 {
	values := make(map[string]float64)
	for failure := range webhook.OwnFailures {
		values[string(failure)] = float64(r.inHand.Uncharged[string(failure)])
	}
	return values
}

func paused(r *snapshot) map[string]float64 {
	if r.inHand.Paused == "" {
		return map[string]float64{"": 0}
	}
	return map[string]float64{"": 1}
}

func openMessages(r *snapshot) map[string]float64 {
	if !r.counted {
		return nil
	}
	total := r.open.Total()
	return map[string]float64{"not_sent": float64(total.NotSent), "retry_pending": float64(total.RetryPending)}
}

func oldestOpen(r *snapshot) map[string]float64 {
	if !r.counted {
		return nil
	}
	age := 0.0
	if oldest := r.open.Total().Oldest; !oldest.IsZero() {
		age = max(0, r.open.At.Sub(oldest).Seconds())
	}
	return map[string]float64{"": age}
}

func subscriptionStates(r *snapshot) map[string]float64 {
	all, disabled := r.subs.Count()
	return map[string]float64{"enabled": float64(all - disabled), "disabled": float64(disabled)}
}

// engineCollector is a prometheus.Collector of deliveryMetrics and
// deliveryHistograms.
type engineCollector struct {
	engine *delivery.Engine
	descs  map[string]*prometheus.Desc
}

func newEngineCollector(e *delivery.Engine) *engineCollector {
	c := &engineCollector{engine: e, descs: make(map[string]*prometheus.Desc)}
	for _, f := range deliveryMetrics {
		var labels []string
		if f.label != "" {
			labels = []string{f.label}
		}
		c.descs[f.name] = prometheus.NewDesc(f.name, f.help, labels, nil)
	}
	for _, t := range deliveryHistograms {
		c.descs[t.name] = prometheus.NewDesc(t.name, t.help, nil, nil)
	}
	return c
}

// Describe implements prometheus.Collector.
func (c *engineCollector) Describe(to chan<- *prometheus.Desc) {
	for _, d := range c.descs {
		to <- d
	}
}

// Limits of the query for the backlog that a scrape runs in the store.
const (
	backlogMaxAge  = 15 * time.Second // a counted backlog is reused for so long
	backlogTimeout = 2 * time.Second  // a scrape waits so long for a new count
)

// Collect implements prometheus.Collector.
func (c *engineCollector) Collect(to chan<- prometheus.Metric) {
	r := c.read()
	for _, f := range deliveryMetrics {
		for label, value := range f.values(r) {
			var labels []string
			if f.label != "" {
				labels = []string{label}
			}
			to <- prometheus.MustNewConstMetric(c.descs[f.name], f.kind, value, labels...)
		}
	}
	for _, t := range deliveryHistograms {
		d := t.value(r)
		to <- prometheus.MustNewConstHistogram(c.descs[t.name], d.Count, d.Total.Seconds(), d.Buckets)
	}
}

func (c *engineCollector) read() *snapshot {
	ctx, cancel := context.WithTimeout(context.Background(), backlogTimeout)
	defer cancel()
	e := c.engine
	open, err := e.Backlog(ctx, backlogMaxAge)
	return &snapshot{e.Counts(), e.InHand(), e.Performance(), open, err == nil, e.Subscriptions(), e.Daemons()}
}

// WatchEngine exports the metrics of webhook delivery.
func (m *Metrics) WatchEngine(e *delivery.Engine) { m.registry.MustRegister(newEngineCollector(e)) }
