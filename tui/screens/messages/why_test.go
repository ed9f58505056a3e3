package messages_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/tuitest"
	"github.com/bizhook/whd/tui/ui"
)

// The history of a key opens from a message, and by the command why.
func TestWhy(t *testing.T) {
	s := tuitest.StartReceiver(t, tuitest.RespondWith(http.StatusServiceUnavailable))
	s.Subscribe(t, "debtor.updated", s.Receiver+"/erp?key=of-the-receiver")
	s.PublishPost(t, wire.EventPost{EventName: "debtor.updated", Key: "D 4711", Body: "{}"}, 2)
	s.Publish(t, "debtor.updated", "{}", 2)
	d := s.Open(t, tui.Options{Appearance: tui.Appearance{Theme: theme.Dark}})
	d.Resize(140, 30)
	d.Press("4", "w")
	d.WantText("the event of this message has no key")
	d.Press("down", "w")
	d.WantText("Why D 4711", "1 event, 1 subscription", "event", "debtor.updated", "acme-shop", " /erp?..",
		"attempt 1   503 Service Unavailable, ", "attempt 2   in ")
	d.WantNoText("not captured")
	d.Resize(140, 30)
	d.Press("enter")
	d.WantText("Why D 4711 › ", "503 Service Unavailable", "Body")
	d.Press("esc", "g", "enter")
	d.WantText("Key=", "4711")
	d.Press("esc", "r")
	d.WantText("this step has no message")
	d.Press("down", "r")
	d.WantText("Retry this message?", "debtor.updated to")
	d.Press("esc", "esc", ":", "'why none", "enter")
	d.WantText("Why none", "not captured", "no event")
	page, err := s.Client.AllMessages(t.Context(), url.Values{"Key": {"D 4711"}})
	if err != nil {
		t.Fatal(err)
	}
	id := page.Results[0].MessageID
	for _, text := range []string{id, id[:8] + ".." + id[len(id)-4:]} {
		d.Press("esc", ":", "'why "+text, "enter")
		d.WantText("Why "+id[:8], "debtor.updated", "503 Service Unavailable", "attempt 2   in ")
	}
}

// The event of a message can have no key. The line below the list, or below the message, then has the
// command that shows the history of the message alone.
func TestWhyWithoutKey(t *testing.T) {
	s := tuitest.StartReceiver(t, tuitest.RespondWith(http.StatusOK))
	s.Subscribe(t, "debtor.updated", s.Receiver+"/erp")
	s.Publish(t, "debtor.updated", "{}", 1)
	page, err := s.Client.AllMessages(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	id := ui.ShortID(page.Results[0].MessageID)
	d := s.Open(t, tui.Options{})
	for _, key := range []string{"4", "enter"} {
		d.Press(key, "w")
		d.WantText("the event of this message has no key; :why " + id + " shows it alone")
	}
	d.Press(":", "'why "+id, "enter")
	d.WantText("Why "+id, "debtor.updated", "attempt 1   200 OK")
}

// whySteps are the steps of a record that was changed: for one subscription an endpoint that fails,
// for another one a condition that was not met, and for a third one a delivery.
func whySteps(now time.Time) []wire.WhyStep {
	at := func(before time.Duration) wire.Timestamp { return wire.Timestamp(now.Add(-before)) }
	changed := wire.WhyStep{
		Kind:      "Debtor",
		EventID:   "11f0c2ab-0000-4000-8000-0000000f9ab2",
		EventName: "debtor.updated",
	}
	step := func(base wire.WhyStep, name, text string, time wire.Timestamp) wire.WhyStep {
		base.Step = name
		base.Text = text
		base.At = time
		return base
	}
	change := changed
	change.ChangeID = 7
	toSubscriber := func(subscription, subscriber, url, message string) wire.WhyStep {
		s := changed
		s.SubscriptionID = subscription
		s.Subscriber = subscriber
		s.URL = url
		s.MessageID = message
		s.SubscriberID = "subscriber of " + subscription
		return s
	}
	acme := toSubscriber("s1", "Acme", "https://acme.example/html/debtors", "m1")
	billing := toSubscriber("s2", "Billing GmbH", "https://billing.test/creditors", "")
	shop := toSubscriber("s3", "Shop", "https://shop.example/hooks/erp?..", "m3")
	withCode := func(s wire.WhyStep, code int) wire.WhyStep {
		s.Code = code
		return s
	}
	paused := step(acme, wire.WhyBreakerOpen, "Acme, https://acme.example/html/debtors: its endpoint fails", wire.Timestamp{})
	paused.Due = at(-390 * time.Second)
	return []wire.WhyStep{
		step(change, wire.WhyChange, "Debtor updated: CreditLimit 1000 -> 1500", at(8*time.Minute)),
		step(changed, wire.WhyEvent, "debtor.updated", at(8*time.Minute)),
		step(billing, wire.WhyUnmet,
			`Billing GmbH, https://billing.test/creditors: its condition was not met: {"Changed":"Status","Before.Status":1,"Status":2}`,
			at(8*time.Minute)),
		step(acme, wire.WhyMessage, "for Acme, https://acme.example/html/debtors", at(8*time.Minute)),
		step(shop, wire.WhyMessage, "for Shop, https://shop.example/hooks/erp?..", at(8*time.Minute)),
		withCode(step(acme, wire.WhyAttempt, "1: 500 Internal Server Error, 12ms", at(479*time.Second)), 500),
		withCode(step(shop, wire.WhyAttempt, "1: 204 No Content, 1.234s", at(478*time.Second)), 204),
		step(shop, wire.WhyDelivered, "to https://shop.example/hooks/erp?..", at(478*time.Second)),
		withCode(step(acme, wire.WhyAttempt, "2: 500 Internal Server Error, 9ms", at(459*time.Second)), 500),
		paused,
	}
}

// The timeline groups the steps of a change by subscription, and wraps long texts. The last failed
// attempt is selected.
func TestWhyTimeline(t *testing.T) {
	now := time.Date(2026, 7, 1, 14, 2, 6, 0, time.UTC) // the clock of the driver
	why, err := json.Marshal(wire.Why{Key: "4711", Steps: whySteps(now)})
	if err != nil {
		t.Fatal(err)
	}
	responses := map[string]string{"/Webhooks/Why?Key=4711": string(why)}
	c := tuitest.CannedDaemon(t, tuitest.DemoDaemon(t), responses)
	tuitest.ForAppearances(t, func(t *testing.T, appearance string, o tui.Options) {
		d := tuitest.Drive(t, c, o)
		d.AwaitLive()
		d.Press(":", "'why 4711", "enter")
		d.Golden("S10-why", appearance)
		d.Resize(140, 30)
		d.WantText("Why Debtor 4711", "1 change, 3 subscriptions", "CreditLimit 1000", "acme.example /html/debtors",
			"attempt 1    500 Internal Server Error, 12 ms", "in 6m: paused after failures",
			"no message   its condition was not met", "204 No Content, 1.2 s")
		d.Press("/", "'attempt 2", "enter")
		d.WantText("500 Internal Server Error, 9 ms", "Acme")
		d.WantNoText("12 ms")
		d.WantNoText("Billing")
		for _, heading := range []string{"Billing GmbH", "billing.test /cred"} {
			d.Press("/", "ctrl+u", "'"+heading, "enter")
			d.WantText("Billing GmbH", "no message   its condition was not met")
			d.WantNoText("acme.example")
		}
	})
}
