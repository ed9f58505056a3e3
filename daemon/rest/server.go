// Package rest is the HTTP edge: it finds the route for a request, checks who
// asks, and writes what the rest of the daemon answers.
package rest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/erp"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/live"
	"github.com/bizhook/whd/daemon/metadata"
	"github.com/bizhook/whd/daemon/metrics"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/requestlog"
	"github.com/bizhook/whd/daemon/rest/edge"
	"github.com/bizhook/whd/daemon/webhook/admin"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// Config is what a Server works with.
type Config struct {
	Registry *record.Registry
	Store    Store
	Accounts *account.Service
	Bills    *erp.Bills
	Log      *slog.Logger
	Edge     edge.Config

	RequestLog *requestlog.Recorder // nil for none

	Version  string                // of the program
	Options  func() *edge.Options  // what may change, asked for each request; nil for nothing
	Settings func() []wire.Setting // that may change while the service runs
	Warnings []string              // about how the service was set up, for /readyz

	Webhooks    *admin.Service   // nil where webhooks are turned off
	Engine      *delivery.Engine // the same
	Streams     *live.Hub        // what live streams show; nil for nothing but requests
	StreamStall time.Duration    // how long who reads a live stream may take no byte of it

	Trace       func(ctx context.Context, part string, from, to time.Time) // tells of a request's parts; nil for nobody
	MetricsHere bool                                                       // /metrics is served beside the rest
}

// Server is the service's http.Handler.
type Server struct {
	config    Config
	router    *edge.Router
	admission *edge.Admission
	bodies    *edge.Bodies
	proxies   edge.Proxies
	cors      edge.CORS
	leaving   atomic.Bool // as Leave says
	metrics   *metrics.Metrics
	observer  observer
	handlers  *handlers
}

// New makes a Server.
func New(c Config) *Server {
	if c.Options == nil {
		c.Options = func() *edge.Options { return new(edge.Options) }
	}
	if c.Streams == nil {
		c.Streams = live.New(live.Config{})
	}
	c.Edge.BasePath = edge.BasePath(c.Edge.BasePath)
	e := c.Edge
	s := &Server{config: c, admission: edge.NewAdmission(e.MaxRequests), metrics: metrics.New(c.Version),
		proxies: e.TrustedProxies, cors: e.CORSOrigins}
	s.handlers = newHandlers(c, s.metrics)
	s.handlers.health.stopping = func() bool { return s.leaving.Load() || s.admission.Stopping() }
	s.observer = observer{s.metrics, c.Log, c.RequestLog, c.Streams, c.Trace}
	s.router = edge.NewRouter(routesOf(s.handlers.table), e.BasePath)
	s.bodies = edge.NewBodies(e.MaxBody, e.BodyMemory, e.BodyTimeout, func(x *edge.Context) { _, _ = s.handlers.access.isAdmin(x) })
	if c.RequestLog != nil {
		s.metrics.WatchLog(c.RequestLog)
	}
	if c.Engine != nil {
		s.metrics.WatchEngine(c.Engine)
	}
	s.metrics.WatchStreams(c.Streams)
	s.metrics.WatchBodies(s.bodies.Held)
	return s
}

// handlers answer what is asked, by noun.
type handlers struct {
	table []operation

	access        access
	sessions      sessions
	users         users
	keys          keys
	bills         bills
	queries       queries
	logs          logs
	info          info
	documents     documents
	health        health
	events        events
	subscribers   subscribers
	subscriptions subscriptions
	messages      messages
	bulk          bulk
	stats         statistics
	streams       streams
}

