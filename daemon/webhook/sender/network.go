package sender

import (
	"errors"
	"net"
	"net/netip"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// network notices when this machine has lost its network, so that its endpoints are not blamed.
type network struct {
	lastConnected   atomic.Int64 // Unix time in nanoseconds; 0 for never
	hasDefaultRoute func() bool
}

// quietTime is how long no attempt may have connected before the machine is suspected.
const quietTime = time.Minute

func newNetwork() *network { return &network{hasDefaultRoute: hasDefaultRoute} }

// connected records that an endpoint was reached.
func (n *network) connected() { n.lastConnected.Store(time.Now().UnixNano()) }

// isDown reports whether an endpoint was probably not reached because this machine has no
// network: no other endpoint was reached recently, and there is no default route, or the name
// server cannot be reached.
func (n *network) isDown(err error) bool {
	if time.Since(time.Unix(0, n.lastConnected.Load())) < quietTime {
		return false
	}
	if failed, ok := errors.AsType[*net.DNSError](err); ok {
		if failed.IsNotFound {
			return false // a name server has answered
		}
		return strings.Contains(failed.Err, "connection refused") || !n.hasDefaultRoute()
	}
	return isUnreachable(err) && !n.hasDefaultRoute()
}

// isUnreachable reports whether there is no way to an address. Numbers are those of Windows
// Sockets.
func isUnreachable(err error) bool {
	for _, e := range []error{syscall.ENETUNREACH, syscall.EHOSTUNREACH, syscall.Errno(10051), syscall.Errno(10065)} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// hasDefaultRoute reports whether addresses outside of the connected networks have a route. It
// uses addresses of documentation networks (RFC 5737, RFC 3849), to which nothing is sent: to
// connect a UDP socket only looks up the route.
func hasDefaultRoute() bool {
	for _, address := range []string{"192.0.2.1:9", "[2001:db8::1]:9"} {
		conn, err := net.Dial("udp", address)
		if err == nil {
			conn.Close()
			return true
		}
		if !isUnreachable(err) && !errors.Is(err, syscall.EADDRNOTAVAIL) {
			return true // not known
		}
	}
	return false
}

// hasFamilyOf reports whether this machine has an address of the same family as a target. If its
// addresses are unknown, it has.
func hasFamilyOf(target netip.Addr) bool {
	all, err := net.InterfaceAddrs()
	return err != nil || containsFamilyOf(all, target)
}

// containsFamilyOf reports whether a connection to a target could start at one of the addresses:
// they are of the same family, and a loopback address reaches only loopback addresses.
func containsFamilyOf(all []net.Addr, target netip.Addr) bool {
	for _, a := range all {
		local, err := netip.ParsePrefix(a.String())
		if err != nil {
			continue
		}
		address := local.Addr().Unmap()
		if address.Is4() == target.Is4() && address.IsLoopback() == target.IsLoopback() && !address.IsLinkLocalUnicast() {
			return true
		}
	}
	return false
}
