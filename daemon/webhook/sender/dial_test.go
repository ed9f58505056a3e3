package sender

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/webhook"
)

// publicAddress is an address that the guard allows. Tests connect to it only through
// connectProxy, which has a receiver in its place.
const publicAddress = "93.184.215.14"

// connectProxy opens tunnels, all of them to one receiver.
type connectProxy struct {
	address  string
	receiver string
	status   atomic.Int64 // of its responses

	mu      sync.Mutex
	targets []string // those of its requests
	login   string   // Proxy-Authorization of the last one
}

func newConnectProxy(t *testing.T, receiver string) *connectProxy {
	t.Helper()
	p := &connectProxy{receiver: receiver}
	p.status.Store(http.StatusOK)
	p.address = listen(t, nil, p.serve)
	return p
}

// listen serves connections until the test ends, with TLS if there is a configuration.
func listen(t *testing.T, config *tls.Config, serve func(net.Conn)) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address = l.Addr().String()
	if config != nil {
		l = tls.NewListener(l, config)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go serve(conn)
		}
	}()
	return address
}

func (p *connectProxy) serve(conn net.Conn) {
	defer conn.Close()
	request, err := http.ReadRequest(bufio.NewReader(conn))
	if err != nil {
		return
	}
	p.note(request.Method+" "+request.Host, request.Header.Get("Proxy-Authorization"))
	status := int(p.status.Load())
	response := http.Response{StatusCode: status, ProtoMajor: 1, ProtoMinor: 1}
	err = response.Write(conn)
	if err != nil || status != http.StatusOK {
		return
	}
	p.tunnel(conn)
}

func (p *connectProxy) tunnel(conn net.Conn) {
	behind, err := net.Dial("tcp", p.receiver)
	if err != nil {
		return
	}
	defer behind.Close()
	go func() {
		_, _ = io.Copy(behind, conn)
		behind.Close()
	}()
	_, _ = io.Copy(conn, behind)
}

func (p *connectProxy) note(target, login string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.targets = append(p.targets, target)
	p.login = login
}

// requested returns the requests since the last call.
func (p *connectProxy) requested() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	targets := p.targets
	p.targets = nil
	return targets
}

// serveSOCKS serves one request of SOCKS5 (RFC 1928) with a password (RFC 1929).
func (p *connectProxy) serveSOCKS(conn net.Conn) {
	defer conn.Close()
	r := bufio.NewReader(conn)
	readPart := func() string {
		n, _ := r.ReadByte()
		part := make([]byte, n)
		_, _ = io.ReadFull(r, part)
		return string(part)
	}
	_, _ = r.ReadByte() // version
	if !strings.Contains(readPart(), "\x02") {
		_, _ = conn.Write([]byte{5, 0xff})
		return
	}
	_, _ = conn.Write([]byte{5, 2})
	_, _ = r.ReadByte() // version
	login := readPart() + ":" + readPart()
	_, _ = conn.Write([]byte{1, 0})

	head := make([]byte, 4)
	_, _ = io.ReadFull(r, head)
	host := ""
	if head[3] == 3 {
		host = readPart()
	} else {
		address := make([]byte, 4)
		_, _ = io.ReadFull(r, address)
		host = netip.AddrFrom4([4]byte(address)).String()
	}
	port := make([]byte, 2)
	_, _ = io.ReadFull(r, port)
	p.note("SOCKS5 "+host, login)
	_, _ = conn.Write([]byte{5, 0, 0, 1, 0, 0, 0, 0, 0, 0})
	p.tunnel(conn)
}

// proxySender returns a sender with a proxy, which may not send to this host.
func proxySender(t *testing.T, proxy string, change func(*Config)) *Sender {
	t.Helper()
	u, err := url.Parse(proxy)
	if err != nil {
		t.Fatal(err)
	}
	c := testConfig(longTimeout)
	c.Guard.Allow = nil
	c.ConnectTimeout = 10 * time.Second
	c.Outbound.Proxy = u
	if change != nil {
		change(&c)
	}
	s := New(c)
	t.Cleanup(s.Close)
	return s
}