func newHandlers(c Config, m *metrics.Metrics) *handlers {
	h := &handlers{
		access: access{c.Accounts, &edge.HostCheck{Names: c.Edge.Hosts, URL: c.Edge.HostURL, MachineNames: c.Edge.HostNames}, edge.NewLimiter(edge.Rate{}), edge.NewCSRF(c.Edge.CORSOrigins), m.Misdirected},
		users:  users{c.Accounts}, keys: keys{c.Accounts}, bills: bills{c.Bills},
		queries: queries{c.Store, c.Registry, record.System()},
		health:  health{store: c.Store, engine: c.Engine, warnings: c.Warnings},
		events:  events{c.Webhooks, c.Engine}, subscribers: subscribers{c.Webhooks}, stats: statistics{c.Engine},
		streams: streams{c.Streams, c.Accounts, c.StreamStall, m.InFlight},
	}
	if c.MetricsHere {
		h.health.metrics = m
	}
	h.sessions = sessions{c.Accounts, &h.access}
	h.logs = logs{&h.queries, c.RequestLog}
	h.subscriptions = subscriptions{c.Webhooks, &h.access, edge.NewLimiter(retryRate), edge.NewLimiter(changeRate)}
	h.messages = messages{c.Webhooks, &h.access, &h.queries, &h.subscriptions}
	h.bulk = bulk{c.Webhooks, &h.queries}
	h.table = newTable(h)
	about := func(open bool) description {
		return newDescription(func() *metadata.Service {
			return describe(metadata.Service{Version: c.Version, Base: c.Edge.BasePath, HostURL: c.Edge.HostURL}, h.table, &h.queries, open)
		})
	}
	h.documents = documents{&h.access, about(false), about(true)}
	h.info = newInfo(c, routesOf(h.table))
	return h
}

// Describe is what a service with the standard settings says of itself, for
// documents that are written before one runs.
func Describe() *metadata.Service {
	return newHandlers(Config{Registry: record.Builtin()}, new(metrics.Metrics)).documents.closed.service()
}

// Leave makes /readyz say that the service is going away, so that whoever spreads
// requests over several daemons leaves this one out. Requests are served as before.
func (s *Server) Leave() { s.leaving.Store(true) }

// CloseStreams ends live streams, which would never end by themselves.
func (s *Server) CloseStreams() { s.config.Streams.Close() }

