package main

import (
	"net/url"
	"strings"
	"testing"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
)

// TestHeldMessages subscribes to all events, which starts no capture, and enables a subscription with
// the SubscriberID alone, which holds its message. The commands print that.
func TestHeldMessages(t *testing.T) {
	f := startCapture(t, strings.Replace(whyKind, `"always"`, `"`+record.CaptureOnDemand+`"`, 1))
	f.wantOutput(`,not requested,"nothing requests its changes: subscribe to item.*`,
		"changes", "list", "--csv")
	f.wantOutput(`subscriber "Shop" created`, "subscribers", "create", "Shop")
	f.wantOutput("notice: changes of Item are not captured",
		"subscriptions", "create", "Shop", "*", "http://127.0.0.1:9/")
	f.wantOutput("subscription created", "subscriptions", "create", "Shop", "item.*", "http://127.0.0.1:9/", "--disabled")
	f.awaitCapture()
	f.exec("INSERT INTO Items VALUES ('held', 1)")
	f.awaitStep("held", wire.WhyDisabled)

	m := f.heldMessage()
	f.wantOutput(`"Held":"the subscription was last changed with a SubscriberID alone`,
		"messages", "show", m.MessageID, "--json")
	screen := f.screen("messages", "show", m.MessageID)
	isHeld := strings.Contains(screen, "Held ") && strings.Contains(screen, "with a SubscriberID alone")
	if !isHeld || strings.Contains(screen, "Next try") {
		t.Errorf("whctl messages show of a held message: got %s, want the reason and no next try", screen)
	}
	f.wantOutput("message "+m.MessageID+" remains held: the subscription was last changed",
		"messages", "retry", m.MessageID)
	for _, c := range []struct {
		want string
		args []string
	}{
		{"\nheld ", []string{"messages", "list"}},
		{"\nnot sent", []string{"messages", "list", "--fields", "Status"}}, // as stored
		{"Held          messages of 1 subscription:", []string{"stats"}},
		{"messages of 1 subscription are held", []string{"doctor"}},
	} {
		screen := f.screen(c.args...)
		if !strings.Contains(screen, c.want) {
			t.Errorf("whctl %q with a held message: got %s, want %q", c.args, screen, c.want)
		}
	}
	f.wantOutput(`"HeldMessages":1`, "subscriptions", "show", m.SubscriptionID, "--json")
	f.wantOutput(`"Notice":"with a SubscriberID alone, the subscription receives no events of changed records (Item)`,
		"subscriptions", "show", m.SubscriptionID, "--json")
}

// heldMessage enables the disabled subscription with the SubscriberID alone, and returns its message.
func (f *whyFixture) heldMessage() wire.Message {
	f.t.Helper()
	page, err := f.admin.AllMessages(f.t.Context(), url.Values{"Key": {"held"}, "EventName": {"item.created"}})
	if err != nil {
		f.t.Fatal(err)
	}
	anonymous, err := client.New(client.Options{URL: f.service.URL})
	if err != nil {
		f.t.Fatal(err)
	}
	defer anonymous.Close()
	for _, m := range page.Results {
		enabled := wire.SubscriptionRequest{IsEnabled: new(true)}
		saved, err := anonymous.UpdateSubscription(f.t.Context(), m.SubscriberID, m.SubscriptionID, enabled)
		if err != nil {
			f.t.Fatal(err)
		}
		if saved.EventName == "item.*" {
			return m
		}
	}
	f.t.Fatalf("the messages of the change are %+v, want one for item.*", page.Results)
	return wire.Message{}
}

// screen runs whctl as an administrator on a terminal, and returns its output.
func (f *whyFixture) screen(args ...string) string {
	f.t.Helper()
	r := invocation{env: adminEnv(f.service.URL), terminal: true}.run(f.t, args...)
	if r.code != 0 {
		f.t.Fatalf("whctl %q: got %s, want exit code 0", args, r)
	}
	return r.stdout
}

// wantOutput runs whctl as an administrator, and checks that it prints a text.
func (f *whyFixture) wantOutput(want string, args ...string) {
	f.t.Helper()
	r := invocation{env: adminEnv(f.service.URL)}.run(f.t, args...)
	if r.code != 0 || !strings.Contains(r.stdout+r.stderr, want) {
		f.t.Errorf("whctl %q: got %s, want exit code 0 and %q", args, r, want)
	}
}
