package daemon_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
)

// TestHeldMessageIsShown enables a subscription with the SubscriberID alone, which may not read
// the records: its message is held, and shown as held, until an administrator saves the
// subscription.
func TestHeldMessageIsShown(t *testing.T) {
	t.Parallel()
	s := newCaptureStory(t, "")
	s.exec(debtors...)
	s.start(eventKinds)
	ctx := t.Context()
	shop := s.subscriber()
	anonymous, err := client.New(client.Options{URL: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(anonymous.Close)
	to, got := receiver(t, 200)
	sub, err := s.admin.AddSubscription(ctx, shop, wire.SubscriptionRequest{
		URL:       &to,
		EventName: pointer("debtor.*"),
		IsEnabled: pointer(false),
	})
	if err != nil {
		t.Fatal(err)
	}
	s.capturing("Debtor")
	s.exec("UPDATE Debtors SET Status = 3")
	awaitMessages(t, s.admin, 1, url.Values{"SubscriptionID": {sub.RecID}})
	enabled := wire.SubscriptionRequest{IsEnabled: pointer(true)}
	if _, err := anonymous.UpdateSubscription(ctx, shop, sub.RecID, enabled); err != nil {
		t.Fatal(err)
	}

	const reason = "with a SubscriberID alone"
	message := func() (wire.Message, string) {
		t.Helper()
		listed := url.Values{"SubscriptionID": {sub.RecID}}
		page, err := s.admin.AllMessages(ctx, listed)
		if err != nil || len(page.Results) != 1 {
			t.Fatalf("the messages: %+v, %v; want 1", page, err)
		}
		m := page.Results[0]
		named := url.Values{"MessageID": {m.MessageID}}
		all, err := s.admin.AllMessages(ctx, named)
		if err != nil {
			t.Fatal(err)
		}
		subscribers, err := s.admin.Messages(ctx, shop, named)
		if err != nil {
			t.Fatal(err)
		}
		held := all.Meta[wire.MetaHeld]
		if subscribers.Meta[wire.MetaHeld] != held {
			t.Errorf("the message of the subscriber: Held is %q, want %q as of all messages",
				subscribers.Meta[wire.MetaHeld], held)
		}
		return m, held
	}
	m, held := message()
	if m.Status != 0 || !strings.Contains(held, reason) {
		t.Errorf("the held message: status %d, Held %q; want 0 and the reason %q", m.Status, held, reason)
	}
	state, err := s.admin.RetryMessage(ctx, shop, sub.RecID, m.MessageID)
	if err != nil || !strings.Contains(state.Held, reason) {
		t.Errorf("the retry of the held message: %+v, %v; want Held with %q", state, err, reason)
	}
	heldMessages := func(name string, c *client.Client, want int) {
		t.Helper()
		list, err := c.Subscriptions(ctx, shop)
		if err != nil || len(list) != 1 || list[0].HeldMessages != want {
			t.Errorf("the subscriptions for %s: %+v, %v; want one with HeldMessages %d", name, list, err, want)
		}
	}
	heldMessages("an administrator", s.admin, 1)
	heldMessages("the SubscriberID alone", anonymous, 0)
	if len(got) > 0 {
		t.Errorf("a held message was delivered: %s", (<-got).body)
	}

	saved, err := s.admin.UpdateSubscription(ctx, shop, sub.RecID, enabled)
	if err != nil || saved.HeldMessages != 0 {
		t.Errorf("the saved subscription: %+v, %v; want HeldMessages 0", saved, err)
	}
	_, held = message()
	if held != "" {
		t.Errorf("after an administrator saved the subscription, Held is %q, want none", held)
	}
	await(t, got)
}
