package sender

import (
	"bufio"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/net/proxy"

	"github.com/bizhook/whd/daemon/webhook"
)

// dialerFor returns the dialer for subscriptions that may reach private addresses, or for the
// others.
func (c Config) dialerFor(allowPrivate bool) dialer {
	direct := directDialer{guard: c.Guard, allowPrivate: allowPrivate, timeout: c.ConnectTimeout}
	if c.Outbound.Proxy == nil {
		return direct
	}
	return &tunnelDialer{
		outbound:     c.Outbound,
		guard:        c.Guard,
		allowPrivate: allowPrivate,
		userAgent:    c.UserAgent,
		timeout:      c.ConnectTimeout,
		direct:       direct,
		lookup:       net.DefaultResolver.LookupNetIP,
	}
}

// directDialer connects to addresses that the guard allows.
type directDialer struct {
	guard        webhook.Guard
	allowPrivate bool
	timeout      time.Duration
}

// errUnreachable is the error for a name with forbidden addresses if none of its other ones can be
// reached. They may be reached later, so the target is not forbidden.
var errUnreachable = errors.New("no allowed address can be reached, and the others are forbidden")

// DialContext connects to a host and port. The guard checks each address before a connection is made.
func (d directDialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	var isAllowed atomic.Bool // an address; several may be tried at once
	dialer := &net.Dialer{
		Timeout: d.timeout,
		Control: func(_, address string, _ syscall.RawConn) error {
			to, err := netip.ParseAddrPort(address)
			if err != nil {
				return fmt.Errorf("%w: %s is not an address", webhook.ErrForbidden, address)
			}
			err = d.guard.Check(to, d.allowPrivate)
			if err == nil {
				isAllowed.Store(true)
			}
			return err
		},
	}
	conn, err := dialer.DialContext(ctx, network, address)
	if errors.Is(err, webhook.ErrForbidden) && isAllowed.Load() {
		return nil, &net.OpError{Op: "dial", Net: network, Err: errUnreachable}
	}
	return conn, err
}

// errProxyUnusable is the error of an attempt that failed before the proxy got a request for
// the receiver, or because the proxy refuses this service.
var errProxyUnusable = errors.New("webhooks.proxy cannot be used")

// proxyRefusal is the error of a connection that the rules of the proxy forbid.
type proxyRefusal struct {
	proxy  string // host and port
	target string // host and port, or address and port
	reason string
}

func (e *proxyRefusal) Error() string {
	return fmt.Sprintf("webhooks.proxy %s refuses a connection to %s: %s", e.proxy, e.target, e.reason)
}

// tunnelDialer connects through a proxy. It resolves names itself and requests an address from the proxy
// that the guard allows, so that a name cannot have another address for the proxy. Tunnels are
// opened for http, too: a proxy that forwards requests would replace their Host header.
type tunnelDialer struct {
	outbound     webhook.Outbound
	guard        webhook.Guard
	allowPrivate bool
	userAgent    string
	timeout      time.Duration
	direct       directDialer
	lookup       func(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// DialContext connects to a host and port, directly if it needs no proxy.
func (d *tunnelDialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	host, portText, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	if d.outbound.NoProxy.HasName(host) {
		return d.direct.DialContext(ctx, network, address)
	}
	number, err := strconv.ParseUint(portText, 10, 16)
	if err != nil {
		return nil, fmt.Errorf("%w: %q is not a port", webhook.ErrForbidden, portText)
	}
	port := uint16(number)

	// This refuses forms of addresses that only some resolvers accept, such as 0x7f.1.
	err = d.guard.CheckHost(host, port, d.allowPrivate)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	literal, err := netip.ParseAddr(host)
	if err == nil {
		return d.dialOne(ctx, network, netip.AddrPortFrom(literal, port))
	}
	if d.outbound.ResolvesFor(d.allowPrivate) {
		return d.tunnel(ctx, address)
	}
	addresses, err := d.lookup(ctx, "ip", host)
	if err != nil {
		return nil, &net.OpError{Op: "dial", Net: network, Err: err}
	}
	return d.dialAny(ctx, network, addresses, port)
}

// dialAny connects to the first address that can be reached. IPv4 is tried first, since a proxy
// may have no IPv6. Each address gets an equal share of the time that remains. The error is the first
// one, but that an address is forbidden only if all are.
func (d *tunnelDialer) dialAny(
	ctx context.Context, network string, addresses []netip.Addr, port uint16,
) (net.Conn, error) {
	for i, address := range addresses {
		addresses[i] = address.Unmap()
	}
	slices.SortStableFunc(addresses, func(a, b netip.Addr) int { return cmp.Compare(a.BitLen(), b.BitLen()) })
	failure := errors.New("the name has no address")
	for i, address := range addresses {
		shareCtx, cancel := shareOf(ctx, len(addresses)-i)
		conn, err := d.dialOne(shareCtx, network, netip.AddrPortFrom(address, port))
		cancel()
		if err == nil {
			return conn, nil
		}
		if errors.Is(err, errProxyUnusable) { // for the other addresses, too
			return nil, err
		}
		if i == 0 || errors.Is(failure, webhook.ErrForbidden) {
			failure = err
		}
	}
	return nil, failure
}

// shareOf returns a context with an equal share of the time until the deadline of ctx.
func shareOf(ctx context.Context, parts int) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, time.Until(deadline)/time.Duration(parts))
}

