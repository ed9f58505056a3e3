package admin

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
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
	Events   map[int64]*webhook.Event // events of changes and messages, by ID
	Messages []*webhook.Message       // ordered by ID
	Attempts map[int64][]TracedAttempt
	More     bool      // there are older ones
	Since    time.Time // some messages of events until then are left out; zero for none

	// Only is the message that is explained, nil for all of the key. The others are there
	// because it may wait for them.
	Only *webhook.Message
}

// TracedChange is a change of a record.
type TracedChange struct {
	Kind, Op    string
	ID, EventID int64 // IDs of the change, and of its event, 0 without messages
	At          time.Time
	Body        []byte // JSON of a wire.Change; nil if it is no longer stored
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
	Now           time.Time
	Subscriptions *webhook.Snapshot
	Kinds         *record.Registry
	Visible       func(*record.Kind) bool // reports whether the caller may read a kind
	NotRequested  map[string]bool         // the kinds with a capture that nothing requests, by name

	// Breaker returns when the endpoint of a subscription is probed next, if its circuit
	// breaker is open.
	Breaker func(subscription int64) (probe time.Time, open bool)

	// RequestedWait returns until when the endpoint of a subscription requested a wait by
	// Retry-After, zero if it has not.
	RequestedWait func(subscription int64) time.Time

	// RateWait returns how long the rate limit of a subscription delays its next attempt, 0 if it
	// does not.
	RateWait func(subscription int64) time.Duration
}

// Trace returns the stored facts about a key.
func (svc *Service) Trace(ctx context.Context, key string) (*Trace, error) {
	return svc.store.Trace(ctx, key)
}

// TraceMessage returns the stored facts about a message.
func (svc *Service) TraceMessage(ctx context.Context, id string) (*Trace, error) {
	return svc.store.TraceMessage(ctx, id)
}

// explanation collects steps.
type explanation struct {
	*Trace
	Situation
	steps []wire.WhyStep
}

// Explain returns the history of a key or of a message in the order of time, with the reasons
// for events, messages and deliveries that are missing. Steps without a time describe the present.
func (t *Trace) Explain(s Situation) []wire.WhyStep {
	e := &explanation{Trace: t, Situation: s}
	for _, c := range t.Changes {
		e.change(c)
	}
	for _, id := range slices.Sorted(maps.Keys(t.Events)) {
		e.event(t.Events[id])
	}
	for _, m := range t.Messages {
		if t.Only == nil || t.Only == m {
			e.message(m)
		}
	}

	// The ID of a message is not a key that a record could have.
	if len(t.Changes) == 0 && t.Only == nil {
		e.notCaptured()
	}
	if len(t.Changes)+len(t.Events) == 0 {
		e.addPresent(wire.WhyStep{Step: wire.WhyNoEvent},
			"no event with this key is stored: none was published, no subscription received it, or its messages were deleted")
	}

	slices.SortStableFunc(e.steps, compareTimes)
	return e.steps
}

// compareTimes orders steps by time. Steps of the present, which have none, are last.
func compareTimes(a, b wire.WhyStep) int {
	timeA, timeB := time.Time(a.At), time.Time(b.At)
	switch {
	case timeA.IsZero() == timeB.IsZero():
		return timeA.Compare(timeB)
	case timeA.IsZero():
		return 1
	default:
		return -1
	}
}

// add adds a step with a time and a text.
func (e *explanation) add(at time.Time, step wire.WhyStep, format string, args ...any) {
	step.At = wire.Timestamp(at)
	step.Text = fmt.Sprintf(format, args...)
	e.steps = append(e.steps, step)
}

// addPresent adds a step about the present, which has no time.
func (e *explanation) addPresent(step wire.WhyStep, format string, args ...any) {
	e.add(time.Time{}, step, format, args...)
}

