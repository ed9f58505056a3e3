package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/audit"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/admin"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// TestBulkRows checks the rows that a bulk removal leaves: none of the deleted
// messages, and all that other messages need.
func TestBulkRows(t *testing.T) {
	onBoth(t, func(t *testing.T, w *Store) {
		// The messages are 12, 14 and 16 of the events 11, 13 and 15, and 99 of the event 13, too.
		r, l := subscribed(t, w)
		b := hookBatch(w.mustVersion(t), 11, 3, r, l, `{"a":1}`)
		second := *b.Messages[1]
		second.ID = 99
		second.GUID = hookGUID(99)
		b.Messages = append(b.Messages, &second)
		b.Outcomes = succeeded(b)[:3]
		w.mustWrite(t, b)

		candidates := []admin.Candidate{{ID: 12, Status: webhook.Successful}, {ID: 14, Status: webhook.Successful}}
		removed, err := w.Admin.RemoveMessages(t.Context(), candidates, hookNoon)
		if err != nil || len(removed) != 2 {
			t.Fatalf("removed %+v (%v), want 2 messages", removed, err)
		}
		expectRows(t, w.Admin.db, `ID, EventID FROM whd.SY_WebhookMessage ORDER BY ID`, "16|15", "99|13")
		expectRows(t, w.Admin.db, `MessageID FROM whd.SY_WebhookMessageResponse`, "16")
		expectRows(t, w.Admin.db, `EventID FROM whd.WH_Event ORDER BY EventID`, "13", "15")

		// Other daemons are notified once.
		notified := fmt.Sprintf(`SubscriptionID - %d, Kind FROM whd.WH_Nudge WHERE Kind <> %d`, r.ID, changedKind)
		expectRows(t, w.Admin.db, notified, fmt.Sprint("0|", delivery.PeerDeleted))
	})
}

// TestRetryIsDeliveredAtOnce retries a failed message that another daemon delivers before its state
// is read again: the retry has worked.
func TestRetryIsDeliveredAtOnce(t *testing.T) {
	w := hooksInFile(t)
	r, l := subscribed(t, w)
	b := hookBatch(w.mustVersion(t), 11, 1, r, l, `{"a":1}`)
	b.Outcomes = succeeded(b)
	b.Outcomes[0].After.Status = webhook.Failed
	w.mustWrite(t, b)
	_, err := w.Admin.db.Pool.Exec(`CREATE TRIGGER Delivered AFTER UPDATE ON SY_WebhookMessage
WHEN new.Status = 2 BEGIN
	UPDATE SY_WebhookMessage SET Status = 1, NextAttemptDateTime = NULL WHERE ID = new.ID;
END`)
	if err != nil {
		t.Fatal(err)
	}

	address := admin.Address{Subscriber: r.Subscriber, Subscription: r.GUID, Message: b.Messages[0].GUID}
	m, err := w.Admin.RetryMessage(t.Context(), address, hookNoon)
	if err != nil || m.Status != webhook.Successful {
		t.Errorf("the retry returned %+v and error %v, want the delivered message", m, err)
	}
}

// TestAuditEntry adds an entry without another change.
func TestAuditEntry(t *testing.T) {
	onBoth(t, func(t *testing.T, w *Store) {
		err := w.Admin.AddAuditEntry(t.Context(), audit.Entry{
			Actor:   audit.Actor{Name: "ann", Via: "basic", Address: "192.0.2.1"},
			At:      hookNoon,
			Action:  "messages delete",
			Subject: "messages",
			Detail:  "Status=3",
		})
		if err != nil {
			t.Fatal(err)
		}
		expectRows(t, w.Admin.db, `UserName, Via, Address, Action, Subject, Detail FROM whd.WH_Audit`,
			"ann|basic|192.0.2.1|messages delete|messages|Status=3")
	})
}

// TestExpiredOldSecretIsRemoved rotates a secret that is used for another hour, and then one that is
// not used any more.
func TestExpiredOldSecretIsRemoved(t *testing.T) {
	w := hooksInFile(t)
	r, _ := subscribed(t, w)
	for _, until := range []time.Time{time.Now().Add(time.Hour), {}} {
		rotation := &admin.Rotation{Secret: webhook.NewSecret()}
		if !until.IsZero() {
			rotation.Old = []webhook.ReplacedSecret{{Secret: webhook.NewSecret(), Until: until}}
		}
		change := admin.SubscriptionChange{Secret: rotation}
		_, err := w.Admin.ChangeSubscription(t.Context(), r.Subscriber, r.GUID, change, hookNoon)
		if err != nil {
			t.Fatal(err)
		}

		var secret, end sql.NullString
		row := w.Admin.db.Pool.QueryRow(`SELECT OldSecret, OldSecretUntil FROM SY_WebhookSubscription`)
		if err := row.Scan(&secret, &end); err != nil {
			t.Fatal(err)
		}
		isStored := !until.IsZero()
		if secret.Valid != isStored || end.Valid != isStored {
			t.Errorf("until %v: the row has the old secret: %v, its end: %v, want %v", until, secret.Valid, end.Valid, isStored)
		}
		s, err := w.Engine.Snapshot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		want := until.Truncate(100 * time.Nanosecond) // as times are stored
		if got := s.Subscription(r.ID).Replaced.Until; !got.Equal(want) {
			t.Errorf("the engine signs with the old secret until %v, want %v", got, want)
		}
	}
}

// BenchmarkBulk measures the transactions of bulk operations, which block all other
// writers.
func BenchmarkBulk(b *testing.B) {
	b.Run("retry", func(b *testing.B) { benchmarkBulk(b, (*Admin).RetryMessages) })
	b.Run("remove", func(b *testing.B) { benchmarkBulk(b, (*Admin).RemoveMessages) })
}

// bulkOperation changes candidates at a time.
type bulkOperation func(*Admin, context.Context, []admin.Candidate, time.Time) ([]admin.Changed, error)

func benchmarkBulk(b *testing.B, operation bulkOperation) {
	const size = 250 // as in package admin
	w := hooksInFile(b)
	r, l := subscribed(b, w)
	first := int64(11)
	for b.Loop() {
		b.StopTimer()
		batch := hookBatch(w.mustVersion(b), first, size, r, l, strings.Repeat("x", 1000))
		first += 2 * size
		batch.Outcomes = succeeded(batch)
		for i := range batch.Outcomes {
			batch.Outcomes[i].After.Status = webhook.Failed
		}
		w.mustWrite(b, batch)
		candidates := make([]admin.Candidate, size)
		for i, m := range batch.Messages {
			candidates[i] = admin.Candidate{ID: m.ID, Status: webhook.Failed}
		}
		b.StartTimer()

		changed, err := operation(w.Admin, b.Context(), candidates, hookNoon)
		if err != nil || len(changed) != size {
			b.Fatalf("changed %d messages (%v), want %d", len(changed), err, size)
		}
	}
}
