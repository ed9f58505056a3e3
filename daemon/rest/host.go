package rest

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/bizhook/whd/daemon/fault"
)

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
