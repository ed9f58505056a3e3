package sender

import (
	"context"
	"crypto/tls"
	"errors"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// idleTimeout is how long an unused connection is kept.
	idleTimeout = 90 * time.Second

	// defaultPingTimeout applies to HTTP/2 connections. One that receives nothing for so long is
	// pinged. It is closed if the answer takes as long, or a write makes no progress for as long.
	defaultPingTimeout = 5 * time.Second
)

// route is a way to reach endpoints. All of its connections are checked by the same guard.
type route struct {
	config      Config
	connections *connections
	network     *network
	dialer      dialer
	certificate clientCertificate // nil for none

	// singleUse is for requests that are repeated: each of them has a new connection, which is
	// closed afterwards.
	singleUse *http.Transport

	mu      sync.Mutex
	pools   map[string]*pool // keyed by origin
	pruneAt int              // number of pools at which unused ones are removed
}

// minPools is the number of pools that are kept even if they are not used.
const minPools = 64

// dialer connects to addresses that it has checked.
type dialer interface {
	DialContext(ctx context.Context, network, address string) (net.Conn, error)
}

// clientCertificate is the type of tls.Config.GetClientCertificate.
type clientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error)

func newRoute(c Config, open *connections, n *network, d dialer) *route {
	return newRouteWith(c, open, n, d, nil)
}

// newCertifiedRoute returns a route to receivers that may get the client certificate.
func newCertifiedRoute(c Config, open *connections, n *network, d dialer) *route {
	return newRouteWith(c, open, n, d, func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
		return c.Outbound.Certificate()
	})
}

func newRouteWith(
	c Config, open *connections, n *network, d dialer, certificate clientCertificate,
) *route {
	r := &route{
		config:      c,
		connections: open,
		network:     n,
		dialer:      d,
		certificate: certificate,
		pools:       make(map[string]*pool),
		pruneAt:     minPools,
	}
	r.singleUse = r.newTransport()
	r.singleUse.DisableKeepAlives = true
	return r
}

func (r *route) newTransport() *http.Transport {
	ping := r.config.PingTimeout
	return &http.Transport{
		DialContext:            r.dial,
		TLSClientConfig:        r.tlsConfig(),
		TLSHandshakeTimeout:    r.config.ConnectTimeout,
		ForceAttemptHTTP2:      true,
		HTTP2:                  &http.HTTP2Config{SendPingTimeout: ping, PingTimeout: ping, WriteByteTimeout: ping},
		MaxIdleConnsPerHost:    r.config.MaxIdlePerHost,
		IdleConnTimeout:        idleTimeout,
		ExpectContinueTimeout:  time.Second,
		DisableCompression:     true, // keeps small responses small
		MaxResponseHeaderBytes: maxResponseHeader,
	}
}

func (r *route) tlsConfig() *tls.Config {
	return &tls.Config{RootCAs: r.config.Outbound.RootCAs, GetClientCertificate: r.certificate}
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

// acquire returns the pool of a URL's origin. The caller must call release.
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
	p.lastUsed = time.Now()
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
		p.closeSoon()
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
		p.closeSoon()
	}
}

// closeDelays are the times after which the connections of a retired pool are closed. The first
// time a stream may still be in use, since it is reset in the background.
var closeDelays = [...]time.Duration{0, 250 * time.Millisecond, 2 * time.Second, 10 * time.Second}

// closeSoon closes all connections of a pool that is no longer used.
func (p *pool) closeSoon() {
	for _, delay := range closeDelays {
		time.AfterFunc(delay, p.transport.CloseIdleConnections)
	}
}

// closeIdle closes the idle connections of a pool. It does not wait: to close a connection,
// TLS sends an alert, and the peer may not read it.
func (p *pool) closeIdle() { go p.transport.CloseIdleConnections() }

// closeUnused closes the idle connections of the pools that have not been used for longest, half of
// them, or those of all pools.
func (r *route) closeUnused(allPools bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	pools := slices.Collect(maps.Values(r.pools))
	if !allPools {
		slices.SortFunc(pools, func(a, b *pool) int { return a.lastUsed.Compare(b.lastUsed) })
		pools = pools[:(len(pools)+1)/2]
	}
	for _, p := range pools {
		p.closeIdle()
	}
}

// close closes all idle connections and waits until they are closed.
func (r *route) close() {
	r.mu.Lock()
	pools := slices.Collect(maps.Values(r.pools))
	r.mu.Unlock()
	for _, p := range pools {
		p.transport.CloseIdleConnections()
	}
}

// errTooManyConnections is the error of an attempt that would need more connections than the
// service may open.
var errTooManyConnections = errors.New("the service has no file descriptor left for another connection")

// connections limits the open connections of all routes.
type connections struct {
	slots       chan struct{} // one element for each connection; nil for no limit
	closeUnused func(allPools bool)
	closing     sync.Mutex // held by the attempt that closes idle connections for all that wait
}

// How long an attempt waits for idle connections to be closed: for those of some pools, and then
// for those of all.
const (
	firstFreeTimeout = 250 * time.Millisecond
	freeTimeout      = time.Second
)

// acquire waits for a slot for a new connection. If there is none, it closes idle connections.
func (c *connections) acquire(ctx context.Context) error {
	if c.slots == nil {
		return nil
	}
	select {
	case c.slots <- struct{}{}:
		return nil
	default:
	}

	c.makeRoom(false)
	err := c.waitForSlot(ctx, firstFreeTimeout)
	if errors.Is(err, errTooManyConnections) {
		c.makeRoom(true)
		err = c.waitForSlot(ctx, freeTimeout)
	}
	return err
}

func (c *connections) makeRoom(allPools bool) {
	if c.closing.TryLock() {
		c.closeUnused(allPools)
		c.closing.Unlock()
	}
}

func (c *connections) waitForSlot(ctx context.Context, limit time.Duration) error {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case c.slots <- struct{}{}:
		return nil
	case <-timer.C:
		return errTooManyConnections
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *connections) release() {
	if c.slots != nil {
		<-c.slots
	}
}

// dial connects to an address. The dialer checks it first.
func (r *route) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if err := r.connections.acquire(ctx); err != nil {
		return nil, err
	}
	conn, err := r.dialer.DialContext(ctx, network, address)
	if err != nil {
		r.connections.release()
		return nil, err
	}
	r.network.connected()
	return &limitedConn{Conn: conn, release: sync.OnceFunc(r.connections.release)}, nil
}

// limitedConn is a connection that has a slot until it is closed.
type limitedConn struct {
	net.Conn
	release func()
}

// Close closes the connection.
func (c *limitedConn) Close() error {
	err := c.Conn.Close()
	c.release()
	return err
}
