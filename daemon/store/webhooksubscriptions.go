package store

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"github.com/bizhook/whd/daemon/webhook"
)

// Registration finds a subscription of a subscriber.
func (w *Webhooks) Registration(ctx context.Context, subscriber, guid string) (webhook.Registration, error) {
	all, err := w.registrations(ctx, ` WHERE b.RecID = @Subscriber AND s.RecID = @Subscription`, subscriptionArgs(subscriber, guid)...)
	if err != nil || len(all) == 0 {
		return webhook.Registration{}, w.missing(err, "subscription")
	}
	return all[0], nil
}

// Registrations lists the subscriptions of a subscriber, who must exist.
func (w *Webhooks) Registrations(ctx context.Context, subscriber string) ([]webhook.Registration, error) {
	s, err := w.Subscriber(ctx, subscriber)
	return s.Registrations, err
}

func subscriptionArgs(subscriber, guid string) []any {
	return []any{sql.Named("Subscriber", subscriber), sql.Named("Subscription", guid)}
}

// registrations are subscriptions with their headers, in the order in which
// they were made.
func (w *Webhooks) registrations(ctx context.Context, condition string, args ...any) ([]webhook.Registration, error) {
	const joined = ` FROM whd.SY_WebhookSubscription s JOIN whd.SY_WebhookSubscriber b ON b.ID = s.SubscriberID`
	clock := w.own.clock()
	all, err := list(ctx, w.own, scanRegistration, `SELECT s.ID, s.RecID, b.RecID, s.EventName, s.URL, s.ItemNo, s.IsEnabled, s.DisabledReason, s.Ordered,
	s.RetrySchedule, s.Secret, CASE WHEN s.OldSecretUntil > `+clock+` THEN s.OldSecret END, CASE WHEN s.OldSecretUntil > `+clock+` THEN s.OldSecretUntil END,
	s.MadeByAdmin, s.FailingSince, s.LastSavedDateTime, s.RowHash`+joined+condition+` ORDER BY s.ID`, args...)
	if err != nil {
		return nil, err
	}
	headers, err := list(ctx, w.own, scanHeader, `SELECT h.SubscriptionID, h.Name, h.Value`+joined+`
JOIN whd.SY_WebhookSubscriptionRequestHeader h ON h.SubscriptionID = s.ID`+condition+` ORDER BY h.SubscriptionID, h.ItemNo`, args...)
	if err != nil {
		return nil, err
	}
	of := make(map[int64][]webhook.Header)
	for _, h := range headers {
		of[h.subscription] = append(of[h.subscription], h.Header)
	}
	for i := range all {
		all[i].Headers = of[all[i].ID]
	}
	return all, nil
}

func scanRegistration(row scanner) (r webhook.Registration, err error) {
	var reason, schedule, old sql.NullString
	err = row.Scan(&r.ID, &r.GUID, &r.Subscriber, &r.Pattern, &r.URL, &r.ItemNo, &r.Enabled, &reason, &r.Ordered,
		&schedule, &r.Secret, &old, (*moment)(&r.OldSecretUntil), &r.Private, (*moment)(&r.FailingSince), (*moment)(&r.SavedAt), &r.RowHash)
	if err != nil {
		return r, err
	}
	r.DisabledReason, r.OldSecret = reason.String, old.String
	if schedule.Valid {
		r.Schedule, err = parseSchedule(schedule.String)
	}
	return r, err
}

type storedHeader struct {
	subscription int64
	webhook.Header
}

func scanHeader(row scanner) (h storedHeader, err error) {
	err = row.Scan(&h.subscription, &h.Name, &h.Value)
	return h, err
}

// scheduleText is a schedule as it is stored, null for the settings'.
func scheduleText(schedule []time.Duration) sql.NullString {
	parts := make([]string, len(schedule))
	for i, d := range schedule {
		parts[i] = d.String()
	}
	return sql.NullString{String: strings.Join(parts, ","), Valid: schedule != nil}
}

func scheduleLength(schedule []time.Duration) sql.NullInt64 {
	return sql.NullInt64{Int64: int64(len(schedule)), Valid: schedule != nil}
}

func parseSchedule(text string) ([]time.Duration, error) {
	schedule := []time.Duration{}
	if text == "" {
		return schedule, nil // no retries
	}
	for part := range strings.SplitSeq(text, ",") {
		d, err := time.ParseDuration(part)
		if err != nil {
			return nil, fmt.Errorf("a stored retry schedule: %w", err)
		}
		schedule = append(schedule, d)
	}
	return schedule, nil
}

// AddRegistration adds a subscription to its subscriber, who must exist. Its
// GUID, numbers and row hash are new.
func (w *Webhooks) AddRegistration(ctx context.Context, r webhook.Registration) (webhook.Registration, error) {
	id, err := w.Numbers(ctx, 1)
	if err != nil {
		return webhook.Registration{}, err
	}
	guid := newGUID()
	insert := step{`INSERT INTO whd.SY_WebhookSubscription (ID, RecID, SubscriberID, EventName, URL, ItemNo, IsEnabled, Ordered, RetrySchedule,
	MaxRetries, Secret, MadeByAdmin, LastSavedDateTime, RowHash)
SELECT @ID, @RecID, b.ID, @EventName, @URL, (SELECT COALESCE(MAX(o.ItemNo), 0) + 1 FROM whd.SY_WebhookSubscription o WHERE o.SubscriberID = b.ID),
	@IsEnabled, @Ordered, @RetrySchedule, @MaxRetries, @Secret, @MadeByAdmin, @Saved, @RowHash
FROM whd.SY_WebhookSubscriber b WHERE b.RecID = @Subscriber`, []any{
		sql.Named("ID", id), sql.Named("RecID", guid), sql.Named("EventName", r.Pattern), sql.Named("URL", r.URL),
		sql.Named("IsEnabled", r.Enabled), sql.Named("Ordered", r.Ordered), sql.Named("RetrySchedule", scheduleText(r.Schedule)),
		sql.Named("MaxRetries", scheduleLength(r.Schedule)), sql.Named("Secret", r.Secret), sql.Named("MadeByAdmin", r.Private),
		sql.Named("Saved", stamp(r.SavedAt)), sql.Named("RowHash", newRowHash()), sql.Named("Subscriber", r.Subscriber),
	}, true}
	added, err := w.own.run(ctx, append([]step{raised(), insert}, headerSteps(guid, r.Headers)...)...)
	if err != nil || !added {
		return webhook.Registration{}, w.missing(err, "subscriber")
	}
	return w.Registration(ctx, r.Subscriber, guid)
}

