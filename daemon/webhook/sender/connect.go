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

// Link describes a connection that Connect has made.
type Link struct {
	Tunnelled bool // it went through the proxy
	Certified bool // the receiver requested and got the client certificate
}

// Connect connects to the host of a URL as an attempt would, with TLS for https, and disconnects,
// within the limit of an attempt. It sends no request.
func (s *Sender) Connect(ctx context.Context, u *url.URL, byAdmin bool) (Link, error) {
	ctx, cancel := context.WithTimeout(ctx, s.config.AttemptTimeout())
	defer cancel()
	r := s.routeTo(u, byAdmin)
	port := "80"
	if u.Scheme == "https" {
		port = "443"
	}
	conn, err := r.dial(ctx, "tcp", net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), port)))
	if err != nil {
		return Link{}, err
	}
	defer conn.Close()
	link := Link{Tunnelled: isTunnel(conn)}
	if u.Scheme == "https" {
		link.Certified, err = handshake(ctx, conn, u.Hostname(), r.tlsConfig())
	}
	return link, err
}

// isTunnel reports whether a connection of a route goes through the proxy.
func isTunnel(conn net.Conn) bool {
	limited, ok := conn.(*limitedConn)
	if !ok {
		return false
	}
	_, ok = limited.Conn.(*tunnelConn)
	return ok
}

// ConnectProxy connects to the proxy and disconnects, within the limit of a connection.
func (s *Sender) ConnectProxy(ctx context.Context) error {
	d, ok := s.withPrivate.dialer.(*tunnelDialer)
	if !ok {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, s.config.ConnectTimeout)
	defer cancel()
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