// notCaptured adds which kinds are captured, so that their changes would be known, and which could
// be captured but are not.
func (e *explanation) notCaptured() {
	var names []string
	var notRequested []*record.Kind
	for _, k := range e.Kinds.Kinds() {
		switch {
		case !k.Captured() || !e.Visible(k):
		case e.NotRequested[k.Name]:
			notRequested = append(notRequested, k)
		default:
			names = append(names, k.Name)
		}
	}
	if len(names) > 0 {
		e.addPresent(wire.WhyStep{Step: wire.WhyNoChange},
			"no change of a record with this key is known; changes are captured of %s", strings.Join(names, ", "))
	}
	for _, k := range notRequested {
		e.addPresent(wire.WhyStep{Step: wire.WhyNotCaptured, Kind: k.Name},
			"changes of %s are not captured, because nothing requests them: %s", k.Name, webhook.HowToRequest(k))
	}
	isExplained := len(e.Events) > 0
	if len(names)+len(notRequested) == 0 && !isExplained {
		e.addPresent(wire.WhyStep{Step: wire.WhyNotCaptured}, "changes of records are not captured")
	}
}

// change adds a change and, unless it has an event with messages, why it has none.
func (e *explanation) change(c TracedChange) {
	kind, ok := e.Kinds.Lookup(c.Kind)
	if !ok || !e.Visible(kind) {
		return
	}
	step := wire.WhyStep{Step: wire.WhyChange, Kind: c.Kind, ChangeID: c.ID}
	event := e.Events[c.EventID]
	if event != nil {
		step.EventID = event.GUID
		step.EventName = event.Name
	}
	e.add(c.At, step, "%s %s%s", c.Kind, c.Op, changedValues(c.Body))
	if c.EventID != 0 {
		return
	}

	name := kind.Events + "." + c.Op
	if e.CapturedBy(name) == nil {
		step.Step = wire.WhyNoEvent
		e.add(c.At, step, "%s publishes no events", c.Kind)
		return
	}
	step.Step = wire.WhyNoSubscription
	step.EventName = name
	subs := e.receivers(name)
	if len(subs) == 0 {
		e.add(c.At, step, "no subscription receives %s", name)
	}
	e.unmatched(subs, step, c.At, "the event was not sent to it")
}

// Limits of the changed values of a step: the fields, and the characters of a value.
const (
	maxChangedFields = 3
	maxChangedValue  = 40
)

// changedValues lists the fields of an update with their values before and after it, as in
// ": Limit 1000 -> 1500", and counts those that are left out. It returns "" for other changes.
func changedValues(body []byte) string {
	var change struct {
		Changed        []string
		Before, Record map[string]json.RawMessage
	}
	err := json.Unmarshal(body, &change)
	if err != nil || len(change.Changed) == 0 {
		return ""
	}
	shown := change.Changed[:min(len(change.Changed), maxChangedFields)]
	texts := make([]string, len(shown))
	for i, field := range shown {
		texts[i] = field + " " + shortValue(change.Record[field])
		if before, ok := change.Before[field]; ok {
			texts[i] = field + " " + shortValue(before) + " -> " + shortValue(change.Record[field])
		}
	}
	text := ": " + strings.Join(texts, ", ")
	if n := len(change.Changed) - len(shown); n > 0 {
		text += fmt.Sprintf(", and %d more", n)
	}
	return text
}

// shortValue returns a JSON value as a text of limited length.
func shortValue(value json.RawMessage) string {
	text := string(value)
	var unquoted string
	if json.Unmarshal(value, &unquoted) == nil && text != "null" {
		text = unquoted
	}
	characters := []rune(text)
	if len(characters) <= maxChangedValue {
		return text
	}
	return string(characters[:maxChangedValue]) + ".."
}

// event adds an event and the subscriptions that it has no message for.
func (e *explanation) event(event *webhook.Event) {
	step := wire.WhyStep{Step: wire.WhyEvent, EventID: event.GUID, EventName: event.Name}
	if !e.addKind(&step) {
		return
	}
	e.add(event.AddedAt, step, "%s", event.Name)
	if e.Only != nil || !event.AddedAt.After(e.Since) {
		return // a message that is missing may have been left out
	}

	sent := make(map[int64]bool) // by subscription
	for _, m := range e.Messages {
		if m.Event.ID == event.ID {
			sent[m.Subscription] = true
		}
	}
	subs := e.receivers(event.Name)
	step.Step = wire.WhyDeleted
	if len(sent)+len(subs) == 0 {
		e.add(event.AddedAt, step,
			"its messages were deleted, with their subscriptions or after the time for which they are kept")
	}
	unsent := slices.DeleteFunc(slices.Clone(subs), func(sub *webhook.Subscription) bool { return sent[sub.ID] })
	e.unmatched(unsent, step, event.AddedAt, "its message was deleted")
}