// resolve makes all names resolve to addresses, and returns the names that were looked up.
func (s *Sender) resolve(addresses func() []string) *[]string {
	var mu sync.Mutex
	var names []string
	lookup := func(_ context.Context, _, host string) ([]netip.Addr, error) {
		mu.Lock()
		defer mu.Unlock()
		names = append(names, host)
		var parsed []netip.Addr
		for _, text := range addresses() {
			parsed = append(parsed, netip.MustParseAddr(text))
		}
		return parsed, nil
	}
	for _, r := range s.routes() {
		if d, ok := r.dialer.(*tunnelDialer); ok {
			d.lookup = lookup
		}
	}
	return &names
}

func toAddresses(addresses ...string) func() []string {
	return func() []string { return addresses }
}

// sendFor makes an attempt for a subscription of an admin, or for another one.
func (s *Sender) sendFor(t *testing.T, url string, admin bool) webhook.Outcome {
	t.Helper()
	sub := &webhook.Subscription{URL: url, MadeByAdmin: admin}
	return s.Send(t.Context(), testMessage(), sub, time.Now())
}

// seen records requests as a receiver.
type seen struct {
	host, serverName string
	certificates     int
}

// recordingReceiver returns a receiver that puts requests into a channel.
func recordingReceiver() (http.Handler, chan seen) {
	requests := make(chan seen, 10)
	return http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		s := seen{host: r.Host}
		if r.TLS != nil {
			s.serverName = r.TLS.ServerName
			s.certificates = len(r.TLS.PeerCertificates)
		}
		requests <- s
	}), requests
}

// TestProxyGetsAddress checks that each kind of proxy gets a request for an address, while the Host
// header and the server name of TLS are those of the URL.
func TestProxyGetsAddress(t *testing.T) {
	handler, requests := recordingReceiver()
	plain := httptest.NewServer(handler)
	defer plain.Close()
	secured := httptest.NewTLSServer(handler)
	defer secured.Close()
	roots := x509.NewCertPool()
	roots.AddCert(secured.Certificate())

	for _, c := range []struct {
		scheme, url, want string
		name              string
	}{
		{"http", "http://example.com:8080/a", "CONNECT " + publicAddress + ":8080", ""},
		{"http", "https://example.com/a", "CONNECT " + publicAddress + ":443", "example.com"},
		{"https", "https://example.com/a", "CONNECT " + publicAddress + ":443", "example.com"},
		{"socks5", "https://example.com/a", "SOCKS5 " + publicAddress, "example.com"},
		{"socks5", "http://example.com/a", "SOCKS5 " + publicAddress, ""},
	} {
		t.Run(c.scheme+" "+c.url, func(t *testing.T) {
			receiver := plain
			if c.name != "" {
				receiver = secured
			}
			p := newConnectProxy(t, receiver.Listener.Addr().String())
			switch c.scheme {
			case "https":
				p.address = listen(t, secured.TLS.Clone(), p.serve)
			case "socks5":
				p.address = listen(t, nil, p.serveSOCKS)
			}
			s := proxySender(t, c.scheme+"://user:pass@"+p.address, func(config *Config) {
				config.Outbound.RootCAs = roots
			})
			s.resolve(toAddresses(publicAddress))
			o := s.sendFor(t, c.url, false)
			if !o.Success() {
				t.Fatalf("got %+v", o)
			}
			u, _ := url.Parse(c.url)
			if got := <-requests; got.host != u.Host || got.serverName != c.name {
				t.Errorf("the receiver got %+v, want host %s and name %q", got, u.Host, c.name)
			}
			if got := p.requested(); !slices.Equal(got, []string{c.want}) {
				t.Errorf("the proxy got %q, want %q", got, c.want)
			}
			basic := "Basic " + base64.StdEncoding.EncodeToString([]byte("user:pass"))
			if p.login != basic && p.login != "user:pass" {
				t.Errorf("the proxy got the login %q", p.login)
			}
		})
	}
}

