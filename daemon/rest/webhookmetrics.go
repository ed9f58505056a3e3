package rest

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/bizhook/whd/daemon/webhook"
)

// engineCounters are the figures of the delivery that only grow.
var engineCounters = []struct {
	name, help string
	value      func(webhook.Counts) int64
}{
	{"whd_webhook_events_total", "Events stored.", func(c webhook.Counts) int64 { return c.Events }},
	{"whd_webhook_events_refused_total", "Events that could not be stored.", func(c webhook.Counts) int64 { return c.Refused }},
	{"whd_webhook_messages_total", "Messages made of events.", func(c webhook.Counts) int64 { return c.Messages }},
	{"whd_webhook_messages_delivered_total", "Messages that their receivers took.", func(c webhook.Counts) int64 { return c.Delivered }},
	{"whd_webhook_messages_failed_total", "Messages given up.", func(c webhook.Counts) int64 { return c.GivenUp }},
	{"whd_webhook_attempts_failed_total", "Attempts that failed and are made again.", func(c webhook.Counts) int64 { return c.Failed }},
	{"whd_webhook_subscriptions_disabled_total", "Subscriptions disabled by what their receivers answered.", func(c webhook.Counts) int64 { return c.Disabled }},
}

// engineGauges are what the delivery has in hand.
var engineGauges = []struct {
	name, help string
	value      func(webhook.Depth) int
}{
	{"whd_webhook_events_waiting", "Events that wait to be stored.", func(d webhook.Depth) int { return d.Waiting }},
	{"whd_webhook_outcomes_waiting", "Outcomes of attempts that wait to be stored.", func(d webhook.Depth) int { return d.Unsaved }},
	{"whd_webhook_attempts_underway", "Attempts under way.", func(d webhook.Depth) int { return d.Underway }},
	{"whd_webhook_messages_in_memory", "Messages in memory that wait for an attempt.", func(d webhook.Depth) int { return d.InMemory }},
	{"whd_webhook_endpoints_in_trouble", "Subscriptions whose endpoint is only probed now and then.", func(d webhook.Depth) int { return d.Troubled }},
}

// watchEngine shows the figures of the delivery.
func (m *metrics) watchEngine(e *webhook.Engine) {
	for _, c := range engineCounters {
		m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: c.name, Help: c.help},
			func() float64 { return float64(c.value(e.Counts())) }))
	}
	for _, g := range engineGauges {
		m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: g.name, Help: g.help},
			func() float64 { return float64(g.value(e.Depth())) }))
	}
}
