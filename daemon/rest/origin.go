package rest

import (
	"net/http"
	"net/netip"
	"strings"
)

// origin says where a request came from and which host it asked for. The
// X-Forwarded headers are believed only from trusted proxies.
func (s *Server) origin(r *http.Request) (address, host string, secure bool) {
	peer, _ := netip.ParseAddrPort(r.RemoteAddr)
	at := peer.Addr().Unmap()
	host, secure = r.Host, r.TLS != nil
	if !s.trusted(at) {
		return at.String(), host, secure
	}
	if proto := first(r.Header.Get("X-Forwarded-Proto")); proto != "" {
		secure = strings.EqualFold(proto, "https")
	}
	if forwarded := s.forwardedHost(r); forwarded != "" {
		host = forwarded
	}
	return s.client(at, r.Header.Values("X-Forwarded-For")).String(), host, secure
}

// forwardedHost is the host that a trusted proxy says was asked for, empty where
// there is none.
func (s *Server) forwardedHost(r *http.Request) string {
	peer, _ := netip.ParseAddrPort(r.RemoteAddr)
	if !s.trusted(peer.Addr().Unmap()) {
		return ""
	}
	return first(r.Header.Get("X-Forwarded-Host"))
}

// first is the first item of a list. Proxies in a row add what they saw behind
// what the client asked for.
func first(list string) string {
	item, _, _ := strings.Cut(list, ",")
	return strings.TrimSpace(item)
}

// client walks X-Forwarded-For from its end, where the nearest proxy wrote, to
// the first address that is no proxy of ours. What stands before it is hearsay.
func (s *Server) client(peer netip.Addr, forwarded []string) netip.Addr {
	hops := strings.Split(strings.Join(forwarded, ","), ",")
	for i := len(hops) - 1; i >= 0; i-- {
		at, ok := hop(strings.TrimSpace(hops[i]))
		if !ok {
			return peer
		}
		if peer = at.Unmap(); !s.trusted(peer) {
			return peer
		}
	}
	return peer
}

// hop reads one address, which some proxies write with a port.
func hop(text string) (netip.Addr, bool) {
	if at, err := netip.ParseAddr(strings.Trim(text, "[]")); err == nil {
		return at, true
	}
	with, err := netip.ParseAddrPort(text)
	return with.Addr(), err == nil
}

func (s *Server) trusted(a netip.Addr) bool {
	for _, network := range s.TrustedProxies {
		if network.Contains(a) {
			return true
		}
	}
	return false
}
