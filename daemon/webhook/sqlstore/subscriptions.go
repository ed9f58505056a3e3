package sqlstore

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/admin"
)

// Subscription finds a subscription of a subscriber.
func (w *Store) Subscription(ctx context.Context, subscriber, guid string) (admin.Subscription, error) {
	all, err := w.registrations(ctx, ` WHERE b.RecID = @Subscriber AND s.RecID = @Subscription`, subscriptionArgs(subscriber, guid)...)
	if err != nil || len(all) == 0 {
		return admin.Subscription{}, w.missing(err, "subscription")
	}
	return all[0], nil
}

// Subscriptions lists the subscriptions of a subscriber, who must exist.
func (w *Store) Subscriptions(ctx context.Context, subscriber string) ([]admin.Subscription, error) {
	s, err := w.Subscriber(ctx, subscriber)
	return s.Subscriptions, err
}

func subscriptionArgs(subscriber, guid string) []any {
	return []any{sql.Named("Subscriber", subscriber), sql.Named("Subscription", guid)}
}

// registrations are subscriptions with their headers, in the order in which
// they were made. One statement reads both, so that headers never come with a URL
// that they were not given for.
func (w *Store) registrations(ctx context.Context, condition string, args ...any) ([]admin.Subscription, error) {
	clock := w.own.Clock()
	rows, err := appdb.QueryAll(ctx, w.own, scanRegistration, `SELECT s.ID, s.RecID, b.RecID, b.Name, b.IsEnabled, s.EventName, s.URL, s.ItemNo, s.IsEnabled, s.DisabledReason, s.Ordered,
	s.RetrySchedule, s.Secret, CASE WHEN s.OldSecretUntil > `+clock+` THEN s.OldSecret END, CASE WHEN s.OldSecretUntil > `+clock+` THEN s.OldSecretUntil END,
	s.MadeByAdmin, s.FailingSince, s.LastSavedDateTime, s.RowHash, h.Name, h.Value
FROM whd.SY_WebhookSubscription s JOIN whd.SY_WebhookSubscriber b ON b.ID = s.SubscriberID
LEFT JOIN whd.SY_WebhookSubscriptionRequestHeader h ON h.SubscriptionID = s.ID`+condition+` ORDER BY s.ID, h.ItemNo`, args...)
	var all []admin.Subscription
	for _, row := range rows {
		if n := len(all); n == 0 || all[n-1].ID != row.ID {
			all = append(all, row.Subscription)
		}
		if last := &all[len(all)-1]; row.header.Valid {
			last.Headers = append(last.Headers, webhook.Header{Name: row.header.String, Value: row.value.String})
		}
	}
	return all, err
}

// registrationRow is a subscription with one of its headers, if it has any.
type registrationRow struct {
	admin.Subscription
	header, value sql.NullString
}

