package edge

import (
	"net/http/httptest"
	"net/netip"
	"testing"
)

// TestProxyWithZone checks that a proxy with a link-local address is trusted. The zone of such an
// address is that of the machine's network interface, and no setting has it.
func TestProxyWithZone(t *testing.T) {
	proxies := Proxies{netip.MustParsePrefix("fe80::/10")}
	for _, tt := range []struct {
		peer, forwarded string
		want            string
	}{
		{peer: "[fe80::1%eth0]:4711", forwarded: "192.0.2.1", want: "192.0.2.1"},
		{peer: "[fe80::1]:4711", forwarded: "192.0.2.1, fe80::2%eth1", want: "192.0.2.1"},
		{peer: "[fe80::1%eth0]:4711", forwarded: "192.0.2.1, [fe80::2%eth1]:80", want: "192.0.2.1"},
		{peer: "[2001:db8::1]:4711", forwarded: "192.0.2.1", want: "2001:db8::1"},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr = tt.peer
		r.Header.Set("X-Forwarded-For", tt.forwarded)
		if got := proxies.Origin(r, false).Address; got != tt.want {
			t.Errorf("a request from %s with X-Forwarded-For %q has the address %s, want %s",
				tt.peer, tt.forwarded, got, tt.want)
		}
	}
}
