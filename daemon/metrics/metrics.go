// Package metrics is the figures of the service that Prometheus reads.
package metrics

import (
	"net/http"
	"strconv"
	"time"

	"github.com/bizhook/whd/daemon/live"
	"github.com/bizhook/whd/daemon/requestlog"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Metrics are the figures of the HTTP edge, in a registry of their own.
type Metrics struct {
	registry *prometheus.Registry
	InWork   prometheus.Gauge
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	aborted  prometheus.Counter
	bytes    prometheus.Counter

	Misdirected prometheus.Counter
}

// New makes Metrics of a version of the program.
func New(version string) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		InWork:   prometheus.NewGauge(prometheus.GaugeOpts{Name: "whd_http_requests_in_work", Help: "Requests in work."}),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "whd_http_requests_total", Help: "Requests answered."}, []string{"operation", "status"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "whd_http_request_seconds", Help: "Time from request to last byte.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 60}}, []string{"operation"}),
		aborted: prometheus.NewCounter(prometheus.CounterOpts{Name: "whd_http_replies_aborted_total", Help: "Replies cut off after their first byte, or whose client went away."}),
		bytes:   prometheus.NewCounter(prometheus.CounterOpts{Name: "whd_http_reply_bytes_total", Help: "Bytes of reply bodies."}),

		Misdirected: prometheus.NewCounter(prometheus.CounterOpts{Name: "whd_http_misdirected_requests_total", Help: "Requests without a login refused because their Host is not a name of the service."}),
	}
	build := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "whd_build_info", Help: "1; the label has the version of the program."}, []string{"version"})
	build.WithLabelValues(version).Set(1)
	m.registry.MustRegister(build, m.InWork, m.requests, m.seconds, m.aborted, m.bytes, m.Misdirected,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Handler serves /metrics.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// Note counts a request that is over.
func (m *Metrics) Note(operation string, status int, took time.Duration, bytes int64, aborted bool) {
	m.requests.WithLabelValues(operation, strconv.Itoa(status)).Inc()
	m.seconds.WithLabelValues(operation).Observe(took.Seconds())
	m.bytes.Add(float64(bytes))
	if aborted {
		m.aborted.Inc()
	}
}

// counter and gauge register a figure that is read when it is asked for.
func (m *Metrics) counter(name, help string, labels prometheus.Labels, value func() int64) {
	m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help, ConstLabels: labels}, func() float64 { return float64(value()) }))
}

func (m *Metrics) gauge(name, help string, value func() float64) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, value))
}

// WatchBodies shows how many bytes request bodies hold.
func (m *Metrics) WatchBodies(held func() float64) {
	m.gauge("whd_http_body_bytes", "Bytes of http.body_memory that request bodies hold.", held)
}

// WatchLog shows in /metrics how the request log keeps up.
func (m *Metrics) WatchLog(r *requestlog.Recorder) {
	m.counter("whd_requestlog_entries_written_total", "Entries of the request log written.", nil, func() int64 { return r.Counts().Written })
	m.counter("whd_requestlog_entries_dropped_total", "Entries of the request log dropped.", nil, func() int64 { return r.Counts().Dropped })
	m.counter("whd_requestlog_write_failures_total", "Attempts to write the request log that failed.", nil, func() int64 { return r.Counts().Failures })
	m.gauge("whd_requestlog_buffered_entries", "Entries of the request log that wait to be written.", func() float64 { return float64(r.Depth().Entries) })
}

// WatchStreams shows the figures of live streams, and for which reasons the
// service itself ends or refuses some.
func (m *Metrics) WatchStreams(h *live.Hub) {
	const dropped = "whd_streams_dropped_total"
	help := "Live streams that the service has dropped or refused."
	m.gauge("whd_streams", "Live streams.", func() float64 { return float64(h.Counts().Readers) })
	m.counter(dropped, help, prometheus.Labels{"cause": "behind"}, func() int64 { return h.Counts().Behind })
	m.counter(dropped, help, prometheus.Labels{"cause": "stalled"}, func() int64 { return h.Counts().Stalled })
	m.counter(dropped, help, prometheus.Labels{"cause": "refused"}, func() int64 { return h.Counts().Refused })
	m.counter("whd_stream_events_skipped_total", "Events of stats and requests that slow live streams were not given.", nil, func() int64 { return h.Counts().Skipped })
}
