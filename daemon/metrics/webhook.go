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
	counts        stats.Counts
	inHand        wire.InHand
	performance   stats.Performance
	backlog       stats.BacklogCount
	hasBacklog    bool // whether backlog is known
	subscriptions *webhook.Snapshot
	daemons       int // number of daemons that share the store
}

// deliveryMetric is a metric of the delivery engine. values returns a value for each
// value of the label, or a single one under "" if there is no label; it returns
// nothing while the value is unknown.
type deliveryMetric struct {
	kind        prometheus.ValueType
	name, label string // label is empty if there is none
	help        string
	values      func(s *snapshot) map[string]float64
}

// deliveryMetrics are the counters and gauges of webhook delivery. Labels have few
// values: ids are not used as labels.
var deliveryMetrics = []deliveryMetric{
	{
		kind:   prometheus.CounterValue,
		name:   "whd_webhook_events_total",
		help:   "Events stored.",
		values: unlabelled(func(s *snapshot) int64 { return s.counts.Events }),
	},
	{
		kind:   prometheus.CounterValue,
		name:   "whd_webhook_events_refused_total",
		help:   "Events that could not be stored.",
		values: unlabelled(func(s *snapshot) int64 { return s.counts.Refused }),
	},
	{
		kind:   prometheus.CounterValue,
		name:   "whd_webhook_messages_total",
		help:   "Messages created from events.",
		values: unlabelled(func(s *snapshot) int64 { return s.counts.Messages }),
	},
	{
		kind:   prometheus.CounterValue,
		name:   "whd_webhook_messages_delivered_total",
		help:   "Messages delivered.",
		values: unlabelled(func(s *snapshot) int64 { return s.counts.Delivered }),
	},
	{
		kind:   prometheus.CounterValue,
		name:   "whd_webhook_messages_failed_total",
		help:   "Messages that failed permanently.",
		values: unlabelled(func(s *snapshot) int64 { return s.counts.GivenUp }),
	},
	{
		kind:  prometheus.CounterValue,
		name:  "whd_webhook_attempts_total",
		label: "outcome",
		help: "Delivery attempts by outcome: ok, 3xx, 4xx, 5xx, timeout, forbidden (target " +
			"not allowed), network (other failures without a response).",
		values: attempts,
	},
	{
		kind:   prometheus.CounterValue,
		name:   "whd_webhook_attempts_failed_total",
		help:   "Failed attempts that are retried.",
		values: unlabelled(func(s *snapshot) int64 { return s.counts.Failed }),
	},
	{
		kind:  prometheus.CounterValue,
		name:  "whd_webhook_attempts_uncharged_total",
		label: "cause",
		help: "Attempts that do not count as failures of their endpoint, by cause: descriptors, " +
			"memory or ports (exhausted), network (unavailable), connection_lost, proxy.",
		values: uncharged,
	},
	{
		kind:   prometheus.CounterValue,
		name:   "whd_webhook_subscriptions_disabled_total",
		help:   "Subscriptions disabled by the service.",
		values: unlabelled(func(s *snapshot) int64 { return s.counts.Disabled }),
	},
	{
		kind:   prometheus.CounterValue,
		name:   "whd_webhook_rows_removed_total",
		help:   "Messages and idempotency keys removed at the end of their retention.",
		values: unlabelled(func(s *snapshot) int64 { return s.counts.Removed }),
	},
	{
		kind:   prometheus.GaugeValue,
		name:   "whd_webhook_events_waiting",
		help:   "Events waiting to be stored.",
		values: unlabelled(func(s *snapshot) int { return s.inHand.EventsWaiting }),
	},
	{
		kind:   prometheus.GaugeValue,
		name:   "whd_webhook_outcomes_waiting",
		help:   "Outcomes of attempts waiting to be stored.",
		values: unlabelled(func(s *snapshot) int { return s.inHand.OutcomesWaiting }),
	},
	{
		kind:   prometheus.GaugeValue,
		name:   "whd_webhook_attempts_underway",
		help:   "Attempts in flight.",
		values: unlabelled(func(s *snapshot) int { return s.inHand.InFlight }),
	},
	{
		kind:   prometheus.GaugeValue,
		name:   "whd_webhook_oldest_attempt_age_seconds",
		help:   "How long the oldest attempt in flight has been running; 0 if there is none.",
		values: oldestAttempt,
	},
	{
		kind:   prometheus.GaugeValue,
		name:   "whd_webhook_requests_overdue",
		help:   "Requests of attempts that did not end at the limit of the attempt.",
		values: unlabelled(func(s *snapshot) int { return s.inHand.Overdue }),
	},
	{
		kind: prometheus.GaugeValue,
		name: "whd_webhook_deliveries_paused",
		help: "1 while deliveries are paused because of a failure of this machine, such as a " +
			"lack of file descriptors.",
		values: paused,
	},
	{
		kind:   prometheus.GaugeValue,
		name:   "whd_webhook_messages_in_memory",
		help:   "Messages in memory waiting for an attempt.",
		values: unlabelled(func(s *snapshot) int { return s.inHand.MessagesInMemory }),
	},
	{
		kind:  prometheus.GaugeValue,
		name:  "whd_webhook_messages_open",
		label: "status",
		help: "Undelivered messages in the store by status: not_sent, retry_pending. Absent " +
			"while they cannot be counted.",
		values: openMessages,
	},
	{
		kind:   prometheus.GaugeValue,
		name:   "whd_webhook_oldest_open_message_age_seconds",
		help:   "Age of the oldest undelivered message in the store; 0 if there is none.",
		values: oldestOpen,
	},
	{
		kind:   prometheus.GaugeValue,
		name:   "whd_webhook_endpoints_in_trouble",
		help:   "Subscriptions whose circuit breaker is open.",
		values: unlabelled(func(s *snapshot) int { return s.inHand.OpenBreakers }),
	},
	{
		kind:  prometheus.GaugeValue,
		name:  "whd_webhook_subscriptions",
		label: "state",
		help: "Subscriptions by state: enabled or disabled; subscriptions of disabled " +
			"subscribers count as disabled.",
		values: subscriptionStates,
	},
	{
		kind:   prometheus.GaugeValue,
		name:   "whd_webhook_daemons",
		help:   "Daemons that share the store.",
		values: unlabelled(func(s *snapshot) int { return s.daemons }),
	},
}

