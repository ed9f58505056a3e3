package sqlstore

import (
	"context"
	"database/sql"
	"time"

	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/admin"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// Message finds a message.
func (w *Store) Message(ctx context.Context, a admin.Address) (*webhook.Message, error) {
	m, err := appdb.QueryOne(ctx, w.own, scanMessage, `SELECT `+messageRead+`, e.Body`+messageTables+`
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
func (w *Store) RemoveMessage(ctx context.Context, a admin.Address) (*webhook.Message, error) {
	m, err := w.Message(ctx, a)
	if err != nil {
		if fault.Is(err, fault.NotFound) {
			return nil, nil
		}
		return nil, err
	}
	id, event := sql.Named("ID", m.ID), sql.Named("Event", m.Event.ID)
	removed, err := w.own.Run(ctx, append([]appdb.Step{
		appdb.MustHit(`DELETE FROM whd.SY_WebhookMessage WHERE ID = @ID`, id),
		appdb.Statement(`DELETE FROM whd.SY_WebhookMessageResponse WHERE MessageID = @ID`, id),
		appdb.Statement(`DELETE FROM whd.WH_Event WHERE EventID = @Event AND NOT EXISTS (SELECT 1 FROM whd.SY_WebhookMessage m WHERE m.EventID = @Event)`,
			event),
	}, w.nudged(delivery.PeerEvent{Subscription: m.Subscription, Kind: delivery.PeerDeleted})...)...)
	if err != nil || !removed {
		return nil, w.fault(err, "removing a message")
	}
	return m, nil
}

// RetryMessage makes a message that failed, or waits for its next attempt, due
// now. One that was not attempted yet is due anyway. One that was received is
// not sent again: a Conflict.
func (w *Store) RetryMessage(ctx context.Context, a admin.Address, at time.Time) (*webhook.Message, error) {
	m, err := w.Message(ctx, a)
	if err != nil {
		return nil, err
	}
	due := appdb.Statement(`UPDATE whd.SY_WebhookMessage SET Status = 2, NextAttemptDateTime = @At, LastSavedDateTime = @At
WHERE ID = @ID AND Status IN (2, 3)`, sql.Named("ID", m.ID), sql.Named("At", appdb.Stamp(at)))
	_, err = w.own.Run(ctx, append([]appdb.Step{due}, w.nudged(delivery.PeerEvent{Subscription: m.Subscription, Kind: delivery.PeerDue})...)...)
	if err != nil {
		return nil, w.fault(err, "making a message due")
	}
	if m, err = w.Message(ctx, a); err == nil && m.Status == webhook.Successful {
		return nil, fault.New(fault.Conflict, "The message was received already")
	}
	return m, err
}