// forbidden are addresses, and other forms of them, that no subscription may name.
var forbidden = []string{
	"127.0.0.1", "127.8.8.8", "[::1]", "[::ffff:127.0.0.1]", "[64:ff9b::7f00:1]", "0.0.0.0", "[::]",
	"169.254.169.254", "[fe80::1]", "[fd00:ec2::254]", "100.100.100.200", "224.0.0.1", "192.0.2.1",
	"localhost", "LocalHost.", "a.localhost", "0x7f.1", "2130706433", "127.1", "017700000001",
}

// TestProxyKeepsGuard checks that the proxy gets no request for a target that the guard refuses:
// literals, and names with these addresses.
func TestProxyKeepsGuard(t *testing.T) {
	p := newConnectProxy(t, "127.0.0.1:1")
	for _, byProxy := range []bool{false, true} {
		s := proxySender(t, "http://"+p.address, func(c *Config) { c.Outbound.ProxyResolves = byProxy })
		names := s.resolve(toAddresses(publicAddress))
		refuse := func(host string, admin bool) {
			t.Helper()
			o := s.sendFor(t, "http://"+host+"/", admin)
			if o.Cause != webhook.TargetForbidden {
				t.Errorf("%s, admin %v, proxy_resolves %v: got %+v", host, admin, byProxy, o)
			}
		}
		for _, host := range forbidden {
			refuse(host, false)
			refuse(host, true)
		}
		for _, host := range []string{"10.1.2.3", "192.168.1.1", "[fc00::1]"} {
			refuse(host, false)
		}
		if len(*names) > 0 {
			t.Errorf("looked up %q", *names)
		}
		for _, host := range forbidden[:13] {
			s.resolve(toAddresses(strings.Trim(host, "[]")))
			refuse("rebound.example", false)
			if !byProxy {
				refuse("rebound.example", true)
			}
		}
		s.resolve(toAddresses("10.1.2.3", "fc00::1"))
		refuse("intranet.example", false)
	}
	if got := p.requested(); len(got) > 0 {
		t.Errorf("the proxy got %q", got)
	}
}

// TestProxyAndRebinding checks that a name that changes its address between look-ups reaches only
// the address that was checked.
func TestProxyAndRebinding(t *testing.T) {
	receiver := httptest.NewServer(http.NotFoundHandler())
	defer receiver.Close()
	p := newConnectProxy(t, receiver.Listener.Addr().String())
	s := proxySender(t, "http://"+p.address, nil)
	calls := 0
	names := s.resolve(func() []string {
		calls++
		if calls == 1 {
			return []string{publicAddress}
		}
		return []string{"127.0.0.1"}
	})
	o := s.sendFor(t, "http://rebinding.example/", false)
	if o.Code != http.StatusNotFound || len(*names) != 1 {
		t.Errorf("got %+v after look-ups of %q", o, *names)
	}
	o = s.sendFor(t, "http://rebinding.example:81/", false) // on a new connection
	if o.Cause != webhook.TargetForbidden {
		t.Errorf("after the change: got %+v", o)
	}
	if got := p.requested(); !slices.Equal(got, []string{"CONNECT " + publicAddress + ":80"}) {
		t.Errorf("the proxy got %q", got)
	}
}

// TestProxyResolves checks that only names in subscriptions of admins are left to the proxy.
func TestProxyResolves(t *testing.T) {
	receiver := httptest.NewServer(http.NotFoundHandler())
	defer receiver.Close()
	p := newConnectProxy(t, receiver.Listener.Addr().String())
	s := proxySender(t, "http://"+p.address, func(c *Config) { c.Outbound.ProxyResolves = true })
	names := s.resolve(toAddresses("2606:2800:21f:cb07:6820:80da:af6b:8b2c", publicAddress))
	s.sendFor(t, "http://shop.example/", true)
	s.sendFor(t, "http://shop.example/", false)
	want := []string{"CONNECT shop.example:80", "CONNECT " + publicAddress + ":80"} // IPv4 first
	if got := p.requested(); !slices.Equal(got, want) {
		t.Errorf("the proxy got %q, want %q", got, want)
	}
	if !slices.Equal(*names, []string{"shop.example"}) {
		t.Errorf("looked up %q", *names)
	}
}

