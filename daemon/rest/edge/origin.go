package edge

import (
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/bizhook/whd/daemon/fault"
)

// Origin is where a request came from, and the host that it asked for.
type Origin struct {
	Address   string // of the client, behind trusted proxies
	Host      string // that the client asked for
	Forwarded bool   // a trusted proxy names the host
	Secure    bool   // the client came by TLS
}

// Proxies are the networks whose X-Forwarded headers are believed.
type Proxies []netip.Prefix

// Origin says where a request came from and which host it asked for. The
// X-Forwarded headers are believed only from trusted proxies.
func (p Proxies) Origin(r *http.Request) Origin {
	peer, _ := netip.ParseAddrPort(r.RemoteAddr)
	at := peer.Addr().Unmap()
	o := Origin{Host: r.Host, Secure: r.TLS != nil}
	if !p.trusted(at) {
		o.Address = at.String()
		return o
	}
	if proto := first(r.Header.Get("X-Forwarded-Proto")); proto != "" {
		o.Secure = strings.EqualFold(proto, "https")
	}
	if host := first(r.Header.Get("X-Forwarded-Host")); host != "" {
		o.Host, o.Forwarded = host, true
	}
	o.Address = p.client(at, r.Header.Values("X-Forwarded-For")).String()
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
func (p Proxies) client(peer netip.Addr, forwarded []string) netip.Addr {
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

func (p Proxies) trusted(a netip.Addr) bool {
	return slices.ContainsFunc(p, func(network netip.Prefix) bool { return network.Contains(a) })
}

// HostCheck knows the names of the service.
type HostCheck struct {
	Names        []string        // beside its own, in small letters
	URL          string          // the service's own address; empty where it is not configured
	MachineNames func() []string // names of the machine; nil for none
}

// Check refuses a request that is let in without a login under a name that
// is not the service's: a page can give its own name the service's address, and
// then read what the browser's network may read (DNS rebinding).
func (c *HostCheck) Check(x *Context) error {
	old := x.Origin.Host == "" && !x.Request.ProtoAtLeast(1, 1) // no browser leaves the Host out
	if old || x.Origin.Forwarded || c.known(x.Origin.Host) {
		return nil
	}
	return fault.New(fault.Misdirected, "the Host %s is not a name of this service; the setting http.hosts lists more names", Clean(x.Origin.Host))
}

func (c *HostCheck) known(host string) bool {
	name := hostName(host)
	if _, err := netip.ParseAddr(name); err == nil {
		return true
	}
	if name == "" {
		return false
	}
	if name == "localhost" || strings.HasSuffix(name, ".localhost") || slices.Contains(c.Names, name) {
		return true
	}
	if own, err := url.Parse(c.URL); err == nil && hostName(own.Host) == name {
		return true
	}
	return c.MachineNames != nil && slices.Contains(c.MachineNames(), name)
}

// hostName is the name or address in a Host header, without its port.
func hostName(host string) string {
	at := url.URL{Host: host}
	return strings.ToLower(strings.TrimSuffix(at.Hostname(), "."))
}
