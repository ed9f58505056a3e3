package rest

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/bizhook/whd/daemon/rest/edge"
)

// metrics are the figures of the HTTP edge, in a registry of their own.
type metrics struct {
	registry *prometheus.Registry
	page     http.Handler
	inWork   prometheus.Gauge
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	aborted  prometheus.Counter
	bytes    prometheus.Counter

	misdirected prometheus.Counter
}

func newMetrics(version string) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		inWork:   prometheus.NewGauge(prometheus.GaugeOpts{Name: "whd_http_requests_in_work", Help: "Requests in work."}),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "whd_http_requests_total", Help: "Requests answered."}, []string{"operation", "status"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "whd_http_request_seconds", Help: "Time from request to last byte.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 60}}, []string{"operation"}),
		aborted: prometheus.NewCounter(prometheus.CounterOpts{Name: "whd_http_replies_aborted_total", Help: "Replies cut off after their first byte, or whose client went away."}),
		bytes:   prometheus.NewCounter(prometheus.CounterOpts{Name: "whd_http_reply_bytes_total", Help: "Bytes of reply bodies."}),

		misdirected: prometheus.NewCounter(prometheus.CounterOpts{Name: "whd_http_misdirected_requests_total", Help: "Requests without a login refused because their Host is not a name of the service."}),
	}
	build := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "whd_build_info", Help: "1; the label has the version of the program."}, []string{"version"})
	build.WithLabelValues(version).Set(1)
	m.registry.MustRegister(build, m.inWork, m.requests, m.seconds, m.aborted, m.bytes, m.misdirected,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.page = promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
	return m
}

func (m *metrics) note(x *edge.Context) {
	operation := "unknown"
	if x.Route != nil {
		operation = x.Route.Operation
	}
	m.requests.WithLabelValues(operation, strconv.Itoa(x.Response.FinalStatus())).Inc()
	m.seconds.WithLabelValues(operation).Observe(time.Since(x.Timing.Start).Seconds())
	m.bytes.Add(float64(x.Response.Bytes))
	if x.Response.Aborted {
		m.aborted.Inc()
	}
}

// MetricsHandler serves /metrics on a listener of its own.
func (s *Server) MetricsHandler() http.Handler { return s.metrics.page }
