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
	link, err := net.Dial("tcp", port.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer link.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	err = tls.Client(link, &tls.Config{ServerName: "127.0.0.1"}).HandshakeContext(ctx)
	got := noCertificate(err)
	if got.Detail != "no TLS handshake within 5s" || got.Fix != "check that the service uses HTTPS at this address" {
		t.Errorf("%+v", got)
	}
}
