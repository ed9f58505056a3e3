package tui

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/tui/screens/webhooks"
	"github.com/bizhook/whd/tui/ui"
)

// What is another in each run on the screens of forms.
func init() {
	for text, as := range map[string]string{
		`whsec_[A-Za-z0-9+/=]+`:                  "whsec_c2VjcmV0IG9mIHRoZSB0ZXN0LCBub3Qgb25lIHRoYXQ=",
		`until 20\d\d-\d\d-\d\d \d\d:\d\d(:07)?`: "until 2026-07-02 14:02",
	} {
		passing = append(passing, struct {
			is *regexp.Regexp
			as string
		}{regexp.MustCompile(text), as})
	}
}

// startListening runs a daemon whose subscriber's messages are seen.
func startListening(t *testing.T) (s *deliveries, received chan http.Header) {
	t.Helper()
	received = make(chan http.Header, 10)
	return startReceiver(t, func(_ http.ResponseWriter, r *http.Request) { received <- r.Header }), received
}

// A new subscription takes several headers, no name twice, and how it is sent.
func TestSubscriptionWithHeaders(t *testing.T) {
	s, received := startListening(t)
	d := s.subscriptionsOf(t)
	d.press("n", "'salesorder.cr", "tab", "'"+s.receiver+"/erp", "tab", "'Authorization", "tab", "'Bearer one")
	d.sees("+ add", "Authorization:", "**********")
	d.press("enter", "'authorization", "enter")
	d.sees("there is a header Authorization already")
	d.erase()
	d.press("'X-Tenant", "enter", "'7", "enter", "enter", "'y", "enter", "'5s, 30s", "ctrl+t")
	d.sees("Created", "salesorder.created to", "whsec_")
	if shown := d.text(); strings.Contains(shown, "Bearer") {
		t.Errorf("a value is shown:\n%s", shown)
	}
	got := <-received
	if got.Get("Authorization") != "Bearer one" || got.Get("X-Tenant") != "7" {
		t.Errorf("the headers were %v", got)
	}
	one := d.app.Front().(*webhooks.Subscriptions).List[0]
	if !one.Ordered || one.RetrySchedule != "5s,30s" || len(one.Headers) != 2 {
		t.Errorf("%+v", one)
	}
}

// A header that the service refuses is the one that its complaint stands at.
func TestRefusedHeader(t *testing.T) {
	s := startReceiver(t, nil)
	d := s.subscriptionsOf(t)
	d.press("n", "'salesorder.created", "tab", "'http://127.0.0.1:9/x", "tab", "'X-A", "tab", "'1", "tab", "'Content-Length", "tab", "'2", "ctrl+s")
	d.sees("number 2: its name is one that the service itself decides")
	if f := d.app.over.(*ui.Form); f.Fields[f.At].Text() != "Content-Length" {
		t.Errorf("the field is %q", f.Fields[f.At].Text())
	}
	d.erase()
	d.press("ctrl+s")
	d.sees("the name of this header is missing")
	d.erase()
	d.press("ctrl+s")
	d.sees("Created")
}

// Only what is another in the form is sent.
func TestOnlyChangesAreSent(t *testing.T) {
	s := startDeliveries(t)
	address, changes := countChanges(t, s.URL)
	c, err := client.New(client.Options{URL: address, User: "admin", Password: daemontest.AdminPassword})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	for _, test := range []struct {
		name string
		keys []string
		want string
	}{
		{"nothing", []string{"ctrl+s"}, ""},
		{"nothing, and a test", []string{"ctrl+t"}, ""},
		{"the URL", []string{"tab", "'/v2", "ctrl+s"}, `"URL":"` + s.receiver + `/erp/in/v2"`},
		{"a header, and back", []string{"tab", "tab", "'x", "backspace", "ctrl+s"}, ""},
		{"the order", []string{"tab", "tab", "tab", "tab", "tab", "'y", "ctrl+s"}, `"Ordered":true`},
		{"no schedule", []string{"tab", "tab", "tab", "tab", "tab", "tab", "ctrl+u", "ctrl+s"}, `"RetrySchedule":""`},
		{"no headers", []string{"tab", "tab", "ctrl+u", "ctrl+s"}, `"Headers":[],"RowHash":"`},
	} {
		d := drive(t, c, Options{})
		d.press("3", "enter", "E")
		d.press(test.keys...)
		sent := slices.DeleteFunc(changes(), func(r string) bool { return !strings.HasPrefix(r, "PATCH") })
		last := ""
		if len(sent) > 0 {
			_, last, _ = strings.Cut(sent[len(sent)-1], "{")
			if _, _, hash := strings.Cut(last, `"RowHash":"`); hash {
				last = last[:strings.Index(last, `"RowHash":"`)+len(`"RowHash":"`)]
			}
			last = strings.TrimSuffix(last, "}")
		}
		if test.want == "" {
			d.sees("nothing is changed yet")
		} else if last != test.want {
			t.Errorf("%s: sent %q, want %q", test.name, last, test.want)
		}
	}
}

