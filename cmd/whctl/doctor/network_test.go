package doctor

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client/check"
	"github.com/bizhook/whd/client/wire"
)

// TestNoHandshake checks that a port that accepts connections but no handshake is reported with the
// time limit.
func TestNoHandshake(t *testing.T) {
	port, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer port.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	u := &url.URL{Scheme: "https", Host: port.Addr().String()}
	_, err = certificateOf(ctx, u, &tls.Config{}, nil)
	got := handshakeFailure(err, u, nil)
	want := failed("no TLS handshake within 5s", "check that the service uses HTTPS at this address")
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// testName is the host name of certificates; no resolver knows it.
const testName = "service.invalid"

// startTLS starts a server with a certificate for testName without a common name, and returns it
// with a pool that trusts the certificate.
func startTLS(t *testing.T, from, until time.Time) (*httptest.Server, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		NotBefore:             from,
		NotAfter:              until,
		DNSNames:              []string{testName},
		IsCA:                  true,
		BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	trusted := x509.NewCertPool()
	trusted.AddCert(certificate)
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // of handshakes that the test lets fail
	server.TLS = &tls.Config{Certificates: []tls.Certificate{{
		Certificate: [][]byte{der},
		PrivateKey:  key,
	}}}
	server.StartTLS()
	t.Cleanup(server.Close)
	return server, trusted
}

// TestHandshakeFailures checks that only an unknown issuer leads to the advice to trust it.
func TestHandshakeFailures(t *testing.T) {
	now := time.Now()
	valid, trusted := startTLS(t, now.Add(-time.Hour), now.Add(time.Hour))
	expired, trustedExpired := startTLS(t, now.Add(-2*time.Hour), now.Add(-time.Hour))
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()

	for _, c := range []struct {
		name   string
		server *httptest.Server
		config *tls.Config
		fix    string
	}{
		{
			name:   "unknown issuer",
			server: valid,
			config: &tls.Config{RootCAs: x509.NewCertPool(), ServerName: testName},
			fix:    "trust its issuer, with its certificate in FILE: whctl config update ca_file FILE",
		},
		{
			name:   "other host name",
			server: valid,
			config: &tls.Config{RootCAs: trusted, ServerName: "other.invalid"},
			fix: "use a host name of the certificate: whctl config update url URL; " +
				"or renew the certificate of the service with the name 127.0.0.1",
		},
		{
			name:   "expired",
			server: expired,
			config: &tls.Config{RootCAs: trustedExpired, ServerName: testName},
			fix:    "renew the certificate of the service, or correct the clock of this machine",
		},
		{
			name:   "no TLS",
			server: plain,
			config: &tls.Config{ServerName: testName},
			fix:    "check that the service uses HTTPS at this address",
		},
	} {
		u := &url.URL{Scheme: "https", Host: c.server.Listener.Addr().String()}
		_, err := certificateOf(t.Context(), u, c.config, nil)
		if err == nil {
			t.Errorf("%s: got no error of the handshake", c.name)
			continue
		}
		got := handshakeFailure(err, u, nil)
		if got.Status != check.Failed || got.Fix != c.fix {
			t.Errorf("%s: got %s, fix %q; want failed, %q (%v)",
				c.name, got.Status, got.Fix, c.fix, err)
		}
	}
}

// startProxy starts a proxy that connects every request to one server.
func startProxy(t *testing.T, server string) *url.URL {
	t.Helper()
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodConnect || r.Host != testName+":443" {
			http.Error(w, "not allowed", http.StatusForbidden)
			return
		}
		onward, err := net.Dial("tcp", server)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		defer onward.Close()
		w.WriteHeader(http.StatusOK)
		inward, buffered, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer inward.Close()
		go io.Copy(onward, buffered)
		io.Copy(inward, onward)
	}))
	t.Cleanup(proxy.Close)
	u, err := url.Parse(proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword("user", "secret")
	return u
}

// TestProxy checks a service that can only be reached through a proxy: neither its name resolves
// nor is there a route to it.
func TestProxy(t *testing.T) {
	now := time.Now()
	server, trusted := startTLS(t, now.Add(-time.Hour), now.Add(40*24*time.Hour))
	proxy := startProxy(t, server.Listener.Addr().String())
	config := &tls.Config{RootCAs: trusted}

	t.Run("address", func(t *testing.T) {
		t.Setenv("HTTPS_PROXY", proxy.String())
		got := proxyResult(t.Context(), proxy, &url.URL{Scheme: "https", Host: testName}, config)
		want := passed("through proxy " + proxy.Host + " (HTTPS_PROXY), which reaches " + testName + ":443")
		if got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	})
	t.Run("certificate", func(t *testing.T) {
		leaf, err := certificateOf(t.Context(), &url.URL{Scheme: "https", Host: testName}, config, proxy)
		if err != nil {
			t.Fatal(err)
		}
		got := certificateResult(leaf, now)
		if got.Status != check.OK || !strings.HasPrefix(got.Detail, testName+", valid until ") {
			t.Errorf("got %+v, want ok and the name %s", got, testName)
		}
	})
	t.Run("refused", func(t *testing.T) {
		u := &url.URL{Scheme: "https", Host: "other.invalid"}
		_, err := certificateOf(t.Context(), u, config, proxy)
		if err == nil {
			t.Fatal("the proxy connected to another host")
		}
		got := handshakeFailure(err, u, proxy)
		want := "through proxy " + proxy.Host + ": Forbidden"
		if got.Detail != want || !strings.Contains(got.Fix, "other.invalid:443") {
			t.Errorf("got %+v, want %q and a fix with other.invalid:443", got, want)
		}
	})
	t.Run("not running", func(t *testing.T) {
		stopped := httptest.NewServer(nil)
		stopped.Close()
		away, err := url.Parse(stopped.URL)
		if err != nil {
			t.Fatal(err)
		}
		got := proxyResult(t.Context(), away, &url.URL{Scheme: "https", Host: testName}, config)
		want := "proxy " + away.Host + " (https_proxy): "
		if got.Status != check.Failed || !strings.HasPrefix(got.Detail, want) {
			t.Errorf("got %+v, want failed, a detail that starts with %q", got, want)
		}
	})
}

