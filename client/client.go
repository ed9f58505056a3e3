package client

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-resty/resty/v2"

	"github.com/bizhook/whd/client/wire"
)

// DefaultURL is the address of a daemon with default settings.
const DefaultURL = "http://127.0.0.1:5050"

// DefaultTimeout limits the wait for the start of a reply.
const DefaultTimeout = 30 * time.Second

// dialTimeout limits the time to connect. It is short, to report a wrong address soon.
const dialTimeout = 5 * time.Second

// Options configures a Client. The zero value connects to a daemon on this machine
// without credentials.
type Options struct {
	URL       string // address of the service, with its base path; empty: DefaultURL
	Token     string // API key; takes precedence over User
	User      string // authenticates every request, with Password
	Password  string
	Session   string        // session ID of an earlier Login; takes precedence over both
	Timeout   time.Duration // until the start of a reply, not its end; zero: DefaultTimeout
	UserAgent string
	TLS       *tls.Config // trusted certificates; nil: the system's

	// ReadOnly rejects requests that could change something: they are not sent.
	ReadOnly bool

	// Retries is the number of retries of a read after status 502, 503 or 504, or if
	// the connection is closed before the reply starts. Other requests are not
	// retried. Retrying is called before each retry.
	Retries  int
	Retrying func(err error, pause time.Duration)

	// Ignored is called with the names of members that the service ignored. Those of queries
	// are in Notes instead.
	Ignored func(names string)

	// Renewed is called with each session that replaces an expired Session. With
	// Session, User and Password set, a call signs in again once, unless Login has
	// started a session of another user.
	Renewed func(session string)

	Log    *slog.Logger  // logs each request, without secrets; nil: no log
	Wire   io.Writer     // receives the HTTP traffic, without secrets; nil: none
	DryRun func(Request) // receives each request; none is sent, and calls return ErrNotSent

	// DryRunReads restricts DryRun to requests that could change something; others are sent.
	DryRunReads bool
}

// Client is a client of a service. It is safe for concurrent use.
type Client struct {
	base    string // without trailing slash
	options Options
	session atomic.Pointer[session]
	reached atomic.Bool // a request has succeeded
	renewal sync.Mutex  // serializes renewals
	http    *resty.Client
	log     *slog.Logger
	sent    *atomic.Int64 // shared by all copies
}

// New returns a Client. It does not connect.
func New(o Options) (*Client, error) {
	base, err := baseURL(o.URL)
	if err != nil {
		return nil, err
	}
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	o.UserAgent = cmp.Or(o.UserAgent, "whd-client")
	c := &Client{
		base:    base,
		options: o,
		http:    newHTTP(base, o),
		log:     cmp.Or(o.Log, slog.New(slog.DiscardHandler)),
		sent:    new(atomic.Int64),
	}
	if o.Session != "" {
		c.session.Store(&session{id: o.Session, renews: true})
	}
	return c, nil
}

// session is a session of the service.
type session struct {
	id     string
	renews bool // it is of Options.User, and can be renewed with the password
}

// with returns a client with other options and a session, which shares the connections.
func (c *Client) with(o Options, s *session) *Client {
	copied := &Client{base: c.base, options: o, http: c.http, log: c.log, sent: c.sent}
	copied.session.Store(s)
	copied.reached.Store(c.reached.Load())
	return copied
}

// URL returns the address of the service.
func (c *Client) URL() string { return c.base }

// Close closes idle connections.
func (c *Client) Close() { c.http.GetClient().CloseIdleConnections() }

func baseURL(text string) (string, error) {
	u, err := url.Parse(cmp.Or(text, DefaultURL))
	isHTTP := err == nil && (u.Scheme == "http" || u.Scheme == "https")
	lacksScheme := text != "" && !strings.Contains(text, "://") && !strings.Contains(text, "@")
	switch {
	case lacksScheme:
		return "", fmt.Errorf("the address of the service must start with https:// or http://; "+
			"write https://%[1]s, or without TLS http://%[1]s", text)
	case !isHTTP || u.Host == "":
		return "", errors.New("the address of the service must be a URL such as " + DefaultURL)
	case u.User != nil:
		return "", errors.New("the address of the service must not contain a user or password")
	case u.RawQuery != "" || u.Fragment != "":
		return "", errors.New("the address of the service must not contain a query string or fragment")
	}
	return strings.TrimRight(u.String(), "/"), nil
}

// newHTTP returns the HTTP client. It has no overall timeout, which would end long
// streams; it does not follow redirects, which would turn a query into a GET of
// another resource; and it does not store cookies.
func newHTTP(base string, o Options) *resty.Client {
	address, _ := url.Parse(base) // has been checked
	dialer := &net.Dialer{Timeout: dialTimeout, KeepAlive: 15 * time.Second}
	var transport http.RoundTripper = &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           dialer.DialContext,
		TLSClientConfig:       o.TLS,
		TLSHandshakeTimeout:   dialTimeout,
		ResponseHeaderTimeout: o.Timeout,
		ForceAttemptHTTP2:     true,
		MaxIdleConnsPerHost:   8,
		IdleConnTimeout:       90 * time.Second,
		ReadBufferSize:        64 << 10,
		DisableCompression:    wire.IsLoopback(address.Hostname()), // costs more than it saves
	}
	if o.Wire != nil {
		transport = newWiretap(transport, o.Wire)
	}
	c := resty.NewWithClient(&http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	})
	c.SetLogger(discardLogger{})
	c.SetDisableWarn(true)
	c.SetHeader("User-Agent", o.UserAgent)
	return c
}

// discardLogger prevents resty from writing to standard error.
type discardLogger struct{}

