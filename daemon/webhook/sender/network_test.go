package sender

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/webhook"
)

// dialError returns the error of a failed connection to an address.
func dialError(address string, err error) error {
	to := net.TCPAddrFromAddrPort(netip.MustParseAddrPort(address))
	return &net.OpError{Op: "dial", Net: "tcp", Addr: to, Err: os.NewSyscallError("connect", err)}
}

// TestLostNetwork decides which failures to reach an endpoint are those of this machine.
func TestLostNetwork(t *testing.T) {
	unreachable := dialError("192.0.2.1:443", syscall.ENETUNREACH)
	noAnswer := &net.DNSError{Err: "read udp 127.0.0.1:53: read: connection refused", Name: "shop.example"}
	timedOut := &net.DNSError{Err: "i/o timeout", Name: "shop.example", IsTimeout: true}
	notFound := &net.DNSError{Err: "no such host", Name: "shop.example", IsNotFound: true}
	for name, tt := range map[string]struct {
		err       error
		route     bool          // there is a default route
		connected time.Duration // since an endpoint was reached; 0 for never
		want      bool
	}{
		"unreachable, with a route":                 {err: unreachable, route: true, want: false},
		"unreachable, without a route":              {err: unreachable, want: true},
		"unreachable, but others are reached":       {err: unreachable, connected: time.Second, want: false},
		"unreachable, others were reached earlier":  {err: unreachable, connected: time.Hour, want: true},
		"no such name":                              {err: notFound, want: false},
		"name server refuses":                       {err: noAnswer, route: true, want: true},
		"name server refuses, others are reached":   {err: noAnswer, connected: time.Second, want: false},
		"name server does not answer, with a route": {err: timedOut, route: true, want: false},
		"name server does not answer, no route":     {err: timedOut, want: true},
		"refused, without a route":                  {err: dialError("192.0.2.1:443", syscall.ECONNREFUSED), want: false},
	} {
		n := &network{hasDefaultRoute: func() bool { return tt.route }}
		if tt.connected > 0 {
			n.lastConnected.Store(time.Now().Add(-tt.connected).UnixNano())
		}
		if got := n.isDown(tt.err); got != tt.want {
			t.Errorf("%s: the network is down: %t, want %t", name, got, tt.want)
		}
	}
}

// TestOwnFailures maps errors to failures of this machine.
func TestOwnFailures(t *testing.T) {
	for name, tt := range map[string]struct {
		err  error
		want webhook.OwnFailure
	}{
		"no descriptor for a socket":  {dialError("127.0.0.1:80", syscall.EMFILE), webhook.OutOfDescriptors},
		"no descriptor in the system": {dialError("127.0.0.1:80", syscall.ENFILE), webhook.OutOfDescriptors},
		"no descriptor for a look-up": {&net.DNSError{Err: "dial udp 127.0.0.1:53: socket: " + syscall.EMFILE.Error(), Name: "shop.example"}, webhook.OutOfDescriptors},
		"the limit of connections":    {errTooManyConnections, webhook.OutOfDescriptors},
		"no buffers":                  {dialError("127.0.0.1:80", syscall.ENOBUFS), webhook.OutOfMemory},
		"no port":                     {dialError("127.0.0.1:80", syscall.EADDRNOTAVAIL), webhook.OutOfPorts},
		"refused":                     {dialError("127.0.0.1:80", syscall.ECONNREFUSED), ""},
		"a text that names another":   {errors.New("malformed HTTP response: too many open files"), ""},
		"not allowed":                 {webhook.ErrForbidden, ""},
	} {
		if got := ownFailure(tt.err); got != tt.want {
			t.Errorf("%s (%v): %q, want %q", name, tt.err, got, tt.want)
		}
	}
}

// TestMissingFamily: without an address of its family, a target is not reached for want of ports.
func TestMissingFamily(t *testing.T) {
	for _, tt := range []struct {
		local  string
		target string
		want   bool
	}{
		{"10.0.0.7/8", "192.0.2.1", true},
		{"10.0.0.7/8", "2001:db8::1", false},
		{"127.0.0.1/8", "192.0.2.1", false},
		{"127.0.0.1/8", "127.0.0.2", true},
		{"fe80::1/64", "2001:db8::1", false},
		{"2001:db8::7/64", "2001:db8::1", true},
	} {
		ip, network, err := net.ParseCIDR(tt.local)
		if err != nil {
			t.Fatal(err)
		}
		local := []net.Addr{&net.IPNet{IP: ip, Mask: network.Mask}}
		if got := containsFamilyOf(local, netip.MustParseAddr(tt.target)); got != tt.want {
			t.Errorf("from %s to %s: %t, want %t", tt.local, tt.target, got, tt.want)
		}
	}
}
