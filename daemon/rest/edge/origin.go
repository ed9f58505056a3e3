package edge

import (
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/bizhook/whd/daemon/fault"
)

// Origin is the client address of a request and the host it was sent to.
type Origin struct {
	Address   string // address of the client, behind trusted proxies
	Host      string // requested by the client
	Forwarded bool   // the host was named by a trusted proxy
	Secure    bool   // the client used TLS
}

// Proxies are the networks of trusted proxies. Only their X-Forwarded headers are used.
type Proxies []netip.Prefix

// Origin returns the client address and the host of a request. X-Forwarded headers
// are only used if they are from trusted proxies, and X-Forwarded-Host only if these set it.
func (p Proxies) Origin(r *http.Request, setHost bool) Origin {
	peer, _ := netip.ParseAddrPort(r.RemoteAddr) // fails without TCP; then no network has it
	address := inNetworks(peer.Addr())
	o := Origin{Host: r.Host, Secure: r.TLS != nil}
	if !p.trusted(address) {
		o.Address = address.String()
		return o
	}
	if proto := p.forwarded(r, "X-Forwarded-Proto"); proto != "" {
		o.Secure = strings.EqualFold(proto, "https")
	}
	if host := p.forwarded(r, "X-Forwarded-Host"); setHost && host != "" {
		o.Host = host
		o.Forwarded = true
	}
	o.Address = p.client(address, r.Header.Values("X-Forwarded-For")).String()
	return o
}

// client returns the last address in X-Forwarded-For that is not a trusted proxy.
// Addresses before it cannot be trusted.
func (p Proxies) client(peer netip.Addr, forwarded []string) netip.Addr {
	hops := strings.Split(strings.Join(forwarded, ","), ",")
	for i := len(hops) - 1; i >= 0; i-- {
		address, ok := hop(strings.TrimSpace(hops[i]))
		if !ok {
			return peer
		}
		peer = address
		if !p.trusted(peer) {
			return peer
		}
	}
	return peer
}

// hop parses one address, which some proxies write with a port.
func hop(text string) (netip.Addr, bool) {
	if address, err := netip.ParseAddr(strings.Trim(text, "[]")); err == nil {
		return inNetworks(address), true
	}
	addressAndPort, err := netip.ParseAddrPort(text)
	return inNetworks(addressAndPort.Addr()), err == nil
}

// inNetworks returns an address in the form in which networks contain it: IPv4 as such, and IPv6
// without a zone, since netip.Prefix contains no address with one.
func inNetworks(a netip.Addr) netip.Addr { return a.Unmap().WithZone("") }

func (p Proxies) trusted(a netip.Addr) bool {
	return slices.ContainsFunc(p, func(network netip.Prefix) bool { return network.Contains(a) })
}

// HostCheck checks the Host of unauthenticated requests.
type HostCheck struct {
	names        []string        // in lower case
	machineNames func() []string // nil for none
}

// NewHostCheck returns a HostCheck for names in lower case, the host of the service's public URL,
// which is empty if not configured, and the names that machineNames returns, nil for none.
func NewHostCheck(names []string, publicURL string, machineNames func() []string) *HostCheck {
	if service, err := url.Parse(publicURL); err == nil {
		names = append(slices.Clip(names), hostName(service.Host))
	}
	return &HostCheck{names, machineNames}
}

// Check rejects an unauthenticated request with a Host that is not a name of the service.
// It prevents DNS rebinding: a page can point its own host name at the service's
// address and read the data that is accessible from the browser's network.
func (c *HostCheck) Check(x *Context) error {
	lacksHost := x.Origin.Host == "" && !x.Request.ProtoAtLeast(1, 1) // no browser: all of them send Host
	if lacksHost || x.Origin.Forwarded || c.known(x.Origin.Host) {
		return nil
	}
	return fault.New(fault.Misdirected, "the Host %s is not a name of this service; add it to the setting http.hosts",
		Clean(x.Origin.Host))
}

// known reports whether a host is an address or a name of the service. DNS rebinding needs a name, so
// that addresses are safe.
func (c *HostCheck) known(host string) bool {
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
	return c.machineNames != nil && slices.Contains(c.machineNames(), name)
}

// hostName returns the name or address of a Host header, without its port.
func hostName(host string) string {
	withHost := url.URL{Host: host}
	return strings.ToLower(strings.TrimSuffix(withHost.Hostname(), "."))
}
