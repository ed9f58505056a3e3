package sqlstore

import (
	"context"
	"database/sql"
	"slices"
	"time"

	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/admin"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// Message returns a message.
func (a *Admin) Message(ctx context.Context, at admin.Address) (*webhook.Message, error) {
	m, err := appdb.QueryOne(ctx, a.db, scanMessage(func(e *webhook.Event) any { return &e.Body }), `SELECT `+messageRead+`, e.Body`+messageTables+`
JOIN whd.SY_WebhookSubscriber b ON b.ID = s.SubscriberID
WHERE b.RecID = @Subscriber AND s.RecID = @Subscription AND m.RecID = @Message`,
		append(subscriptionArgs(at.Subscriber, at.Subscription), sql.Named("Message", at.Message))...)
	if err != nil || m == nil {
		return nil, a.missing(err, "message")
	}
	return *m, nil
}

// RemoveMessage deletes a message with its attempts. It returns the deleted
// message, or nil if it does not exist.
func (a *Admin) RemoveMessage(ctx context.Context, at admin.Address) (*webhook.Message, error) {
	m, err := a.Message(ctx, at)
	if err != nil {
		if fault.Is(err, fault.NotFound) {
			return nil, nil
		}
		return nil, err
	}
	steps := append(removeSteps(a.db, []int64{m.ID}, []int64{m.Event.ID}), a.peerEventSteps(delivery.PeerDeleted, m.Subscription)...)
	steps[0].MustAffect = true
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
	AND NOT EXISTS (SELECT 1 FROM whd.WH_RecordChange c WHERE c.EventID = WH_Event.EventID)`, db.ListArg(events)),
	}
}

// RetryMessage makes a message due now if it has failed or waits for its next
// attempt. A message without an attempt is due anyway. It returns Conflict for a
// message that was already delivered.
func (a *Admin) RetryMessage(ctx context.Context, at admin.Address, now time.Time) (*webhook.Message, error) {
	m, err := a.Message(ctx, at)
	if err != nil {
		return nil, err
	}
	if _, err = a.db.Run(ctx, append([]appdb.Step{retryStep(a.db, []int64{m.ID}, now)}, a.peerEventSteps(delivery.PeerDue, m.Subscription)...)...); err != nil {
		return nil, a.fault(err, "making a message due")
	}
	if m, err = a.Message(ctx, at); err == nil && m.Status == webhook.Successful {
		return nil, fault.New(fault.Conflict, "The message was received already; an administrator can send it again: POST /Webhooks/Messages/Retry with its MessageID and Status=1")
	}
	return m, err
}

// retryStep makes messages due. A replay is due already and keeps its mark.
func retryStep(db *appdb.DB, messages []int64, at time.Time) appdb.Step {
	return appdb.Statement(`UPDATE whd.SY_WebhookMessage SET Status = 2, NextAttemptDateTime = @At, LastSavedDateTime = @At, `+inFirstPartition+`
WHERE ID IN `+db.InList+` AND (Status = 3 OR Status = 2 AND NOT `+isReplay+`)`, db.ListArg(messages), sql.Named("At", appdb.Timestamp(at)))
}

// replayStep makes delivered messages due as replays.
func replayStep(db *appdb.DB, messages []int64, at time.Time) appdb.Step {
	return appdb.Statement(`UPDATE whd.SY_WebhookMessage SET Status = 2, NextAttemptDateTime = @Due, LastSavedDateTime = @At, `+inFirstPartition+`
WHERE ID IN `+db.InList+` AND Status = 1`, db.ListArg(messages), sql.Named("At", appdb.Timestamp(at)), sql.Named("Due", appdb.Timestamp(storedDue(at, true))))
}

// hasOrder is the condition that a subscription s has an order.
const hasOrder = `(s.Ordered = 1 OR s.OrderedByKey = 1)`

// inFirstPartition moves messages that are opened again to the first partition if their
// subscription has an order. They may have ended before it had one.
const inFirstPartition = `PartitionID = CASE WHEN EXISTS (SELECT 1 FROM whd.SY_WebhookSubscription s
	WHERE s.ID = SY_WebhookMessage.SubscriptionID AND ` + hasOrder + `) THEN 1 ELSE PartitionID END`

// RetryMessages makes the candidates due that are unchanged and have failed or wait
// for another attempt. It returns the changes.
func (a *Admin) RetryMessages(ctx context.Context, candidates []admin.Candidate, at time.Time) ([]admin.Changed, error) {
	done, err := a.changeUnchanged(ctx, candidates, func(all []bulkMessage) ([]bulkMessage, []appdb.Step) {
		all = slices.DeleteFunc(all, func(m bulkMessage) bool { return m.Before != webhook.RetryPending && m.Before != webhook.Failed })
		for i := range all {
			all[i].Status, all[i].Next, all[i].At = webhook.RetryPending, at, at
		}
		return all, append([]appdb.Step{retryStep(a.db, distinctIDs(all, messageID), at)}, a.peerEventSteps(delivery.PeerDue, distinctIDs(all, subscriptionOf)...)...)
	})
	return done, a.fault(err, "making messages due")
}

// ReplayMessages makes the candidates due once more that are unchanged and were delivered. It
// returns the changes.
func (a *Admin) ReplayMessages(ctx context.Context, candidates []admin.Candidate, at time.Time) ([]admin.Changed, error) {
	done, err := a.changeUnchanged(ctx, candidates, func(all []bulkMessage) ([]bulkMessage, []appdb.Step) {
		all = slices.DeleteFunc(all, func(m bulkMessage) bool { return m.Before != webhook.Successful })
		for i := range all {
			all[i].Status = webhook.RetryPending
			all[i].Next = at
			all[i].At = at
		}
		steps := []appdb.Step{replayStep(a.db, distinctIDs(all, messageID), at)}
		return all, append(steps, a.peerEventSteps(delivery.PeerDue, distinctIDs(all, subscriptionOf)...)...)
	})
	return done, a.fault(err, "sending delivered messages again")
}

// CountOrdered implements admin.Store.
func (a *Admin) CountOrdered(ctx context.Context, candidates []admin.Candidate) (int64, error) {
	ids := make([]int64, len(candidates))
	for i, c := range candidates {
		ids[i] = c.ID
	}
	return a.queryInt(ctx, "counting messages with an order", `SELECT COUNT(*) FROM whd.SY_WebhookMessage m
JOIN whd.SY_WebhookSubscription s ON s.ID = m.SubscriptionID
WHERE m.ID IN `+a.db.InList+` AND (s.Ordered = 1 OR s.OrderedByKey = 1 AND m.EventKey IS NOT NULL)`, a.db.ListArg(ids))
}

// RemoveMessages deletes the candidates that are unchanged, with their attempts and
// with events without other messages. It returns the deleted messages.
func (a *Admin) RemoveMessages(ctx context.Context, candidates []admin.Candidate, at time.Time) ([]admin.Changed, error) {
	done, err := a.changeUnchanged(ctx, candidates, func(all []bulkMessage) ([]bulkMessage, []appdb.Step) {
		for i := range all {
			all[i].Deleted, all[i].Next, all[i].At = true, time.Time{}, at
		}
		return all, append(removeSteps(a.db, distinctIDs(all, messageID), distinctIDs(all, eventID)), a.peerEventSteps(delivery.PeerDeleted, distinctIDs(all, subscriptionOf)...)...)
	})
	return done, a.fault(err, "removing messages")
}

// bulkMessage is a message before and after a bulk operation.
type bulkMessage struct {
	admin.Changed
	event int64
}

func messageID(m bulkMessage) int64      { return m.ID }
func eventID(m bulkMessage) int64        { return m.event }
func subscriptionOf(m bulkMessage) int64 { return m.Subscription }

// distinctIDs returns the distinct values of a field, sorted.
func distinctIDs(all []bulkMessage, field func(bulkMessage) int64) []int64 {
	numbers := make([]int64, len(all))
	for i, m := range all {
		numbers[i] = field(m)
	}
	slices.Sort(numbers)
	return slices.Compact(numbers)
}

// changeUnchanged reads the candidates in the transaction that changes them, so
// that a concurrent transaction on the same messages either has ended or waits.
func (a *Admin) changeUnchanged(ctx context.Context, candidates []admin.Candidate, change func([]bulkMessage) ([]bulkMessage, []appdb.Step)) (done []admin.Changed, err error) {
	if len(candidates) == 0 {
		return nil, nil
	}
	err = a.db.Transact(ctx, func(ctx context.Context, tx *sql.Tx) error {
		done = nil
		all, err := lockUnchanged(ctx, a.db, tx, candidates)
		if err != nil {
			return err
		}
		all, steps := change(all)
		for _, m := range all {
			done = append(done, m.Changed)
		}
		if len(all) == 0 {
			return nil
		}
		for _, s := range steps {
			if _, err := tx.ExecContext(ctx, a.db.Qualify(s.SQL), s.Args...); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return done, nil
}

// lockUnchanged locks the candidates and returns those that are unchanged. A file
// is already locked.
func lockUnchanged(ctx context.Context, db *appdb.DB, tx *sql.Tx, candidates []admin.Candidate) ([]bulkMessage, error) {
	ids := make([]int64, len(candidates))
	byID := make(map[int64]admin.Candidate, len(candidates))
	for i, p := range candidates {
		ids[i], byID[p.ID] = p.ID, p
	}
	idList := db.ListArg(ids)
	if db.IsServer() {
		if _, err := tx.ExecContext(ctx, db.Qualify(`UPDATE whd.SY_WebhookMessage SET Status = Status WHERE ID IN `+db.InList), idList); err != nil {
			return nil, err
		}
	}
	rows, err := tx.QueryContext(ctx, db.Qualify(`SELECT m.ID, m.SubscriptionID, m.EventID, m.Status, m.Attempts, m.NextAttemptDateTime, COALESCE(m.HTTPCode, 0),
	m.RecID, s.RecID, b.RecID, e.EventName
FROM whd.SY_WebhookMessage m
JOIN whd.WH_Event e ON e.EventID = m.EventID
JOIN whd.SY_WebhookSubscription s ON s.ID = m.SubscriptionID
JOIN whd.SY_WebhookSubscriber b ON b.ID = s.SubscriberID
WHERE m.ID IN `+db.InList+` ORDER BY m.ID`), idList)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []bulkMessage
	for rows.Next() {
		var m bulkMessage
		var state webhook.State
		if err := rows.Scan(&m.ID, &m.Subscription, &m.event, &m.Before, &state.Attempts, scannedDue{&m.Next}, &m.Code,
			&m.Message, &m.Change.Subscription, &m.Subscriber, &m.Event); err != nil {
			return nil, err
		}
		m.Status, m.Retries = m.Before, state.Retries()
		if m.Before == byID[m.ID].Status && m.Retries == byID[m.ID].Retries {
			all = append(all, m)
		}
	}
	return all, rows.Err()
}

// maxTraced is the maximum number of changes of a trace, of the newest messages, and of the
// open ones before them.
const maxTraced = 100

// Statements of a trace: each reads by the index of the key.
const (
	tracedChanges = `SELECT c.Kind, c.Op, c.ChangeID, COALESCE(c.EventID, 0), c.AddedDateTime FROM whd.WH_RecordChange c
WHERE c.RecordKey = @Key ORDER BY c.AddedDateTime DESC, c.ChangeID DESC`
	tracedMessages = ` WHERE m.EventKey = @Key ORDER BY m.ID DESC`
	tracedOpen     = ` WHERE m.EventKey = @Key AND m.NextAttemptDateTime IS NOT NULL ORDER BY m.ID`
	tracedAttempts = `SELECT r.MessageID, r.Attempt, COALESCE(r.HTTPCode, 0), r.Message, r.Duration, r.LastSavedDateTime FROM whd.SY_WebhookMessageResponse r
WHERE r.MessageID IN `
	tracedEvents = `SELECT e.EventID, e.RecID, e.EventName, e.AddedDateTime FROM whd.WH_Event e WHERE e.EventID IN `
)

// Trace implements admin.Store.
func (a *Admin) Trace(ctx context.Context, key string) (*admin.Trace, error) {
	t := &admin.Trace{Events: make(map[int64]*webhook.Event), Attempts: make(map[int64][]admin.TracedAttempt)}
	args := []any{sql.Named("Key", key), sql.Named("Limit", maxTraced+1)}
	var err error
	if t.Changes, err = appdb.QueryAll(ctx, a.db, scanInto(func(c *admin.TracedChange) []any {
		return []any{&c.Kind, &c.Op, &c.ID, &c.EventID, (*appdb.Time)(&c.At)}
	}), tracedChanges+a.db.Limit, args...); err != nil {
		return nil, a.fault(err, "reading the changes of a key")
	}
	read := func(where string) ([]*webhook.Message, error) {
		all, err := appdb.QueryAll(ctx, a.db, scanMessage(func(e *webhook.Event) any { return &e.Size }), `SELECT `+messageRead+`, 0`+messageTables+where+a.db.Limit, args...)
		return all, a.fault(err, "reading the messages of a key")
	}
	if t.Messages, err = read(tracedMessages); err != nil {
		return nil, err
	}
	var open []*webhook.Message
	if t.More = len(t.Changes) > maxTraced || len(t.Messages) > maxTraced; len(t.Messages) > maxTraced {
		if open, err = read(tracedOpen); err != nil { // the newest ones may wait for them
			return nil, err
		}
	}
	t.Changes, t.Messages = t.Changes[:min(len(t.Changes), maxTraced)], t.Messages[:min(len(t.Messages), maxTraced)]
	slices.Reverse(t.Changes)
	slices.Reverse(t.Messages)
	if len(t.Messages) == maxTraced && t.More {
		t.Since = t.Messages[0].Event.AddedAt
	}
	open = slices.DeleteFunc(open, func(m *webhook.Message) bool { return m.ID >= t.Messages[0].ID })
	t.Messages = append(open[:min(len(open), maxTraced)], t.Messages...)
	var messages, events []int64
	for _, m := range t.Messages {
		messages, t.Events[m.Event.ID] = append(messages, m.ID), m.Event
	}
	for _, c := range t.Changes {
		if c.EventID != 0 && t.Events[c.EventID] == nil {
			events = append(events, c.EventID)
		}
	}
	type attempt struct {
		message, ticks int64
		admin.TracedAttempt
	}
	attempts, err := appdb.QueryAll(ctx, a.db, scanInto(func(r *attempt) []any {
		return []any{&r.message, &r.Number, &r.Code, &r.Message, &r.ticks, (*appdb.Time)(&r.At)}
	}), tracedAttempts+a.db.InList+` ORDER BY r.MessageID, r.Attempt`, a.db.ListArg(messages))
	if err != nil {
		return nil, a.fault(err, "reading the attempts of a key")
	}
	for _, r := range attempts {
		r.Took = time.Duration(r.ticks) * 100
		t.Attempts[r.message] = append(t.Attempts[r.message], r.TracedAttempt)
	}
	others, err := appdb.QueryAll(ctx, a.db, scanInto(func(e *webhook.Event) []any {
		return []any{&e.ID, &e.GUID, &e.Name, (*appdb.Time)(&e.AddedAt)}
	}), tracedEvents+a.db.InList, a.db.ListArg(events))
	for _, e := range others {
		t.Events[e.ID] = &e
	}
	return t, a.fault(err, "reading the events of a key")
}
