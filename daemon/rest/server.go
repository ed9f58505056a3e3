// Package rest serves the HTTP API: it routes requests, authenticates them, and
// writes the responses of the other packages.
package rest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bizhook/whd/client/assistant"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/erp"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/live"
	"github.com/bizhook/whd/daemon/manual"
	"github.com/bizhook/whd/daemon/metadata"
	"github.com/bizhook/whd/daemon/metrics"
	"github.com/bizhook/whd/daemon/requestlog"
	"github.com/bizhook/whd/daemon/rest/accounts"
	"github.com/bizhook/whd/daemon/rest/edge"
	"github.com/bizhook/whd/daemon/rest/feeds"
	"github.com/bizhook/whd/daemon/rest/queries"
	"github.com/bizhook/whd/daemon/rest/webhooks"
	"github.com/bizhook/whd/daemon/spill"
	"github.com/bizhook/whd/daemon/webhook/admin"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// Config has the dependencies and settings of a Server.
type Config struct {
	Store    Store
	Spill    *spill.Space // for responses from SQL Server that clients read slowly; nil for none
	Accounts *account.Service
	Bills    *erp.Bills
	Log      *slog.Logger
	Edge     edge.Config

	EmbeddedRecords bool // business records are in the embedded file

	RequestLog *requestlog.Recorder // nil for none
	LostLines  func() int64         // number of lines of Log that were dropped; nil for none

	Version  string                // version of the program
	Options  func() *edge.Options  // the values of settings that may change while the service runs; nil for none
	Settings func() []wire.Setting // the same settings as GET /Settings lists them
	Warnings func() []string       // for /readyz; nil for none
	Manual   *manual.Manual        // nil for none

	Feed     func() (queries.Feed, error) // returns the feed of changes; nil if no kind's changes are captured
	Captures Captures                     // nil if no kind's changes are captured

	Webhooks    *admin.Service   // nil if webhooks are disabled
	Engine      *delivery.Engine // nil if webhooks are disabled
	Portal      *admin.Portal    // nil if webhooks are disabled
	Streams     *live.Hub        // source of live streams; nil: only request events are streamed
	StreamStall time.Duration    // a client that reads nothing from a live stream for this time is disconnected

	// Trace records a phase of a request; nil for none.
	Trace        func(ctx context.Context, phase string, from, to time.Time)
	ServeMetrics bool // serve /metrics on this listener
}

// Server is the service's http.Handler.
type Server struct {
	config    Config
	resolver  resolver
	admission *edge.Admission
	bodies    *edge.Bodies
	proxies   edge.Proxies
	cors      edge.CORS
	metrics   *metrics.Metrics
	observer  observer
	shutdown  *shutdown
	handlers  *handlers
	hasDocs   bool // the service has its manual
}

// New returns a Server.
func New(c Config) *Server {
	if c.Options == nil {
		c.Options = func() *edge.Options { return new(edge.Options) }
	}
	if c.Streams == nil {
		c.Streams = live.New(live.Config{})
	}
	c.Edge.BasePath = edge.BasePath(c.Edge.BasePath)

	e := c.Edge
	bodies := edge.NewBodyBudget(e.MaxBody, e.BodyMemory)
	replies := edge.NewReplies(e.ReplyMemory)
	m := newMetrics(c, bodies, replies)
	access := newAccess(c, m)
	// Clients with valid credentials have larger shares of the memory and the slots.
	recognize := access.Recognize
	admission := edge.NewAdmission(e.MaxRequests, replies, recognize)
	shutdown := newShutdown(admission)
	h := newHandlers(c, m, access, shutdown)
	operations := edge.Compile(routesOf(h.table))
	routes := slices.Concat(edge.Compile(pagesOf(c, h, access, operations)), operations)
	return &Server{
		config:    c,
		resolver:  resolver{edge.NewRouter(routes, e.BasePath), h.queries},
		admission: admission,
		bodies:    edge.NewBodies(e.MaxBody, bodies, e.BodyTimeout, recognize),
		proxies:   e.TrustedProxies,
		cors:      e.CORSOrigins,
		metrics:   m,
		observer: observer{
			metrics:  m,
			log:      c.Log,
			requests: c.RequestLog,
			streams:  c.Streams,
			trace:    c.Trace,
		},
		shutdown: shutdown,
		handlers: h,
		hasDocs:  c.Manual != nil,
	}
}

