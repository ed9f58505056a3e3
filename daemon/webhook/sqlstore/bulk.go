package sqlstore

import (
	"context"
	"database/sql"
	"slices"
	"time"

	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/audit"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/admin"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// Note adds an entry to the audit trail by itself.
func (w *Store) Note(ctx context.Context, e audit.Entry) error {
	_, err := w.own.Run(ctx, appdb.AuditStep(e))
	return w.fault(err, "writing the audit trail")
}

// LastMessage is the highest number of a message, 0 where there is none.
func (w *Store) LastMessage(ctx context.Context) (int64, error) {
	last, err := appdb.QueryOne(ctx, w.own, appdb.ScanInt, `SELECT COALESCE(MAX(ID), 0) FROM whd.SY_WebhookMessage`)
	if err != nil || last == nil {
		return 0, w.fault(err, "looking for the last message")
	}
	return *last, nil
}

// RetryMessages makes those messages due that are still as they were picked and
// have failed or wait for another attempt. It gives what it has changed.
func (w *Store) RetryMessages(ctx context.Context, picked []admin.Candidate, at time.Time) ([]admin.Changed, error) {
	due := alteration{picked: picked, nudge: delivery.PeerDue,
		may: func(m bulkMessage) bool { return m.Before == webhook.RetryPending || m.Before == webhook.Failed },
		change: func(c *webhook.Change) {
			c.Status, c.Next, c.At = webhook.RetryPending, at, at
		},
		steps: func(all []bulkMessage) []appdb.Step {
			return []appdb.Step{appdb.Statement(`UPDATE whd.SY_WebhookMessage SET Status = 2, NextAttemptDateTime = @At, LastSavedDateTime = @At
WHERE ID IN `+w.own.InList()+` AND Status IN (2, 3)`, w.own.ListArg(messageNumbers(all)), sql.Named("At", appdb.Stamp(at)))}
		}}
	done, err := w.alter(ctx, due)
	return done, w.fault(err, "making messages due")
}

// RemoveMessages removes those messages that are still as they were picked, with
// what is known of their attempts, and with events that no other message needs.
// It gives what it has removed.
func (w *Store) RemoveMessages(ctx context.Context, picked []admin.Candidate, at time.Time) ([]admin.Changed, error) {
	removal := alteration{picked: picked, nudge: delivery.PeerDeleted,
		may:    func(bulkMessage) bool { return true },
		change: func(c *webhook.Change) { c.Deleted, c.Next, c.At = true, time.Time{}, at },
		steps: func(all []bulkMessage) []appdb.Step {
			these, events := []any{w.own.ListArg(messageNumbers(all))}, []any{w.own.ListArg(eventNumbers(all))}
			return []appdb.Step{
				appdb.Statement(`DELETE FROM whd.SY_WebhookMessageResponse WHERE MessageID IN `+w.own.InList(), these...),
				appdb.Statement(`DELETE FROM whd.SY_WebhookMessage WHERE ID IN `+w.own.InList(), these...),
				appdb.Statement(`DELETE FROM whd.WH_Event WHERE EventID IN `+w.own.InList()+`
	AND NOT EXISTS (SELECT 1 FROM whd.SY_WebhookMessage o WHERE o.EventID = WH_Event.EventID)`, events...),
			}
		}}
	done, err := w.alter(ctx, removal)
	return done, w.fault(err, "removing messages")
}

// alteration is what is done to some messages in one transaction.
type alteration struct {
	picked []admin.Candidate
	may    func(bulkMessage) bool
	change func(*webhook.Change) // what becomes of a message, for those who look on
	steps  func([]bulkMessage) []appdb.Step
	nudge  delivery.PeerEventKind
}

// bulkMessage is a message as it is before the alteration.
type bulkMessage struct {
	admin.Changed
	event int64
}

// alter reads the messages in the transaction that changes them: whoever writes
// to one at the same moment has done so before, or waits until the end.
func (w *Store) alter(ctx context.Context, a alteration) (done []admin.Changed, err error) {
	if len(a.picked) == 0 {
		return nil, nil
	}
	err = w.own.Transact(ctx, func(ctx context.Context, tx *sql.Tx) error {
		all, err := w.unchanged(ctx, tx, a)
		if err == nil {
			done, err = w.alterThese(ctx, tx, a, all)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return done, nil
}

// unchanged locks the messages and gives those that are as they were picked. A
// file is locked as a whole already.
func (w *Store) unchanged(ctx context.Context, tx *sql.Tx, a alteration) ([]bulkMessage, error) {
	ids := make([]int64, len(a.picked))
	as := make(map[int64]admin.Candidate, len(a.picked))
	for i, p := range a.picked {
		ids[i], as[p.ID] = p.ID, p
	}
	these := w.own.ListArg(ids)
	if w.own.IsServer() {
		if _, err := tx.ExecContext(ctx, w.own.Text(`UPDATE whd.SY_WebhookMessage SET Status = Status WHERE ID IN `+w.own.InList()), these); err != nil {
			return nil, err
		}
	}
	rows, err := tx.QueryContext(ctx, w.own.Text(`SELECT m.ID, m.SubscriptionID, m.EventID, m.Status, m.Attempts, m.NextAttemptDateTime, m.HTTPCode,
	m.RecID, s.RecID, b.RecID, e.EventName
FROM whd.SY_WebhookMessage m
JOIN whd.WH_Event e ON e.EventID = m.EventID
JOIN whd.SY_WebhookSubscription s ON s.ID = m.SubscriptionID
JOIN whd.SY_WebhookSubscriber b ON b.ID = s.SubscriberID
WHERE m.ID IN `+w.own.InList()+` ORDER BY m.ID`), these)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []bulkMessage
	for rows.Next() {
		m, err := scanBulkMessage(rows)
		if err != nil {
			return nil, err
		}
		if m.Before == as[m.ID].Status && m.Retries == as[m.ID].Retries && a.may(m) {
			all = append(all, m)
		}
	}
	return all, rows.Err()
}

func scanBulkMessage(row appdb.Row) (m bulkMessage, err error) {
	var code sql.NullInt64
	var state webhook.State
	err = row.Scan(&m.ID, &m.Subscription, &m.event, &m.Before, &state.Attempts, (*appdb.Time)(&m.Next), &code,
		&m.Message, &m.Change.Subscription, &m.Subscriber, &m.Event)
	m.Status, m.Retries, m.Code = m.Before, state.Retries(), int(code.Int64)
	return m, err
}

func (w *Store) alterThese(ctx context.Context, tx *sql.Tx, a alteration, all []bulkMessage) ([]admin.Changed, error) {
	if len(all) == 0 {
		return nil, nil
	}
	for _, s := range append(a.steps(all), w.nudged(nudgesOf(all, a.nudge)...)...) {
		if _, err := tx.ExecContext(ctx, w.own.Text(s.SQL), s.Args...); err != nil {
			return nil, err
		}
	}
	done := make([]admin.Changed, len(all))
	for i, m := range all {
		done[i] = m.Changed
		a.change(&done[i].Change)
	}
	return done, nil
}

func nudgesOf(all []bulkMessage, kind delivery.PeerEventKind) []delivery.PeerEvent {
	var nudges []delivery.PeerEvent
	known := make(map[int64]bool)
	for _, m := range all {
		if !known[m.Subscription] {
			known[m.Subscription] = true
			nudges = append(nudges, delivery.PeerEvent{Subscription: m.Subscription, Kind: kind})
		}
	}
	return nudges
}

func messageNumbers(all []bulkMessage) []int64 {
	ids := make([]int64, len(all))
	for i, m := range all {
		ids[i] = m.ID
	}
	return ids
}

func eventNumbers(all []bulkMessage) []int64 {
	ids := make([]int64, len(all))
	for i, m := range all {
		ids[i] = m.event
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}
