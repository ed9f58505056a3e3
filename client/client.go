package client

import (
	"bytes"
	"context"
	"crypto/tls"
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

// DefaultURL is where the daemon listens unless its settings say otherwise.
const DefaultURL = "http://127.0.0.1:5050"

// DefaultTimeout is how long a reply may take to begin.
const DefaultTimeout = 30 * time.Second

// dialTimeout is short, so that a wrong address is found out soon.
const dialTimeout = 5 * time.Second

// Options are what a Client needs to know. Their zero value asks a daemon on
// this machine, without signing in.
type Options struct {
	URL       string        // of the service, with its base path; DefaultURL where empty
	Token     string        // an API key; wins over User
	User      string        // signs every request, with Password
	Password  string        //
	Session   string        // the id of a session that Login gave earlier; wins over both
	Timeout   time.Duration // until a reply begins, not until it ends; DefaultTimeout where zero
	UserAgent string
	TLS       *tls.Config // what certificates to trust; nil for those of the system

	// ReadOnly refuses every request that could change something, before it is
	// sent.
	ReadOnly bool

	// Retries is how often a read is sent again that was answered with 502, 503 or
	// 504, or whose connection was closed before the reply began. What could
	// change something never is. Retrying is called each time.
	Retries  int
	Retrying func(err error, pause time.Duration)

	// Renewed gets each session that took the place of Session after that had
	// ended. With Session, User and Password, calls sign in again once.
	Renewed func(session string)

	Log    *slog.Logger  // one line for each request, without secrets; nil for none
	Wire   io.Writer     // what crosses the wire, without secrets; nil for none
	DryRun func(Request) // is shown each request; none is sent, and calls end with ErrNotSent
}

// Client speaks to one service. Any number of goroutines may use it.
type Client struct {
	base    string // without a slash at its end
	options Options
	session atomic.Pointer[string]
	renewal sync.Mutex // one at a time
	http    *resty.Client
	log     *slog.Logger
}

// New makes a Client. It does not reach for the service yet.
func New(o Options) (*Client, error) {
	base, err := baseURL(o.URL)
	if err != nil {
		return nil, err
	}
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	if o.UserAgent == "" {
		o.UserAgent = "whd-client"
	}
	c := &Client{base: base, options: o, http: newHTTP(o), log: o.Log}
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	if o.Session != "" {
		c.session.Store(&o.Session)
	}
	return c, nil
}

// URL is the address of the service.
func (c *Client) URL() string { return c.base }

// Close drops the connections that wait for further requests.
func (c *Client) Close() { c.http.GetClient().CloseIdleConnections() }

func baseURL(text string) (string, error) {
	if text == "" {
		text = DefaultURL
	}
	u, err := url.Parse(text)
	switch {
	case err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "":
		return "", errors.New("the address of the service must be like " + DefaultURL)
	case u.User != nil:
		return "", errors.New("the address of the service must not hold a user or password")
	case u.RawQuery != "" || u.Fragment != "":
		return "", errors.New("the address of the service must not hold a query string or fragment")
	}
	return strings.TrimRight(u.String(), "/"), nil
}

// newHTTP makes the transport. It has no limit on the whole exchange, which
// would cut long streams, follows no redirect, which would turn a query into a
// GET of something else, and keeps no cookies.
func newHTTP(o Options) *resty.Client {
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
	}
	if o.Wire != nil {
		transport = newWiretap(transport, o.Wire)
	}
	c := resty.NewWithClient(&http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	})
	c.SetLogger(silence{}).SetDisableWarn(true)
	return c.SetHeader("User-Agent", o.UserAgent)
}

// silence keeps resty from writing to standard error.
type silence struct{}

func (silence) Errorf(string, ...any) {}
func (silence) Warnf(string, ...any)  {}
func (silence) Debugf(string, ...any) {}

// call is one request.
type call struct {
	method  string
	path    string // below the base, escaped
	accept  string
	digest  bool   // ask for a digest of the body
	body    []byte // JSON
	reads   bool   // changes nothing, so it may be sent again on a fresh connection
	session bool   // begins or ends a session, and changes nothing else
	bare    bool   // carries no identity
	key     string // that makes sending it again harmless; empty for none
}

// harmless reports whether a request changes nothing but who is signed in.
func (what call) harmless() bool {
	return what.reads || what.session || what.method == http.MethodGet
}

