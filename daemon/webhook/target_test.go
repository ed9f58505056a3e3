package webhook

import (
	"errors"
	"net/netip"
	"net/url"
	"testing"
)

func TestGuard(t *testing.T) {
	tests := []struct {
		to              string
		public, private bool // allowed for a public subscription, for an administrator's
	}{
		{"93.184.216.34", true, true},
		{"2606:2800:220:1::1", true, true},
		{"127.0.0.1", false, false},
		{"127.8.9.10", false, false},
		{"::1", false, false},
		{"::ffff:127.0.0.1", false, false},
		{"::127.0.0.1", false, false},
		{"64:ff9b::7f00:1", false, false},
		{"64:ff9b::a9fe:a9fe", false, false},
		{"64:ff9b:1::7f00:1", false, false},
		{"64:ff9b:1::", false, false},
		{"64:ff9b:1::5db8:d822", true, true},
		{"64:ff9b:1:1::5db8:d822", true, true},
		{"64:ff9b:1:1::7f00:1", false, false},
		{"64:ff9b:1:7f00:0:100::", false, false},
		{"64:ff9b:1:7f00:0:100:5db8:d822", false, false},
		{"64:ff9b:1:a9fe:a9:fe00::", false, false},
		{"64:ff9b:1:a00:0:100::", false, true},
		{"64:ff9b:1:5db8:d8:2200::", true, true},
		{"3fff::1", false, false},
		{"3fff:fff:ffff::1", false, false},
		{"3ffe::1", true, true},
		{"5f00::1", false, false},
		{"2002:7f00:1::", false, false},
		{"2002:a00:1::", false, true},
		{"0.0.0.0", false, false},
		{"::", false, false},
		{"169.254.169.254", false, false},
		{"::ffff:169.254.169.254", false, false},
		{"fe80::1%eth0", false, false},
		{"224.0.0.1", false, false},
		{"ff02::1", false, false},
		{"255.255.255.255", false, false},
		{"10.0.0.1", false, true},
		{"172.31.255.255", false, true},
		{"172.32.0.0", true, true},
		{"192.168.1.1", false, true},
		{"100.64.0.1", false, true},
		{"192.0.2.1", false, false},
		{"203.0.113.9", false, false},
		{"2001:db8::1", false, false},
		{"::ffff:0:127.0.0.1", false, false},
		{"fd12:3456::1", false, true},
		{"fd00:ec2::254", false, false},
		{"100.100.100.200", false, false},
	}
	for _, tt := range tests {
		at := netip.AddrPortFrom(netip.MustParseAddr(tt.to), 80)
		for private, want := range map[bool]bool{false: tt.public, true: tt.private} {
			err := Guard{}.Check(at, private)
			if err != nil && !errors.Is(err, ErrForbidden) {
				t.Errorf("%s, private %t: got the error %v, want %v", tt.to, private, err, ErrForbidden)
			}
			if allowed := err == nil; allowed != want {
				t.Errorf("%s, private %t: allowed is %t, want %t", tt.to, private, allowed, want)
			}
		}
	}
}

func TestGuardAllowList(t *testing.T) {
	g := Guard{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}}
	if err := g.Check(netip.MustParseAddrPort("127.0.0.1:80"), false); err != nil {
		t.Error(err)
	}
	if err := g.Check(netip.MustParseAddrPort("[::ffff:127.0.0.1]:80"), false); err != nil {
		t.Error(err)
	}
	if err := g.Check(netip.MustParseAddrPort("127.0.0.2:80"), false); err == nil {
		t.Error("127.0.0.2 is not in the list")
	}
}

func TestGuardRefusesServiceAddress(t *testing.T) {
	self := netip.MustParseAddrPort("93.184.216.34:5050")
	g := Guard{IsSelf: func(at netip.AddrPort) bool { return at == self }}
	if err := g.Check(self, true); !errors.Is(err, ErrForbidden) {
		t.Error(err)
	}
	if err := g.Check(netip.MustParseAddrPort("93.184.216.34:5051"), true); err != nil {
		t.Error(err)
	}
}

func TestGuardCheckURL(t *testing.T) {
	for host, ok := range map[string]bool{
		"example.com":      true,
		"127.0.0.1":        false,
		"[::1]":            false,
		"localhost":        false,
		"LOCALHOST.":       false,
		"app.localhost":    false,
		"2130706433":       false,
		"0x7f000001":       false,
		"0x7f.1":           false,
		"0177.0.0.1":       false,
		"127.1":            false,
		"1.2.3.4.":         false,
		"0xfoo.example":    true,
		"3com.example":     true,
		"169.254.169.254":  false,
		"[fe80::1%25eth0]": false,
	} {
		u, err := url.Parse("http://" + host + "/hook")
		if err != nil {
			t.Fatal(err)
		}
		if err := (Guard{}).CheckURL(u, true); (err == nil) != ok {
			t.Errorf("%s: %v", host, err)
		}
	}
}
