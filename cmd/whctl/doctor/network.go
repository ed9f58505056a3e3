package doctor

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/bizhook/whd/client/check"
	"github.com/bizhook/whd/client/wire"
)

// timeout limits each network operation.
const timeout = 5 * time.Second

// checkAddress checks that the service, or the proxy to it, accepts connections.
func (d *Diagnosis) checkAddress() check.Result {
	u := d.url()
	if u == nil {
		return notApplicable
	}
	ctx, cancel := context.WithTimeout(d.c.Context, timeout)
	defer cancel()
	proxy, err := proxyOf(u)
	if err != nil {
		return failed("the address of the proxy is invalid", proxyRemedy(runtime.GOOS))
	}
	if proxy != nil {
		options, err := d.connector.Options(d.c)
		if err != nil {
			return failed(err.Error(), "")
		}
		result := proxyResult(ctx, proxy, u, options.TLS)
		d.isUnreachable = result.Status == check.Failed
		return result
	}
	result := addressResult(ctx, u)
	d.isUnreachable = result.Status == check.Failed
	return result
}

// url returns the address of the service; nil if there is no client.
func (d *Diagnosis) url() *url.URL {
	if d.service == nil {
		return nil
	}
	u, err := url.Parse(d.service.URL())
	if err != nil {
		return nil
	}
	return u
}

// proxyOf returns the proxy by which the client reaches an address; nil for none.
func proxyOf(u *url.URL) (*url.URL, error) {
	return http.ProxyFromEnvironment(&http.Request{URL: u})
}

// proxyVariable returns the environment variable that has the proxy to an address.
func proxyVariable(u *url.URL) string {
	name := strings.ToUpper(u.Scheme) + "_PROXY"
	if os.Getenv(name) == "" {
		return strings.ToLower(name)
	}
	return name
}

// proxyResult checks that a proxy accepts connections and lets a request pass to the service.
// Behind one, this machine need not be able to resolve the name of the service, nor have a route
// to it.
func proxyResult(ctx context.Context, proxy, u *url.URL, config *tls.Config) check.Result {
	variable := proxyVariable(u)
	name := "proxy " + proxy.Host + " (" + variable + ")"
	link, err := new(net.Dialer).DialContext(ctx, "tcp", hostPort(proxy))
	if err != nil {
		return failed(name+": "+err.Error(), proxyRemedy(runtime.GOOS))
	}
	link.Close()

	reply, err := replyThrough(ctx, proxy, u, config)
	switch {
	case reply.status == http.StatusProxyAuthRequired && proxy.User != nil:
		return failed(name+" rejects its user and password: status 407", "correct them in "+variable)
	case reply.status == http.StatusProxyAuthRequired:
		return failed(name+" requires a user and password: status 407",
			"set them: "+variable+"="+proxy.Scheme+"://USER:PASSWORD@"+proxy.Host)
	case reply.reachesService:
		return passed("through " + name + ", which reaches " + hostPort(u))
	case reply.status != 0:
		return failed(name+" does not reach "+hostPort(u)+": "+reply.description(),
			"check that the proxy allows connections to "+hostPort(u)+", or add "+u.Hostname()+" to NO_PROXY")
	}
	return failed(name+": "+err.Error(), proxyRemedy(runtime.GOOS))
}

// proxyReply describes the response to a request through a proxy.
type proxyReply struct {
	status         int    // 0 without a response
	location       string // of a redirect
	reachesService bool   // there is a tunnel to an HTTPS service, or the response is the service's
}

// description returns the status, and where a redirect leads: a proxy may redirect to its own page.
func (r proxyReply) description() string {
	text := fmt.Sprintf("status %d %s", r.status, http.StatusText(r.status))
	if r.location != "" {
		text += ", a redirect to " + r.location
	}
	return text
}

// replyThrough sends a request through a proxy, without credentials of the service. To an HTTPS
// service the proxy opens a tunnel. It forwards a request to any other service. The responses of the
// service have a request ID: one without it is by the proxy, or by another program.
func replyThrough(
	ctx context.Context, proxy, u *url.URL, config *tls.Config,
) (proxyReply, error) {
	var tunnel proxyReply
	transport := &http.Transport{
		Proxy:           http.ProxyURL(proxy),
		TLSClientConfig: config,
		OnProxyConnectResponse: func(_ context.Context, _ *url.URL, _ *http.Request, r *http.Response) error {
			tunnel.status = r.StatusCode
			tunnel.location = r.Header.Get("Location")
			tunnel.reachesService = r.StatusCode == http.StatusOK
			return nil
		},
	}
	defer transport.CloseIdleConnections()
	request, err := http.NewRequestWithContext(ctx, http.MethodHead, u.String(), nil)
	if err != nil {
		return proxyReply{}, err
	}
	response, err := transport.RoundTrip(request)
	if err != nil {
		return tunnel, err // also that of the certificate, which has its own check
	}
	defer response.Body.Close()
	isForwarded := u.Scheme == "http" && strings.HasPrefix(proxy.Scheme, "http") // not a SOCKS proxy
	isOfService := response.Header.Get(wire.HeaderRequestID) != ""
	return proxyReply{
		status:         response.StatusCode,
		location:       response.Header.Get("Location"),
		reachesService: isOfService || !isForwarded,
	}, nil
}

