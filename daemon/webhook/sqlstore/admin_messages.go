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

// Message finds a message.
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

// RemoveMessage removes a message with what is known of its attempts. It gives
// the message as it was, or nil where it is gone already.
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

// removeSteps remove messages, what is known of their attempts, and events that no
// other message needs. The messages go first: an outcome that is written at the
// same moment finds none, or has been written already.
func removeSteps(db *appdb.DB, messages, events []int64) []appdb.Step {
	these, list := db.ListArg(messages), db.InList
	return []appdb.Step{
		appdb.Statement(`DELETE FROM whd.SY_WebhookMessage WHERE ID IN `+list, these),
		appdb.Statement(`DELETE FROM whd.SY_WebhookMessageResponse WHERE MessageID IN `+list, these),
		appdb.Statement(`DELETE FROM whd.WH_Event WHERE EventID IN `+list+`
	AND NOT EXISTS (SELECT 1 FROM whd.SY_WebhookMessage o WHERE o.EventID = WH_Event.EventID)`, db.ListArg(events)),
	}
}

// RetryMessage makes a message that failed, or waits for its next attempt, due
// now. One that was not attempted yet is due anyway. One that was received is
// not sent again: a Conflict.
func (a *Admin) RetryMessage(ctx context.Context, at admin.Address, now time.Time) (*webhook.Message, error) {
	m, err := a.Message(ctx, at)
	if err != nil {
		return nil, err
	}
	if _, err = a.db.Run(ctx, append([]appdb.Step{retryStep(a.db, []int64{m.ID}, now)}, a.peerEventSteps(delivery.PeerDue, m.Subscription)...)...); err != nil {
		return nil, a.fault(err, "making a message due")
	}
	if m, err = a.Message(ctx, at); err == nil && m.Status == webhook.Successful {
		return nil, fault.New(fault.Conflict, "The message was received already")
	}
	return m, err
}

func retryStep(db *appdb.DB, messages []int64, at time.Time) appdb.Step {
	return appdb.Statement(`UPDATE whd.SY_WebhookMessage SET Status = 2, NextAttemptDateTime = @At, LastSavedDateTime = @At
WHERE ID IN `+db.InList+` AND Status IN (2, 3)`, db.ListArg(messages), sql.Named("At", appdb.Timestamp(at)))
}

// RetryMessages makes those messages due that are still as they were picked and
// have failed or wait for another attempt. It gives what it has changed.
func (a *Admin) RetryMessages(ctx context.Context, picked []admin.Candidate, at time.Time) ([]admin.Changed, error) {
	done, err := a.alter(ctx, picked, func(all []bulkMessage) ([]bulkMessage, []appdb.Step) {
		all = slices.DeleteFunc(all, func(m bulkMessage) bool { return m.Before != webhook.RetryPending && m.Before != webhook.Failed })
		for i := range all {
			all[i].Status, all[i].Next, all[i].At = webhook.RetryPending, at, at
		}
		return all, append([]appdb.Step{retryStep(a.db, numbersOf(all, messageNumber), at)}, a.peerEventSteps(delivery.PeerDue, numbersOf(all, subscriptionNumber)...)...)
	})
	return done, a.fault(err, "making messages due")
}

// RemoveMessages removes those messages that are still as they were picked, with
// what is known of their attempts, and with events that no other message needs.
// It gives what it has removed.
func (a *Admin) RemoveMessages(ctx context.Context, picked []admin.Candidate, at time.Time) ([]admin.Changed, error) {
	done, err := a.alter(ctx, picked, func(all []bulkMessage) ([]bulkMessage, []appdb.Step) {
		for i := range all {
			all[i].Deleted, all[i].Next, all[i].At = true, time.Time{}, at
		}
		return all, append(removeSteps(a.db, numbersOf(all, messageNumber), numbersOf(all, eventNumber)), a.peerEventSteps(delivery.PeerDeleted, numbersOf(all, subscriptionNumber)...)...)
	})
	return done, a.fault(err, "removing messages")
}

// bulkMessage is a message as it is before an alteration, and then as it becomes.
type bulkMessage struct {
	admin.Changed
	event int64
}

func messageNumber(m bulkMessage) int64      { return m.ID }
func eventNumber(m bulkMessage) int64        { return m.event }
func subscriptionNumber(m bulkMessage) int64 { return m.Subscription }

// numbersOf gives each number once.
func numbersOf(all []bulkMessage, of func(bulkMessage) int64) []int64 {
	numbers := make([]int64, len(all))
	for i, m := range all {
		numbers[i] = of(m)
	}
	slices.Sort(numbers)
	return slices.Compact(numbers)
}

// alter reads the messages in the transaction that changes them: a
// transaction that writes to one at the same moment has ended before, or waits.
func (a *Admin) alter(ctx context.Context, picked []admin.Candidate, change func([]bulkMessage) ([]bulkMessage, []appdb.Step)) (done []admin.Changed, err error) {
	if len(picked) == 0 {
		return nil, nil
	}
	err = a.db.Transact(ctx, func(ctx context.Context, tx *sql.Tx) error {
		done = nil
		all, err := unchanged(ctx, a.db, tx, picked)
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

// unchanged locks the messages and gives those that are as they were picked. A
// file is locked as a whole already.
func unchanged(ctx context.Context, db *appdb.DB, tx *sql.Tx, picked []admin.Candidate) ([]bulkMessage, error) {
	ids := make([]int64, len(picked))
	as := make(map[int64]admin.Candidate, len(picked))
	for i, p := range picked {
		ids[i], as[p.ID] = p.ID, p
	}
	these := db.ListArg(ids)
	if db.IsServer() {
		if _, err := tx.ExecContext(ctx, db.Qualify(`UPDATE whd.SY_WebhookMessage SET Status = Status WHERE ID IN `+db.InList), these); err != nil {
			return nil, err
		}
	}
	rows, err := tx.QueryContext(ctx, db.Qualify(`SELECT m.ID, m.SubscriptionID, m.EventID, m.Status, m.Attempts, m.NextAttemptDateTime, COALESCE(m.HTTPCode, 0),
	m.RecID, s.RecID, b.RecID, e.EventName
FROM whd.SY_WebhookMessage m
JOIN whd.WH_Event e ON e.EventID = m.EventID
JOIN whd.SY_WebhookSubscription s ON s.ID = m.SubscriptionID
JOIN whd.SY_WebhookSubscriber b ON b.ID = s.SubscriberID
WHERE m.ID IN `+db.InList+` ORDER BY m.ID`), these)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []bulkMessage
	for rows.Next() {
		var m bulkMessage
		var state webhook.State
		if err := rows.Scan(&m.ID, &m.Subscription, &m.event, &m.Before, &state.Attempts, (*appdb.Time)(&m.Next), &m.Code,
			&m.Message, &m.Change.Subscription, &m.Subscriber, &m.Event); err != nil {
			return nil, err
		}
		m.Status, m.Retries = m.Before, state.Retries()
		if m.Before == as[m.ID].Status && m.Retries == as[m.ID].Retries {
			all = append(all, m)
		}
	}
	return all, rows.Err()
}
