package admin

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/webhook"
)

// Trace is the stored facts about a key: the newest changes of records with it, the newest
// messages of events with it, and the oldest open ones, for which others may wait.
type Trace struct {
	Changes  []TracedChange
	Events   map[int64]*webhook.Event // of changes and messages, by ID
	Messages []*webhook.Message       // ordered by ID
	Attempts map[int64][]TracedAttempt
	More     bool      // there are older ones
	Since    time.Time // some messages of events until then are left out; zero for none
}

// TracedChange is a change of a record.
type TracedChange struct {
	Kind, Op    string
	ID, EventID int64 // of the change, and of its event, 0 without messages
	At          time.Time
}

// TracedAttempt is an attempt to deliver a message.
type TracedAttempt struct {
	Number, Code int // Code is 0 without a response
	Message      string
	Took         time.Duration
	At           time.Time
}

// Situation is the present state, which Explain compares with the stored facts.
type Situation struct {
	webhook.Rules
	Subscriptions *webhook.Snapshot
	Kinds         *record.Registry
	Visible       func(*record.Kind) bool                             // reports whether the caller may read a kind
	Breaker       func(subscription int64) (probe time.Time, is bool) // when the endpoint of an open circuit breaker is probed next
}

// Trace returns the stored facts about a key.
func (svc *Service) Trace(ctx context.Context, key string) (*Trace, error) {
	return svc.store.Trace(ctx, key)
}

// explanation collects steps.
type explanation struct {
	*Trace
	Situation
	steps []wire.WhyStep
}

// Explain returns the history of a key in the order of time, with the reasons for events,
// messages and deliveries that are missing. Steps without a time describe the present.
func (t *Trace) Explain(s Situation) []wire.WhyStep {
	e := &explanation{t, s, nil}
	for _, c := range t.Changes {
		e.change(c)
	}
	for _, id := range slices.Sorted(maps.Keys(t.Events)) {
		e.event(t.Events[id])
	}
	for _, m := range t.Messages {
		e.message(m)
	}
	if len(t.Changes) == 0 {
		e.notCaptured()
	}
	if len(t.Changes)+len(t.Events) == 0 {
		e.add(time.Time{}, wire.WhyStep{Step: wire.WhyNoEvent}, "no event with this key is stored: none was published, no subscription received it, or its messages were deleted")
	}
	slices.SortStableFunc(e.steps, func(a, b wire.WhyStep) int {
		if now := time.Time(a.At).IsZero(); now != time.Time(b.At).IsZero() {
			return map[bool]int{true: 1, false: -1}[now]
		}
		return time.Time(a.At).Compare(time.Time(b.At))
	})
	return e.steps
}

func (e *explanation) add(at time.Time, s wire.WhyStep, format string, args ...any) {
	s.At, s.Text = wire.Timestamp(at), fmt.Sprintf(format, args...)
	e.steps = append(e.steps, s)
}

// notCaptured names the kinds of which changes would be known.
func (e *explanation) notCaptured() {
	var names []string
	for _, k := range e.Kinds.Kinds() {
		if k.Captured() && e.Visible(k) {
			names = append(names, k.Name)
		}
	}
	step, text := wire.WhyNoChange, "no change of a record with this key is known; changes are captured of "+strings.Join(names, ", ")
	if len(names) == 0 {
		step, text = wire.WhyNotCaptured, "changes of records are not captured"
	}
	e.add(time.Time{}, wire.WhyStep{Step: step}, "%s", text)
}

// change adds a change and, unless it has an event with messages, why it has none.
func (e *explanation) change(c TracedChange) {
	kind, known := e.Kinds.Lookup(c.Kind)
	if !known || !e.Visible(kind) {
		return
	}
	of := wire.WhyStep{Step: wire.WhyChange, Kind: c.Kind, ChangeID: c.ID}
	if e.add(c.At, of, "%s %s", c.Kind, c.Op); c.EventID != 0 {
		return
	}
	of.EventName = kind.Events + "." + c.Op
	subs := e.receivers(of.EventName)
	switch of.Step = wire.WhyNoSubscription; {
	case e.CapturedBy(of.EventName) == nil:
		of.Step, of.EventName = wire.WhyNoEvent, ""
		e.add(c.At, of, "%s publishes no events", c.Kind)
	case len(subs) == 0:
		e.add(c.At, of, "no subscription receives %s", of.EventName)
	}
	for _, sub := range subs {
		e.unmatched(sub, of, c.At, "the event was not sent to it")
	}
}

// event adds an event and the subscriptions that it has no message for.
func (e *explanation) event(event *webhook.Event) {
	of := wire.WhyStep{Step: wire.WhyEvent, EventID: event.GUID, EventName: event.Name}
	if !e.ofVisible(&of) {
		return
	}
	if e.add(event.AddedAt, of, "%s", event.Name); !event.AddedAt.After(e.Since) {
		return
	}
	sent := make(map[int64]bool)
	for _, m := range e.Messages {
		if m.Event.ID == event.ID {
			sent[m.Subscription] = true
		}
	}
	subs := e.receivers(event.Name)
	if of.Step = wire.WhyDeleted; len(sent)+len(subs) == 0 {
		e.add(event.AddedAt, of, "its messages were deleted, with their subscriptions or after the time for which they are kept")
	}
	for _, sub := range subs {
		if !sent[sub.ID] {
			e.unmatched(sub, of, event.AddedAt, "its message was deleted")
		}
	}
}

