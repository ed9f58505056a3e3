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
	"net/netip"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/bill"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/live"
	"github.com/bizhook/whd/daemon/metrics"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/requestlog"
	"github.com/bizhook/whd/daemon/rest/edge"
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
	Options  func() *edge.Options  // what may change, asked for each request; nil for nothing
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
	config    Config
	router    *edge.Router
	admission *edge.Admission
	bodies    *edge.Bodies
	proxies   edge.Proxies
	cors      edge.CORS
	csrf      *edge.CSRF
	leaving   atomic.Bool // as Leave says
	metrics   *metrics.Metrics

	documents     *documents // of what the service can be asked
	openDocuments *documents // the same where queries need no login

	handlers *handlers
}

// New makes a Server.
func New(c Config) *Server {
	if c.Options == nil {
		c.Options = func() *edge.Options { return new(edge.Options) }
	}
	if c.Streams == nil {
		c.Streams = live.New(live.Config{})
	}
	s := &Server{
		config:    c,
		admission: edge.NewAdmission(c.MaxRequests),
		metrics:   metrics.New(c.Version),
		proxies:   c.TrustedProxies,
		cors:      c.CORSOrigins,
		csrf:      edge.NewCSRF(c.CORSOrigins),
	}
	s.handlers = newHandlers(c, s.metrics)
	s.router = edge.NewRouter(s.routes(), c.BasePath)
	s.bodies = edge.NewBodies(c.MaxBody, c.BodyMemory, c.BodyTimeout, func(x *edge.Context) { _, _ = s.handlers.access.isAdmin(x) })
	if c.RequestLog != nil {
		s.metrics.WatchLog(c.RequestLog)
	}
	if c.Engine != nil {
		s.metrics.WatchEngine(c.Engine)
	}
	s.metrics.WatchStreams(c.Streams)
	s.metrics.WatchBodies(s.bodies.Held)
	s.documents, s.openDocuments = s.newDocuments(false), s.newDocuments(true)
	return s
}

// handlers answer what is asked, by noun.
type handlers struct {
	access        access
	sessions      sessions
	users         users
	keys          keys
	bills         bills
	queries       queries
	logs          logs
	events        events
	subscribers   subscribers
	subscriptions subscriptions
	messages      messages
	stats         statistics
	streams       streams
}

