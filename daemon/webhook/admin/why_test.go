package admin

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client/goldentest"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/webhook"
)

// whyNoon is the time of the events.
var whyNoon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// whySituation has four subscriptions: of a shop, of a warehouse with a failing endpoint,
// of an archive that is disabled, and of the ledger, in order by key.
func whySituation(t *testing.T) Situation {
	t.Helper()
	debtor := record.Kind{Name: "Debtor", Database: record.RecordsDB, Key: []string{"DebtorID"}, Capture: record.CaptureAlways, Events: "debtor", Fields: []record.Field{{Name: "DebtorID", Type: record.Text}}}
	silent := debtor
	silent.Name, silent.Events = "Silent", ""
	kinds, err := record.NewRegistry(debtor, silent)
	if err != nil {
		t.Fatal(err)
	}
	known, _ := kinds.Lookup("Debtor")
	subs := make(map[int64]*webhook.Subscription)
	for i, name := range []string{"Shop", "Warehouse", "Archive", "Ledger"} {
		id := int64(i + 1)
		subs[id] = &webhook.Subscription{ID: id, GUID: "sub-" + fmt.Sprint(id), Subscriber: "subscriber-" + fmt.Sprint(id), SubscriberInfo: webhook.SubscriberInfo{Name: name, Enabled: true}, Enabled: true,
			Pattern: "debtor.*", URL: "https://" + strings.ToLower(name) + ".example/", Owner: webhook.Owner{Name: "user:admin"}, SavedAt: whyNoon.Add(-time.Hour)}
	}
	subs[3].Enabled, subs[3].DisabledReason = false, "the endpoint responded with 410 Gone"
	subs[4].Order.ByKey = true
	rules := webhook.Rules{Captured: make(map[string]*record.Kind), MayRead: func(string, *record.Kind) bool { return true }}
	for _, op := range []string{"created", "updated", "deleted"} {
		rules.Captured["debtor."+op] = known
	}
	return Situation{Rules: rules, Subscriptions: webhook.NewSnapshot(1, subs), Kinds: kinds, Visible: func(*record.Kind) bool { return true },
		Breaker:       func(sub int64) (time.Time, bool) { return whyNoon.Add(time.Hour), sub == 2 },
		RequestedWait: func(int64) time.Time { return time.Time{} }}
}

// whyMessage returns a message of an event for a subscription.
func whyMessage(id, sub int64, e *webhook.Event, status webhook.Status, attempts int) *webhook.Message {
	return &webhook.Message{
		ID:           id,
		GUID:         "message-" + fmt.Sprint(id),
		Event:        e,
		Subscription: sub,
		URL:          whyURLs[sub],
		State:        webhook.State{Status: status, Attempts: attempts, Next: whyNoon.Add(10 * time.Minute)},
	}
}

// whyURLs are the URLs of messages by subscription.
var whyURLs = map[int64]string{
	1: "https://shop.example/",
	2: "https://warehouse.example/?token=secret",
	3: "https://archive.example/",
	4: "https://ledger.example/",
}

// whyAttempts returns attempts with these status codes.
func whyAttempts(codes ...int) []TracedAttempt {
	texts := map[int]string{0: "connection refused", 200: "OK", 422: "Unprocessable Entity", 503: "Service Unavailable"}
	var attempts []TracedAttempt
	for i, code := range codes {
		attempts = append(attempts, TracedAttempt{
			Number:  i + 1,
			Code:    code,
			Message: texts[code],
			Took:    12345 * time.Microsecond,
			At:      whyNoon.Add(time.Duration(i*i+1) * time.Second),
		})
	}
	return attempts
}