// newMetrics returns the metrics of the parts of the service, with the memory of request bodies and
// responses.
func newMetrics(c Config, bodies, replies *edge.Budget) *metrics.Metrics {
	parts := metrics.Config{
		Version:    c.Version,
		Public:     c.ServeMetrics,
		RequestLog: c.RequestLog,
		Engine:     c.Engine,
		Streams:    c.Streams,
		Spill:      c.Spill,
		Bodies:     bodies.Held,
		Replies:    replies.Held,
		LostLines:  c.LostLines,
	}
	if c.Edge.Clients != nil {
		parts.Clients = c.Edge.Clients
	}
	if c.Captures != nil {
		parts.Captures = measured(c)
	}
	return metrics.New(parts)
}

// newAccess returns the access control.
func newAccess(c Config, m *metrics.Metrics) *accounts.Access {
	hosts := edge.NewHostCheck(c.Edge.Hosts, c.Edge.HostURL, c.Edge.HostNames)
	return accounts.NewAccess(c.Accounts, hosts, edge.NewCSRF(c.Edge.CORSOrigins), m.Misdirected)
}

// handlers has the handlers of all routes.
type handlers struct {
	table []operation // refers to the other fields

	access    *accounts.Access
	accounts  accounts.Handlers
	bills     bills
	queries   *queries.Handler
	feeds     feeds.Handlers
	captures  captures
	assistant assistants
	logs      logs
	info      info
	documents documents
	manual    manualPages
	health    health
	webhooks  webhooks.Handlers
}

// newHandlers builds the handlers, and then the table of operations, which refers to them.
// Handlers that describe the operations have a table of their own.
func newHandlers(c Config, m *metrics.Metrics, access *accounts.Access, s *shutdown) *handlers {
	described := describedTable()
	records := &queries.Handler{
		Store:    c.Store,
		System:   record.System(),
		Names:    names(described),
		Space:    c.Spill,
		Feed:     c.Feed,
		Roles:    c.Accounts,
		Mask:     webhooks.BodyMask(c.Webhooks, access),
		Stopping: s.waiting,
	}
	hooks := webhooks.New(webhooks.Config{
		Admin:    c.Webhooks,
		Engine:   c.Engine,
		Captures: c.Captures,
		Queries:  records,
		Accounts: c.Accounts,
		Access:   access,
		Changes:  changeRate,
		Streams:  c.Streams,
		Stall:    c.StreamStall,
		InFlight: m.InFlight,
	})
	h := &handlers{
		access:   access,
		accounts: accounts.New(c.Accounts, access, c.EmbeddedRecords),
		bills:    bills{c.Bills},
		queries:  records,
		feeds:    feeds.Handlers{Queries: records, Store: c.Store},
		captures: captures{c.Captures},
		assistant: assistants{
			access:  access,
			queries: records,
			why:     hooks.Why.Show,
			service: assistant.Service{Version: c.Version, Log: c.Log},
		},
		logs:      logs{records, c.RequestLog},
		info:      newInfo(c, described),
		documents: documents{access: access, descriptions: newDescriptions(c, described)},
		manual:    manualPages{access: access, manual: c.Manual},
		health:    newHealth(c, m, s),
		webhooks:  hooks,
	}
	h.table = newTable(h)
	return h
}

// Describe returns the description of a service with the default settings, for
// documents that are generated without a running service.
func Describe() *metadata.Service {
	return newDescriptions(Config{}, describedTable()).describe(record.Builtin(), nil, audience{})
}

// MarkStopping makes /readyz report that the service is stopping, so that load balancers
// stop sending requests to it. Requests are still served.
func (s *Server) MarkStopping() { s.shutdown.announced.Store(true) }

// CloseStreams ends live streams, which would otherwise not end, and the waiting of
// requests.
func (s *Server) CloseStreams() {
	s.config.Streams.Close()
	s.shutdown.stopWaiting()
}

// Drain makes /readyz report that the service is stopping, rejects new requests,
// ends live streams, and waits for the requests in progress until ctx is done. It
// may be called again to continue waiting.
func (s *Server) Drain(ctx context.Context) error {
	s.CloseStreams()
	return s.admission.Drain(ctx)
}

