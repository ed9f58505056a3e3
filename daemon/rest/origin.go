package rest

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// origin is where a request came from, and the host that it asked for.
type origin struct {
	address   string // of the client, behind trusted proxies
	host      string // that the client asked for
	forwarded bool   // a trusted proxy names the host
	secure    bool   // the client came by TLS
}

// proxies are the networks whose X-Forwarded headers are believed.
type proxies []netip.Prefix

// origin says where a request came from and which host it asked for. The
// X-Forwarded headers are believed only from trusted proxies.
func (p proxies) origin(r *http.Request) origin {
	peer, _ := netip.ParseAddrPort(r.RemoteAddr)
	at := peer.Addr().Unmap()
	o := origin{host: r.Host, secure: r.TLS != nil}
	if !p.trusted(at) {
		o.address = at.String()
		return o
	}
	if proto := first(r.Header.Get("X-Forwarded-Proto")); proto != "" {
		o.secure = strings.EqualFold(proto, "https")
	}
	if host := first(r.Header.Get("X-Forwarded-Host")); host != "" {
		o.host, o.forwarded = host, true
	}
	o.address = p.client(at, r.Header.Values("X-Forwarded-For")).String()
	return o
}

// first is the first item of a list. Proxies in a row add what they saw behind
// what the client asked for.
func first(list string) string {
	item, _, _ := strings.Cut(list, ",")
	return strings.TrimSpace(item)
}

// client walks X-Forwarded-For from its end, where the nearest proxy wrote, to
// the first address that is no proxy of ours. What stands before it is hearsay.
func (p proxies) client(peer netip.Addr, forwarded []string) netip.Addr {
	hops := strings.Split(strings.Join(forwarded, ","), ",")
	for i := len(hops) - 1; i >= 0; i-- {
		at, ok := hop(strings.TrimSpace(hops[i]))
		if !ok {
			return peer
		}
		if peer = at.Unmap(); !p.trusted(peer) {
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

func (p proxies) trusted(a netip.Addr) bool {
	return slices.ContainsFunc(p, func(network netip.Prefix) bool { return network.Contains(a) })
}
