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
	kinds, err := record.NewRegistry(whyKind("Debtor", "debtor"), whyKind("Silent", ""))
	if err != nil {
		t.Fatal(err)
	}
	debtor, _ := kinds.Lookup("Debtor")
	rules := webhook.Rules{
		Captured: make(map[string]*record.Kind),
		MayRead:  func(string, *record.Kind) bool { return true },
	}
	for _, op := range []string{"created", "updated", "deleted"} {
		rules.Captured["debtor."+op] = debtor
	}

	subs := make(map[int64]*webhook.Subscription)
	for i, name := range []string{"Shop", "Warehouse", "Archive", "Ledger"} {
		id := int64(i + 1)
		subs[id] = &webhook.Subscription{
			ID:             id,
			GUID:           fmt.Sprint("sub-", id),
			Subscriber:     fmt.Sprint("subscriber-", id),
			SubscriberInfo: webhook.SubscriberInfo{Name: name, Enabled: true},
			Enabled:        true,
			Pattern:        "debtor.*",
			URL:            "https://" + strings.ToLower(name) + ".example/",
			Owner:          webhook.Owner{Name: "user:admin"},
			SavedAt:        whyNoon.Add(-time.Hour),
		}
	}
	subs[archiveID].Enabled = false
	subs[archiveID].DisabledReason = "the endpoint responded with 410 Gone"
	subs[orderedID].Order.ByKey = true
	return Situation{
		Rules:         rules,
		Subscriptions: webhook.NewSnapshot(1, subs),
		Kinds:         kinds,
		Visible:       func(*record.Kind) bool { return true },
		Breaker:       func(sub int64) (time.Time, bool) { return whyNoon.Add(time.Hour), sub == warehouseID },
		RequestedWait: func(int64) time.Time { return time.Time{} },
		RateWait:      func(int64) time.Duration { return 0 },
		Now:           whyNoon,
	}
}

// IDs of the subscriptions.
const (
	shopID      = 1
	warehouseID = 2
	archiveID   = 3
	orderedID   = 4 // the ledger
)

