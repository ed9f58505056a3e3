package store

import (
	"context"
	"database/sql"
	"time"

	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/webhook"
)

// Message finds a message.
func (w *Webhooks) Message(ctx context.Context, a webhook.Address) (*webhook.Message, error) {
	m, err := found(ctx, w.own, scanMessage, `SELECT `+messageColumns+`
JOIN whd.SY_WebhookSubscriber b ON b.ID = s.SubscriberID
WHERE b.RecID = @Subscriber AND s.RecID = @Subscription AND m.RecID = @Message`,
		append(subscriptionArgs(a.Subscriber, a.Subscription), sql.Named("Message", a.Message))...)
	if err != nil || m == nil {
		return nil, w.missing(err, "message")
	}
	return *m, nil
}

// RemoveMessage removes a message with what is known of its attempts. It gives
// the message as it was, or nil where it is gone already. The message goes
// first: an outcome that is written at the same moment finds none, or has been
// written by then.
func (w *Webhooks) RemoveMessage(ctx context.Context, a webhook.Address) (*webhook.Message, error) {
	m, err := w.Message(ctx, a)
	if err != nil {
		if fault.Is(err, fault.NotFound) {
			return nil, nil
		}
		return nil, err
	}
	id, event := sql.Named("ID", m.ID), sql.Named("Event", m.Event.ID)
	removed, err := w.own.run(ctx, append([]step{
		{`DELETE FROM whd.SY_WebhookMessage WHERE ID = @ID`, []any{id}, true},
		{`DELETE FROM whd.SY_WebhookMessageResponse WHERE MessageID = @ID`, []any{id}, false},
		{`DELETE FROM whd.WH_Event WHERE EventID = @Event AND NOT EXISTS (SELECT 1 FROM whd.SY_WebhookMessage m WHERE m.EventID = @Event)`,
			[]any{event}, false},
	}, w.nudged(webhook.Nudge{Subscription: m.Subscription, Kind: webhook.NudgeDeleted})...)...)
	if err != nil || !removed {
		return nil, w.own.fault(err, "removing a message")
	}
	return m, nil
}

// RetryMessage makes a message that failed, or waits for its next attempt, due
// now. One that was not attempted yet is due anyway. One that was received is
// not sent again: a Conflict.
func (w *Webhooks) RetryMessage(ctx context.Context, a webhook.Address, at time.Time) (*webhook.Message, error) {
	m, err := w.Message(ctx, a)
	if err != nil {
		return nil, err
	}
	due := step{`UPDATE whd.SY_WebhookMessage SET Status = 2, NextAttemptDateTime = @At, LastSavedDateTime = @At
WHERE ID = @ID AND Status IN (2, 3)`, []any{sql.Named("ID", m.ID), sql.Named("At", stamp(at))}, false}
	_, err = w.own.run(ctx, append([]step{due}, w.nudged(webhook.Nudge{Subscription: m.Subscription, Kind: webhook.NudgeDue})...)...)
	if err != nil {
		return nil, w.own.fault(err, "making a message due")
	}
	if m, err = w.Message(ctx, a); err == nil && m.Status == webhook.Successful {
		return nil, fault.New(fault.Conflict, "The message was received already")
	}
	return m, err
}

// sweepPause is how long a removed subscription is remembered: a batch that was
// being written when it was removed may add messages for as long as it runs.
const sweepPause = 4 * ownLimit

// Sweep removes up to limit messages of subscriptions that are gone, and
// reports whether there are more. It also ends old secrets and forgets old
// idempotency keys. Little is locked, and not for long.
func (w *Webhooks) Sweep(ctx context.Context, limit int) (more bool, err error) {
	gone, err := list(ctx, w.own, scanInt, `SELECT SubscriptionID FROM whd.WH_SubscriptionRemoved ORDER BY SubscriptionID`)
	if err != nil {
		return false, w.own.fault(err, "looking for removed subscriptions")
	}
	for _, subscription := range gone {
		n, err := w.sweepMessages(ctx, subscription, limit)
		if err != nil {
			return false, w.own.fault(err, "removing messages")
		}
		if limit -= n; limit <= 0 {
			return true, nil
		}
	}
	return false, w.own.fault(w.forget(ctx, limit), "removing what has ended")
}

// sweepMessages removes some messages of one subscription, the oldest first.
func (w *Webhooks) sweepMessages(ctx context.Context, subscription int64, limit int) (int, error) {
	of := sql.Named("Subscription", subscription)
	ids, err := list(ctx, w.own, scanInt, `SELECT ID FROM whd.SY_WebhookMessage WHERE SubscriptionID = @Subscription ORDER BY ID`+w.own.first(),
		of, sql.Named("Limit", limit))
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	const these = ` WHERE SubscriptionID = @Subscription AND ID <= @Last`
	args := []any{of, sql.Named("Last", ids[len(ids)-1])}
	_, err = w.own.run(ctx,
		// Nothing changes, but an outcome that is being written is waited for.
		step{`UPDATE whd.SY_WebhookMessage SET SubscriptionID = SubscriptionID` + these, args, false},
		step{`DELETE FROM whd.SY_WebhookMessageResponse WHERE MessageID IN (SELECT ID FROM whd.SY_WebhookMessage` + these + `)`, args, false},
		step{`DELETE FROM whd.WH_Event WHERE EventID IN (SELECT EventID FROM whd.SY_WebhookMessage` + these + `)
	AND NOT EXISTS (SELECT 1 FROM whd.SY_WebhookMessage o WHERE o.EventID = WH_Event.EventID AND o.SubscriptionID <> @Subscription)`, args, false},
		step{`DELETE FROM whd.SY_WebhookMessage` + these, args, false})
	return len(ids), err
}

// forget removes what has ended by the store's clock.
func (w *Webhooks) forget(ctx context.Context, limit int) error {
	clock := w.own.clock()
	_, err := w.own.exec(ctx, `DELETE FROM whd.WH_IdempotencyKey WHERE ExpiryDateTime <= `+clock+` AND KeyHash IN (
	SELECT k.KeyHash FROM whd.WH_IdempotencyKey k ORDER BY k.ExpiryDateTime`+w.own.first()+`)`, sql.Named("Limit", limit))
	if err != nil {
		return err
	}
	pause := sql.Named("Term", -sweepPause.Milliseconds())
	_, err = w.own.exec(ctx, `DELETE FROM whd.WH_SubscriptionRemoved WHERE RemovedDateTime < `+w.own.clockAfter()+`
	AND NOT EXISTS (SELECT 1 FROM whd.SY_WebhookMessage m WHERE m.SubscriptionID = WH_SubscriptionRemoved.SubscriptionID)`, pause)
	if err != nil {
		return err
	}
	_, err = w.own.run(ctx, raised(), step{`UPDATE whd.SY_WebhookSubscription SET OldSecret = NULL, OldSecretUntil = NULL
WHERE OldSecretUntil <= ` + clock, nil, true})
	return err
}