// A subscription is changed and tried out, and the list shows what it is now,
// also what somebody else has changed of it.
func TestSubscriptionIsChanged(t *testing.T) {
	s, received := startListening(t)
	id := s.subscribe(t, "salesorder.created", s.receiver+"/old")
	d := s.subscriptionsOf(t)
	d.press("E")
	d.sees("Change salesorder.created for acme-shop", "Authorization:", ui.MaskedText, "20h, 20h")
	if _, err := s.client.UpdateSubscription(t.Context(), s.subscriber, id, wire.SubscriptionRequest{Ordered: new(true)}); err != nil {
		t.Fatal(err)
	}
	d.erase()
	d.press("'nothing.", "tab", "ctrl+s")
	d.sees("is no published event")
	d.erase()
	d.press("'salesorder.*", "tab", "'/er", "tab", "'2", "ctrl+t")
	d.sees("headers are replaced as a whole")
	d.press("'Bearer two", "ctrl+t")
	if d.app.over == nil {
		t.Error("headers that somebody else could have changed are replaced")
	}
	d.sees("change of salesorder.created: Conflict")
	d.press("esc", "esc", "E", "ctrl+u", "'salesorder.*", "tab", "'/er", "tab", "tab", "'Bearer two", "ctrl+t")
	if one := d.app.Front().(*webhooks.Subscriptions).List[0]; one.URL != s.receiver+"/old/er" || !one.Ordered {
		t.Errorf("the list has %+v", one)
	}
	d.sees("salesorder.*")
	d.sees("change of salesorder.created: done; test: ")
	if got := <-received; got.Get("Authorization") != "Bearer two" {
		t.Errorf("the headers were %v", got)
	}
}

// Messages are signed with a new secret and, for a while, with the one before.
func TestSecretIsReplaced(t *testing.T) {
	s, received := startListening(t)
	s.subscribe(t, "salesorder.created", s.receiver+"/in")
	d := s.subscriptionsOf(t)
	d.press("W")
	d.sees("Sign with a new secret?", "For 24 hours")
	d.press("enter")
	d.press("W", "y")
	d.sees("New secret", "whsec_", "The one before signs too until 20")
	d.copied.Reset()
	d.press("y")
	if secret := d.lastCopied(); !strings.HasPrefix(secret, "whsec_") || len(secret) != 50 {
		t.Errorf("copied %q", secret)
	}
	d.press("esc", "T", "y")
	if got := (<-received).Get("Webhook-Signature"); len(strings.Fields(got)) != 2 {
		t.Errorf("the signature is %q", got)
	}
}

// A subscriber gets another name, and a name that is refused stays in its form.
func TestSubscriberIsChanged(t *testing.T) {
	s := startDeliveries(t)
	d := s.open(t, Options{})
	d.press("3", "enter", "esc", "E", "ctrl+s")
	d.sees("nothing is changed yet", "Change acme-shop")
	d.erase()
	d.press("ctrl+s")
	d.sees("Change acme-shop", "a subscriber has a name")
	d.press("'" + strings.Repeat("x", 257))
	d.press("ctrl+s")
	d.sees("at most 256 characters")
	d.erase()
	d.press("'ACME online", "enter")
	d.sees("ACME online", "change of acme-shop: done")
	d.press("n", "ctrl+s")
	d.sees("New subscriber")
	d.press("'erp", "ctrl+s")
	d.sees("new subscriber erp: done")
	d.sees("▸ erp")
	d.press("esc", "k", "enter")
	d.sees("Subscribers › ACME online")
	if twin := d.app.Front().Equivalent(); !strings.Contains(twin, "ACME online") {
		t.Errorf("the command is %s", twin)
	}
}

// The screens of forms that change something.
func TestChangeScreens(t *testing.T) {
	s := startDeliveries(t)
	forAppearances(t, func(t *testing.T, appearance string, o Options) {
		d := s.open(t, o)
		d.press("3", "E")
		d.golden("S08-subscriber-change", appearance)
		d.press("esc", "enter", "E")
		d.golden("S08-subscription-change", appearance)
		d.press("tab", "tab", "'2", "ctrl+s")
		d.golden("S08-subscription-headers", appearance)
		d.press("esc", "D")
		d.golden("S11-subscription-delete", appearance)
		d.press("esc", "W")
		d.golden("S11-secret", appearance)
		d.press("y")
		d.golden("S00-secret", appearance)
	})
}