// dialOne connects to an address that the guard allows.
func (d *tunnelDialer) dialOne(ctx context.Context, network string, to netip.AddrPort) (net.Conn, error) {
	err := d.guard.Check(to, d.allowPrivate)
	if err != nil {
		return nil, err
	}
	if d.outbound.NoProxy.HasAddress(to.Addr()) {
		return d.direct.DialContext(ctx, network, to.String())
	}
	return d.tunnel(ctx, to.String())
}

// tunnel opens a connection to a host and port through the proxy.
func (d *tunnelDialer) tunnel(ctx context.Context, target string) (net.Conn, error) {
	if d.outbound.Proxy.Scheme == "socks5" {
		return d.tunnelSOCKS(ctx, target)
	}
	conn, err := d.dialProxy(ctx)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	err = d.connect(conn, target)
	if !stop() {
		err = &net.OpError{Op: "CONNECT", Net: "tcp", Err: context.Cause(ctx)}
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return &tunnelConn{conn}, nil
}

// tunnelConn is a connection through the proxy.
type tunnelConn struct {
	net.Conn
}

// dialProxy connects to the proxy. The guard has no say in its address: proxies are on the
// premises.
func (d *tunnelDialer) dialProxy(ctx context.Context) (net.Conn, error) {
	link, err := new(net.Dialer).DialContext(ctx, "tcp", proxyAddress(d.outbound.Proxy))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errProxyUnusable, err)
	}
	if d.outbound.Proxy.Scheme != "https" {
		return link, nil
	}
	secured := tls.Client(link, &tls.Config{
		RootCAs:    d.outbound.RootCAs,
		ServerName: d.outbound.Proxy.Hostname(),
	})
	err = secured.HandshakeContext(ctx)
	if err != nil {
		link.Close()
		return nil, fmt.Errorf("%w: TLS: %w", errProxyUnusable, err)
	}
	return secured, nil
}

// proxyPorts are the default ports, by scheme.
var proxyPorts = map[string]string{"http": "80", "https": "443", "socks5": "1080"}

func proxyAddress(u *url.URL) string {
	return net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), proxyPorts[u.Scheme]))
}

// connect requests a tunnel from an HTTP proxy.
func (d *tunnelDialer) connect(conn net.Conn, target string) error {
	request := &http.Request{
		Method: http.MethodConnect,
		URL:    &url.URL{Opaque: target},
		Host:   target,
		Header: http.Header{"User-Agent": {d.userAgent}},
	}
	user := d.outbound.Proxy.User
	if user != nil {
		password, _ := user.Password()
		credentials := base64.StdEncoding.EncodeToString([]byte(user.Username() + ":" + password))
		request.Header.Set("Proxy-Authorization", "Basic "+credentials)
	}
	err := request.Write(conn)
	if err != nil {
		return fmt.Errorf("webhooks.proxy: CONNECT %s: %w", target, err)
	}
	head := &io.LimitedReader{R: conn, N: maxResponseHeader}
	reader := bufio.NewReader(head)
	response, err := http.ReadResponse(reader, request)
	if err != nil && head.N == 0 {
		return fmt.Errorf("%w: its response to CONNECT has no end", errProxyUnusable)
	}
	if err != nil && isProtocol(err) {
		return fmt.Errorf("%w: it is not an HTTP proxy: %w", errProxyUnusable, err)
	}
	if err != nil {
		return fmt.Errorf("webhooks.proxy: CONNECT %s: %w", target, err)
	}
	// The body is not closed, which would read it: a response that opens a tunnel has none, even
	// with headers about it (RFC 9110, section 9.3.6), and after any other one the connection is closed.
	err = d.statusError(response.StatusCode, target)
	if err != nil {
		return err
	}
	if reader.Buffered() > 0 {
		return errors.New("webhooks.proxy sent data after its response to CONNECT")
	}
	return nil
}

