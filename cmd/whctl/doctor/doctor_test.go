package doctor

import (
	"context"
	"crypto/tls"
	"net"
	"testing"
	"time"
)

// A port that accepts connections but no handshake is reported with the time limit.
func TestNoHandshake(t *testing.T) {
	port, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer port.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = new(tls.Dialer).DialContext(ctx, "tcp", port.Addr().String())
	got := noCertificate(err)
	if got.Detail != "no TLS handshake within 5s" || got.Fix != "check that the service uses HTTPS at this address" {
		t.Errorf("%+v", got)
	}
}