// deliveryHistograms are the histograms of webhook delivery.
var deliveryHistograms = []struct {
	name, help string
	value      func(s *snapshot) stats.DurationHistogram
}{
	{
		name:  "whd_webhook_attempt_seconds",
		help:  "Duration of delivery attempts.",
		value: func(s *snapshot) stats.DurationHistogram { return s.performance.Durations },
	},
	{
		name:  "whd_webhook_delivery_seconds",
		help:  "Time from publishing to delivery of messages delivered by the first attempt.",
		value: func(s *snapshot) stats.DurationHistogram { return s.performance.Delays },
	},
}

// unlabelled returns the values of a metric that has no label.
func unlabelled[N int | int64](value func(s *snapshot) N) func(*snapshot) map[string]float64 {
	return func(s *snapshot) map[string]float64 { return map[string]float64{"": float64(value(s))} }
}

func attempts(s *snapshot) map[string]float64 {
	values := make(map[string]float64)
	for outcome, n := range s.performance.Attempts {
		values[outcome] = float64(n)
	}
	return values
}

func oldestAttempt(s *snapshot) map[string]float64 {
	return map[string]float64{"": time.Duration(s.inHand.OldestAttempt).Seconds()}
}

func uncharged(s *snapshot) map[string]float64 {
	values := make(map[string]float64)
	for failure := range webhook.OwnFailures {
		values[string(failure)] = float64(s.inHand.Uncharged[string(failure)])
	}
	return values
}

func paused(s *snapshot) map[string]float64 {
	if s.inHand.Paused == "" {
		return map[string]float64{"": 0}
	}
	return map[string]float64{"": 1}
}

func openMessages(s *snapshot) map[string]float64 {
	if !s.hasBacklog {
		return nil
	}
	total := s.backlog.Total()
	return map[string]float64{
		"not_sent":      float64(total.NotSent),
		"retry_pending": float64(total.RetryPending),
	}
}

func oldestOpen(s *snapshot) map[string]float64 {
	if !s.hasBacklog {
		return nil
	}
	age := 0.0
	if oldest := s.backlog.Total().Oldest; !oldest.IsZero() {
		age = max(0, s.backlog.At.Sub(oldest).Seconds())
	}
	return map[string]float64{"": age}
}

func subscriptionStates(s *snapshot) map[string]float64 {
	total, disabled := s.subscriptions.Count()
	return map[string]float64{
		"enabled":  float64(total - disabled),
		"disabled": float64(disabled),
	}
}

// engineCollector is a prometheus.Collector of deliveryMetrics and
// deliveryHistograms.
type engineCollector struct {
	engine *delivery.Engine
	descs  map[string]*prometheus.Desc
}

func newEngineCollector(e *delivery.Engine) *engineCollector {
	c := &engineCollector{engine: e, descs: make(map[string]*prometheus.Desc)}
	for _, m := range deliveryMetrics {
		var labels []string
		if m.label != "" {
			labels = []string{m.label}
		}
		c.descs[m.name] = prometheus.NewDesc(m.name, m.help, labels, nil)
	}
	for _, m := range deliveryHistograms {
		c.descs[m.name] = prometheus.NewDesc(m.name, m.help, nil, nil)
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
	backlogMaxAge  = 15 * time.Second // age up to which a counted backlog is reused
	backlogTimeout = 2 * time.Second  // time that a scrape waits for a new count
)

// Collect implements prometheus.Collector.
func (c *engineCollector) Collect(to chan<- prometheus.Metric) {
	s := c.read()
	for _, m := range deliveryMetrics {
		for label, value := range m.values(s) {
			var labels []string
			if m.label != "" {
				labels = []string{label}
			}
			to <- prometheus.MustNewConstMetric(c.descs[m.name], m.kind, value, labels...)
		}
	}
	for _, m := range deliveryHistograms {
		h := m.value(s)
		to <- prometheus.MustNewConstHistogram(c.descs[m.name], h.Count, h.Total.Seconds(), h.Buckets)
	}
}

func (c *engineCollector) read() *snapshot {
	ctx, cancel := context.WithTimeout(context.Background(), backlogTimeout)
	defer cancel()
	backlog, err := c.engine.Backlog(ctx, backlogMaxAge)
	return &snapshot{
		counts:        c.engine.Counts(),
		inHand:        c.engine.InHand(),
		performance:   c.engine.Performance(),
		backlog:       backlog,
		hasBacklog:    err == nil,
		subscriptions: c.engine.Subscriptions(),
		daemons:       c.engine.Daemons(),
	}
}
