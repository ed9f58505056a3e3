package sender

import (
	"net"
	"net/netip"
	"slices"
)

// Reaches reports whether connections to target reach a listener of this host with an
// address: messages are not sent to the service itself. A nil address reaches nothing.
func Reaches(listener net.Addr, target netip.AddrPort) bool {
	listening, ok := listener.(*net.TCPAddr)
	if !ok || listening.Port != int(target.Port()) {
		return false
	}
	address := listening.AddrPort().Addr().Unmap()
	if address.IsUnspecified() {
		return address == target.Addr() || isLocal(target.Addr())
	}
	return address == target.Addr()
}

// isLocal reports whether an address belongs to this host. If the host's addresses
// are unknown, every address counts as local.
func isLocal(address netip.Addr) bool {
	locals, err := net.InterfaceAddrs()
	if err != nil {
		return true
	}
	ip := net.IP(address.AsSlice())
	return slices.ContainsFunc(locals, func(local net.Addr) bool {
		network, ok := local.(*net.IPNet)
		return ok && network.IP.Equal(ip)
	})
}