// ServeHTTP handles one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := s.begin(w, r)
	defer s.end(x)
	if err := s.serve(x); err != nil {
		s.fail(x, err)
	}
}

// serve handles a request: resolution, authentication, body, slot, handler.
func (s *Server) serve(x *edge.Context) error {
	call, allow, err := s.resolver.resolve(x.Request, x.Options)
	x.Call = call
	if call.HasSecret {
		hideSecret(x)
	}
	if call.InPortal {
		edge.EnterPortal(x)
	}
	x.Logged.Unused = call.Unused
	x.ReportIgnored(call.Unused)
	if call.IsFeed {
		x.Response.Header().Set("OData-Version", "4.0")
	}
	framingErr := edge.CheckFraming(x.Response.Header(), x.Request)
	if framingErr != nil {
		return framingErr
	}
	if allow != nil {
		x.Response.Header().Set("Allow", strings.Join(allow, ", "))
		if x.Request.Method == http.MethodOptions {
			s.cors.Preflight(x, allow)
			x.Response.WriteHeader(http.StatusNoContent)
			return nil
		}
	}
	headErr := edge.CheckHead(x.Request, s.config.Edge.MaxHead)
	if headErr != nil {
		return headErr
	}
	if err != nil {
		return err
	}
	if x.IsList && (x.Route.Always || x.Route.Streaming) {
		return fault.New(fault.Invalid, "the operation %s cannot be called with a list of requests", x.Route.Operation)
	}
	if x.Route.Always {
		return x.Route.Serve(x)
	}
	return s.handle(x)
}

var errNoWebhooks = fault.New(fault.NotFound, "webhooks are disabled by the setting webhooks.enabled")

// handle runs the handler of a route. It takes a slot only after authentication and after
// the body has been read, so that slow clients do not occupy one.
func (s *Server) handle(x *edge.Context) error {
	if err := s.admission.BeginRequest(); err != nil {
		return err
	}
	defer s.admission.EndRequest()

	if x.Route.Webhooks && s.config.Engine == nil {
		return errNoWebhooks
	}
	isOff := x.Route.Operation == MCPOperation && !x.Options.MCP || x.Route.Portal && !x.Options.Portal
	if isOff {
		return edge.NotFound()
	}
	if err := s.handlers.access.Admit(x); err != nil {
		return err
	}
	// Before the body: the connection of a slow upload with valid credentials is not closed.
	edge.HeadRead(x.Request.Context(), x.Identity.Known())
	x.Request = x.Request.WithContext(executor.WithCaller(x.Request.Context(), x.ID, x.Identity.Name))
	var err error
	x.Body, err = s.bodies.Read(x)
	if err != nil {
		return err
	}
	if !x.Route.Streaming {
		if err := s.admission.TakeSlot(x, s.metrics.InFlight); err != nil {
			return err
		}
		defer x.Response.Slot.End()
	}

	return s.answer(x)
}

// answer runs the handler of the route, in the way in which the request calls it.
func (s *Server) answer(x *edge.Context) error {
	if x.IsForm {
		address := queries.FormAddress(x.Request.URL, x.Kind)
		if address != "" {
			return x.Redirect(http.StatusSeeOther, address)
		}
	}
	if page := pageInstead(x); page != "" {
		return x.Redirect(http.StatusFound, x.Base+page)
	}
	if x.HTML() {
		edge.AddSite(x)
	}
	if x.Refresh > 0 {
		x.Response.Header().Set("Refresh", strconv.Itoa(x.Refresh))
	}
	if x.IsList {
		return s.serveList(x)
	}
	if x.Route.Oneway {
		return serveOneway(x)
	}
	return x.Route.Serve(x)
}

// pageInstead returns the path of the page that a browser shows for the bare address of an operation.
// It is empty if there is none, or if the request selects rows or a format: the operation answers.
func pageInstead(x *edge.Context) string {
	isBare := x.Request.Method == http.MethodGet && x.Request.URL.RawQuery == "" && x.Suffix == ""
	isInBrowser := x.HTML() && x.Identity.AuthMethod == account.Cookie
	if !isBare || !isInBrowser || x.Route.ByName {
		return ""
	}
	return x.Route.Page
}