// ofVisible adds the kind to the step of a captured event, and reports whether the caller may
// read it.
func (e *explanation) ofVisible(of *wire.WhyStep) bool {
	kind := e.CapturedBy(of.EventName)
	if kind != nil {
		of.Kind = kind.Name
	}
	return kind == nil || e.Visible(kind)
}

// receivers returns the subscriptions that an event would be sent to now.
func (e *explanation) receivers(event string) []*webhook.Subscription {
	all := e.Subscriptions.Match(event)
	if e.CapturedBy(event) == nil {
		return all
	}
	return slices.DeleteFunc(all, func(sub *webhook.Subscription) bool { return !e.Receives(sub, event) })
}

// unmatched adds why a subscription that matches an event has no message of it. The values
// that its condition was compared with are not kept.
func (e *explanation) unmatched(sub *webhook.Subscription, of wire.WhyStep, at time.Time, otherwise string) {
	of.SubscriberID, of.SubscriptionID = sub.Subscriber, sub.GUID
	if at.Before(sub.SavedAt) {
		of.Step, otherwise = wire.WhyNoSubscription, "the subscription was created or changed later"
	} else if sub.Where.Text != "" {
		of.Step, otherwise = wire.WhyUnmet, "its condition was not met: "+sub.Where.Text
		if of.EventID != "" { // there are messages for others
			otherwise = "its condition was not met, or its message was deleted: " + sub.Where.Text
		}
	}
	e.add(at, of, "%s, %s: %s", sub.SubscriberInfo.Name, target(sub.URL), otherwise)
}

// message adds a message with its attempts and its result.
func (e *explanation) message(m *webhook.Message) {
	sub := e.Subscriptions.Subscription(m.Subscription)
	of := wire.WhyStep{Step: wire.WhyMessage, EventID: m.Event.GUID, EventName: m.Event.Name, MessageID: m.GUID}
	if sub == nil || !e.ofVisible(&of) {
		return
	}
	of.SubscriberID, of.SubscriptionID = sub.Subscriber, sub.GUID
	e.add(m.Event.AddedAt, of, "for %s, %s", sub.SubscriberInfo.Name, target(m.URL))
	attempts, last := e.Attempts[m.ID], m.Event.AddedAt
	for _, a := range attempts {
		text := a.Message
		if a.Code != 0 {
			text = strings.TrimSpace(fmt.Sprint(a.Code, " ", a.Message))
		}
		last, of.Step, of.Code = a.At, wire.WhyAttempt, a.Code
		e.add(a.At, of, "%d: %s, %s", a.Number, text, a.Took.Round(time.Millisecond))
	}
	of.Code = 0
	switch m.Status {
	case webhook.Successful:
		of.Step = wire.WhyDelivered
		e.add(last, of, "to %s", target(m.URL))
	case webhook.Failed:
		of.Step = wire.WhyFailed
		e.add(last, of, "not retried any more")
	default:
		step, due, text := e.waitsFor(m, sub)
		of.Step, of.Due = step, wire.Timestamp(due)
		e.add(time.Time{}, of, "%s, %s: %s", sub.SubscriberInfo.Name, target(m.URL), text)
	}
}

// target returns a URL without its query, which may contain a secret.
func target(url string) string {
	address, _, cut := strings.Cut(url, "?")
	if cut {
		return address + "?.."
	}
	return address
}

// waitsFor returns why an open message is not sent now, and when it is if that is known.
func (e *explanation) waitsFor(m *webhook.Message, sub *webhook.Subscription) (step string, due time.Time, text string) {
	probe, open := e.Breaker(sub.ID)
	earlier := slices.IndexFunc(e.Messages, func(o *webhook.Message) bool { return o.Subscription == sub.ID && o.Status.Open() && o.ID < m.ID })
	switch {
	case !sub.Active():
		return wire.WhyDisabled, due, cmp.Or(sub.InactiveReason(), "the subscription is disabled")
	case sub.Withholds(m.Event.Name):
		return wire.WhyHeld, due, "the owner of the subscription may not read the record"
	case open:
		return wire.WhyBreakerOpen, probe, "its endpoint fails; it is probed next at " + probe.UTC().Format(time.RFC3339)
	case sub.Order != (webhook.Order{}) && earlier >= 0:
		return wire.WhyWaiting, due, "message " + e.Messages[earlier].GUID + " is delivered before"
	case m.Status == webhook.RetryPending:
		return wire.WhyRetrying, m.Next, "the next attempt is due at " + m.Next.UTC().Format(time.RFC3339)
	case sub.Order.All:
		return wire.WhyWaiting, due, "earlier messages of the subscription are delivered before"
	}
	return wire.WhyWaiting, due, "it is due"
}