func scanRegistration(row appdb.Row) (r registrationRow, err error) {
	var reason, schedule, old sql.NullString
	err = row.Scan(&r.ID, &r.GUID, &r.Subscriber, &r.SubscriberName, &r.SubscriberOn, &r.Pattern, &r.URL, &r.ItemNo, &r.Enabled, &reason, &r.Ordered,
		&schedule, &r.Secret, &old, (*appdb.Time)(&r.OldSecretUntil), &r.Private, (*appdb.Time)(&r.FailingSince), (*appdb.Time)(&r.SavedAt), &r.RowHash, &r.header, &r.value)
	if err != nil {
		return r, err
	}
	r.DisabledReason, r.OldSecret = reason.String, old.String
	if schedule.Valid {
		r.Schedule, err = parseSchedule(schedule.String)
	}
	return r, err
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

// AddSubscription adds a subscription to its subscriber, who must exist. Its
// GUID, numbers and row hash are new.
func (w *Store) AddSubscription(ctx context.Context, r admin.Subscription) (admin.Subscription, error) {
	id, err := w.AllocateIDs(ctx, 1)
	if err != nil {
		return admin.Subscription{}, err
	}
	guid := appdb.NewGUID()
	room, bounds := w.room(guid, r.Subscriber, &r.Headers, !r.Private)
	if !r.Private {
		room += ` AND (SELECT COUNT(*) FROM whd.SY_WebhookSubscription o WHERE o.SubscriberID = b.ID) < @MaxSubscriptions`
		bounds = append(bounds, sql.Named("MaxSubscriptions", webhook.MaxSubscriptions))
	}
	insert := appdb.MustHit(`INSERT INTO whd.SY_WebhookSubscription (ID, RecID, SubscriberID, EventName, URL, ItemNo, IsEnabled, Ordered, RetrySchedule,
	MaxRetries, Secret, MadeByAdmin, LastSavedDateTime, RowHash)
SELECT @ID, @RecID, b.ID, @EventName, @URL, (SELECT COALESCE(MAX(o.ItemNo), 0) + 1 FROM whd.SY_WebhookSubscription o WHERE o.SubscriberID = b.ID),
	@IsEnabled, @Ordered, @RetrySchedule, @MaxRetries, @Secret, @MadeByAdmin, @Saved, @RowHash
FROM whd.SY_WebhookSubscriber b WHERE b.RecID = @Subscriber`+room, append(bounds,
		sql.Named("ID", id), sql.Named("RecID", guid), sql.Named("EventName", r.Pattern), sql.Named("URL", r.URL),
		sql.Named("IsEnabled", r.Enabled), sql.Named("Ordered", r.Ordered), sql.Named("RetrySchedule", scheduleText(r.Schedule)),
		sql.Named("MaxRetries", scheduleLength(r.Schedule)), sql.Named("Secret", r.Secret), sql.Named("MadeByAdmin", r.Private),
		sql.Named("Saved", appdb.Stamp(r.SavedAt)), sql.Named("RowHash", newRowHash()))...)
	steps := slices.Concat([]appdb.Step{raised(), insert}, headerSteps(guid, r.Headers), w.noted(` WHERE RecID = @Subscription`, sql.Named("Subscription", guid)))
	added, err := w.own.Run(ctx, steps...)
	if err != nil {
		return admin.Subscription{}, w.fault(err, "adding a subscription")
	}
	if !added {
		s, err := w.Subscriber(ctx, r.Subscriber)
		return admin.Subscription{}, cmp.Or(err, full(s))
	}
	return w.Subscription(ctx, r.Subscriber, guid)
}

// full is why nothing can be added to a subscriber.
func full(s admin.Subscriber) error {
	if len(s.Subscriptions) >= webhook.MaxSubscriptions {
		return webhook.ErrTooManySubscriptions
	}
	return webhook.ErrTooManyHeaders
}

// room is the condition, with its arguments, that a subscriber has room for the
// headers of a subscription. Nothing has to fit where it is not bounded.
func (w *Store) room(guid, subscriber string, headers *[]webhook.Header, bounded bool) (string, []any) {
	args := subscriptionArgs(subscriber, guid)
	if !bounded || headers == nil || len(*headers) == 0 {
		return ``, args
	}
	size, length := 0, `OCTET_LENGTH`
	for _, h := range *headers {
		size += len(h.Name) + len(h.Value)
	}
	if w.own.IsServer() {
		length = `LEN` // in characters: it has no UTF-8
	}
	return ` AND (SELECT COALESCE(SUM(` + length + `(h.Name) + ` + length + `(h.Value)), 0) FROM whd.SY_WebhookSubscriptionRequestHeader h
	JOIN whd.SY_WebhookSubscription c ON c.ID = h.SubscriptionID JOIN whd.SY_WebhookSubscriber o ON o.ID = c.SubscriberID
	WHERE o.RecID = @Subscriber AND c.RecID <> @Subscription) <= @Room`, append(args, sql.Named("Room", webhook.MaxHeaderBytes-size))
}

const subscriptionID = `(SELECT s.ID FROM whd.SY_WebhookSubscription s WHERE s.RecID = @Subscription)`

// headerSteps add the headers of a subscription.
func headerSteps(guid string, headers []webhook.Header) []appdb.Step {
	steps := make([]appdb.Step, len(headers))
	for i, h := range headers {
		steps[i] = appdb.MustHit(`INSERT INTO whd.SY_WebhookSubscriptionRequestHeader (RecID, SubscriptionID, ItemNo, Name, Value)
SELECT @RecID, s.ID, @ItemNo, @Name, @Value FROM whd.SY_WebhookSubscription s WHERE s.RecID = @Subscription`,
			sql.Named("RecID", appdb.NewGUID()), sql.Named("ItemNo", i+1), sql.Named("Name", h.Name), sql.Named("Value", h.Value),
			sql.Named("Subscription", guid),
		)
	}
	return steps
}

// ownedBy picks the subscription of a subscriber, by both GUIDs.
const ownedBy = ` WHERE RecID = @Subscription AND SubscriberID IN (SELECT b.ID FROM whd.SY_WebhookSubscriber b WHERE b.RecID = @Subscriber)`

// oneLine moves the open messages of a subscription to the first partition. It
// looks into the others by an index: most messages are in the first one.
const oneLine = `UPDATE whd.SY_WebhookMessage SET PartitionID = 1
WHERE PartitionID IN (SELECT p.PartitionID FROM whd.WH_Partition p WHERE p.PartitionID <> 1) AND NextAttemptDateTime IS NOT NULL AND SubscriptionID = ` + subscriptionID

// ChangeSubscription changes a subscription. It fails with a Conflict where the
// row hash that the change is based on is not the present one.
func (w *Store) ChangeSubscription(ctx context.Context, subscriber, guid string, c admin.SubscriptionChange, at time.Time) (admin.Subscription, error) {
	u := changesOf(c)
	room, args := w.room(guid, subscriber, c.Headers, c.Bounded)
	steps := []appdb.Step{raised(), u.step("whd.SY_WebhookSubscription", ownedBy+room, args, at, c.RowHash)}
	steps = append(steps, w.noted(ownedBy, subscriptionArgs(subscriber, guid)...)...)
	if c.Ordered != nil && *c.Ordered { // one daemon sends them all from now on
		steps = append(steps, appdb.Statement(oneLine, sql.Named("Subscription", guid)))
	}
	if c.Headers != nil {
		steps = append(steps, appdb.Statement(`DELETE FROM whd.SY_WebhookSubscriptionRequestHeader WHERE SubscriptionID = `+subscriptionID,
			sql.Named("Subscription", guid)))
		steps = append(steps, headerSteps(guid, *c.Headers)...)
	}
	hit, err := w.own.Run(ctx, steps...)
	if err != nil {
		return admin.Subscription{}, w.fault(err, "changing a subscription")
	}
	now, err := w.Subscription(ctx, subscriber, guid)
	switch {
	case err != nil || hit:
	case c.RowHash == nil || bytes.Equal(c.RowHash, now.RowHash):
		err = webhook.ErrTooManyHeaders
	default:
		err = stale("subscription")
	}
	return now, err
}

func changesOf(c admin.SubscriptionChange) *changes {
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
		u.set("OldSecretUntil", appdb.NullableStamp(c.Secret.OldUntil))
		u.set("Secret", c.Secret.Secret)
	}
	return u
}