func (discardLogger) Errorf(string, ...any) {}
func (discardLogger) Warnf(string, ...any)  {}
func (discardLogger) Debugf(string, ...any) {}

// call describes a request.
type call struct {
	method  string
	path    string // relative to the base, escaped
	body    any    // sent as JSON; nil for none
	accept  string // media type of the reply; empty for JSON
	header  headerField
	reads   bool // changes nothing, so it can be retried on a new connection
	session bool // starts or ends a session, and changes nothing else
	bare    bool // has no credentials
}

// headerField is a field of a header. It is not sent if the value is empty.
type headerField struct{ name, value string }

// isSafe reports whether a request changes nothing, or only a session.
func (req call) isSafe() bool {
	return req.reads || req.session || req.method == http.MethodGet
}

// SentRequests returns the number of requests that were sent, including requests of clients that
// share the connections, but without repetitions.
func (c *Client) SentRequests() int64 { return c.sent.Load() }

// send sends a request and waits for the start of the reply. The reply has a success
// status and a body that the caller must close. Errors are *Error or ErrNotSent, or say that
// the body cannot be encoded. Requests are only retried by Options.Retries, by net/http for
// reads on a stale connection, and once after the session was renewed.
func (c *Client) send(ctx context.Context, req call) (*http.Response, error) {
	isSentAnyway := c.options.DryRunReads && req.isSafe()
	if c.options.DryRun != nil && !isSentAnyway {
		r, err := c.request(ctx, req)
		if err != nil {
			return nil, err
		}
		c.options.DryRun(c.dryRunRequest(req, r))
		return nil, ErrNotSent
	}
	c.sent.Add(1)
	if c.options.ReadOnly && !req.isSafe() {
		const message = "read-only: nothing was sent, because the request could change something"
		return nil, &Error{Kind: ReadOnly, Message: message}
	}

	session := c.session.Load()
	reply, err := c.exchangeWithRetries(ctx, req)
	if req.session || !c.sessionExpired(session, err) {
		return reply, err
	}
	isSameUser, renewErr := c.renew(ctx, session)
	if renewErr != nil {
		return nil, renewErr
	}
	if !isSameUser { // the call must not be repeated by another user
		return nil, err
	}
	return c.exchangeWithRetries(ctx, req)
}

// exchange sends a request without retries.
func (c *Client) exchange(ctx context.Context, req call) (*http.Response, error) {
	var connected atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { connected.Store(true) },
	})
	r, err := c.request(ctx, req)
	if err != nil {
		return nil, err
	}
	start := time.Now()
	reply, err := r.Execute(req.method, c.base+req.path)
	if err != nil {
		err = c.noReplyError(ctx, err, connected.Load())
		c.log.Debug("request failed", "method", req.method, "path", Redact(req.path),
			"took", time.Since(start), "error", err.Error())
		return nil, err
	}

	raw := reply.RawResponse
	c.log.Debug("request", "method", req.method, "path", Redact(req.path), "status", raw.StatusCode,
		"took", time.Since(start), "id", raw.Header.Get(wire.HeaderRequestID))
	isSuccess := raw.StatusCode >= 200 && raw.StatusCode <= 299
	isUnchanged := raw.StatusCode == http.StatusNotModified && r.Header.Get(ifNoneMatch) != ""
	if !isSuccess && !isUnchanged {
		defer raw.Body.Close()
		return nil, errorReply(raw)
	}
	c.reached.Store(true)
	return raw, nil
}

// request returns the HTTP request of a call.
func (c *Client) request(ctx context.Context, req call) (*resty.Request, error) {
	r := c.http.R()
	r.SetContext(ctx)
	r.SetDoNotParseResponse(true)
	r.SetHeader("Accept", cmp.Or(req.accept, mediaJSON))
	if req.body != nil {
		body, err := json.Marshal(req.body)
		if err != nil {
			return nil, err
		}
		r.SetHeader("Content-Type", mediaJSON)
		r.SetBody(body)
	}
	if req.header.value != "" {
		r.SetHeader(req.header.name, req.header.value)
	}
	if req.reads {
		// net/http does not send a header without values, but then treats the POST
		// as idempotent.
		r.Header["X-Idempotency-Key"] = nil
	}
	if !req.bare {
		c.sign(r)
	}
	return r, nil
}

// sign adds the credentials.
func (c *Client) sign(r *resty.Request) {
	session := c.session.Load()
	switch {
	case session != nil:
		r.SetHeader(wire.HeaderSessionID, session.id)
	case c.options.Token != "":
		r.SetAuthToken(c.options.Token)
	case c.options.User != "":
		r.SetBasicAuth(c.options.User, c.options.Password)
	}
}

// noReplyError returns the error of a request without reply.
func (c *Client) noReplyError(ctx context.Context, err error, connected bool) error {
	if inURL, ok := errors.AsType[*url.Error](err); ok {
		err = inURL.Err // the wrapper repeats the address
	}
	inNetwork, ok := errors.AsType[net.Error](err)
	timedOut := ok && inNetwork.Timeout()
	switch {
	case ctx.Err() != nil:
		return contextError(ctx, "no response from "+c.base+" in time")
	case connected && timedOut:
		message := fmt.Sprintf("no response from %s within %s", c.base, c.options.Timeout)
		return &Error{Kind: TimedOut, Message: message, Err: err}
	case connected:
		message := "no response from " + c.base + ": the connection was closed"
		return &Error{Kind: Unreachable, Message: message, Err: errors.Join(errClosed, err)}
	default:
		message := fmt.Sprintf("cannot reach %s: %s", c.base, err)
		return &Error{Kind: Unreachable, Message: message, Err: err}
	}
}
