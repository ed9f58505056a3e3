package delivery

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/webhook"
)

// health is how long an endpoint has done nothing but fail. Unlike the breaker
// it counts every failure, also those that speak of one message only: nobody
// reads what is sent there.
type health struct {
	since    time.Time // of the first failure after the last success, the zero time for none
	failures int       // counted since then, by this daemon
	doomed   bool      // is being looked into
}

// note counts an attempt, and reports whether there is something to write down.
func (h *health) note(o webhook.Outcome, now time.Time) (changed bool) {
	if o.Success() {
		changed = !h.since.IsZero()
		*h = health{}
		return changed
	}
	h.failures++
	if h.since.IsZero() {
		h.since = now
		return true
	}
	return false
}

// hopeless reports whether it has gone on for so long, and with so many
// attempts, that the subscription is to be disabled.
func (h *health) hopeless(p webhook.Policy, now time.Time) bool {
	return p.DisableAfter > 0 && h.failures > p.MaxRetries() && now.Sub(h.since) >= p.DisableAfter
}

// noteHealth counts an attempt for its subscription. The engine's lock is held.
func (e *Engine) noteHealth(l *queue, o webhook.Outcome, p webhook.Policy, now time.Time) {
	if l.health.note(o, now) {
		e.pending.noteHealth(Health{Subscription: l.id, Since: l.health.since})
	}
	if !l.health.doomed && l.enabled() && l.health.hopeless(p, now) {
		l.health.doomed = true
		since := l.health.since
		e.tasks.Go(func() { e.judge(e.sending, l.id, since) })
	}
}

// judge disables a subscription that has only failed for too long. Another
// daemon may have reached it meanwhile, which the store knows.
func (e *Engine) judge(ctx context.Context, subscription int64, since time.Time) {
	succeeded, err := e.store.Succeeded(ctx, subscription, since)
	e.mu.Lock()
	defer e.mu.Unlock()
	l := e.queues[subscription]
	switch {
	case l == nil:
	case err != nil:
		l.health.doomed = false // the next failure asks again
	case succeeded:
		l.health = health{}
	default:
		reason := fmt.Sprintf("every attempt since %s has failed", since.UTC().Format(time.RFC3339))
		e.pending.disable(Disabled{subscription, reason, e.Now()})
	}
}

// disabledBody is the event that tells of a disabled subscription. It holds
// nothing that opens anything: neither the SubscriberID nor the URL, since all
// who subscribe to the event get it.
type disabledBody struct {
	SubscriptionID   string
	EventName        string // that it is for
	Reason           string
	DisabledDateTime time.Time
}

// announce makes the events that tell of the subscriptions which a load
// disables. They are written with it, or not at all. One that is disabled
// already, by another attempt, another daemon or a person, is not disabled again.
func (e *Engine) announce(l *batch) {
	now, subs := e.Now(), e.snapshot()
	known := make(map[int64]bool)
	l.notices = nil
	l.disabled = slices.DeleteFunc(l.disabled, func(d Disabled) bool {
		sub := subs.Subscription(d.Subscription)
		again := sub == nil || !sub.Enabled || known[d.Subscription]
		known[d.Subscription] = true
		return again
	})
	for _, d := range l.disabled {
		sub := subs.Subscription(d.Subscription)
		body, err := json.Marshal(disabledBody{sub.GUID, sub.Pattern, d.Reason, d.At.UTC()})
		if err != nil {
			panic("webhook: " + err.Error()) // texts and times can always be written
		}
		event := &webhook.Event{GUID: newGUID(now), Name: record.SubscriptionDisabled, Body: body, AddedAt: now}
		l.notices = append(l.notices, &publication{event: event, except: sub.ID, done: make(chan error, 1)})
	}
}

// disabled is told which subscriptions were disabled.
func (e *Engine) disabled(all []Disabled) {
	if len(all) == 0 {
		return
	}
	subs := e.snapshot()
	e.Reload(context.Background()) // those under way do not disable it again
	for _, d := range all {
		if sub := subs.Subscription(d.Subscription); sub != nil {
			e.log.Warn("a subscription was disabled", "subscription", sub.GUID, "event", sub.Pattern, "reason", d.Reason)
		}
	}
}
