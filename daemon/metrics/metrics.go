// Package metrics exports the service's metrics to Prometheus.
package metrics

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/live"
	"github.com/bizhook/whd/daemon/requestlog"
	"github.com/bizhook/whd/daemon/spill"
	"github.com/bizhook/whd/daemon/webhook/delivery"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Metrics holds the metrics of HTTP requests in a registry of its own.
type Metrics struct {
	registry *prometheus.Registry
	InFlight prometheus.Gauge
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	aborted  prometheus.Counter
	bytes    prometheus.Counter
	ignored  *prometheus.CounterVec
	accounts accounts // accounts of ignored members
	public   bool

	Misdirected prometheus.Counter
}

// Config describes the program, the readers of its metrics, and the parts of the service that are
// measured at each scrape. A part that is nil has no metrics.
type Config struct {
	Version string
	Public  bool // readable without a login at the service's own address: no names of accounts

	RequestLog *requestlog.Recorder
	Engine     *delivery.Engine
	Streams    *live.Hub
	Clients    Clients
	Spill      *spill.Space
	Captures   func(context.Context) ([]wire.Capture, error)
	Bodies     func() float64 // bytes held by request bodies
	Replies    func() float64 // bytes held by responses
	LostLines  func() int64   // lines of the log that were dropped; nil if none are
}

// Clients counts the connections from clients.
type Clients interface {
	// Open returns the number of open connections.
	Open() int
	// Closed returns the number of those that were closed to make room for others.
	Closed() int64
	// Refused returns the number of new ones for which there was no room.
	Refused() int64
}

// New returns Metrics without values.
func New(c Config) *Metrics {
	m := &Metrics{
		public:   c.Public,
		registry: prometheus.NewRegistry(),
		InFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "whd_http_requests_in_work",
			Help: "Requests being handled.",
		}),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "whd_http_requests_total",
			Help: "Requests served.",
		}, []string{"operation", "status"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "whd_http_request_seconds",
			Help:    "Time from request to last byte.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 60},
		}, []string{"operation"}),
		aborted: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "whd_http_replies_aborted_total",
			Help: "Responses aborted after their first byte, by the service or by the client.",
		}),
		bytes: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "whd_http_reply_bytes_total",
			Help: "Bytes of response bodies.",
		}),
		ignored: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "whd_http_requests_with_ignored_members_total",
			Help: ignoredHelp,
		}, []string{"operation", "account"}),

		Misdirected: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "whd_http_misdirected_requests_total",
			Help: "Unauthenticated requests rejected because their Host is not a name of the service.",
		}),
	}
	build := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "whd_build_info",
		Help: "Always 1; the label is the program version.",
	}, []string{"version"})
	build.WithLabelValues(c.Version).Set(1)
	m.registry.MustRegister(build, m.InFlight, m.requests, m.seconds, m.aborted, m.bytes, m.ignored, m.Misdirected,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.registerParts(c)
	return m
}

// registerParts registers the metrics of the parts of the service.
func (m *Metrics) registerParts(c Config) {
	if c.RequestLog != nil {
		m.registerRequestLog(c.RequestLog)
	}
	if c.Engine != nil {
		m.registry.MustRegister(newEngineCollector(c.Engine))
	}
	if c.Streams != nil {
		m.registerStreams(c.Streams)
	}
	if c.Clients != nil {
		m.registerClients(c.Clients)
	}
	if c.Spill != nil {
		m.registerSpill(c.Spill)
	}
	if c.Captures != nil {
		m.registry.MustRegister(newCaptureCollector(c.Captures))
	}
	if c.Bodies != nil {
		m.gauge("whd_http_body_bytes", "Bytes of http.body_memory in use by request bodies.", c.Bodies)
	}
	if c.Replies != nil {
		m.gauge("whd_http_reply_memory_bytes",
			"Bytes of http.reply_memory in use by responses that clients are reading.", c.Replies)
	}
	m.registerLines(c.LostLines)
}

// Handler returns the handler of /metrics.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// Observe records a finished request.
func (m *Metrics) Observe(operation string, status int, took time.Duration, bytes int64, aborted bool) {
	m.requests.WithLabelValues(operation, strconv.Itoa(status)).Inc()
	m.seconds.WithLabelValues(operation).Observe(took.Seconds())
	m.bytes.Add(float64(bytes))
	if aborted {
		m.aborted.Inc()
	}
}

