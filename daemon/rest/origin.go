package rest

import (
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/bizhook/whd/daemon/fault"
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

// hostCheck knows the names of the service.
type hostCheck struct {
	names   []string        // beside its own, in small letters
	url     string          // the service's own address; empty where it is not configured
	machine func() []string // names of the machine; nil for none
}

// check refuses a request that is let in without a login under a name that
// is not the service's: a page can give its own name the service's address, and
// then read what the browser's network may read (DNS rebinding).
func (c *hostCheck) check(x *exchange) error {
	old := x.origin.host == "" && !x.r.ProtoAtLeast(1, 1) // no browser leaves the Host out
	if old || x.origin.forwarded || c.known(x.origin.host) {
		return nil
	}
	return fault.New(fault.Misdirected, "the Host %s is not a name of this service; the setting http.hosts lists more names", clean(x.origin.host))
}

func (c *hostCheck) known(host string) bool {
	name := hostName(host)
	if _, err := netip.ParseAddr(name); err == nil {
		return true
	}
	if name == "" {
		return false
	}
	if name == "localhost" || strings.HasSuffix(name, ".localhost") || slices.Contains(c.names, name) {
		return true
	}
	if own, err := url.Parse(c.url); err == nil && hostName(own.Host) == name {
		return true
	}
	return c.machine != nil && slices.Contains(c.machine(), name)
}

// hostName is the name or address in a Host header, without its port.
func hostName(host string) string {
	at := url.URL{Host: host}
	return strings.ToLower(strings.TrimSuffix(at.Hostname(), "."))
}
