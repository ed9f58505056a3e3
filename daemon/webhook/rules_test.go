package webhook

import (
	"maps"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/fault"
)

func TestCheckURL(t *testing.T) {
	self, _ := url.Parse("http://10.0.0.5:5050/Webhooks/Test")
	r := Rules{Guard: Guard{IsSelf: func(a netip.AddrPort) bool { return a.Port() == 5050 }}, TestTarget: self}
	tests := []struct {
		url           string
		public, admin bool
	}{
		{"https://example.com/hook?a=b", true, true},
		{"http://example.com", true, true},
		{"HTTPS://example.com", true, true},
		{"https://example.com:8443/", true, true},
		{"http://10.0.0.5:5050/webhooks/test/", true, true},
		{"http://10.0.0.5:5050/Users", false, false},
		{"http://192.168.0.4/", false, true},
		{"http://127.0.0.1/", false, false},
		{"https://u:p@example.com/", false, false},
		{"ftp://example.com/", false, false},
		{"file:///etc/passwd", false, false},
		{"javascript:alert(1)", false, false},
		{"//example.com/", false, false},
		{"/hook", false, false},
		{"example.com/hook", false, false},
		{"http://", false, false},
		{"http://:80/", false, false},
		{"http://example.com:/", false, false},
		{"http://example.com:0/", false, false},
		{"http://example.com:65536/", false, false},
		{"http://example.com/#x", false, false},
		{"http://exa mple.com/", false, false},
		{"http://example.com\\@127.0.0.1/", false, false},
		{"http://example.com/\r\nX: y", false, false},
		{"http://example.com/" + strings.Repeat("x", 2048-19), true, true},
		{"http://example.com/" + strings.Repeat("x", 2049-19), false, false},
		{"http://2130706433/", false, false},
		{"", false, false},
	}
	for _, tt := range tests {
		for admin, want := range map[bool]bool{false: tt.public, true: tt.admin} {
			err := r.CheckURL(tt.url, admin)
			if (err == nil) != want {
				t.Errorf("%.60q, admin %v: %v", tt.url, admin, err)
			}
			if err != nil && (len(fault.From(err).Fields) != 1 || fault.From(err).Fields[0].Name != MemberURL) {
				t.Errorf("%.60q: the error names no field: %v", tt.url, err)
			}
		}
	}
}

func TestEventAndPattern(t *testing.T) {
	r := Rules{Events: record.Events()}
	if name, err := r.Event("DEBTOR.created"); err != nil || name != "debtor.created" {
		t.Error(name, err)
	}
	for _, text := range []string{"debtor.*", "*", "", "debtor.vanished"} {
		if _, err := r.Event(text); !fault.Is(err, fault.Invalid) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if pattern, err := r.Pattern("DEBTOR.*"); err != nil || pattern != "debtor.*" {
		t.Error(pattern, err)
	}
}

func TestCheckHeaders(t *testing.T) {
	for name, h := range map[string]Header{
		"no name":         {Name: "", Value: "x"},
		"space in name":   {Name: "X Token", Value: "x"},
		"colon in name":   {Name: "X:", Value: "x"},
		"unicode in name": {Name: "Tokén", Value: "x"},
		"line end":        {Name: "X-Token", Value: "a\r\nX-Evil: b"},
		"bare line feed":  {Name: "X-Token", Value: "a\nb"},
		"null":            {Name: "X-Token", Value: "a\x00"},
		"bad UTF-8":       {Name: "X-Token", Value: "a\xff"},
		"outer space":     {Name: "X-Token", Value: " a"},
		"host":            {Name: "Host", Value: "example.com"},
		"length":          {Name: "content-LENGTH", Value: "x"},
		"hop by hop":      {Name: "Transfer-Encoding", Value: "chunked"},
		"reserved":        {Name: "Webhook-Signature", Value: "v1,x"},
		"long":            {Name: "X-Token", Value: strings.Repeat("x", 8193)},
	} {
		if err := CheckHeaders([]Header{h}); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", name, err)
		} else if h.Value != "x" && strings.Contains(err.Error(), h.Value) {
			t.Errorf("%s: the error repeats the value", name)
		}
	}
	if err := CheckHeaders([]Header{{Name: "Authorization", Value: "Bearer x"}, {Name: "X-Empty", Value: ""}, {Name: "User-Agent", Value: "mine"}, {Name: "X-Name", Value: "Jürgen\t1"}}); err != nil {
		t.Error(err)
	}
	if err := CheckHeaders([]Header{{Name: "X-Token", Value: "***"}}); !fault.Is(err, fault.Invalid) || fault.From(err).Fields[0] != (fault.Field{Name: MemberHeaders, Message: "number 1: give the value, *** is its mask"}) {
		t.Error(err)
	}
	if err := CheckHeaders(make([]Header, 51)); !fault.Is(err, fault.Invalid) {
		t.Error(err)
	}
}

func TestParseSchedule(t *testing.T) {
	for text, n := range map[string]int{"5s, 30s,2m": 3, "1h": 1, "": 0, "5": 0, "-5s": 0, "500ms": 0, "721h": 0, strings.Repeat("1s,", 100) + "1s": 0} {
		waits, err := ParseSchedule(text)
		if len(waits) != n || (err == nil) != (n > 0) {
			t.Errorf("%.20q: %v, %v", text, waits, err)
		}
	}
}

// TestWithheldEvents lists the events that owners may not read: the writer reads all of them, the
// reader those of kinds without a role, and a SubscriberID alone none.
func TestWithheldEvents(t *testing.T) {
	rules := Rules{
		Events: []record.Event{{Name: "shop.opened"}, {Name: "debtor.updated"}, {Name: "Order.Posted"}, {Name: "bill.posted"}},
		Captured: map[string]*record.Kind{
			"debtor.updated": {Name: "Debtor"},
			"bill.updated":   {Name: "Bill", Role: "writer"},
		},
		Roles: map[string]string{
			"debtor.updated": "",
			"bill.updated":   "writer",
			"Gone.Updated":   "",       // not published any more
			"Gone.Deleted":   "writer", // not published any more
			"Order.Posted":   "",       // posted by clients now
			"Bill.Posted":    "writer", // posted by clients now
		},
		MayRead: func(owner string, kind *record.Kind) bool { return owner == "writer" || kind.Role == "" },
	}
	for owner, want := range map[string][]string{
		"writer": nil,
		"reader": {"bill.posted", "bill.updated", "gone.deleted"},
		"":       {"bill.posted", "bill.updated", "debtor.updated", "gone.deleted", "gone.updated"},
	} {
		got := slices.Sorted(maps.Keys(rules.Withheld(owner)))
		if !slices.Equal(got, want) {
			t.Errorf("from the owner %q are withheld %q, want %q", owner, got, want)
		}
	}
}