// Ignored records a request of a user or API key with members that were ignored.
func (m *Metrics) Ignored(operation, account string) {
	if m.public && account != "" {
		account = hiddenAccount
	}
	m.ignored.WithLabelValues(operation, m.accounts.label(account)).Inc()
}

// hiddenAccount replaces the names of users and API keys in metrics that are public.
const hiddenAccount = "***"

const ignoredHelp = "Requests with ignored members, by operation and by user or API key. account is" +
	" empty without a login, " + otherAccounts + " beyond 100 names, and " + hiddenAccount +
	" unless metrics.listen is set."

// maxAccounts limits the number of names in a label. Other names are otherAccounts.
const (
	maxAccounts   = 100 // also in ignoredHelp
	otherAccounts = "other"
)

// accounts are the names of users and API keys that are labels.
type accounts struct {
	mu    sync.Mutex
	names map[string]bool
}

// label returns the label of a name.
func (a *accounts) label(name string) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.names[name] {
		return name
	}
	if len(a.names) >= maxAccounts {
		return otherAccounts
	}
	if a.names == nil {
		a.names = make(map[string]bool)
	}
	a.names[name] = true
	return name
}

// counter registers a counter that is read at each scrape.
func (m *Metrics) counter(name, help string, labels prometheus.Labels, value func() int64) {
	m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name:        name,
		Help:        help,
		ConstLabels: labels,
	}, func() float64 {
		return float64(value())
	}))
}

// gauge registers a gauge that is read at each scrape.
func (m *Metrics) gauge(name, help string, value func() float64) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, value))
}

// registerClients registers the metrics of connections from clients.
func (m *Metrics) registerClients(c Clients) {
	m.gauge("whd_http_connections", "Open connections from clients.",
		func() float64 { return float64(c.Open()) })
	m.counter("whd_http_connections_closed_total",
		"Idle connections closed because there were too many.", nil, c.Closed)
	m.counter("whd_http_connections_refused_total",
		"New connections refused because there were too many, all with a request in progress.", nil, c.Refused)
}

// registerSpill registers the metrics of responses that clients have not read yet.
func (m *Metrics) registerSpill(s *spill.Space) {
	m.gauge("whd_http_spill_bytes",
		"Disk space taken by responses from SQL Server that clients have not read yet.",
		func() float64 { return float64(s.Held()) })
	m.counter("whd_http_spill_aborted_total",
		"Responses aborted because a client read too slowly and erp.spill, or the volume, had no more space.",
		nil, s.Aborted)
}

// registerLines registers the metric of lines of the daemon's own log; lost is nil if none are
// dropped.
func (m *Metrics) registerLines(lost func() int64) {
	if lost == nil {
		lost = func() int64 { return 0 }
	}
	m.counter("whd_log_lines_dropped_total",
		"Lines of the log dropped because standard error was not read.", nil, lost)
}

// registerRequestLog registers the counters and the buffer size of the request log.
func (m *Metrics) registerRequestLog(r *requestlog.Recorder) {
	m.counter("whd_requestlog_entries_written_total",
		"Request log entries written.",
		nil, func() int64 { return r.Counts().Written })
	m.counter("whd_requestlog_entries_dropped_total",
		"Request log entries dropped.",
		nil, func() int64 { return r.Counts().Dropped })
	m.counter("whd_requestlog_write_failures_total",
		"Failed writes of the request log.",
		nil, func() int64 { return r.Counts().Failures })
	m.gauge("whd_requestlog_buffered_entries",
		"Request log entries waiting to be written.",
		func() float64 { return float64(r.Depth().Entries) })
}

// registerStreams registers the metrics of live streams, and why the service dropped or
// refused them.
func (m *Metrics) registerStreams(h *live.Hub) {
	m.gauge("whd_streams", "Open live streams.",
		func() float64 { return float64(h.Counts().Readers) })
	dropped := func(cause string, value func() int64) {
		m.counter("whd_streams_dropped_total", "Live streams dropped or refused by the service.",
			prometheus.Labels{"cause": cause}, value)
	}
	dropped("behind", func() int64 { return h.Counts().Behind })
	dropped("stalled", func() int64 { return h.Counts().Stalled })
	dropped("refused", func() int64 { return h.Counts().Refused })
	m.counter("whd_stream_events_skipped_total",
		"Statistics and request events skipped for slow live streams.",
		nil, func() int64 { return h.Counts().Skipped })
}