// Drain makes /readyz say that the service is going away, turns new requests
// away, ends live streams, and waits until those in work are done or ctx is. It
// may be called again to go on waiting.
func (s *Server) Drain(ctx context.Context) error {
	s.config.Streams.Close()
	return s.admission.Drain(ctx)
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
func (s *Server) serve(x *edge.Context) error {
	allow, err := s.resolve(x)
	if err := edge.CheckFraming(x.Response.Header(), x.Request); err != nil {
		return err
	}
	if allow != nil {
		x.Response.Header().Set("Allow", strings.Join(allow, ", "))
		if x.Request.Method == http.MethodOptions {
			s.cors.Preflight(x, allow)
			x.Response.WriteHeader(http.StatusNoContent)
			return nil
		}
	}
	if err != nil {
		return err
	}
	if x.Route.Always {
		return x.Route.Serve(x)
	}
	return s.work(x)
}

// work runs a route's handler. Who asks and with what body comes before the
// place among the requests in work, so that nobody can hold one by sending
// slowly.
func (s *Server) work(x *edge.Context) error {
	if err := s.admission.Arrive(); err != nil {
		return err
	}
	defer s.admission.Depart()
	if x.Route.Webhooks && s.config.Engine == nil {
		return fault.New(fault.NotFound, "webhooks are turned off by the setting webhooks.enabled")
	}
	if err := s.handlers.access.admit(x); err != nil {
		return err
	}
	var err error
	if x.Body, err = s.bodies.Read(x); err != nil {
		return err
	}
	if !x.Route.Streaming {
		if err := s.admission.Enter(); err != nil {
			return err
		}
		defer s.admission.Leave()
	}
	if to := formAddress(x.Request.URL); to != "" && x.Kind != nil && x.Request.Method == http.MethodGet {
		return x.Redirect(http.StatusSeeOther, to)
	}
	addFrame(x)
	return x.Route.Serve(x)
}

// resolve finds out what the URL and the headers ask for. It goes on after an
// error, so that the error is told in the format that was asked for. Where the
// path is right and the method is not, or asks just that, allow has the methods.
func (s *Server) resolve(x *edge.Context) (allow []string, err error) {
	found, allow, routeErr := s.router.Find(x.Request.Method, x.Request.URL.EscapedPath())
	x.Route, x.Params, x.Suffix = found.Route, found.Params, found.Suffix
	var queryErr, formatErr, kindErr error
	x.URLMembers, queryErr = query.ReadForm(x.Request.URL.RawQuery)
	x.Format, formatErr = edge.Negotiate(edge.FormatRequest{
		Prefix: x.Params.Get(edge.ParamFormat), Suffix: x.Suffix,
		Callback: x.URLMembers.Text(query.Callback), Format: x.URLMembers.Text(query.Format), Accept: strings.Join(x.Request.Header.Values("Accept"), ","),
	})
	x.Kind, kindErr = s.handlers.queries.kind(x.Route, x.Params)
	return allow, cmp.Or(edge.CheckHead(x.Request, s.config.Edge.MaxHead), routeErr, queryErr, formatErr, kindErr)
}

func (s *Server) begin(w http.ResponseWriter, r *http.Request) *edge.Context {
	x := &edge.Context{
		Response: edge.NewResponse(w, s.config.Edge.WriteStall), Request: r, ID: edge.RequestID(r), Log: s.config.Log, Base: s.config.Edge.BasePath, Options: s.config.Options(),
		Timing: edge.Timing{Start: time.Now()}, Origin: s.proxies.Origin(r), Format: edge.ResponseFormat{Format: edge.JSONFormat()}, Coding: edge.AcceptedCoding(r.Header.Get("Accept-Encoding")),
	}
	if x.Options.LogBodies {
		x.Logged.MaxAnswer = requestlog.MaxBody + 1
	}
	x.Response.AwaitBody(r, s.config.Edge.BodyTimeout)
	h := w.Header()
	h.Set(wire.HeaderRequestID, x.ID)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Vary", "Accept")
	h.Set("Cache-Control", "no-store")
	s.cors.Share(x)
	if s.admission.Stopping() {
		h.Set("Connection", "close")
	}
	s.metrics.InFlight.Inc()
	return x
}

// end notes a request that is over, however it ended. A panic of ours becomes
// a clean error where nothing had been sent, and a cut connection otherwise.
func (s *Server) end(x *edge.Context) {
	defer s.bodies.Release(x) // also if what follows panics
	cause := recover()
	if cause != nil && cause != http.ErrAbortHandler {
		s.config.Log.Error("panic", "id", x.ID, "path", logPath(x), "cause", fmt.Sprint(cause), "stack", string(debug.Stack()))
		if x.Response.Status == 0 {
			s.fail(x, fault.New(fault.Internal, "panic"))
			cause = nil
		} else {
			x.Abort()
			cause = http.ErrAbortHandler
		}
	}
	if cause == nil {
		x.Response.Finish(x.Request, s.config.Edge.BodyTimeout)
	}
	s.metrics.InFlight.Dec()
	s.observer.ended(x)
	if cause != nil {
		panic(cause)
	}
}

// MetricsHandler serves /metrics on a listener of its own.
func (s *Server) MetricsHandler() http.Handler { return s.metrics.Handler() }

// Route is what a request asks for, as traces tell it: the pattern of its path
// with the record kind's name in it, but none of the ids. Checks of health, and
// streams, which last, are not traced.
func (s *Server) Route(r *http.Request) (pattern string, traced bool) {
	m, _, err := s.router.Find(r.Method, r.URL.EscapedPath())
	if err != nil || m.Route == nil {
		return "/...", true
	}
	pattern = m.Route.Pattern
	if kind, err := s.handlers.queries.kind(m.Route, m.Params); err == nil && kind != nil {
		pattern = kindPath(kind)(pattern)
	}
	return pattern, !m.Route.Always && !m.Route.Streaming
}

// fail writes the reply for an error. Where a part of another reply has gone
// out already, or nobody is there to read one, it cuts the connection instead.
func (s *Server) fail(x *edge.Context, err error) {
	if x.Response.Status != 0 || errors.Is(err, context.Canceled) && x.Request.Context().Err() != nil {
		abortReply(x, err)
	}
	f := reported(x, err)
	if sendToLogin(x, f) {
		return
	}
	if x.HTML() {
		s.handlers.access.recognise(x)
	}
	stack := ""
	if x.Options.Debug {
		stack = err.Error()
	}
	x.Fail(f, stack)
}