// commonHeaders are headers of all responses. Requests share their values: nothing changes a value
// in place.
var commonHeaders = http.Header{
	"X-Content-Type-Options": {"nosniff"},
	"Vary":                   {"Accept"},
	"Cache-Control":          {"no-store"},
}

// begin returns the context of a request, and sets the headers that all responses have.
func (s *Server) begin(w http.ResponseWriter, r *http.Request) *edge.Context {
	r = overriddenMethod(r)
	x := &edge.Context{
		Response: edge.NewResponse(w, s.config.Edge.WriteStall),
		Request:  r,
		ID:       edge.RequestID(r),
		Log:      s.config.Log,
		Base:     s.config.Edge.BasePath,
		Options:  s.config.Options(),
		HasDocs:  s.hasDocs,
		Timing:   edge.Timing{Start: time.Now()},
		Origin:   s.proxies.Origin(r, s.config.Edge.ForwardedHost),
		Call:     edge.Call{Format: edge.ResponseFormat{Format: edge.JSONFormat()}}, // until it is resolved
	}
	if x.Options.LogBodies {
		x.Logged.MaxBody = requestlog.MaxBody + 1
	}
	x.Response.Admission = s.admission
	x.Response.AwaitBody(r, s.config.Edge.BodyTimeout)

	h := w.Header()
	h.Set(wire.HeaderRequestID, x.ID)
	maps.Copy(h, commonHeaders)
	s.cors.Share(x)
	if s.admission.Stopping() {
		h.Set("Connection", "close")
	}
	s.metrics.InFlight.Inc()
	return x
}

// end completes a request. A panic becomes an error response if nothing has been
// sent, else the connection is aborted.
func (s *Server) end(x *edge.Context) {
	defer s.bodies.Release(x) // even if the following code panics
	cause := recover()
	if cause != nil && cause != http.ErrAbortHandler {
		s.config.Log.Error("panic", "id", x.ID, "path", edge.LogPath(x), "cause", fmt.Sprint(cause),
			"stack", string(debug.Stack()))
		if x.Response.Status == 0 {
			s.fail(x, fault.New(fault.Internal, "panic"))
			cause = nil
		} else {
			x.Abort()
			cause = http.ErrAbortHandler
		}
	}
	s.metrics.InFlight.Dec()
	s.observer.finished(x)
	if cause != nil {
		panic(cause)
	}
	x.Response.Finish(x.Request, s.config.Edge.BodyTimeout) // last: net/http sends the rest after this
}

// MetricsHandler returns the handler of /metrics for a separate listener.
func (s *Server) MetricsHandler() http.Handler { return s.metrics.Handler() }

// Route returns the route pattern of a request, for the names of trace spans. It has the
// name of the record kind but no IDs, and is "/..." for an unknown path. traced is false
// for health checks and live streams.
func (s *Server) Route(r *http.Request) (pattern string, traced bool) {
	m, _, err := s.resolver.router.Find(overriddenMethod(r).Method, r.URL.EscapedPath())
	if err != nil || m.Route == nil {
		return "/...", true
	}
	pattern = m.Route.Pattern
	kind, err := s.handlers.queries.Kind(s.config.Options(), m.Route, m.Params)
	if err == nil && kind != nil {
		pattern = kindPath(kind)(pattern)
	}
	return pattern, !m.Route.Always && !m.Route.Streaming
}

// fail sends the response for an error. If part of a response has been sent, or the
// client is gone, it aborts the connection instead.
func (s *Server) fail(x *edge.Context, err error) {
	isClientGone := errors.Is(err, context.Canceled) && x.Request.Context().Err() != nil
	if x.Response.Status != 0 || isClientGone {
		edge.AbortResponse(x, err)
	}
	f := publicError(x, err)
	if accounts.SendToLogin(x, f) {
		return
	}
	x.FailOnPage(err)
	if x.HTML() {
		s.handlers.access.IdentifyFromSession(x)
	}
	stack := ""
	if x.Options.Debug {
		stack = err.Error()
	}
	x.Fail(f, stack)
}

// changeRate limits changes of a subscriber's subscriptions by clients with the
// SubscriberID only: one per second on average, in bursts.
var changeRate = edge.Rate{PerSecond: 1, Burst: 1000}