// whyKind returns a kind with events of a name, empty for none.
func whyKind(name, events string) record.Kind {
	return record.Kind{
		Name:     name,
		Database: record.RecordsDB,
		Key:      []string{"DebtorID"},
		Capture:  record.CaptureAlways,
		Events:   events,
		Fields:   []record.Field{{Name: "DebtorID", Type: record.Text}},
	}
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
	shopID:      "https://shop.example/",
	warehouseID: "https://warehouse.example/?token=secret",
	archiveID:   "https://archive.example/",
	orderedID:   "https://ledger.example/",
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

// onlySubscriptions leaves some of the subscriptions.
func onlySubscriptions(ids ...int64) func(*Situation) {
	return func(s *Situation) {
		subs := make(map[int64]*webhook.Subscription)
		for _, id := range ids {
			subs[id] = s.Subscriptions.Subscription(id)
		}
		s.Subscriptions = webhook.NewSnapshot(2, subs)
	}
}

// changing changes a subscription after others were left out.
func changing(id int64, change func(*webhook.Subscription), ids ...int64) func(*Situation) {
	return func(s *Situation) {
		onlySubscriptions(ids...)(s)
		change(s.Subscriptions.Subscription(id))
	}
}

// subscribedLater makes a subscription one that was added after the event.
func subscribedLater(sub *webhook.Subscription) { sub.SavedAt = whyNoon.Add(time.Second) }

// withCondition sets a condition.
func withCondition(sub *webhook.Subscription) {
	sub.Where.Text = `{"Changed":"Status","Before.Status":1,"Status":2}`
}

// withheld takes the right to read the event.
func withheld(sub *webhook.Subscription) {
	sub.Owner.Withheld = map[string]bool{"debtor.updated": true}
}

// savedAlone makes a subscription one that was last changed with the SubscriberID alone.
func savedAlone(sub *webhook.Subscription) {
	withheld(sub)
	sub.Owner.Name = ""
}

// whyCase is a trace in a situation.
type whyCase struct {
	name  string
	trace *Trace
	in    func(*Situation)
}

// whyCases returns everything that can and cannot happen.
func whyCases() []whyCase {
	event := &webhook.Event{ID: 10, GUID: "event-10", Name: "debtor.updated", AddedAt: whyNoon}
	messages := func(m ...*webhook.Message) *Trace {
		return &Trace{
			Changes: []TracedChange{{
				Kind:    "Debtor",
				Op:      "updated",
				ID:      7,
				EventID: event.ID,
				At:      whyNoon.Add(-time.Millisecond),
				Body: []byte(`{"Record":{"Limit":1500,"Name":"Shop","Note":"` + strings.Repeat("x", 60) + `","City":null},` +
					`"Changed":["Limit","Name","Note","City"],"Before":{"Limit":1000,"Name":null}}`),
			}},
			Events:   map[int64]*webhook.Event{event.ID: event},
			Messages: m,
			Attempts: make(map[int64][]TracedAttempt),
		}
	}
	message := func(sub int64, status webhook.Status, codes ...int) *Trace {
		trace := messages(whyMessage(11, sub, event, status, len(codes)))
		if len(codes) > 0 {
			trace.Attempts[11] = whyAttempts(codes...)
		}
		return trace
	}
	delivered := func(sub int64) *Trace { return message(sub, webhook.Successful, 200) }
	unsent := func(sub int64) *Trace { return message(sub, webhook.NotSent) }
	sameKey := func() *Trace {
		trace := messages(
			whyMessage(11, orderedID, event, webhook.RetryPending, 1),
			whyMessage(12, orderedID, event, webhook.NotSent, 0))
		trace.Attempts[11] = whyAttempts(422)
		return trace
	}
	tooMany := messages()
	tooMany.Since = whyNoon
	alone := sameKey()
	alone.Only = alone.Messages[1]
	withoutEvent := func(kind, op string, id int64) *Trace {
		return &Trace{Changes: []TracedChange{{Kind: kind, Op: op, ID: id, At: whyNoon}}}
	}
	noMessages := withoutEvent("Debtor", "deleted", 8)
	published := delivered(shopID)
	published.Changes = nil

	onlyShop := onlySubscriptions(shopID)
	none := onlySubscriptions()
	conditional := changing(shopID, withCondition, shopID, warehouseID)
	return []whyCase{
		{"delivered", delivered(shopID), onlyShop},
		{"delivered after a retry", message(shopID, webhook.Successful, 503, 0, 200), onlyShop},
		{"retrying", message(shopID, webhook.RetryPending, 503), onlyShop},
		{"failed", message(shopID, webhook.Failed, 422, 422), onlyShop},
		{"breaker open", message(warehouseID, webhook.RetryPending, 0), onlySubscriptions(warehouseID)},
		{"disabled", unsent(archiveID), onlySubscriptions(archiveID)},
		{"held", unsent(shopID), changing(shopID, withheld, shopID)},
		{"held without an owner", unsent(shopID), changing(shopID, savedAlone, shopID)},
		{"waiting for the same key", sameKey(), onlySubscriptions(orderedID)},
		{"waiting", unsent(shopID), onlyShop},
		{"requested wait", unsent(shopID), func(s *Situation) {
			onlyShop(s)
			s.RequestedWait = func(int64) time.Time { return whyNoon.Add(30 * time.Minute) }
		}},
		{"rate limit", unsent(shopID), func(s *Situation) {
			onlyShop(s)
			s.RateWait = func(int64) time.Duration { return 2100 * time.Millisecond }
		}},
		{"deleted for one of two", delivered(shopID), onlySubscriptions(shopID, warehouseID)},
		{"too many messages", tooMany, onlyShop},
		{"subscribed later", delivered(shopID), changing(warehouseID, subscribedLater, shopID, warehouseID)},
		{"several subscribed later", delivered(shopID), func(s *Situation) {
			for id := int64(warehouseID); id <= orderedID; id++ {
				subscribedLater(s.Subscriptions.Subscription(id))
			}
		}},
		{"a message alone", alone, onlySubscriptions(orderedID)},
		{"deleted with the subscription", messages(), none},
		{"no subscription", noMessages, none},
		{"not received", noMessages, onlyShop},
		{"condition not met", noMessages, conditional},
		{"condition not met, or deleted", delivered(warehouseID), conditional},
		{"no event", withoutEvent("Silent", "created", 1), none},
		{"no change", &Trace{}, none},
		{"not captured", &Trace{}, func(s *Situation) { s.Kinds = record.Builtin() }},
		{"published, where nothing is captured", published, func(s *Situation) {
			onlyShop(s)
			s.Kinds = record.Builtin()
		}},
		{"not requested", &Trace{}, func(s *Situation) { s.NotRequested = map[string]bool{"Debtor": true, "Silent": true} }},
		{"of a kind that the caller may not read", delivered(shopID), func(s *Situation) {
			s.Visible = func(*record.Kind) bool { return false }
		}},
	}
}

// TestExplain compares explanations with the golden file.
func TestExplain(t *testing.T) {
	var golden strings.Builder
	for _, c := range whyCases() {
		s := whySituation(t)
		c.in(&s)
		fmt.Fprintf(&golden, "== %s\n", c.name)
		for _, step := range c.trace.Explain(s) {
			golden.WriteString(stepLine(t, step))
		}
	}
	goldentest.Compare(t, "testdata/why.golden", golden.String())
}

// stepLine returns a step as a line: its time, name and text, and its other members as JSON.
func stepLine(t *testing.T, step wire.WhyStep) string {
	t.Helper()
	at := "now"
	if stepAt := time.Time(step.At); !stepAt.IsZero() {
		at = stepAt.Format("15:04:05.000")
	}
	others := step
	others.At = wire.Timestamp{}
	others.Step = ""
	others.Text = ""
	encoded, err := json.Marshal(others)
	if err != nil {
		t.Fatal(err)
	}
	members := strings.Replace(string(encoded), `"Step":"","Text":""`, "", 1)
	return fmt.Sprintf("%-12s  %-15s  %s  %s\n", at, step.Step, step.Text, strings.Trim(members, "{,}"))
}