// do sends one request and waits for its reply to begin. Its result has a
// status of success and a body that the caller closes; everything else is an
// *Error, or ErrNotSent. There are no retries but those of Options.Retries,
// net/http's own, of reads whose connection turned out to be closed already, and
// the one behind a new session.
func (c *Client) do(ctx context.Context, what call) (*http.Response, error) {
	if c.options.DryRun != nil {
		c.options.DryRun(c.shown(what, c.request(ctx, what)))
		return nil, ErrNotSent
	}
	if c.options.ReadOnly && !what.harmless() {
		return nil, &Error{Kind: ReadOnly, Message: "read-only: nothing was sent, since it could change something"}
	}
	session := c.session.Load()
	reply, err := c.exchangeReads(ctx, what)
	if what.session || !c.ended(session, err) {
		return reply, err
	}
	if err := c.renew(ctx, session); err != nil {
		return nil, err
	}
	return c.exchangeReads(ctx, what)
}

// exchange is do without what surrounds it.
func (c *Client) exchange(ctx context.Context, what call) (*http.Response, error) {
	var connected atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { connected.Store(true) },
	})
	start := time.Now()
	reply, err := c.request(ctx, what).Execute(what.method, c.base+what.path)
	if err != nil {
		err = c.unanswered(ctx, err, connected.Load())
		c.log.Debug("request failed", "method", what.method, "path", Redact(what.path), "took", time.Since(start), "error", err.Error())
		return nil, err
	}
	raw := reply.RawResponse
	c.log.Debug("request", "method", what.method, "path", Redact(what.path), "status", raw.StatusCode,
		"took", time.Since(start), "id", raw.Header.Get(wire.HeaderRequestID))
	if raw.StatusCode < 200 || raw.StatusCode > 299 {
		defer raw.Body.Close()
		return nil, refusal(raw)
	}
	return raw, nil
}

func (c *Client) request(ctx context.Context, what call) *resty.Request {
	r := c.http.R().SetContext(ctx).SetDoNotParseResponse(true)
	r.SetHeader("Accept", what.accept)
	if what.body != nil {
		r.SetHeader("Content-Type", "application/json").SetBody(what.body)
	}
	if what.digest {
		r.SetHeader("Want-Digest", "sha-256")
	}
	if what.reads {
		// A key without a value is not sent. For net/http it says that the
		// request may be repeated although it is a POST.
		r.Header["X-Idempotency-Key"] = nil
	}
	if what.key != "" {
		r.SetHeader(wire.HeaderIdempotencyKey, what.key)
	}
	if !what.bare {
		c.sign(r)
	}
	return r
}

// sign adds who asks.
func (c *Client) sign(r *resty.Request) {
	switch session := c.session.Load(); {
	case session != nil:
		r.SetHeader(wire.HeaderSessionID, *session)
	case c.options.Token != "":
		r.SetAuthToken(c.options.Token)
	case c.options.User != "":
		r.SetBasicAuth(c.options.User, c.options.Password)
	}
}

// unanswered is the error of a request that got no reply.
func (c *Client) unanswered(ctx context.Context, err error, connected bool) error {
	if inURL, is := errors.AsType[*url.Error](err); is {
		err = inURL.Err // the wrapping repeats the address
	}
	timeout, _ := errors.AsType[net.Error](err)
	switch {
	case ctx.Err() != nil:
		return endOf(ctx, "no answer from "+c.base+" in time")
	case connected && timeout != nil && timeout.Timeout():
		return &Error{Kind: TimedOut, Message: fmt.Sprintf("no answer from %s within %s", c.base, c.options.Timeout), Err: err}
	case connected:
		return &Error{Kind: Unreachable, Message: "no answer from " + c.base + ": the connection was closed", Err: errors.Join(errClosed, err)}
	}
	return &Error{Kind: Unreachable, Message: fmt.Sprintf("cannot reach %s: %s", c.base, err), Err: err}
}

// jsonBody reads the JSON document of a reply.
func jsonBody(reply *http.Response, limit int64) ([]byte, error) {
	var text bytes.Buffer
	n, err := text.ReadFrom(http.MaxBytesReader(nil, reply.Body, limit))
	_, tooLarge := errors.AsType[*http.MaxBytesError](err)
	switch {
	case tooLarge:
		return nil, &Error{Kind: Failed, Status: reply.StatusCode, Message: fmt.Sprintf("the reply is larger than %d MiB: ask for fewer rows at a time", limit>>20)}
	case err != nil:
		return nil, cut(reply, err, fmt.Sprintf("the reply broke off after %d bytes", n))
	}
	return text.Bytes(), nil
}
