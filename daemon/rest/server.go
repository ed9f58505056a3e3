// Package rest is the HTTP edge: it finds the route for a request, checks who
// asks, and writes what the rest of the daemon answers.
package rest

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/bill"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/live"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/requestlog"
	"github.com/bizhook/whd/daemon/store"
	"github.com/bizhook/whd/daemon/webhook/admin"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// Config is what a Server works with.
type Config struct {
	Registry *record.Registry
	Store    *store.Store
	Accounts *account.Service
	Bills    *bill.Service
	Log      *slog.Logger

	RequestLog *requestlog.Recorder // nil for none

	Version  string                // of the program
	Options  func() *Options       // what may change, asked for each request; nil for nothing
	Settings func() []wire.Setting // that may change while the service runs
	Warnings []string              // about how the service was set up, for /readyz
	HostURL  string                // the service's own address, by which the company reaches it; empty where nobody said

	BasePath       string
	TrustedProxies []netip.Prefix
	Webhooks       *admin.Service   // nil where webhooks are turned off
	Engine         *delivery.Engine // the same
	Streams        *live.Hub        // what live streams show; nil for nothing but requests

	Trace func(ctx context.Context, part string, from, to time.Time) // tells of a request's parts; nil for nobody

	CORSOrigins []string        // as browsers write them
	Hosts       []string        // names of the service, beside its own, in small letters
	HostNames   func() []string // of the machine; nil for none
	MaxRequests int
	MaxBody     int64
	MaxHead     int           // of URL and headers
	BodyMemory  int64         // of all request bodies together; at least minBodyMemory times MaxBody
	BodyTimeout time.Duration // how long a client may send nothing of a body, or less than bodyRate
	WriteStall  time.Duration
	StreamStall time.Duration // how long who reads a live stream may take no byte of it
	MetricsHere bool          // /metrics is served beside the rest
}

// Server is the service's http.Handler.
type Server struct {
	Config
	system    *record.Registry // the kinds that the service itself keeps
	router    *router
	admission *admission
	bodies    *bodies
	proxies   proxies
	hosts     *hostCheck
	cors      cors
	csrf      *csrf
	leaving   atomic.Bool // as Leave says
	metrics   *metrics

	documents     *documents // of what the service can be asked
	openDocuments *documents // the same where queries need no login

	limiter *limiter
	retries *limiter // of messages, by subscription
	changes *limiter // of subscriptions, by subscriber
}

// New makes a Server.
func New(c Config) *Server {
	if c.Options == nil {
		c.Options = func() *Options { return new(Options) }
	}
	if c.Streams == nil {
		c.Streams = live.New(live.Config{})
	}
	s := &Server{
		Config:    c,
		system:    record.System(),
		admission: newAdmission(c.MaxRequests),
		metrics:   newMetrics(c.Version),
		proxies:   c.TrustedProxies,
		hosts:     &hostCheck{names: c.Hosts, url: c.HostURL, machine: c.HostNames},
		cors:      c.CORSOrigins,
		csrf:      newCSRF(c.CORSOrigins),

		limiter: newLimiter(Rate{}),
		retries: newLimiter(retryRate),
		changes: newLimiter(changeRate),
	}
	s.router = newRouter(s.routes(), c.BasePath)
	s.bodies = newBodies(c.MaxBody, c.BodyMemory, c.BodyTimeout, func(x *exchange) { _, _ = s.isAdmin(x) })
	if c.RequestLog != nil {
		s.metrics.watchLog(c.RequestLog)
	}
	if c.Engine != nil {
		s.metrics.watchEngine(c.Engine)
	}
	s.metrics.watchStreams(c.Streams)
	s.metrics.registry.MustRegister(prometheus.NewGaugeFunc(
		prometheus.GaugeOpts{Name: "whd_http_body_bytes", Help: "Bytes of http.body_memory that request bodies hold."}, s.bodies.held))
	s.documents, s.openDocuments = s.newDocuments(false), s.newDocuments(true)
	return s
}

// Leave makes /readyz say that the service is going away, so that whoever spreads
// requests over several daemons leaves this one out. Requests are served as before.
func (s *Server) Leave() { s.leaving.Store(true) }

// Drain makes /readyz say that the service is going away, turns new requests
// away, ends live streams, and waits until those in work are done or ctx is. It
// may be called again to go on waiting.
func (s *Server) Drain(ctx context.Context) error {
	s.Streams.Close()
	return s.admission.drain(ctx)
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := s.begin(w, r)
	defer s.end(x)
	if err := s.serve(x); err != nil {
		s.fail(x, err)
	}
}

