package sqlstore

import (
	"context"
	"database/sql"
	"slices"
	"time"

	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/admin"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// RetryMessages makes the candidates due that are unchanged and have failed or wait
// for another attempt. It returns them, and those without an attempt, which it leaves.
func (a *Admin) RetryMessages(ctx context.Context, candidates []admin.Candidate, at time.Time) ([]admin.Changed, error) {
	changed, err := a.changeUnchanged(ctx, candidates, func(messages []bulkMessage) ([]bulkMessage, []appdb.Step) {
		messages = slices.DeleteFunc(messages, func(m bulkMessage) bool { return m.Before == webhook.Successful })
		var ended []bulkMessage // or waiting for another attempt
		for i := range messages {
			if messages[i].Before != webhook.NotSent {
				markDue(messages[i:i+1], at)
				ended = append(ended, messages[i])
			}
		}
		var steps []appdb.Step
		if len(ended) > 0 {
			steps = append(steps, retryStep(a.db, distinctIDs(ended, messageID), at))
		}
		return messages, append(steps, a.peerEventSteps(delivery.PeerDue, distinctIDs(messages, subscriptionOf)...)...)
	})
	return changed, a.fault(err, "making messages due")
}

// markDue sets the state that messages have when they are made due.
func markDue(messages []bulkMessage, at time.Time) {
	for i := range messages {
		m := &messages[i]
		m.Status = webhook.RetryPending
		m.Next = at
		m.At = at
	}
}

// ReplayMessages makes the candidates due once more that are unchanged and were delivered. It
// returns the changes.
func (a *Admin) ReplayMessages(ctx context.Context, candidates []admin.Candidate, at time.Time) ([]admin.Changed, error) {
	changed, err := a.changeUnchanged(ctx, candidates, func(messages []bulkMessage) ([]bulkMessage, []appdb.Step) {
		messages = slices.DeleteFunc(messages, func(m bulkMessage) bool { return m.Before != webhook.Successful })
		markDue(messages, at)
		steps := []appdb.Step{replayStep(a.db, distinctIDs(messages, messageID), at)}
		return messages, append(steps, a.peerEventSteps(delivery.PeerDue, distinctIDs(messages, subscriptionOf)...)...)
	})
	return changed, a.fault(err, "sending delivered messages again")
}

// CountOrdered returns the number of candidates that later messages may have to wait for.
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
	changed, err := a.changeUnchanged(ctx, candidates, func(messages []bulkMessage) ([]bulkMessage, []appdb.Step) {
		for i := range messages {
			m := &messages[i]
			m.Deleted = true
			m.Next = time.Time{}
			m.At = at
		}
		steps := removeSteps(a.db, distinctIDs(messages, messageID), distinctIDs(messages, eventID))
		return messages, append(steps, a.peerEventSteps(delivery.PeerDeleted, distinctIDs(messages, subscriptionOf)...)...)
	})
	return changed, a.fault(err, "removing messages")
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
func distinctIDs(messages []bulkMessage, field func(bulkMessage) int64) []int64 {
	ids := make([]int64, len(messages))
	for i, m := range messages {
		ids[i] = field(m)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// changeUnchanged reads the candidates in the transaction that changes them, so
// that a concurrent transaction on the same messages either has ended or waits. change selects
// the messages to change, and returns the steps that do so.
func (a *Admin) changeUnchanged(
	ctx context.Context,
	candidates []admin.Candidate,
	change func([]bulkMessage) ([]bulkMessage, []appdb.Step),
) ([]admin.Changed, error) {
	if len(candidates) == 0 {
		return nil, nil
	}
	var changed []admin.Changed
	err := a.db.Transact(ctx, func(ctx context.Context, tx *sql.Tx) error {
		changed = nil // of a transaction that is repeated
		unchanged, err := lockUnchanged(ctx, a.db, tx, candidates)
		if err != nil {
			return err
		}
		messages, steps := change(unchanged)
		if len(messages) == 0 {
			return nil
		}
		for _, m := range messages {
			changed = append(changed, m.Changed)
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
	return changed, nil
}

// lockUnchanged locks the candidates and returns those that are unchanged. A file
// is already locked.
func lockUnchanged(ctx context.Context, db *appdb.DB, tx *sql.Tx, candidates []admin.Candidate) ([]bulkMessage, error) {
	ids := make([]int64, len(candidates))
	byID := make(map[int64]admin.Candidate, len(candidates))
	for i, c := range candidates {
		ids[i] = c.ID
		byID[c.ID] = c
	}
	idList := db.ListArg(ids)
	if db.IsServer() {
		lock := db.Qualify(`UPDATE whd.SY_WebhookMessage SET Status = Status WHERE ID IN ` + db.InList)
		if _, err := tx.ExecContext(ctx, lock, idList); err != nil {
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
	var unchanged []bulkMessage
	for rows.Next() {
		var m bulkMessage
		var state webhook.State
		err := rows.Scan(&m.ID, &m.Subscription, &m.event, &m.Before, &state.Attempts, scannedDue{&m.Next}, &m.Code,
			&m.Message, &m.Change.Subscription, &m.Subscriber, &m.Event)
		if err != nil {
			return nil, err
		}
		m.Status = m.Before
		m.Retries = state.Retries()
		if m.Before == byID[m.ID].Status && m.Retries == byID[m.ID].Retries {
			unchanged = append(unchanged, m)
		}
	}
	return unchanged, rows.Err()
}