// RemoveSubscription removes a subscription, and reports whether it was there.
// From then on its messages are neither shown nor sent; Sweep removes them.
func (w *Store) RemoveSubscription(ctx context.Context, subscriber, guid string, at time.Time) (bool, error) {
	steps := w.removal(ownedBy, at, subscriptionArgs(subscriber, guid)...)
	steps[len(steps)-1].Must = true
	removed, err := w.own.Run(ctx, steps...)
	return removed, w.fault(err, "removing a subscription")
}

// removal is the steps that remove subscriptions but for their messages, from
// the first one of a transaction on.
func (w *Store) removal(which string, at time.Time, args ...any) []appdb.Step {
	steps := append([]appdb.Step{raised()}, w.noted(which, args...)...)
	args = append(args, sql.Named("At", appdb.Stamp(at)))
	return append(steps, []appdb.Step{
		appdb.Statement(`INSERT INTO whd.WH_SubscriptionRemoved (SubscriptionID, RemovedDateTime)
SELECT ID, @At FROM whd.SY_WebhookSubscription`+which, args...),
		appdb.Statement(`DELETE FROM whd.SY_WebhookSubscriptionRequestHeader WHERE SubscriptionID IN (SELECT ID FROM whd.SY_WebhookSubscription`+which+`)`, args...),
		appdb.Statement(`DELETE FROM whd.SY_WebhookSubscription`+which, args...),
	}...)
}