// serve is a request's life: route, format, admission, identity, work.
func (s *Server) serve(x *exchange) error {
	allow, err := s.resolve(x)
	if err := checkFraming(x.w.Header(), x.r); err != nil {
		return err
	}
	if allow != nil {
		x.w.Header().Set("Allow", strings.Join(allow, ", "))
		if x.r.Method == http.MethodOptions {
			s.cors.preflight(x, allow)
			x.w.WriteHeader(http.StatusNoContent)
			return nil
		}
	}
	if err != nil {
		return err
	}
	if x.route.always {
		return x.route.serve(x)
	}
	return s.work(x)
}

// work runs a route's handler. Who asks and with what body comes before the
// place among the requests in work, so that nobody can hold one by sending
// slowly.
func (s *Server) work(x *exchange) error {
	if err := s.admission.arrive(); err != nil {
		return err
	}
	defer s.admission.depart()
	if err := s.webhooksOff(x); err != nil {
		return err
	}
	if err := s.admit(x); err != nil {
		return err
	}
	var err error
	if x.body, err = s.bodies.read(x); err != nil {
		return err
	}
	if !x.route.lasting {
		if err := s.admission.enter(); err != nil {
			return err
		}
		defer s.admission.leave()
	}
	if to := formAddress(x.r.URL); to != "" && x.kind != nil && x.r.Method == http.MethodGet {
		return x.redirect(http.StatusSeeOther, to)
	}
	addFrame(x)
	return x.route.serve(x)
}

// admit finds out who asks, and whether this request of theirs is to be served.
func (s *Server) admit(x *exchange) error {
	if err := s.limitAddress(x); err != nil {
		return err
	}
	if err := s.authorise(x); err != nil {
		return err
	}
	if err := s.limitIdentity(x); err != nil {
		return err
	}
	return s.csrf.check(x)
}

// resolve finds out what the URL and the headers ask for. It goes on after an
// error, so that the error is told in the format that was asked for. Where the
// path is right and the method is not, or asks just that, allow has the methods.
func (s *Server) resolve(x *exchange) (allow []string, err error) {
	found, allow, routeErr := s.router.find(x.r.Method, x.r.URL.EscapedPath())
	x.route, x.params, x.suffix = found.route, found.params, found.suffix
	var queryErr, formatErr, kindErr error
	x.urlMembers, queryErr = query.ReadForm(x.r.URL.RawQuery)
	x.reply, formatErr = negotiate(choice{
		prefix: x.params.get(inFormat), suffix: x.suffix,
		callback: x.urlMembers.Text(query.Callback), format: x.urlMembers.Text(query.Format), accept: strings.Join(x.r.Header.Values("Accept"), ","),
	})
	x.kind, kindErr = s.kind(x.route, x.params)
	return allow, cmp.Or(checkHead(x.r, s.MaxHead), routeErr, queryErr, formatErr, kindErr)
}

func (s *Server) begin(w http.ResponseWriter, r *http.Request) *exchange {
	x := &exchange{
		w: newResponse(w, s.WriteStall), r: r, id: requestID(r), log: s.Log, base: s.router.basePath(), options: s.Options(),
		timing: timing{start: time.Now()}, origin: s.proxies.origin(r), reply: reply{Format: jsonFormat()}, coding: acceptedCoding(r.Header.Get("Accept-Encoding")),
	}
	if x.options.LogBodies {
		x.logged.maxAnswer = requestlog.MaxBody + 1
	}
	x.w.awaitBody(r, s.BodyTimeout)
	h := w.Header()
	h.Set(wire.HeaderRequestID, x.id)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Vary", "Accept")
	h.Set("Cache-Control", "no-store")
	s.cors.share(x)
	if s.admission.stopping() {
		h.Set("Connection", "close")
	}
	s.metrics.inWork.Inc()
	return x
}

// end notes a request that is over, however it ended. A panic of ours becomes
// a clean error where nothing had been sent, and a cut connection otherwise.
func (s *Server) end(x *exchange) {
	defer s.bodies.release(x) // also if what follows panics
	cause := recover()
	if cause != nil && cause != http.ErrAbortHandler {
		s.Log.Error("panic", "id", x.id, "path", logPath(x), "cause", fmt.Sprint(cause), "stack", string(debug.Stack()))
		if x.w.status == 0 {
			s.fail(x, fault.New(fault.Internal, "panic"))
			cause = nil
		} else {
			x.cut()
			cause = http.ErrAbortHandler
		}
	}
	if cause == nil {
		x.w.leave(x.r, s.BodyTimeout)
	}
	s.metrics.inWork.Dec()
	s.metrics.note(x)
	s.traceParts(x)
	s.logRequest(x)
	s.showRequest(x)
	s.logAccess(x)
	if cause != nil {
		panic(cause)
	}
}
