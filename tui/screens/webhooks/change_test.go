package webhooks_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/tui"
	"github.com/bizhook/whd/tui/screens/webhooks"
	"github.com/bizhook/whd/tui/tuitest"
	"github.com/bizhook/whd/tui/ui"
)

// A new subscription has several headers, rejects duplicate names, and is sent with
// its values.
func TestNewSubscriptionSendsHeaders(t *testing.T) {
	s, received := tuitest.StartListening(t)
	d := s.OpenSubscriptions(t)
	d.Press("n", "'salesorder.cr", "tab", "'"+s.Receiver+"/erp")
	d.Press("tab", "'Authorization", "tab", "'Bearer one")
	d.WantText("+ add", "Authorization:", "**********")
	d.Press("enter", "'authorization", "enter")
	d.WantText("duplicate header Authorization")
	d.Erase()
	d.Press("'X-Tenant", "enter", "'7", "enter", "enter", "'y", "enter", "'5s, 30s", "ctrl+t")
	d.WantText("Created", "salesorder.created to", "whsec_")
	if shown := d.Text(); strings.Contains(shown, "Bearer") {
		t.Errorf("a header value is shown:\n%s", shown)
	}
	got := <-received
	if got.Get("Authorization") != "Bearer one" || got.Get("X-Tenant") != "7" {
		t.Errorf("the test was sent with the headers %v", got)
	}
	subscription := d.App.Front().(*webhooks.Subscriptions).List[0]
	if !subscription.Ordered || subscription.RetrySchedule != "5s,30s" || len(subscription.Headers) != 2 {
		t.Errorf("the new subscription is %+v, want ordered messages, a schedule and two headers", subscription)
	}
}

// The error of a rejected header is shown at its field.
func TestRejectedHeaderShowsError(t *testing.T) {
	s := tuitest.StartReceiver(t, nil)
	d := s.OpenSubscriptions(t)
	d.Press("n", "'salesorder.created", "tab", "'http://127.0.0.1:9/x")
	d.Press("tab", "'X-A", "tab", "'1", "tab", "'Content-Length", "tab", "'2", "ctrl+s")
	d.WantText("number 2: its name is reserved for the service")
	if f := d.App.Overlay().(*ui.Form); f.Fields[f.At].Text() != "Content-Length" {
		t.Errorf("the selected field contains %q, want the rejected header", f.Fields[f.At].Text())
	}
	d.Erase()
	d.Press("ctrl+s")
	d.WantText("the header name is missing")
	d.Erase()
	d.Press("ctrl+s")
	d.WantText("Created")
}

// The form sends changed fields only.
func TestOnlyChangedFieldsAreSent(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	address, changes := tuitest.RecordChanges(t, s.URL)
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
		{"the URL", []string{"tab", "'/v2", "ctrl+s"}, `"URL":"` + s.Receiver + `/erp/in/v2"`},
		{"a header, and back", []string{"tab", "tab", "'x", "backspace", "ctrl+s"}, ""},
		{"the order", []string{"tab", "tab", "tab", "tab", "tab", "'y", "ctrl+s"}, `"Ordered":true`},
		{"no schedule", []string{"tab", "tab", "tab", "tab", "tab", "tab", "ctrl+u", "ctrl+s"}, `"RetrySchedule":""`},
		{"the rate", []string{"tab", "tab", "tab", "tab", "tab", "tab", "tab", "'600", "ctrl+s"}, `"MaxPerMinute":600`},
		{"no headers", []string{"tab", "tab", "ctrl+u", "ctrl+s"}, `"Headers":[],"RowHash":"`},
	} {
		d := tuitest.Drive(t, c, tui.Options{})
		d.Press("3", "enter", "E")
		d.Press(test.keys...)
		if test.want == "" {
			d.WantText("no changes")
		} else if got := lastUpdate(changes()); got != test.want {
			t.Errorf("%s: sent %q, want %q", test.name, got, test.want)
		}
	}
}

// lastUpdate returns the fields of the last update among the changes, without the value of
// its row hash.
func lastUpdate(changes []string) string {
	for _, change := range slices.Backward(changes) {
		if !strings.HasPrefix(change, "PATCH") {
			continue
		}
		_, fields, _ := strings.Cut(change, "{")
		const hash = `"RowHash":"`
		if before, _, found := strings.Cut(fields, hash); found {
			return before + hash
		}
		return strings.TrimSuffix(fields, "}")
	}
	return ""
}