// addKind sets the kind of a step of a captured event. It reports whether the caller may
// read the kind; events that are not captured have none.
func (e *explanation) addKind(step *wire.WhyStep) bool {
	kind := e.CapturedBy(step.EventName)
	if kind == nil {
		return true
	}
	step.Kind = kind.Name
	return e.Visible(kind)
}

// receivers returns the subscriptions that an event would be sent to now.
func (e *explanation) receivers(event string) []*webhook.Subscription {
	subs := e.Subscriptions.Match(event)
	if e.CapturedBy(event) == nil && !record.IsServiceEvent(event) {
		return subs
	}
	return slices.DeleteFunc(subs, func(sub *webhook.Subscription) bool { return !e.Receives(sub, event) })
}

// unmatched adds why subscriptions that match an event have no message of it: they are newer than
// the event, have a condition, or else the reason applies. Newer ones are counted, because there
// can be thousands of them.
func (e *explanation) unmatched(subs []*webhook.Subscription, step wire.WhyStep, at time.Time, reason string) {
	var later []*webhook.Subscription
	for _, sub := range subs {
		if at.Before(sub.SavedAt) {
			later = append(later, sub)
			continue
		}
		e.unmet(sub, step, at, reason)
	}

	step.Step = wire.WhyNoSubscription
	switch len(later) {
	case 0:
	case 1:
		e.addFor(later[0], step, at, "the subscription was created or changed later")
	default:
		e.add(at, step, "%d subscriptions were created or changed later", len(later))
	}
}

// unmet adds why a subscription that is older than an event has no message of it. The values that
// its condition was compared with are not kept.
func (e *explanation) unmet(sub *webhook.Subscription, step wire.WhyStep, at time.Time, reason string) {
	hasMessages := step.EventID != "" // for other subscriptions
	if sub.Where.Text != "" {
		step.Step = wire.WhyUnmet
		reason = "its condition was not met: " + sub.Where.Text
		if hasMessages {
			reason = "its condition was not met, or its message was deleted: " + sub.Where.Text
		}
	}
	e.addFor(sub, step, at, reason)
}

// addFor adds a step about a subscription without a message.
func (e *explanation) addFor(sub *webhook.Subscription, step wire.WhyStep, at time.Time, reason string) {
	setSubscription(&step, sub, sub.URL)
	e.add(at, step, "%s, %s: %s", step.Subscriber, step.URL, reason)
}

// setSubscription sets the subscription of a step, and the URL of its endpoint, which in a message
// may be an earlier one.
func setSubscription(step *wire.WhyStep, sub *webhook.Subscription, url string) {
	step.SubscriberID = sub.Subscriber
	step.SubscriptionID = sub.GUID
	step.Subscriber = sub.SubscriberInfo.Name
	step.URL = target(url)
}

// message adds a message with its attempts and its result.
func (e *explanation) message(m *webhook.Message) {
	sub := e.Subscriptions.Subscription(m.Subscription)
	step := wire.WhyStep{Step: wire.WhyMessage, EventID: m.Event.GUID, EventName: m.Event.Name, MessageID: m.GUID}
	if sub == nil || !e.addKind(&step) {
		return
	}
	setSubscription(&step, sub, m.URL)
	e.add(m.Event.AddedAt, step, "for %s, %s", step.Subscriber, step.URL)
	e.attempts(m, step)

	endedAt := m.Event.AddedAt
	if attempts := e.Attempts[m.ID]; len(attempts) > 0 {
		endedAt = attempts[len(attempts)-1].At
	}
	switch m.Status {
	case webhook.Successful:
		step.Step = wire.WhyDelivered
		e.add(endedAt, step, "to %s", step.URL)
	case webhook.Failed:
		step.Step = wire.WhyFailed
		e.add(endedAt, step, "not retried any more")
	default:
		reason := e.waitsFor(m, sub)
		step.Step = reason.step
		step.Due = wire.Timestamp(reason.due)
		e.addPresent(step, "%s, %s: %s", step.Subscriber, step.URL, reason.text)
	}
}