// TestProxyOfHTTP checks the results for responses through a proxy to a service without TLS: those of
// the service, with any status, and those of the proxy.
func TestProxyOfHTTP(t *testing.T) {
	service := &url.URL{Scheme: "http", Host: "erp.invalid:5050"}
	const reaches = "through proxy HOST (HTTP_PROXY), which reaches erp.invalid:5050"
	const fails = "proxy HOST (HTTP_PROXY) does not reach erp.invalid:5050: "
	for _, c := range []struct {
		status      int
		isOfService bool
		location    string
		user        *url.Userinfo
		want        string
		fix         string
	}{
		{status: 200, isOfService: true, want: reaches},
		{status: 404, isOfService: true, want: reaches},
		{status: 403, isOfService: true, want: reaches},
		{status: 503, isOfService: true, want: reaches},
		{
			status: 407,
			want:   "proxy HOST (HTTP_PROXY) requires a user and password: status 407",
			fix:    "HTTP_PROXY=http://USER:PASSWORD@HOST",
		},
		{
			status: 407,
			user:   url.UserPassword("ann", "secret"),
			want:   "proxy HOST (HTTP_PROXY) rejects its user and password: status 407",
			fix:    "correct them in HTTP_PROXY",
		},
		{status: 502, want: fails + "status 502 Bad Gateway", fix: "add erp.invalid to NO_PROXY"},
		{status: 403, want: fails + "status 403 Forbidden", fix: "add erp.invalid to NO_PROXY"},
		{status: 200, want: fails + "status 200 OK", fix: "add erp.invalid to NO_PROXY"},
		{
			status:   302,
			location: "http://portal.invalid/",
			want:     fails + "status 302 Found, a redirect to http://portal.invalid/",
			fix:      "check that the proxy allows connections to erp.invalid:5050",
		},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if c.isOfService {
				w.Header().Set(wire.HeaderRequestID, "1")
			}
			if c.location != "" {
				w.Header().Set("Location", c.location)
			}
			w.WriteHeader(c.status)
		}))
		defer server.Close()
		proxy, err := url.Parse(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		proxy.User = c.user
		t.Setenv("HTTP_PROXY", proxy.String())
		got := proxyResult(t.Context(), proxy, service, nil)
		want := strings.ReplaceAll(c.want, "HOST", proxy.Host)
		fix := strings.ReplaceAll(c.fix, "HOST", proxy.Host)
		if got.Detail != want || !strings.Contains(got.Fix, fix) {
			t.Errorf("status %d, of the service %v, user %v: got %+v; want %q, a fix with %q",
				c.status, c.isOfService, c.user, got, want, fix)
		}
	}
}

func TestSubjectOfCertificates(t *testing.T) {
	for _, c := range []struct {
		certificate x509.Certificate
		want        string
	}{
		{certificate: x509.Certificate{DNSNames: []string{"a.example", "b.example"}}, want: "a.example"},
		{certificate: x509.Certificate{IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}, want: "127.0.0.1"},
		{certificate: x509.Certificate{}, want: "a certificate without a name"},
	} {
		if got := subjectOf(&c.certificate); got != c.want {
			t.Errorf("subjectOf(%v, %v): got %q, want %q",
				c.certificate.DNSNames, c.certificate.IPAddresses, got, c.want)
		}
	}
}

func TestHostPort(t *testing.T) {
	for address, want := range map[string]string{
		"http://a":        "a:80",
		"https://a":       "a:443",
		"socks5://a":      "a:1080",
		"https://[::1]":   "[::1]:443",
		"https://a:8443/": "a:8443",
	} {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		if got := hostPort(u); got != want {
			t.Errorf("hostPort of %s: got %s, want %s", address, got, want)
		}
	}
}

// TestDeadlineThroughProxy names the proxy if there is no response through it.
func TestDeadlineThroughProxy(t *testing.T) {
	service := &url.URL{Host: testName}
	proxy := &url.URL{Host: "proxy:3128"}
	got := handshakeFailure(context.DeadlineExceeded, service, proxy)
	if want := "through proxy proxy:3128: no response within 5s"; got.Detail != want {
		t.Errorf("got the detail %q, want %q", got.Detail, want)
	}
}