// TestNoProxy checks that listed networks and names are reached directly, by checked addresses.
func TestNoProxy(t *testing.T) {
	receiver := httptest.NewServer(http.NotFoundHandler())
	defer receiver.Close()
	p := newConnectProxy(t, "127.0.0.1:1")
	port := receiver.URL[strings.LastIndexByte(receiver.URL, ':'):]
	s := proxySender(t, "http://"+p.address, func(c *Config) {
		c.Guard.Allow = loopback
		c.Outbound.NoProxy = webhook.Hosts{Networks: loopback, Names: []string{"localhost"}}
	})
	s.resolve(toAddresses("127.0.0.1"))
	for _, host := range []string{"127.0.0.1", "intranet.example", "localhost"} {
		o := s.sendFor(t, "http://"+host+port+"/", false)
		if o.Code != http.StatusNotFound {
			t.Errorf("%s: got %+v", host, o)
		}
		link, err := s.Connect(t.Context(), &url.URL{Scheme: "http", Host: host + port}, false)
		if err != nil || link.Tunnelled {
			t.Errorf("connecting to %s: got %+v, %v", host, link, err)
		}
	}
	if got := p.requested(); len(got) > 0 {
		t.Errorf("the proxy got %q", got)
	}
}

// TestProxyFailures checks which failures of a proxy are charged to the receiver, and that the
// password is not in their texts.
func TestProxyFailures(t *testing.T) {
	p := newConnectProxy(t, "127.0.0.1:1")
	mail := listen(t, nil, func(conn net.Conn) {
		_, _ = conn.Write([]byte("220 mail.example ESMTP\r\n"))
		conn.Close()
	})
	for _, c := range []struct {
		name, proxy string
		status      int
		own         webhook.OwnFailure
		detail      string
	}{
		{"no proxy", "http://user:canary@127.0.0.1:1", 0, webhook.ProxyFailed, "connection refused"},
		{"login", "http://user:canary@" + p.address, 407, webhook.ProxyFailed, "status 407"},
		{"not allowed", "http://user:canary@" + p.address, 403, "",
			"webhooks.proxy " + p.address + " refuses a connection to " + publicAddress + ":80: status 403 Forbidden"},
		{"no answer", "http://user:canary@" + p.address, 504, "", "status 504 Gateway Timeout"},
		{"mail", "http://user:canary@" + mail, 0, webhook.ProxyFailed, "not an HTTP proxy"},
		{"TLS", "https://user:canary@" + mail, 0, webhook.ProxyFailed, "TLS"},
		{"SOCKS", "socks5://user:canary@" + mail, 0, webhook.ProxyFailed, "unexpected protocol version"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p.status.Store(int64(c.status))
			s := proxySender(t, c.proxy, nil)
			o := s.sendFor(t, "http://"+publicAddress+"/", false)
			if o.Own != c.own || o.Code != 0 || !strings.Contains(o.Detail, c.detail) {
				t.Errorf("got %+v, want %q with %q", o, c.own, c.detail)
			}
			if strings.Contains(o.Detail, "canary") {
				t.Errorf("the detail %q has the password", o.Detail)
			}
		})
	}
}

