package sender

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/url"
	"os"
	"sync/atomic"
	"time"
)

// alertWait is how long Connect waits for a peer that rejects the client certificate: in TLS 1.3 it
// does so after the handshake.
const alertWait = 500 * time.Millisecond

// Connect connects to the host of a URL as an attempt would, with TLS for https, and disconnects,
// within the limit of an attempt. It sends no request. It reports whether the receiver got the client
// certificate.
func (s *Sender) Connect(ctx context.Context, u *url.URL, byAdmin bool) (certified bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.config.AttemptTimeout())
	defer cancel()
	r := s.routeTo(u, byAdmin)
	port := "80"
	if u.Scheme == "https" {
		port = "443"
	}
	conn, err := r.dial(ctx, "tcp", net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), port)))
	if err != nil {
		return false, err
	}
	defer conn.Close()
	if u.Scheme != "https" {
		return false, nil
	}
	return handshake(ctx, conn, u.Hostname(), r.tlsConfig())
}

// ConnectProxy connects to the proxy and disconnects.
func (s *Sender) ConnectProxy(ctx context.Context) error {
	d, ok := s.withPrivate.dialer.(*tunnelDialer)
	if !ok {
		return nil
	}
	conn, err := d.dialProxy(ctx)
	if err != nil {
		return err
	}
	return conn.Close()
}

// handshake makes a TLS handshake. It reports whether the peer has requested the client
// certificate.
func handshake(ctx context.Context, conn net.Conn, host string, c *tls.Config) (certified bool, err error) {
	var requested atomic.Bool
	c.ServerName = host
	if get := c.GetClientCertificate; get != nil {
		c.GetClientCertificate = func(info *tls.CertificateRequestInfo) (*tls.Certificate, error) {
			requested.Store(true)
			return get(info)
		}
	}
	secured := tls.Client(conn, c)
	err = secured.HandshakeContext(ctx)
	if err != nil || !requested.Load() {
		return false, err
	}
	err = secured.SetReadDeadline(time.Now().Add(alertWait))
	if err != nil {
		return true, err
	}
	_, err = secured.Read(make([]byte, 1))
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = nil // the receiver waits for a request
	}
	return true, err
}
