package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/admin"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// RetryMessages makes the candidates due that are unchanged and have failed or wait for another
// attempt. It returns them, and those that it leaves since they are due anyway.
func (a *Admin) RetryMessages(
	ctx context.Context, candidates []admin.Candidate, at time.Time,
) ([]admin.Changed, error) {
	changed, err := a.changeUnchanged(ctx, candidates, func(messages []bulkMessage) ([]bulkMessage, []appdb.Step) {
		messages = slices.DeleteFunc(messages, wasDelivered)
		var retried []bulkMessage
		for i := range messages {
			m := &messages[i]
			if !isDueAnyway(m.Before, m.isReplay) {
				m.markDue(at)
				retried = append(retried, *m)
			}
		}
		var steps []appdb.Step
		if len(retried) > 0 {
			steps = append(steps, retryStep(a.db, distinctIDs(retried, messageID), at))
		}
		return messages, append(steps, a.peerSteps(delivery.PeerDue, messages)...)
	})
	return changed, a.fault(err, "making messages due")
}

func wasDelivered(m bulkMessage) bool { return m.Before == webhook.Successful }

// ReplayMessages makes the candidates due once more that are unchanged and were delivered. It
// returns the changes.
func (a *Admin) ReplayMessages(
	ctx context.Context, candidates []admin.Candidate, at time.Time,
) ([]admin.Changed, error) {
	changed, err := a.changeUnchanged(ctx, candidates, func(messages []bulkMessage) ([]bulkMessage, []appdb.Step) {
		messages = slices.DeleteFunc(messages, func(m bulkMessage) bool { return !wasDelivered(m) })
		for i := range messages {
			messages[i].markDue(at)
		}
		steps := []appdb.Step{replayStep(a.db, distinctIDs(messages, messageID), at)}
		return messages, append(steps, a.peerSteps(delivery.PeerDue, messages)...)
	})
	return changed, a.fault(err, "sending delivered messages again")
}

// CountOrdered returns the number of candidates that later messages may have to wait for.
func (a *Admin) CountOrdered(ctx context.Context, candidates []admin.Candidate) (int64, error) {
	ids := make([]int64, len(candidates))
	for i, c := range candidates {
		ids[i] = c.ID
	}
	count := `SELECT COUNT(*) FROM whd.SY_WebhookMessage m
JOIN whd.SY_WebhookSubscription s ON s.ID = m.SubscriptionID
WHERE m.ID IN ` + a.db.InList + ` AND (s.Ordered = 1 OR s.OrderedByKey = 1 AND m.EventKey IS NOT NULL)`
	return a.queryInt(ctx, "counting messages with an order", count, a.db.ListArg(ids))
}

// RemoveMessages deletes the candidates that are unchanged, with their attempts and
// with events without other messages. It returns the deleted messages.
func (a *Admin) RemoveMessages(
	ctx context.Context, candidates []admin.Candidate, at time.Time,
) ([]admin.Changed, error) {
	changed, err := a.changeUnchanged(ctx, candidates, func(messages []bulkMessage) ([]bulkMessage, []appdb.Step) {
		for i := range messages {
			m := &messages[i]
			m.Deleted = true
			m.Next = time.Time{}
			m.At = at
		}
		steps := removeSteps(a.db, distinctIDs(messages, messageID), distinctIDs(messages, eventID))
		return messages, append(steps, a.peerSteps(delivery.PeerDeleted, messages)...)
	})
	return changed, a.fault(err, "removing messages")
}

// bulkMessage is a message before and after a bulk operation.
type bulkMessage struct {
	admin.Changed
	event    int64
	isReplay bool // before the operation
}

// markDue sets the state that a message has once it is made due.
func (m *bulkMessage) markDue(at time.Time) {
	m.Status = webhook.RetryPending
	m.Next = at
	m.At = at
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

// peerSteps returns the steps that notify other daemons about messages, once for each subscription.
func (a *Admin) peerSteps(kind delivery.PeerEventKind, messages []bulkMessage) []appdb.Step {
	return a.peerEventSteps(kind, distinctIDs(messages, subscriptionOf)...)
}

// changeUnchanged reads the candidates in the transaction that changes them, so that a concurrent
// transaction on the same messages either has ended or waits. change selects the messages to change,
// and returns the steps that do so.
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
		return a.db.RunIn(ctx, tx, steps...)
	})
	if err != nil {
		return nil, err
	}
	return changed, nil
}

// bulkState reads the state of messages.
const bulkState = `SELECT m.ID, m.SubscriptionID, m.EventID,
	m.Status, m.Attempts, m.NextAttemptDateTime, COALESCE(m.HTTPCode, 0),
	m.RecID, s.RecID, b.RecID, e.EventName
FROM whd.SY_WebhookMessage m
JOIN whd.WH_Event e ON e.EventID = m.EventID
JOIN whd.SY_WebhookSubscription s ON s.ID = m.SubscriptionID
JOIN whd.SY_WebhookSubscriber b ON b.ID = s.SubscriberID
WHERE m.ID IN %s
ORDER BY m.ID`

// lockUnchanged locks the candidates and returns those that are unchanged. A file
// is already locked.
func lockUnchanged(
	ctx context.Context, db *appdb.DB, tx *sql.Tx, candidates []admin.Candidate,
) ([]bulkMessage, error) {
	ids := make([]int64, len(candidates))
	byID := make(map[int64]admin.Candidate, len(candidates))
	for i, c := range candidates {
		ids[i] = c.ID
		byID[c.ID] = c
	}
	idList := db.ListArg(ids)
	if db.IsServer() {
		lock := db.Qualify(`UPDATE whd.SY_WebhookMessage SET Status = Status WHERE ID IN ` + db.InList)
		_, err := tx.ExecContext(ctx, lock, idList)
		if err != nil {
			return nil, err
		}
	}

	rows, err := tx.QueryContext(ctx, db.Qualify(fmt.Sprintf(bulkState, db.InList)), idList)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var unchanged []bulkMessage
	for rows.Next() {
		m, err := scanBulkMessage(rows)
		if err != nil {
			return nil, err
		}
		c := byID[m.ID]
		if m.Before == c.Status && m.Retries == c.Retries {
			unchanged = append(unchanged, m)
		}
	}
	return unchanged, rows.Err()
}

// scanBulkMessage scans a row of bulkState. The message is the same before and after, so far.
func scanBulkMessage(row appdb.Row) (bulkMessage, error) {
	var m bulkMessage
	var state webhook.State
	err := row.Scan(&m.ID, &m.Subscription, &m.event,
		&m.Before, &state.Attempts, (*appdb.Time)(&m.Next), &m.Code,
		&m.Message, &m.Change.Subscription, &m.Subscriber, &m.Event)
	m.Next, m.isReplay = readDue(m.Next)
	m.Status = m.Before
	m.Retries = state.Retries()
	return m, err
}
