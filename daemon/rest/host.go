package rest

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/bizhook/whd/daemon/fault"
)

// checkHost refuses a request that is let in without a login under a name that
// is not the service's: a page can give its own name the service's address, and
// then read what the browser's network may read (DNS rebinding).
func (s *Server) checkHost(x *exchange) error {
	old := x.host == "" && !x.r.ProtoAtLeast(1, 1) // no browser leaves the Host out
	if old || s.forwardedHost(x.r) != "" || s.knownHost(x.host) {
		return nil
	}
	s.metrics.misdirected.Inc()
	return fault.New(fault.Misdirected, "the Host %s is not a name of this service; the setting http.hosts lists more names", clean(x.host))
}

func (s *Server) knownHost(host string) bool {
	name := hostName(host)
	if _, err := netip.ParseAddr(name); err == nil {
		return true
	}
	if name == "" {
		return false
	}
	if name == "localhost" || strings.HasSuffix(name, ".localhost") || slices.Contains(s.Hosts, name) {
		return true
	}
	if own, err := url.Parse(s.HostURL); err == nil && hostName(own.Host) == name {
		return true
	}
	return s.HostNames != nil && slices.Contains(s.HostNames(), name)
}

// hostName is the name or address in a Host header, without its port.
func hostName(host string) string {
	at := url.URL{Host: host}
	return strings.ToLower(strings.TrimSuffix(at.Hostname(), "."))
}