// addressResult checks that the host name resolves and the port accepts connections.
func addressResult(ctx context.Context, u *url.URL) check.Result {
	addresses, err := net.DefaultResolver.LookupHost(ctx, u.Hostname())
	if err != nil {
		return failed(err.Error(),
			"check the host name "+u.Hostname()+"; change it with whctl config update url URL")
	}
	link, err := new(net.Dialer).DialContext(ctx, "tcp", hostPort(u))
	if err != nil {
		return failed(err.Error(), connectRemedy(runtime.GOOS, u))
	}
	defer link.Close()
	return passed(fmt.Sprintf("%s is %s and accepts connections", u.Hostname(), strings.Join(addresses, ", ")))
}

// hostPort returns the host and port of an address.
func hostPort(u *url.URL) string { return net.JoinHostPort(u.Hostname(), portOf(u)) }

// portOf returns the port of an address.
func portOf(u *url.URL) string {
	if u.Port() == "" {
		return defaultPort(u.Scheme)
	}
	return u.Port()
}

func defaultPort(scheme string) string {
	switch scheme {
	case "https":
		return "443"
	case "socks5", "socks5h":
		return "1080"
	}
	return "80"
}

// checkCertificate checks the certificate of the service.
func (d *Diagnosis) checkCertificate() check.Result {
	u := d.url()
	if u == nil || u.Scheme != "https" || d.isUnreachable {
		return notApplicable
	}
	if d.settings.Bool("insecure_tls") {
		return warning("certificates are not verified",
			"whctl config update insecure_tls false; set ca_file to trust your own certificate")
	}
	options, err := d.connector.Options(d.c)
	if err != nil {
		return failed(err.Error(), "")
	}
	proxy, err := proxyOf(u)
	if err != nil {
		return notApplicable // the check of the address has failed
	}

	ctx, cancel := context.WithTimeout(d.c.Context, timeout)
	defer cancel()
	leaf, err := certificateOf(ctx, u, options.TLS, proxy)
	if err != nil {
		d.isUnreachable = true
		return handshakeFailure(err, u, proxy)
	}
	return certificateResult(leaf, d.now())
}

// certificateOf returns the certificate of the service, which has been verified.
// The proxy may be nil.
func certificateOf(
	ctx context.Context, u *url.URL, config *tls.Config, proxy *url.URL,
) (*x509.Certificate, error) {
	if proxy != nil {
		return certificateThrough(ctx, proxy, u, config)
	}
	link, err := (&tls.Dialer{Config: config}).DialContext(ctx, "tcp", hostPort(u))
	if err != nil {
		return nil, err
	}
	defer link.Close()
	return link.(*tls.Conn).ConnectionState().PeerCertificates[0], nil
}

// certificateThrough returns the certificate of the service behind a proxy. Only a request opens
// a connection through a proxy, so it sends one, without credentials; its status does not matter.
func certificateThrough(
	ctx context.Context, proxy, u *url.URL, config *tls.Config,
) (*x509.Certificate, error) {
	transport := &http.Transport{Proxy: http.ProxyURL(proxy), TLSClientConfig: config}
	defer transport.CloseIdleConnections()
	request, err := http.NewRequestWithContext(ctx, http.MethodHead, u.String(), nil)
	if err != nil {
		return nil, err
	}
	response, err := transport.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	return response.TLS.PeerCertificates[0], nil
}

// certificateResult returns the result for a valid certificate.
func certificateResult(leaf *x509.Certificate, now time.Time) check.Result {
	detail := fmt.Sprintf("%s, valid until %s", subjectOf(leaf), leaf.NotAfter.Format(time.DateOnly))
	if leaf.NotAfter.Sub(now) < check.Renewal {
		return warning(detail, "renew the certificate of the service")
	}
	return passed(detail)
}

// subjectOf returns the name of a certificate. Many have no common name, only host names.
func subjectOf(leaf *x509.Certificate) string {
	if leaf.Subject.CommonName != "" {
		return leaf.Subject.CommonName
	}
	if len(leaf.DNSNames) > 0 {
		return leaf.DNSNames[0]
	}
	if len(leaf.IPAddresses) > 0 {
		return leaf.IPAddresses[0].String()
	}
	return "a certificate without a name"
}

// handshakeFailure returns the result of a handshake that failed. proxy may be nil.
func handshakeFailure(err error, u, proxy *url.URL) check.Result {
	const httpsFix = "check that the service uses HTTPS at this address"
	if errors.Is(err, context.DeadlineExceeded) && proxy == nil {
		return failed(fmt.Sprintf("no TLS handshake within %s", timeout), httpsFix)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return failed(fmt.Sprintf("through proxy %s: no response within %s", proxy.Host, timeout),
			proxyRemedy(runtime.GOOS)+"; "+httpsFix)
	}
	if _, ok := errors.AsType[x509.HostnameError](err); ok {
		return failed(err.Error(),
			"use a host name of the certificate: whctl config update url URL; "+
				"or renew the certificate of the service with the name "+u.Hostname())
	}
	if invalid, ok := errors.AsType[x509.CertificateInvalidError](err); ok {
		if invalid.Reason == x509.Expired {
			return failed(err.Error(),
				"renew the certificate of the service, or correct the clock of this machine")
		}
		return failed(err.Error(), "replace the certificate of the service")
	}
	if isUntrusted(err) {
		return failed(err.Error(), trustRemedy(runtime.GOOS))
	}
	if proxy != nil {
		return failed("through proxy "+proxy.Host+": "+err.Error(),
			"check that the proxy allows connections to "+hostPort(u)+"; "+httpsFix)
	}
	return failed(err.Error(), httpsFix)
}

// isUntrusted reports whether a certificate has an issuer that this machine does not trust.
func isUntrusted(err error) bool {
	_, unknown := errors.AsType[x509.UnknownAuthorityError](err)
	_, noRoots := errors.AsType[x509.SystemRootsError](err)
	return unknown || noRoots
}
