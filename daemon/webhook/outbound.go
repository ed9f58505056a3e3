package webhook

import (
	"crypto/tls"
	"crypto/x509"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// Outbound is the way from this machine to receivers.
type Outbound struct {
	Proxy         *url.URL // http, https or socks5; nil for none
	ProxyResolves bool     // the proxy resolves the names in subscriptions of admins
	NoProxy       Hosts    // reached directly

	RootCAs          *x509.CertPool                   // nil for those of the system
	Certificate      func() (*tls.Certificate, error) // client certificate; nil for none
	CertificateHosts []string                         // names, in lower case, that it is offered to
}

// ClientCertificate returns the client certificate for a connection.
type ClientCertificate func() (*tls.Certificate, error)

// OffersCertificate reports whether the client certificate is offered to a host.
func (o Outbound) OffersCertificate(host string) bool {
	return o.Certificate != nil && slices.Contains(o.CertificateHosts, plainName(host))
}

// ResolvesFor reports whether the proxy resolves host names in a subscription. One that was made
// with the SubscriberID alone might name a host that the proxy can reach and its owner must not,
// so its names are always resolved, and the addresses checked, by this service.
func (o Outbound) ResolvesFor(madeByAdmin bool) bool {
	return o.ProxyResolves && madeByAdmin
}

// Hosts is a list of networks and host names.
type Hosts struct {
	Networks []netip.Prefix
	Names    []string // in lower case; each includes the names below it
}

// HasAddress reports whether the list has the network of an address.
func (h Hosts) HasAddress(address netip.Addr) bool {
	address = address.Unmap().WithZone("")
	return slices.ContainsFunc(h.Networks, func(p netip.Prefix) bool { return p.Contains(address) })
}

// HasName reports whether the list has a host name, or a domain that it belongs to.
func (h Hosts) HasName(host string) bool {
	host = plainName(host)
	return slices.ContainsFunc(h.Names, func(name string) bool {
		return host == name || strings.HasSuffix(host, "."+name)
	})
}

// SameHost reports whether two texts are the same host name.
func SameHost(a, b string) bool { return plainName(a) == plainName(b) }

// plainName returns a host name in the form of the lists of this package.
func plainName(host string) string { return strings.ToLower(strings.TrimSuffix(host, ".")) }