const subscriptionID = `(SELECT s.ID FROM whd.SY_WebhookSubscription s WHERE s.RecID = @Subscription)`

// headerSteps add the headers of a subscription.
func headerSteps(guid string, headers []webhook.Header) []step {
	steps := make([]step, len(headers))
	for i, h := range headers {
		steps[i] = step{`INSERT INTO whd.SY_WebhookSubscriptionRequestHeader (RecID, SubscriptionID, ItemNo, Name, Value)
SELECT @RecID, s.ID, @ItemNo, @Name, @Value FROM whd.SY_WebhookSubscription s WHERE s.RecID = @Subscription`, []any{
			sql.Named("RecID", newGUID()), sql.Named("ItemNo", i+1), sql.Named("Name", h.Name), sql.Named("Value", h.Value),
			sql.Named("Subscription", guid),
		}, true}
	}
	return steps
}

// ownedBy picks the subscription of a subscriber, by both GUIDs.
const ownedBy = ` WHERE RecID = @Subscription AND SubscriberID IN (SELECT b.ID FROM whd.SY_WebhookSubscriber b WHERE b.RecID = @Subscriber)`

// ChangeRegistration changes a subscription. It fails with a Conflict where the
// row hash that the change is based on is not the present one.
func (w *Webhooks) ChangeRegistration(ctx context.Context, subscriber, guid string, c webhook.RegistrationChange, at time.Time) (webhook.Registration, error) {
	u := changesOf(c)
	steps := []step{raised(), u.step("whd.SY_WebhookSubscription", ownedBy, subscriptionArgs(subscriber, guid), at, c.RowHash)}
	if c.Ordered != nil && *c.Ordered { // one daemon sends them all from now on
		steps = append(steps, step{`UPDATE whd.SY_WebhookMessage SET PartitionID = 1
WHERE PartitionID <> 1 AND NextAttemptDateTime IS NOT NULL AND SubscriptionID = ` + subscriptionID, []any{sql.Named("Subscription", guid)}, false})
	}
	if c.Headers != nil {
		steps = append(steps, step{`DELETE FROM whd.SY_WebhookSubscriptionRequestHeader WHERE SubscriptionID = ` + subscriptionID,
			[]any{sql.Named("Subscription", guid)}, false})
		steps = append(steps, headerSteps(guid, *c.Headers)...)
	}
	hit, err := w.own.run(ctx, steps...)
	if err != nil {
		return webhook.Registration{}, w.own.fault(err, "changing a subscription")
	}
	now, err := w.Registration(ctx, subscriber, guid)
	if err == nil && !hit {
		err = stale("subscription")
	}
	return now, err
}

func changesOf(c webhook.RegistrationChange) *changes {
	u := &changes{}
	u.text("EventName", c.Pattern)
	u.text("URL", c.URL)
	u.bool("Ordered", c.Ordered)
	u.bool("MadeByAdmin", c.Private)
	if u.bool("IsEnabled", c.Enabled); c.Enabled != nil {
		u.set("DisabledReason", sql.NullString{}) // it is somebody's wish from now on
		u.set("FailingSince", sql.NullString{})
	}
	if c.Schedule != nil {
		u.set("RetrySchedule", scheduleText(*c.Schedule))
		u.set("MaxRetries", scheduleLength(*c.Schedule))
	}
	if c.Secret != nil {
		u.sets = append(u.sets, "OldSecret = CASE WHEN @OldSecretUntil IS NOT NULL THEN Secret END")
		u.set("OldSecretUntil", nullableStamp(c.Secret.OldUntil))
		u.set("Secret", c.Secret.Secret)
	}
	return u
}

// RemoveRegistration removes a subscription, and reports whether it was there.
// From then on its messages are neither shown nor sent; Sweep removes them.
func (w *Webhooks) RemoveRegistration(ctx context.Context, subscriber, guid string, at time.Time) (bool, error) {
	args := append(subscriptionArgs(subscriber, guid), sql.Named("At", stamp(at)))
	steps := w.removal(ownedBy, args...)
	steps[len(steps)-1].must = true
	removed, err := w.own.run(ctx, append([]step{raised()}, steps...)...)
	return removed, w.own.fault(err, "removing a subscription")
}

// removal is the steps that remove subscriptions but for their messages.
func (w *Webhooks) removal(which string, args ...any) []step {
	return []step{
		{`INSERT INTO whd.WH_SubscriptionRemoved (SubscriptionID, RemovedDateTime)
SELECT ID, @At FROM whd.SY_WebhookSubscription` + which, args, false},
		{`DELETE FROM whd.SY_WebhookSubscriptionRequestHeader WHERE SubscriptionID IN (SELECT ID FROM whd.SY_WebhookSubscription` + which + `)`, args, false},
		{`DELETE FROM whd.SY_WebhookSubscription` + which, args, false},
	}
}