// TestExplain compares explanations of everything that can and cannot happen with the golden
// file.
func TestExplain(t *testing.T) {
	event := &webhook.Event{ID: 10, GUID: "event-10", Name: "debtor.updated", AddedAt: whyNoon}
	only := func(m ...*webhook.Message) *Trace {
		return &Trace{
			Changes:  []TracedChange{{"Debtor", "updated", 7, 10, whyNoon.Add(-time.Millisecond)}},
			Events:   map[int64]*webhook.Event{10: event},
			Messages: m,
			Attempts: make(map[int64][]TracedAttempt),
		}
	}
	with := func(codes []int, m ...*webhook.Message) *Trace {
		trace := only(m...)
		trace.Attempts[m[0].ID] = whyAttempts(codes...)
		return trace
	}
	ofShop := func(s *Situation) {
		shop := *s.Subscriptions.Subscription(1)
		s.Subscriptions = webhook.NewSnapshot(2, map[int64]*webhook.Subscription{1: &shop})
	}
	ofSubscription := func(sub int64) func(*Situation) {
		return func(s *Situation) {
			s.Subscriptions = webhook.NewSnapshot(2, map[int64]*webhook.Subscription{sub: s.Subscriptions.Subscription(sub)})
		}
	}
	conditional := func(s *Situation) {
		shop := *s.Subscriptions.Subscription(1)
		shop.Where.Text = `{"Changed":"Status","Before.Status":1,"Status":2}`
		s.Subscriptions = webhook.NewSnapshot(2, map[int64]*webhook.Subscription{1: &shop, 2: s.Subscriptions.Subscription(2)})
	}
	none := func(s *Situation) { s.Subscriptions = webhook.NewSnapshot(2, nil) }
	tooMany := only()
	tooMany.Since = whyNoon
	onlyOne := with([]int{422}, whyMessage(11, 4, event, webhook.RetryPending, 1), whyMessage(12, 4, event, webhook.NotSent, 0))
	onlyOne.Only = onlyOne.Messages[1]
	noMessages := &Trace{Changes: []TracedChange{{"Debtor", "deleted", 8, 0, whyNoon}}}
	var b strings.Builder
	for _, c := range []struct {
		name  string
		trace *Trace
		in    func(*Situation)
	}{
		{"delivered", with([]int{200}, whyMessage(11, 1, event, webhook.Successful, 1)), ofShop},
		{"delivered after a retry", with([]int{503, 0, 200}, whyMessage(11, 1, event, webhook.Successful, 3)), ofShop},
		{"retrying", with([]int{503}, whyMessage(11, 1, event, webhook.RetryPending, 1)), ofShop},
		{"failed", with([]int{422, 422}, whyMessage(11, 1, event, webhook.Failed, 2)), ofShop},
		{"breaker open", with([]int{0}, whyMessage(11, 2, event, webhook.RetryPending, 1)), ofSubscription(2)},
		{"disabled", only(whyMessage(11, 3, event, webhook.NotSent, 0)), ofSubscription(3)},
		{"held", only(whyMessage(11, 1, event, webhook.NotSent, 0)), func(s *Situation) {
			shop := *s.Subscriptions.Subscription(1)
			shop.Owner = webhook.Owner{Withheld: map[string]bool{"debtor.updated": true}}
			s.Subscriptions = webhook.NewSnapshot(2, map[int64]*webhook.Subscription{1: &shop})
		}},
		{"waiting for the same key", with([]int{422}, whyMessage(11, 4, event, webhook.RetryPending, 1), whyMessage(12, 4, event, webhook.NotSent, 0)), ofSubscription(4)},
		{"waiting", only(whyMessage(11, 1, event, webhook.NotSent, 0)), ofShop},
		{"requested wait", only(whyMessage(11, 1, event, webhook.NotSent, 0)), func(s *Situation) {
			ofShop(s)
			s.RequestedWait = func(int64) time.Time { return whyNoon.Add(30 * time.Minute) }
		}},
		{"deleted for one of two", with([]int{200}, whyMessage(11, 1, event, webhook.Successful, 1)), func(s *Situation) {
			s.Subscriptions = webhook.NewSnapshot(2, map[int64]*webhook.Subscription{1: s.Subscriptions.Subscription(1), 2: s.Subscriptions.Subscription(2)})
		}},
		{"too many messages", tooMany, ofShop},
		{"subscribed later", with([]int{200}, whyMessage(11, 1, event, webhook.Successful, 1)), func(s *Situation) {
			later := *s.Subscriptions.Subscription(2)
			later.SavedAt = whyNoon.Add(time.Second)
			s.Subscriptions = webhook.NewSnapshot(2, map[int64]*webhook.Subscription{1: s.Subscriptions.Subscription(1), 2: &later})
		}},
		{"several subscribed later", with([]int{200}, whyMessage(11, 1, event, webhook.Successful, 1)), func(s *Situation) {
			all := map[int64]*webhook.Subscription{1: s.Subscriptions.Subscription(1)}
			for id := int64(2); id <= 4; id++ {
				later := *s.Subscriptions.Subscription(id)
				later.SavedAt = whyNoon.Add(time.Second)
				all[id] = &later
			}
			s.Subscriptions = webhook.NewSnapshot(2, all)
		}},
		{"a message alone", onlyOne, ofSubscription(4)},
		{"deleted with the subscription", only(), none},
		{"no subscription", noMessages, none},
		{"not received", noMessages, ofShop},
		{"condition not met", noMessages, conditional},
		{"condition not met, or deleted", with([]int{200}, whyMessage(11, 2, event, webhook.Successful, 1)), conditional},
		{"no event", &Trace{Changes: []TracedChange{{"Silent", "created", 1, 0, whyNoon}}}, none},
		{"no change", &Trace{}, none},
		{"not captured", &Trace{}, func(s *Situation) { s.Kinds = record.Builtin() }},
		{"of a kind that the caller may not read", with([]int{200}, whyMessage(11, 1, event, webhook.Successful, 1)), func(s *Situation) { s.Visible = func(*record.Kind) bool { return false } }},
	} {
		s := whySituation(t)
		c.in(&s)
		fmt.Fprintf(&b, "== %s\n", c.name)
		for _, step := range c.trace.Explain(s) {
			at := "now"
			if !time.Time(step.At).IsZero() {
				at = time.Time(step.At).Format("15:04:05.000")
			}
			ids := step
			ids.At = wire.Timestamp{}
			ids.Step = ""
			ids.Text = ""
			encoded, err := json.Marshal(ids)
			if err != nil {
				t.Fatal(err)
			}
			members := strings.Replace(string(encoded), `"Step":"","Text":""`, "", 1)
			fmt.Fprintf(&b, "%-12s  %-15s  %s  %s\n", at, step.Step, step.Text, strings.Trim(members, "{,}"))
		}
	}
	goldentest.Compare(t, "testdata/why.golden", b.String())
}