// attempts adds the attempts of a message; step is the message's.
func (e *explanation) attempts(m *webhook.Message, step wire.WhyStep) {
	step.Step = wire.WhyAttempt
	for _, attempt := range e.Attempts[m.ID] {
		result := attempt.Message
		if attempt.Code != 0 {
			result = strings.TrimSpace(fmt.Sprint(attempt.Code, " ", attempt.Message))
		}
		step.Code = attempt.Code
		e.add(attempt.At, step, "%d: %s, %s", attempt.Number, result, attempt.Took.Round(time.Millisecond))
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

// waitReason is why an open message is not sent now.
type waitReason struct {
	step string    // name of the step, as in wire.WhyStep
	due  time.Time // when it is sent, zero if that is unknown
	text string
}

// waitsFor returns why an open message is not sent now. The first reason counts, in the
// order in which the engine checks them.
func (e *explanation) waitsFor(m *webhook.Message, sub *webhook.Subscription) waitReason {
	if !sub.Active() {
		return waitReason{step: wire.WhyDisabled, text: cmp.Or(sub.InactiveReason(), "the subscription is disabled")}
	}
	if sub.Withholds(m.Event.Name) {
		return waitReason{step: wire.WhyHeld, text: HeldReason(sub)}
	}
	probe, open := e.Breaker(sub.ID)
	if open {
		text := "its endpoint fails; it is probed next at " + utc(probe)
		return waitReason{step: wire.WhyBreakerOpen, due: probe, text: text}
	}
	wait := e.RequestedWait(sub.ID)
	if !wait.IsZero() {
		text := "its endpoint requested a wait (Retry-After) until " + utc(wait)
		return waitReason{step: wire.WhyWaiting, due: wait, text: text}
	}
	if sub.Order != (webhook.Order{}) {
		if earlier := e.openBefore(m); earlier != nil {
			return waitReason{step: wire.WhyWaiting, text: "message " + earlier.GUID + " must be delivered first"}
		}
	}
	delay := e.RateWait(sub.ID)
	isDue := m.Status != webhook.RetryPending || !m.Next.After(e.Now.Add(delay))
	if delay > 0 && isDue {
		return waitReason{step: wire.WhyWaiting, text: "rate limit, next in " + wholeSeconds(delay)}
	}
	if m.Status == webhook.RetryPending {
		text := "the next attempt is due at " + utc(m.Next)
		return waitReason{step: wire.WhyRetrying, due: m.Next, text: text}
	}
	if sub.Order.All {
		return waitReason{step: wire.WhyWaiting, text: "earlier messages of the subscription must be delivered first"}
	}
	return waitReason{step: wire.WhyWaiting, text: "it is due"}
}

// utc returns a time as text.
func utc(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// wholeSeconds returns a duration in seconds, rounded up, such as 3 s.
func wholeSeconds(d time.Duration) string {
	return fmt.Sprintf("%d s", int64(math.Ceil(d.Seconds())))
}

// HeldReason returns why a subscription withholds messages.
func HeldReason(sub *webhook.Subscription) string {
	if sub.Owner.Name == "" {
		return "the subscription was last changed with a SubscriberID alone, which may not read the record; " +
			"the message is sent once a user with the right to read it saves the subscription"
	}
	return "the owner of the subscription may not read the record; " +
		"the message is sent once the owner may, or a user with the right to read it saves the subscription"
}

// openBefore returns the oldest open message of the same subscription that is older than m,
// nil if there is none.
func (e *explanation) openBefore(m *webhook.Message) *webhook.Message {
	for _, earlier := range e.Messages {
		if earlier.Subscription == m.Subscription && earlier.Status.Open() && earlier.ID < m.ID {
			return earlier
		}
	}
	return nil
}
