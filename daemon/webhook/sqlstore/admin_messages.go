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

// Message returns a message.
func (a *Admin) Message(ctx context.Context, address admin.Address) (*webhook.Message, error) {
	statement := `SELECT ` + messageRead + `, e.Body` + messageTables + `
JOIN whd.SY_WebhookSubscriber b ON b.ID = s.SubscriberID
WHERE b.RecID = @Subscriber AND s.RecID = @Subscription AND m.RecID = @Message`
	args := subscriptionArgs(address.Subscriber, address.Subscription)
	args = append(args, sql.Named("Message", address.Message))
	m, err := appdb.QueryOne(ctx, a.db, scanMessage(eventBody), statement, args...)
	if err != nil || m == nil {
		return nil, a.missing(err, "message")
	}
	return *m, nil
}

func eventBody(event *webhook.Event) any { return &event.Body }

// RemoveMessage deletes a message with its attempts. It returns the deleted
// message, or nil if it does not exist.
func (a *Admin) RemoveMessage(ctx context.Context, address admin.Address) (*webhook.Message, error) {
	m, err := a.Message(ctx, address)
	if fault.Is(err, fault.NotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	steps := removeSteps(a.db, []int64{m.ID}, []int64{m.Event.ID})
	steps[0].MustAffect = true
	steps = append(steps, a.peerEventSteps(delivery.PeerDeleted, m.Subscription)...)
	removed, err := a.db.Run(ctx, steps...)
	if err != nil || !removed {
		return nil, a.fault(err, "removing a message")
	}
	return m, nil
}

// removeSteps returns the steps that delete messages, their attempts, and events
// without other messages. The messages are deleted first: an outcome written
// concurrently then either finds no message, or has already been written.
func removeSteps(db *appdb.DB, messages, events []int64) []appdb.Step {
	ids, inList := db.ListArg(messages), db.InList
	return []appdb.Step{
		appdb.Statement(`DELETE FROM whd.SY_WebhookMessage WHERE ID IN `+inList, ids),
		appdb.Statement(`DELETE FROM whd.SY_WebhookMessageResponse WHERE MessageID IN `+inList, ids),
		appdb.Statement(`DELETE FROM whd.WH_Event WHERE EventID IN `+inList+`
	AND NOT EXISTS (SELECT 1 FROM whd.SY_WebhookMessage o WHERE o.EventID = WH_Event.EventID)
	AND NOT EXISTS (SELECT 1 FROM whd.WH_RecordChange c WHERE c.EventID = WH_Event.EventID)`,
			db.ListArg(events)),
	}
}

// peerEventSteps returns the steps that notify other daemons about messages of
// subscriptions. The first step locks the counter until the transaction ends, so
// the numbers have the order of the commits: a reader of a number has not missed a
// lower one.
func (a *Admin) peerEventSteps(kind delivery.PeerEventKind, subscriptions ...int64) []appdb.Step {
	counter := sql.Named("Name", lastPeerEvent)
	steps := []appdb.Step{
		appdb.Statement(`UPDATE whd.WH_Number SET Next = Next + 1 WHERE Name = @Name`, counter),
	}
	insert := `INSERT INTO whd.WH_Nudge (Number, SubscriptionID, Kind, Holder, AddedDateTime)
SELECT n.Next, @Subscription, @Kind, @Holder, ` + a.db.Clock + `
FROM whd.WH_Number n WHERE n.Name = @Name`
	for _, s := range subscriptions {
		steps = append(steps, appdb.Statement(insert,
			sql.Named("Subscription", s),
			sql.Named("Kind", int64(kind)),
			a.db.HolderArg(),
			counter))
	}
	return steps
}

// RetryMessage makes a message due now if it has failed or waits for its next attempt. It returns
// Conflict for a message that was already delivered.
func (a *Admin) RetryMessage(
	ctx context.Context, address admin.Address, now time.Time,
) (*webhook.Message, error) {
	m, err := a.Message(ctx, address)
	if err != nil {
		return nil, err
	}
	if m.Status == webhook.Successful {
		return nil, alreadyReceived()
	}
	retry := retryStep(a.db, []int64{m.ID}, now)
	retry.MustAffect = !isDueAnyway(m.Status, m.Replay)
	steps := append([]appdb.Step{retry}, a.peerEventSteps(delivery.PeerDue, m.Subscription)...)
	retried, err := a.db.Run(ctx, steps...)
	if err != nil {
		return nil, a.fault(err, "making a message due")
	}

	// From here on, another daemon may deliver it. It is a conflict only if it did so before.
	m, err = a.Message(ctx, address)
	if err == nil && !retried && m.Status == webhook.Successful {
		return nil, alreadyReceived()
	}
	return m, err
}

// isDueAnyway reports whether a retry leaves a message as it is, since it is due already: one without
// an attempt, and a replay.
func isDueAnyway(status webhook.Status, isReplay bool) bool {
	return status == webhook.NotSent || status == webhook.RetryPending && isReplay
}

func alreadyReceived() error {
	return fault.New(fault.Conflict, "The message was received already; an administrator can send it "+
		"again: POST /Webhooks/Messages/Retry with its MessageID and Status=1")
}

// retryStep makes messages due, but for those that are due anyway.
func retryStep(db *appdb.DB, messages []int64, at time.Time) appdb.Step {
	return appdb.Statement(`UPDATE whd.SY_WebhookMessage
SET Status = 2, NextAttemptDateTime = @At, LastSavedDateTime = @At, `+inFirstPartition+`
WHERE ID IN `+db.InList+` AND (Status = 3 OR Status = 2 AND NOT `+isReplay+`)`,
		db.ListArg(messages), sql.Named("At", appdb.Timestamp(at)))
}

// replayStep makes delivered messages due as replays.
func replayStep(db *appdb.DB, messages []int64, at time.Time) appdb.Step {
	return appdb.Statement(`UPDATE whd.SY_WebhookMessage
SET Status = 2, NextAttemptDateTime = @Due, LastSavedDateTime = @At, `+inFirstPartition+`
WHERE ID IN `+db.InList+` AND Status = 1`,
		db.ListArg(messages),
		sql.Named("At", appdb.Timestamp(at)),
		sql.Named("Due", appdb.Timestamp(storedDue(at, true))))
}

// hasOrder is the condition that a subscription s has an order.
const hasOrder = `(s.Ordered = 1 OR s.OrderedByKey = 1)`

// inFirstPartition moves messages that are opened again to the first partition if their
// subscription has an order. They may have ended before it had one.
const inFirstPartition = `PartitionID = CASE WHEN EXISTS (SELECT 1 FROM whd.SY_WebhookSubscription s
	WHERE s.ID = SY_WebhookMessage.SubscriptionID AND ` + hasOrder + `) THEN 1 ELSE PartitionID END`
