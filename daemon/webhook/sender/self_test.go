package sender

import (
	"net"
	"net/netip"
	"testing"
)

// TestReaches checks which targets are the service's own listener.
func TestReaches(t *testing.T) {
	for _, tt := range []struct {
		listener, target string
		want             bool
	}{
		{listener: "127.0.0.1:5050", target: "127.0.0.1:5050", want: true},
		{listener: "127.0.0.1:5050", target: "127.0.0.1:5051", want: false},
		{listener: "127.0.0.1:5050", target: "127.0.0.2:5050", want: false},
		{listener: "[::1]:5050", target: "[::1]:5050", want: true},
		{listener: "0.0.0.0:5050", target: "0.0.0.0:5050", want: true},
		{listener: "0.0.0.0:5050", target: "127.0.0.1:5050", want: true},
		{listener: "[::]:5050", target: "127.0.0.1:5050", want: true},
		{listener: "[::]:5050", target: "192.0.2.1:5050", want: false}, // an address for documentation
	} {
		listener := net.TCPAddrFromAddrPort(netip.MustParseAddrPort(tt.listener))
		if got := Reaches(listener, netip.MustParseAddrPort(tt.target)); got != tt.want {
			t.Errorf("a listener on %s is reached at %s: %t, want %t", tt.listener, tt.target, got, tt.want)
		}
	}
	if Reaches(nil, netip.MustParseAddrPort("127.0.0.1:5050")) {
		t.Error("a listener that is not open is reached")
	}
}
