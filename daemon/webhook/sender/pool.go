package sender

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// idleTimeout is how long an unused connection is kept.
	idleTimeout = 90 * time.Second

	// pingTimeout is how long an HTTP/2 connection may receive nothing before it is pinged,
	// how long the answer may take, and how long a write may make no progress. After that
	// the connection is closed.
	pingTimeout = 5 * time.Second
)

// route is a way to reach endpoints. All of its connections are checked by the same guard.
type route struct {
	config      Config
	connections *connections
	dialer      *net.Dialer

	// once is for requests that are repeated: each of them has a new connection, which is
	// closed afterwards.
	once *http.Transport

	mu      sync.Mutex
	pools   map[string]*pool // by origin
	pruneAt int              // number of pools at which unused ones are removed
}

// minPools is the number of pools that are kept even if they are not used.
const minPools = 64

func newRoute(c Config, open *connections, d *net.Dialer) *route {
	r := &route{config: c, connections: open, dialer: d, pools: make(map[string]*pool), pruneAt: minPools}
	r.once = r.newTransport()
	r.once.DisableKeepAlives = true
	return r
}

func (r *route) newTransport() *http.Transport {
	ping := r.config.PingTimeout
	return &http.Transport{
		DialContext:            r.dial,
		TLSClientConfig:        &tls.Config{RootCAs: r.config.RootCAs},
		TLSHandshakeTimeout:    r.config.ConnectTimeout,
		ForceAttemptHTTP2:      true,
		HTTP2:                  &http.HTTP2Config{SendPingTimeout: ping, PingTimeout: ping, WriteByteTimeout: ping},
		MaxIdleConnsPerHost:    r.config.MaxIdlePerHost,
		IdleConnTimeout:        idleTimeout,
		ExpectContinueTimeout:  time.Second,
		DisableCompression:     true, // keeps small responses small
		MaxResponseHeaderBytes: 64 << 10,
	}
}

// pool has the connections to one origin: a scheme, host and port.
type pool struct {
	route     *route
	origin    string
	transport *http.Transport

	// Guarded by the lock of the route.
	users    int  // attempts that use it
	retired  bool // another pool has taken its place
	lastUsed time.Time
}

// acquire returns the pool of a URL's origin until release is called.
func (r *route) acquire(u *url.URL) *pool {
	origin := u.Scheme + "://" + strings.ToLower(u.Host)
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.pools[origin]
	if p == nil {
		r.prune()
		p = &pool{route: r, origin: origin, transport: r.newTransport()}
		r.pools[origin] = p
	}
	p.users++
	return p
}

// prune removes pools that have been unused for so long that they have no connections.
// The lock is held.
func (r *route) prune() {
	if len(r.pools) < r.pruneAt {
		return
	}
	for origin, p := range r.pools {
		if p.users == 0 && time.Since(p.lastUsed) > idleTimeout {
			delete(r.pools, origin)
			p.closeIdle()
		}
	}
	r.pruneAt = max(minPools, 2*len(r.pools))
}

func (p *pool) release() {
	p.route.mu.Lock()
	defer p.route.mu.Unlock()
	p.users--
	p.lastUsed = time.Now()
	if p.users == 0 && p.retired {
		p.closeIdle()
	}
}

// retire makes later attempts at the origin use new connections. Attempts that use this pool
// continue. It is called when an attempt on a connection that others share has timed out: the
// connection may be dead, for example behind a proxy that has stopped forwarding.
func (p *pool) retire() {
	p.route.mu.Lock()
	defer p.route.mu.Unlock()
	if p.route.pools[p.origin] == p {
		delete(p.route.pools, p.origin)
	}
	p.retired = true
	if p.users == 0 {
		p.closeIdle()
	}
}

// closeIdle closes the idle connections of a pool. It does not wait: to close a connection,
// TLS sends an alert, and the peer may not read it.
func (p *pool) closeIdle() { go p.transport.CloseIdleConnections() }

// closeIdle closes the idle connections of all pools.
func (r *route) closeIdle() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.pools {
		p.closeIdle()
	}
}

// errTooManyConnections is the error of an attempt that would need more connections than the
// service may open.
var errTooManyConnections = errors.New("the service has no file descriptor left for another connection")

// connections counts the open connections of all routes.
type connections struct {
	limit     int64 // 0 for none
	open      atomic.Int64
	freed     chan struct{} // buffered; signals that a connection was closed
	closeIdle func()
	network   *network
}

// freeTimeout is how long an attempt waits for idle connections to be closed.
const freeTimeout = time.Second

// reserve counts a new connection. If there are too many, it closes idle ones.
func (c *connections) reserve(ctx context.Context) error {
	if c.tryReserve() {
		return nil
	}
	c.closeIdle()
	timer := time.NewTimer(freeTimeout)
	defer timer.Stop()
	for !c.tryReserve() {
		select {
		case <-c.freed:
		case <-timer.C:
			return errTooManyConnections
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

func (c *connections) tryReserve() bool {
	if c.open.Add(1) <= c.limit || c.limit == 0 {
		return true
	}
	c.open.Add(-1)
	return false
}

func (c *connections) release() {
	c.open.Add(-1)
	select {
	case c.freed <- struct{}{}:
	default:
	}
}

// dial connects to an address. The dialer's Control function checks it first.
func (r *route) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if err := r.connections.reserve(ctx); err != nil {
		return nil, err
	}
	conn, err := r.dialer.DialContext(ctx, network, address)
	if err != nil {
		r.connections.release()
		return nil, err
	}
	r.connections.network.connected()
	return &countedConn{Conn: conn, connections: r.connections}, nil
}

// countedConn is a connection that is counted until it is closed.
type countedConn struct {
	net.Conn
	connections *connections
	closed      atomic.Bool
}

// Close closes the connection.
func (c *countedConn) Close() error {
	if c.closed.CompareAndSwap(false, true) {
		defer c.connections.release()
	}
	return c.Conn.Close()
}
