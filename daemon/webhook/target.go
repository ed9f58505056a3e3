package webhook

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// Guard decides which addresses messages may be sent to. It is consulted when a
// connection is made, after name resolution, so that DNS tricks do not bypass it.
type Guard struct {
	Allow  []netip.Prefix            // always allowed
	IsSelf func(netip.AddrPort) bool // reports whether the daemon itself listens there; nil for never
}

// ErrForbidden is the error of a connection that the guard refuses.
var ErrForbidden = errors.New("messages may not be sent there")

// networkClass is a network that is not the public Internet.
type networkClass struct {
	network    netip.Prefix
	onPremises bool // may have receivers on the premises; others never have
	name       string
}

// networkClasses lists the networks of IANA's registries of special-purpose addresses
// (RFC 6890).
var networkClasses = []networkClass{
	{netip.MustParsePrefix("100.100.100.200/32"), false, "cloud metadata"},
	{netip.MustParsePrefix("fd00:ec2::254/128"), false, "cloud metadata"},
	{netip.MustParsePrefix("0.0.0.0/8"), false, "unspecified"},
	{netip.MustParsePrefix("10.0.0.0/8"), true, "private"},
	{netip.MustParsePrefix("100.64.0.0/10"), true, "private"},
	{netip.MustParsePrefix("127.0.0.0/8"), false, "loopback"},
	{netip.MustParsePrefix("169.254.0.0/16"), false, "link-local"},
	{netip.MustParsePrefix("172.16.0.0/12"), true, "private"},
	{netip.MustParsePrefix("192.0.0.0/24"), false, "reserved"},
	{netip.MustParsePrefix("192.0.2.0/24"), false, "documentation"},
	{netip.MustParsePrefix("192.88.99.0/24"), false, "reserved"},
	{netip.MustParsePrefix("192.168.0.0/16"), true, "private"},
	{netip.MustParsePrefix("198.18.0.0/15"), true, "private"},
	{netip.MustParsePrefix("198.51.100.0/24"), false, "documentation"},
	{netip.MustParsePrefix("203.0.113.0/24"), false, "documentation"},
	{netip.MustParsePrefix("224.0.0.0/4"), false, "multicast"},
	{netip.MustParsePrefix("240.0.0.0/4"), false, "reserved"},
	{netip.MustParsePrefix("::/128"), false, "unspecified"},
	{netip.MustParsePrefix("::1/128"), false, "loopback"},
	{netip.MustParsePrefix("100::/64"), false, "reserved"},
	{netip.MustParsePrefix("2001::/32"), false, "reserved"}, // Teredo
	{netip.MustParsePrefix("2001:db8::/32"), false, "documentation"},
	{netip.MustParsePrefix("3fff::/20"), false, "documentation"},
	{netip.MustParsePrefix("5f00::/16"), false, "reserved"}, // segment routing
	{netip.MustParsePrefix("fc00::/7"), true, "private"},
	{netip.MustParsePrefix("fe80::/10"), false, "link-local"},
	{netip.MustParsePrefix("fec0::/10"), true, "private"},
	{netip.MustParsePrefix("ff00::/8"), false, "multicast"},
}

// ipv4Embedding lists the IPv6 networks whose addresses contain an IPv4 address, and
// the positions of its four bytes (RFC 6052). In the network for local translators both
// the layout of its own prefix length and that of a longer prefix are in use.
var ipv4Embedding = []struct {
	network netip.Prefix
	at      [4]int
}{
	{netip.MustParsePrefix("::/96"), lastFour},           // IPv4-compatible
	{netip.MustParsePrefix("::ffff:0:0:0/96"), lastFour}, // SIIT
	{netip.MustParsePrefix("64:ff9b::/96"), lastFour},    // NAT64
	{netip.MustParsePrefix("64:ff9b:1::/96"), lastFour},
	{localNAT64, lastFour},
	{localNAT64, [4]int{6, 7, 9, 10}},
	{netip.MustParsePrefix("2002::/16"), [4]int{2, 3, 4, 5}}, // 6to4
}

var (
	localNAT64 = netip.MustParsePrefix("64:ff9b:1::/48")
	lastFour   = [4]int{12, 13, 14, 15}
)

// Check returns an error if no message may be sent to an address. allowPrivate allows
// networks on the premises.
func (g Guard) Check(to netip.AddrPort, allowPrivate bool) error {
	address := to.Addr().Unmap().WithZone("")
	if slices.ContainsFunc(g.Allow, func(p netip.Prefix) bool { return p.Contains(address) }) {
		return nil
	}
	if g.IsSelf != nil && g.IsSelf(netip.AddrPortFrom(address, to.Port())) {
		return fmt.Errorf("%w: %s is this service itself", ErrForbidden, to)
	}
	for _, embedded := range embeddedIPv4(address) {
		err := g.Check(netip.AddrPortFrom(embedded, to.Port()), allowPrivate)
		if err != nil {
			return err
		}
	}
	for _, class := range networkClasses {
		isAllowed := class.onPremises && allowPrivate
		if class.network.Contains(address) && !isAllowed {
			return fmt.Errorf("%w: %s is a %s address; an administrator can allow it in webhooks.allow_targets",
				ErrForbidden, address, class.name)
		}
	}
	return nil
}

// embeddedIPv4 returns the IPv4 addresses that an IPv6 address may contain.
func embeddedIPv4(address netip.Addr) []netip.Addr {
	if !address.Is6() || address == netip.IPv6Unspecified() || address == netip.IPv6Loopback() {
		return nil
	}
	var embedded []netip.Addr
	bytes := address.As16()
	for _, e := range ipv4Embedding {
		if !e.network.Contains(address) {
			continue
		}
		inner := [4]byte{bytes[e.at[0]], bytes[e.at[1]], bytes[e.at[2]], bytes[e.at[3]]}
		if e.network == localNAT64 && inner[0] == 0 {
			continue // 0.0.0.0/8: the address has the other layout
		}
		embedded = append(embedded, netip.AddrFrom4(inner))
	}
	return embedded
}

// CheckURL checks the host of a URL if it is an IP address, so that a subscription that
// can never work is rejected on creation. Names are checked when messages are sent.
// Forms such as 0x7f.1 and 2130706433, which some resolvers accept as addresses, are
// rejected.
func (g Guard) CheckURL(u *url.URL, allowPrivate bool) error {
	return g.CheckHost(u.Hostname(), port(u), allowPrivate)
}

// CheckHost checks a host and port like CheckURL.
func (g Guard) CheckHost(host string, port uint16, allowPrivate bool) error {
	if address, err := netip.ParseAddr(host); err == nil {
		return g.Check(netip.AddrPortFrom(address, port), allowPrivate)
	}
	name := plainName(host)
	if name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return g.Check(netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), port), allowPrivate)
	}
	if looksNumeric(host) {
		return fmt.Errorf("%w: %s is an address in a form that is not allowed; write it as 192.0.2.1",
			ErrForbidden, host)
	}
	return nil
}

func port(u *url.URL) uint16 {
	if at, err := netip.ParseAddrPort("0.0.0.0:" + u.Port()); err == nil {
		return at.Port()
	}
	if u.Scheme == "https" {
		return 443
	}
	return 80
}

// looksNumeric reports whether the last label of a name is a number. No top-level
// domain is.
func looksNumeric(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	last := host[strings.LastIndexByte(host, '.')+1:]
	if hex, ok := strings.CutPrefix(last, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return last != "" && strings.Trim(last, "0123456789") == ""
}