func newHandlers(c Config, m *metrics.Metrics) *handlers {
	h := &handlers{
		access: access{c.Accounts, &edge.HostCheck{Names: c.Hosts, URL: c.HostURL, MachineNames: c.HostNames}, edge.NewLimiter(edge.Rate{}), m.Misdirected},
		users:  users{c.Accounts}, keys: keys{c.Accounts}, bills: bills{c.Bills},
		queries: queries{c.Store, c.Registry, record.System()},
		events:  events{c.Webhooks, c.Engine}, subscribers: subscribers{c.Webhooks}, stats: statistics{c.Engine},
		streams: streams{c.Streams, c.Accounts, c.StreamStall, m.InWork},
	}
	h.sessions = sessions{c.Accounts, &h.access}
	h.logs = logs{&h.queries, c.RequestLog}
	h.subscriptions = subscriptions{c.Webhooks, &h.access, edge.NewLimiter(retryRate), edge.NewLimiter(changeRate)}
	h.messages = messages{c.Webhooks, &h.access, &h.queries, &h.subscriptions}
	return h
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
	if err := s.webhooksOff(x); err != nil {
		return err
	}
	if err := s.admit(x); err != nil {
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

// admit finds out who asks, and whether this request of theirs is to be served.
func (s *Server) admit(x *edge.Context) error {
	if err := s.handlers.access.limitAddress(x); err != nil {
		return err
	}
	if err := s.handlers.access.authorise(x); err != nil {
		return err
	}
	if err := s.handlers.access.limitIdentity(x); err != nil {
		return err
	}
	return s.csrf.Check(x)
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
	return allow, cmp.Or(edge.CheckHead(x.Request, s.config.MaxHead), routeErr, queryErr, formatErr, kindErr)
}

func (s *Server) begin(w http.ResponseWriter, r *http.Request) *edge.Context {
	x := &edge.Context{
		Response: edge.NewResponse(w, s.config.WriteStall), Request: r, ID: edge.RequestID(r), Log: s.config.Log, Base: s.router.BasePath(), Options: s.config.Options(),
		Timing: edge.Timing{Start: time.Now()}, Origin: s.proxies.Origin(r), Format: edge.ResponseFormat{Format: edge.JSONFormat()}, Coding: edge.AcceptedCoding(r.Header.Get("Accept-Encoding")),
	}
	if x.Options.LogBodies {
		x.Logged.MaxAnswer = requestlog.MaxBody + 1
	}
	x.Response.AwaitBody(r, s.config.BodyTimeout)
	h := w.Header()
	h.Set(wire.HeaderRequestID, x.ID)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Vary", "Accept")
	h.Set("Cache-Control", "no-store")
	s.cors.Share(x)
	if s.admission.Stopping() {
		h.Set("Connection", "close")
	}
	s.metrics.InWork.Inc()
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
		x.Response.Finish(x.Request, s.config.BodyTimeout)
	}
	s.metrics.InWork.Dec()
	operation := "unknown"
	if x.Route != nil {
		operation = x.Route.Operation
	}
	s.metrics.Note(operation, x.Response.FinalStatus(), time.Since(x.Timing.Start), x.Response.Bytes, x.Response.Aborted)
	s.traceParts(x)
	s.logRequest(x)
	s.showRequest(x)
	s.logAccess(x)
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
		pattern = strings.NewReplacer("{"+edge.ParamOperation+"}", kind.Operation(), "{"+edge.ParamKind+"}", kind.Name).Replace(pattern)
	}
	return pattern, !m.Route.Always && !m.Route.Streaming
}

// traceParts tells of the parts of a query: reading it, waiting for the first row,
// and sending the rows.
func (s *Server) traceParts(x *edge.Context) {
	if s.config.Trace == nil || x.Timing.Parsed.IsZero() {
		return
	}
	ctx := x.Request.Context()
	s.config.Trace(ctx, "read the query", x.Timing.Start, x.Timing.Parsed)
	if !x.Timing.FirstRow.IsZero() {
		s.config.Trace(ctx, "wait for the first row", x.Timing.Parsed, x.Timing.FirstRow)
		s.config.Trace(ctx, "send the rows", x.Timing.FirstRow, time.Now())
	}
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

// reported is the failure as the asker may know it. Of what is not the asker's
// doing the log learns the rest, under the request's id.
func reported(x *edge.Context, err error) *fault.Error {
	f := fault.Of(err)
	switch f.Kind {
	case fault.Internal:
		x.Log.Error("internal error", "id", x.ID, "method", x.Request.Method, "path", logPath(x), "error", err.Error())
		return &fault.Error{Kind: fault.Internal, Message: "internal error"}
	case fault.Unavailable, fault.Timeout:
		x.Log.Warn("request failed", "id", x.ID, "path", logPath(x), "error", err.Error())
	}
	return f
}

// abortReply ends a reply that cannot be finished.
func abortReply(x *edge.Context, err error) {
	level := slog.LevelWarn
	if x.Request.Context().Err() != nil {
		level = slog.LevelInfo // the client has gone
	}
	x.Log.Log(x.Request.Context(), level, "reply aborted", "id", x.ID, "path", logPath(x), "error", err.Error())
	x.Abort()
	panic(http.ErrAbortHandler)
}

// webhooksOff is why the operations of webhooks answer nothing.
func (s *Server) webhooksOff(x *edge.Context) error {
	if x.Route.Webhooks && s.config.Engine == nil {
		return fault.New(fault.NotFound, "webhooks are turned off by the setting webhooks.enabled")
	}
	return nil
}