// A subscription is changed and tested, and the list shows its current state,
// including changes made elsewhere.
func TestSubscriptionIsChangedAndTested(t *testing.T) {
	s, received := tuitest.StartListening(t)
	id := s.Subscribe(t, "salesorder.created", s.Receiver+"/old")
	d := s.OpenSubscriptions(t)
	d.Press("E")
	d.WantText("Change salesorder.created for acme-shop", "Authorization:", ui.SecretMask, "20h, 20h")
	ordered := wire.SubscriptionRequest{Ordered: new(true)}
	if _, err := s.Client.UpdateSubscription(t.Context(), s.Subscriber, id, ordered); err != nil {
		t.Fatal(err)
	}
	d.Erase()
	d.Press("'nothing.", "tab", "ctrl+s")
	d.WantText("is not a published event")
	d.Erase()
	d.Press("'salesorder.*", "tab", "'/er", "tab", "'2", "ctrl+t")
	d.WantText("saving replaces all headers")
	d.Press("'Bearer two", "ctrl+t")
	if d.App.Overlay() == nil {
		t.Error("a change made elsewhere was overwritten, want the form with a conflict")
	}
	d.WantText("change of salesorder.created: Conflict")
	d.Press("esc", "esc", "E", "ctrl+u", "'salesorder.*", "tab", "'/er", "tab", "tab", "'Bearer two", "ctrl+t")
	subscription := d.App.Front().(*webhooks.Subscriptions).List[0]
	if subscription.URL != s.Receiver+"/old/er" || !subscription.Ordered {
		t.Errorf("the list has %+v, want both changes", subscription)
	}
	d.WantText("salesorder.*", "change of salesorder.created: done; test: ")
	if got := <-received; got.Get("Authorization") != "Bearer two" {
		t.Errorf("the test was sent with the headers %v", got)
	}
}

// Messages are signed with the new and, for a time, the previous secret.
func TestMessagesAreSignedWithRotatedSecret(t *testing.T) {
	s, received := tuitest.StartListening(t)
	s.Subscribe(t, "salesorder.created", s.Receiver+"/in")
	d := s.OpenSubscriptions(t)
	d.Press("W")
	d.WantText("Create a new signing secret?", "for 24 more hours")
	d.Press("enter")
	d.Press("W", "y")
	d.WantText("New secret", "whsec_", "Previous secret valid until 20")
	d.Copied.Reset()
	d.Press("y")
	if secret := d.LastCopied(); !strings.HasPrefix(secret, "whsec_") || len(secret) != 50 {
		t.Errorf("copied %q, want the new secret", secret)
	}
	d.Press("esc", "T", "y")
	if got := (<-received).Get("Webhook-Signature"); len(strings.Fields(got)) != 2 {
		t.Errorf("the signature is %q, want one of each secret", got)
	}
}

// A subscriber is renamed; a rejected name stays in its form.
func TestSubscriberIsRenamed(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	d := s.Open(t, tui.Options{})
	d.Press("3", "enter", "esc", "E", "ctrl+s")
	d.WantText("no changes", "Change acme-shop")
	d.Erase()
	d.Press("ctrl+s")
	d.WantText("Change acme-shop", "enter a name")
	d.Press("'" + strings.Repeat("x", 257))
	d.Press("ctrl+s")
	d.WantText("at most 256 characters")
	d.Erase()
	d.Press("'ACME online", "enter")
	d.WantText("ACME online", "change of acme-shop: done")
	d.Press("n", "ctrl+s")
	d.WantText("New subscriber")
	d.Press("'erp", "ctrl+s")
	d.WantText("new subscriber erp: done")
	d.WantText("▌  erp")
	d.Press("esc", "k", "enter")
	d.WantText("Subscribers › ACME online")
	if command := d.App.Front().Equivalent(); !strings.Contains(command, "ACME online") {
		t.Errorf("the equivalent command is %s", command)
	}
}

// Goldens of the forms that change subscribers and subscriptions.
func TestChangeFormGoldens(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	tuitest.ForAppearances(t, func(t *testing.T, appearance string, o tui.Options) {
		d := s.Open(t, o)
		d.Press("3", "E")
		d.Golden("S08-subscriber-change", appearance)
		d.Press("esc", "enter", "E")
		d.Golden("S08-subscription-change", appearance)
		d.Press("tab", "tab", "'2", "ctrl+s")
		d.Golden("S08-subscription-headers", appearance)
		d.Press("esc", "esc", "D")
		d.Golden("S11-subscription-delete", appearance)
		d.Press("esc", "W")
		d.Golden("S11-secret", appearance)
		d.Press("y")
		d.Golden("S00-secret", appearance)
	})
}
