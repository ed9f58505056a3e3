package webhook

import (
	"maps"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/fault"
)

// TestCheckURL checks which URLs subscriptions may have: public is for all callers, admin for
// administrators.
func TestCheckURL(t *testing.T) {
	target, err := url.Parse("http://10.0.0.5:5050/Webhooks/Test")
	if err != nil {
		t.Fatal(err)
	}
	r := Rules{
		Guard:      Guard{IsSelf: func(a netip.AddrPort) bool { return a.Port() == 5050 }},
		TestTarget: target,
	}
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
	for _, test := range tests {
		for admin, want := range map[bool]bool{false: test.public, true: test.admin} {
			err := r.CheckURL(test.url, admin)
			if isAllowed := err == nil; isAllowed != want {
				t.Errorf("%.60q, admin %v: allowed %v (%v), want %v", test.url, admin, isAllowed, err, want)
			}
			if err != nil {
				expectField(t, err, MemberURL)
			}
		}
	}
}

// expectField checks that an error is that of one field.
func expectField(t *testing.T, err error, want string) {
	t.Helper()
	fields := fault.From(err).Fields
	if len(fields) != 1 || fields[0].Name != want {
		t.Errorf("the error %v is of the fields %+v, want only %s", err, fields, want)
	}
}

// TestEventAndPattern reads names of events, and patterns, in any letter case.
func TestEventAndPattern(t *testing.T) {
	r := Rules{Events: record.Events()}
	name, err := r.Event("DEBTOR.created")
	if err != nil || name != "debtor.created" {
		t.Errorf("the event DEBTOR.created is %q (%v), want debtor.created", name, err)
	}
	for _, text := range []string{"debtor.*", "*", "", "debtor.vanished"} {
		_, err := r.Event(text)
		if !fault.Is(err, fault.Invalid) {
			t.Errorf("the event %q: error %v, want Invalid", text, err)
		}
	}
	pattern, err := r.Pattern("DEBTOR.*")
	if err != nil || pattern != "debtor.*" {
		t.Errorf("the pattern DEBTOR.* is %q (%v), want debtor.*", pattern, err)
	}
}

// TestCheckHeaders checks headers that subscriptions must not have.
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
		err := CheckHeaders([]Header{h})
		if !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: error %v, want Invalid", name, err)
			continue
		}
		if h.Value != "x" && strings.Contains(err.Error(), h.Value) {
			t.Errorf("%s: the error %v repeats the value", name, err)
		}
	}

	masked := CheckHeaders([]Header{{Name: "X-Token", Value: "***"}})
	want := fault.Field{Name: MemberHeaders, Message: "number 1: give the value, *** is its mask"}
	if !fault.Is(masked, fault.Invalid) || fault.From(masked).Fields[0] != want {
		t.Errorf("a mask as the value: error %v, want %+v", masked, want)
	}
	tooMany := CheckHeaders(make([]Header, 51))
	if !fault.Is(tooMany, fault.Invalid) {
		t.Errorf("51 headers: error %v, want Invalid", tooMany)
	}
}

// TestCheckValidHeaders checks headers that subscriptions may have.
func TestCheckValidHeaders(t *testing.T) {
	err := CheckHeaders([]Header{
		{Name: "Authorization", Value: "Bearer x"},
		{Name: "X-Empty", Value: ""},
		{Name: "User-Agent", Value: "mine"},
		{Name: "X-Name", Value: "Jürgen\t1"},
	})
	if err != nil {
		t.Errorf("valid headers: error %v, want none", err)
	}
}

// TestParseSchedule parses schedules, and texts that are none.
func TestParseSchedule(t *testing.T) {
	for text, want := range map[string][]time.Duration{
		"5s, 30s,2m": {5 * time.Second, 30 * time.Second, 2 * time.Minute},
		"1h":         {time.Hour},
	} {
		got, err := ParseSchedule(text)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("parsing %q: %v (%v), want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "5", "-5s", "500ms", "721h", strings.Repeat("1s,", 100) + "1s"} {
		got, err := ParseSchedule(text)
		if err == nil || len(got) > 0 {
			t.Errorf("parsing %.20q: %v (%v), want an error", text, got, err)
		}
	}
}

// TestWithheldEvents lists the events that owners may not read: the writer reads all of them, the
// reader those of kinds without a role, and a SubscriberID alone none. Only admins read the events of
// the service, which may be queued from a time when the owner was an admin.
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
		MayRead: func(owner string, kind *record.Kind) bool {
			return owner == "admin" || owner == "writer" && kind.Role != "admin" || kind.Role == ""
		},
	}
	var service []string
	for _, event := range record.ServiceEvents() {
		service = append(service, event.Name)
	}
	for owner, want := range map[string][]string{
		"admin":  nil,
		"writer": service,
		"reader": slices.Concat(service, []string{"bill.posted", "bill.updated", "gone.deleted"}),
		"":       slices.Concat(service, []string{"bill.posted", "bill.updated", "debtor.updated", "gone.deleted", "gone.updated"}),
	} {
		want = slices.Sorted(slices.Values(want))
		got := slices.Sorted(maps.Keys(rules.Withheld(owner)))
		if !slices.Equal(got, want) {
			t.Errorf("from the owner %q are withheld %q, want %q", owner, got, want)
		}
	}
}