// TestProxyRefusal checks the cause and the text of an attempt that a proxy refuses: they distinguish
// its rules, its login and a receiver that it cannot reach, and name the proxy and its status.
func TestProxyRefusal(t *testing.T) {
	p := newConnectProxy(t, "127.0.0.1:1")
	const target = publicAddress + ":80"
	for _, c := range []struct {
		user   string
		status int
		cause  webhook.Cause
		detail string
	}{
		{"user:canary@", 403, webhook.ProxyRefused,
			"webhooks.proxy " + p.address + " refuses a connection to " + target + ": status 403 Forbidden"},
		{"", 405, webhook.ProxyRefused,
			"webhooks.proxy " + p.address + " refuses a connection to " + target + ": status 405 Method Not Allowed"},
		{"user:canary@", 407, webhook.NetworkFailed, "webhooks.proxy cannot be used: " + p.address +
			" refuses the user name and password: status 407 Proxy Authentication Required"},
		{"", 407, webhook.NetworkFailed, "webhooks.proxy cannot be used: " + p.address +
			" requires a user name and password: status 407 Proxy Authentication Required"},
		{"", 504, webhook.NetworkFailed,
			"webhooks.proxy " + p.address + " did not connect to " + target + ": status 504 Gateway Timeout"},
	} {
		p.status.Store(int64(c.status))
		s := proxySender(t, "http://"+c.user+p.address, nil)
		o := s.sendFor(t, "http://"+publicAddress+"/", false)
		if o.Cause != c.cause || o.Detail != c.detail {
			t.Errorf("status %d with the login %q: got %q with %q, want %q with %q",
				c.status, c.user, o.Cause, o.Detail, c.cause, c.detail)
		}
	}
}

// TestProxyWithBodyHeaders checks that headers about a body are ignored in a response that opens a
// tunnel, and that a proxy that does not end the body of a refusal is not waited for.
func TestProxyWithBodyHeaders(t *testing.T) {
	receiver := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer receiver.Close()
	tunnels := connectProxy{receiver: receiver.Listener.Addr().String()}
	for head, want := range map[string]int{
		"200 OK\r\nTransfer-Encoding: chunked":  200,
		"200 OK\r\nContent-Length: 5":           200,
		"200 OK\r\nConnection: close":           200,
		"403 Forbidden\r\nContent-Length: 1000": 0,
	} {
		p := listen(t, nil, func(conn net.Conn) {
			defer conn.Close()
			_, _ = http.ReadRequest(bufio.NewReader(conn))
			_, _ = io.WriteString(conn, "HTTP/1.1 "+head+"\r\n\r\n")
			tunnels.tunnel(conn)
		})
		s := proxySender(t, "http://"+p, func(c *Config) { c.ConnectTimeout = 3 * time.Second })
		o := s.sendFor(t, "http://"+publicAddress+"/", false)
		if o.Code != want || o.Cause == webhook.TimedOut {
			t.Errorf("after %q: got %+v, want status %d at once", head, o, want)
		}
	}
}

// Messages of SOCKS5 (RFC 1928, RFC 1929) from a proxy that requires a password.
const (
	socksMethodPassword = "\x05\x02"
	socksLoggedIn       = "\x01\x00"
	socksRefusesLogin   = "\x01\x01"
	socksUnreachable    = "\x05\x04\x00\x01\x00\x00\x00\x00\x00\x00"
	socksForbidden      = "\x05\x02\x00\x01\x00\x00\x00\x00\x00\x00"
)

// answering returns a proxy that answers each message with the next of some texts, which can be empty,
// and after the last one hangs, or closes the connection.
func answering(hangs bool, answers ...string) func(net.Conn) {
	return func(conn net.Conn) {
		defer conn.Close()
		message := make([]byte, 4096)
		for _, answer := range answers {
			_, err := conn.Read(message)
			if err != nil {
				return
			}
			_, _ = io.WriteString(conn, answer)
		}
		if hangs {
			_, _ = io.Copy(io.Discard, conn)
		}
	}
}

