// Package rest is the HTTP edge: it finds the route for a request, checks who
// asks, and writes what the rest of the daemon answers.
package rest

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/store"
)

// Config is what a Server works with.
type Config struct {
	Registry *record.Registry
	Store    *store.Store
	Accounts *account.Service
	Log      *slog.Logger

	Query            query.Options
	CountPages       bool // count the total of every page, not only where asked
	AnonymousQueries bool
	BasePath         string
	TrustedProxies   []netip.Prefix
	MaxRequests      int
	MaxBody          int64
	WriteStall       time.Duration
	MetricsHere      bool // /metrics is served beside the rest
	Debug            bool
}

// Server is the service's http.Handler.
type Server struct {
	Config
	router   *router
	slots    chan struct{} // one for each request in work
	metrics  *metrics
	stopping atomic.Bool
}

// New makes a Server.
func New(c Config) *Server {
	table := routes()
	return &Server{
		Config:  c,
		router:  newRouter(table, c.BasePath),
		slots:   make(chan struct{}, c.MaxRequests),
		metrics: newMetrics(),
	}
}

// Stopping makes /readyz say that the service is going away, so that a load
// balancer stops sending requests before the listener closes.
func (s *Server) Stopping() { s.stopping.Store(true) }

// ConnContext is for http.Server: it lets a reply over HTTP/1.0 be reset.
func ConnContext(ctx context.Context, c net.Conn) context.Context { return withConn(ctx, c) }

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
	found, allow, routeErr := s.router.find(x.r.Method, x.r.URL.EscapedPath())
	x.route, x.params, x.suffix = found.route, found.params, found.suffix
	var err error
	if x.urlMembers, err = query.ReadForm(x.r.URL.RawQuery); err != nil {
		x.reply, _ = negotiate(choice{})
		return err
	}
	var formatErr error
	x.reply, formatErr = negotiate(choice{
		prefix: x.params.get("Format"), suffix: x.suffix,
		callback: x.urlMembers.Text(query.Callback), format: x.urlMembers.Text(query.Format), accept: strings.Join(x.r.Header.Values("Accept"), ","),
	})
	if allow != nil {
		x.w.Header().Set("Allow", strings.Join(allow, ", "))
		if x.r.Method == http.MethodOptions {
			x.w.WriteHeader(http.StatusNoContent)
			return nil
		}
	}
	for _, err := range []error{routeErr, formatErr} {
		if err != nil {
			return err
		}
	}
	return s.admitted(x)
}

// admitted runs the route's handler when there is room and the asker may.
func (s *Server) admitted(x *exchange) error {
	if !x.route.always {
		select {
		case s.slots <- struct{}{}:
			defer func() { <-s.slots }()
		default:
			return &fault.Error{Kind: fault.Unavailable, Message: "the service is busy: too many requests in work", RetryAfter: time.Second}
		}
	}
	if err := s.authorise(x); err != nil {
		return err
	}
	return x.route.serve(s, x)
}

func (s *Server) begin(w http.ResponseWriter, r *http.Request) *exchange {
	x := &exchange{w: newResponse(w), r: r, start: time.Now(), id: requestID(r)}
	x.address, x.host, x.secure = s.origin(r)
	h := w.Header()
	h.Set(wire.HeaderRequestID, x.id)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Vary", "Accept")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
	s.metrics.inWork.Inc()
	return x
}

// end notes a request that is over, however it ended. A panic of ours becomes
// a clean error where nothing had been sent, and a cut connection otherwise.
func (s *Server) end(x *exchange) {
	cause := recover()
	if cause != nil && cause != http.ErrAbortHandler {
		s.Log.Error("panic", "id", x.id, "path", x.r.URL.Path, "cause", fmt.Sprint(cause), "stack", string(debug.Stack()))
		if x.w.status == 0 {
			s.fail(x, fault.New(fault.Internal, "panic"))
			cause = nil
		} else {
			x.w.aborted, cause = true, http.ErrAbortHandler
		}
	}
	if x.w.status != 0 && !x.w.aborted && s.WriteStall > 0 {
		_ = x.w.control.SetWriteDeadline(time.Time{}) // the next request starts afresh
	}
	s.metrics.inWork.Dec()
	s.metrics.note(x)
	s.logAccess(x)
	if cause != nil {
		panic(cause)
	}
}

// requestID takes over a proxy's id where it is harmless text, else makes one.
func requestID(r *http.Request) string {
	if id := r.Header.Get(wire.HeaderRequestID); id != "" && len(id) <= 64 && id == clean(id) && !strings.ContainsAny(id, " \"\\") {
		return id
	}
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}