// statusError returns the error of a response to CONNECT, nil if there is a tunnel.
func (d *tunnelDialer) statusError(code int, target string) error {
	address := proxyAddress(d.outbound.Proxy)
	status := fmt.Sprintf("status %d %s", code, http.StatusText(code))
	switch {
	case code/100 == 2:
		return nil
	case code == http.StatusProxyAuthRequired && d.outbound.Proxy.User != nil:
		return fmt.Errorf("%w: %s refuses the user name and password: %s", errProxyUnusable, address, status)
	case code == http.StatusProxyAuthRequired:
		return fmt.Errorf("%w: %s requires a user name and password: %s", errProxyUnusable, address, status)
	case code/100 == 4:
		return &proxyRefusal{proxy: address, target: target, reason: status}
	}
	return fmt.Errorf("webhooks.proxy %s did not connect to %s: %s", address, target, status)
}

// tunnelSOCKS requests a connection from a SOCKS5 proxy.
func (d *tunnelDialer) tunnelSOCKS(ctx context.Context, target string) (net.Conn, error) {
	var auth *proxy.Auth
	if user := d.outbound.Proxy.User; user != nil {
		password, _ := user.Password()
		auth = &proxy.Auth{User: user.Username(), Password: password}
	}
	link := &socksLink{dialProxy: d.dialProxy}
	socks, err := proxy.SOCKS5("tcp", proxyAddress(d.outbound.Proxy), auth, link)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errProxyUnusable, err)
	}
	conn, err := socks.(proxy.ContextDialer).DialContext(ctx, "tcp", target)
	if err == nil {
		link.isOpen = true
		return &tunnelConn{conn}, nil
	}
	isUnusable := !link.requested || strings.Contains(err.Error(), notSOCKS)
	if isUnusable && !errors.Is(err, errProxyUnusable) {
		return nil, fmt.Errorf("%w: %w", errProxyUnusable, err)
	}
	if strings.Contains(err.Error(), forbiddenBySOCKS) {
		return nil, &proxyRefusal{proxy: proxyAddress(d.outbound.Proxy), target: target, reason: forbiddenBySOCKS}
	}
	return nil, fmt.Errorf("webhooks.proxy: %w", err)
}

// Parts of errors of package proxy, which does not export them.
const (
	notSOCKS         = "unexpected protocol version"
	forbiddenBySOCKS = "connection not allowed by ruleset"
)

// socksVersion is the first byte of the greeting and of the request, but not of the message with the
// password, in SOCKS5 (RFC 1928, RFC 1929).
const socksVersion = 5

// socksLink is the connection that package proxy makes to a SOCKS5 proxy. It notices whether the proxy
// got the request for a receiver: if it fails before, it fails for each receiver.
type socksLink struct {
	net.Conn
	dialProxy func(context.Context) (net.Conn, error)
	greeted   bool
	requested bool
	isOpen    bool // the tunnel
}

// Dial connects to the proxy.
func (l *socksLink) Dial(network, address string) (net.Conn, error) {
	return l.DialContext(context.Background(), network, address)
}

// DialContext connects to the proxy.
func (l *socksLink) DialContext(ctx context.Context, _, _ string) (net.Conn, error) {
	conn, err := l.dialProxy(ctx)
	l.Conn = conn
	return l, err
}

// Write writes a message to the proxy, or data into the tunnel.
func (l *socksLink) Write(b []byte) (int, error) {
	if !l.isOpen && len(b) > 0 {
		l.requested = l.greeted && b[0] == socksVersion
		l.greeted = true
	}
	return l.Conn.Write(b)
}