// dripping answers CONNECT with a header of which it sends a part again and again.
func dripping(part string, interval time.Duration) func(net.Conn) {
	return func(conn net.Conn) {
		defer conn.Close()
		_, _ = http.ReadRequest(bufio.NewReader(conn))
		_, err := io.WriteString(conn, "HTTP/1.1 200 OK\r\n")
		for err == nil {
			_, err = io.WriteString(conn, part)
			time.Sleep(interval)
		}
	}
}

// TestProxyStops checks that an attempt ends whenever a proxy hangs, closes the connection or sends
// nonsense, and that it is charged to the receiver only if the proxy got the request for it.
func TestProxyStops(t *testing.T) {
	for name, c := range map[string]struct {
		scheme  string
		serve   func(net.Conn)
		charged bool
		cause   webhook.Cause
	}{
		"TLS hangs":             {"https", answering(true), false, webhook.TimedOut},
		"TLS closes":            {"https", answering(false, ""), false, webhook.ConnectionReset},
		"CONNECT hangs":         {"http", answering(true), true, webhook.TimedOut},
		"CONNECT closes":        {"http", answering(false, ""), true, webhook.ConnectionReset},
		"head hangs":            {"http", answering(true, "HTTP/1.1 200 OK\r\n"), true, webhook.TimedOut},
		"head ends":             {"http", answering(false, "HTTP/1.1 200 OK\r\n"), true, webhook.ConnectionReset},
		"head drips":            {"http", dripping("a", 10*time.Millisecond), true, webhook.TimedOut},
		"head has no end":       {"http", dripping("A: "+strings.Repeat("a", 4000)+"\r\n", 0), false, webhook.NetworkFailed},
		"nonsense":              {"http", answering(false, "hello\r\n"), false, webhook.InvalidResponse},
		"greeting hangs":        {"socks5", answering(true), false, webhook.TimedOut},
		"greeting closes":       {"socks5", answering(false, ""), false, webhook.ConnectionReset},
		"greeting is HTTP":      {"socks5", answering(false, "HTTP/1.1 400 Bad Request\r\n"), false, webhook.NetworkFailed},
		"no method":             {"socks5", answering(false, "\x05\xff"), false, webhook.NetworkFailed},
		"login hangs":           {"socks5", answering(true, socksMethodPassword), false, webhook.TimedOut},
		"login closes":          {"socks5", answering(false, socksMethodPassword, ""), false, webhook.ConnectionReset},
		"login fails":           {"socks5", answering(false, socksMethodPassword, socksRefusesLogin), false, webhook.NetworkFailed},
		"reply hangs":           {"socks5", answering(true, socksMethodPassword, socksLoggedIn), true, webhook.TimedOut},
		"reply closes":          {"socks5", answering(false, socksMethodPassword, socksLoggedIn, ""), true, webhook.ConnectionReset},
		"reply is nonsense":     {"socks5", answering(false, socksMethodPassword, socksLoggedIn, "hello"), false, webhook.NetworkFailed},
		"reply refuses":         {"socks5", answering(false, socksMethodPassword, socksLoggedIn, socksUnreachable), true, webhook.NetworkFailed},
		"reply forbids":         {"socks5", answering(false, socksMethodPassword, socksLoggedIn, socksForbidden), true, webhook.ProxyRefused},
		"reply ends in between": {"socks5", answering(false, socksMethodPassword, socksLoggedIn, "\x05\x00"), true, webhook.ConnectionReset},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address := listen(t, nil, c.serve)
			s := proxySender(t, c.scheme+"://user:canary@"+address, func(config *Config) {
				config.ConnectTimeout = 500 * time.Millisecond
			})
			o := s.sendFor(t, "http://"+publicAddress+"/", false)
			if isCharged := o.Own == ""; isCharged != c.charged || o.Cause != c.cause || o.Took > 5*time.Second {
				t.Errorf("got %+v, want charged %v and the cause %q", o, c.charged, c.cause)
			}
			if strings.Contains(o.Detail, "canary") || strings.Contains(o.Detail, "attempt_timeout") {
				t.Errorf("got the detail %q", o.Detail)
			}
		})
	}
}

// TestSomeAddressesAreForbidden checks that a name with allowed and forbidden addresses is not forbidden
// while the allowed ones cannot be reached: they may be reached later.
func TestSomeAddressesAreForbidden(t *testing.T) {
	p := newConnectProxy(t, "127.0.0.1:1")
	p.status.Store(http.StatusGatewayTimeout)
	s := proxySender(t, "http://"+p.address, nil)
	for _, c := range []struct {
		addresses []string
		want      webhook.Cause
	}{
		{[]string{publicAddress, "fc00::1"}, webhook.NetworkFailed},
		{[]string{"10.0.0.1", publicAddress}, webhook.NetworkFailed},
		{[]string{"10.0.0.1", "fc00::1"}, webhook.TargetForbidden},
	} {
		s.resolve(toAddresses(c.addresses...))
		o := s.sendFor(t, "http://shop.example/", false)
		if o.Cause != c.want {
			t.Errorf("%q: got %+v, want the cause %q", c.addresses, o, c.want)
		}
	}

	config := testConfig(longTimeout)
	config.Guard.Allow = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	direct := New(config)
	defer direct.Close()
	o := direct.sendFor(t, "http://localhost:1/", false) // usually ::1, too
	if o.Cause == webhook.TargetForbidden {
		t.Errorf("localhost: got %+v, want that 127.0.0.1 refuses the connection", o)
	}
}

// TestClientCertificate checks that only the listed hosts get the client certificate, also when the
// request is repeated on another connection.
func TestClientCertificate(t *testing.T) {
	handler, requests := recordingReceiver()
	receiver := httptest.NewUnstartedServer(handler)
	receiver.TLS = &tls.Config{ClientAuth: tls.RequestClientCert}
	receiver.StartTLS()
	defer receiver.Close()
	roots := x509.NewCertPool()
	roots.AddCert(receiver.Certificate())
	p := newConnectProxy(t, receiver.Listener.Addr().String())
	s := proxySender(t, "http://"+p.address, func(c *Config) {
		c.Outbound.RootCAs = roots
		c.Outbound.CertificateHosts = []string{"example.com"}
		c.Outbound.Certificate = func() (*tls.Certificate, error) { return &receiver.TLS.Certificates[0], nil }
	})
	s.resolve(toAddresses(publicAddress))
	for _, c := range []struct {
		url  string
		want int
	}{
		{"https://example.com/", 1},
		{"https://EXAMPLE.com.:8443/", 1},
		{"https://www.example.com/", 0},
	} {
		for _, admin := range []bool{false, true} {
			o := s.sendFor(t, c.url, admin)
			if !o.Success() {
				t.Fatalf("%s: got %+v", c.url, o)
			}
			if got := <-requests; got.certificates != c.want {
				t.Errorf("%s: the receiver got %d certificates, want %d", c.url, got.certificates, c.want)
			}
		}
		u, _ := url.Parse(c.url)
		link, err := s.Connect(t.Context(), u, false)
		if err != nil || link.Certified != (c.want == 1) || !link.Tunnelled {
			t.Errorf("connecting to %s: got %+v, %v", c.url, link, err)
		}
	}
}

// TestConnectEnds checks that a receiver or a proxy without a TLS handshake does not hold a check up.
func TestConnectEnds(t *testing.T) {
	silent := listen(t, nil, func(conn net.Conn) {
		defer conn.Close()
		_, _ = io.Copy(io.Discard, conn)
	})
	config := testConfig(200 * time.Millisecond)
	s := New(config)
	defer s.Close()
	_, err := s.Connect(t.Context(), &url.URL{Scheme: "https", Host: silent}, true)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want that the limit is reached", err)
	}
	behind := proxySender(t, "https://"+silent, func(c *Config) { c.ConnectTimeout = 200 * time.Millisecond })
	err = behind.ConnectProxy(t.Context())
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("connecting to a silent proxy: got %v, want that the limit is reached", err)
	}
}
