package sqlstore

import (
	"database/sql"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/audit"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/admin"
)

func TestBulkRows(t *testing.T) {
	t.Run("file", func(t *testing.T) { bulkRows(t, hooksInFile(t)) })
	t.Run("server", func(t *testing.T) { bulkRows(t, hooksOnServer(t, mssqltest.Database(t))) })
}

// bulkRows checks the rows that bulk operations leave: none of the deleted
// messages, and all that other messages need.
func bulkRows(t *testing.T, w *Store) {
	r, l := subscribed(t, w)
	b := hookBatch(w.mustVersion(t), 11, 3, r, l, `{"a":1}`)
	twin := *b.Messages[1] // of the second event, which therefore stays
	twin.ID, twin.GUID = 99, strings.Replace(twin.GUID, "7000", "7001", 1)
	b.Messages = append(b.Messages, &twin)
	b.Outcomes = succeeded(b)[:3]
	if err := w.Engine.Write(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	candidates := []admin.Candidate{{ID: 12, Status: webhook.Successful}, {ID: 14, Status: webhook.Successful}}
	if done, err := w.Admin.RemoveMessages(t.Context(), candidates, hookNoon); err != nil || len(done) != 2 {
		t.Fatalf("removed %+v (%v)", done, err)
	}
	expectRows(t, w.Admin.db, `ID, EventID FROM whd.SY_WebhookMessage ORDER BY ID`, "16|15", "99|13")
	expectRows(t, w.Admin.db, `MessageID FROM whd.SY_WebhookMessageResponse`, "16")
	expectRows(t, w.Admin.db, `EventID FROM whd.WH_Event ORDER BY EventID`, "13", "15")
	expectRows(t, w.Admin.db, `SubscriptionID - `+strconv.FormatInt(r.ID, 10)+`, Kind FROM whd.WH_Nudge WHERE Kind <> 4`, "0|2")

	e := audit.Entry{Actor: audit.Actor{Name: "ann", Via: "basic", Address: "192.0.2.1"}, At: hookNoon, Action: "messages delete", Subject: "messages", Detail: "Status=3"}
	if err := w.Admin.AddAuditEntry(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	expectRows(t, w.Admin.db, `UserName, Via, Address, Action, Subject, Detail FROM whd.WH_Audit WHERE Action = 'messages delete'`,
		"ann|basic|192.0.2.1|messages delete|messages|Status=3")
}

// TestExpiredOldSecretIsRemoved rotates a secret with an end time that is over.
func TestExpiredOldSecretIsRemoved(t *testing.T) {
	w := hooksInFile(t)
	r, _ := subscribed(t, w)
	for _, until := range []time.Time{time.Now().Add(time.Hour), {}} {
		rotation := &admin.Rotation{Secret: webhook.NewSecret()}
		if !until.IsZero() {
			rotation.Old = []webhook.ReplacedSecret{{Secret: webhook.NewSecret(), Until: until}}
		}
		change := admin.SubscriptionChange{Secret: rotation}
		if _, err := w.Admin.ChangeSubscription(t.Context(), r.Subscriber, r.GUID, change, hookNoon); err != nil {
			t.Fatal(err)
		}
		var old, end sql.NullString
		if err := w.Admin.db.Pool.QueryRow(`SELECT OldSecret, OldSecretUntil FROM SY_WebhookSubscription`).Scan(&old, &end); err != nil {
			t.Fatal(err)
		}
		if old.Valid != !until.IsZero() || end.Valid != old.Valid {
			t.Errorf("until %v: the row has the old secret: %v, its end: %v", until, old.Valid, end.Valid)
		}
		s, err := w.Engine.Snapshot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Subscription(r.ID).Replaced.Until; !got.Equal(until.Truncate(100 * time.Nanosecond)) {
			t.Errorf("the engine signs with the old secret until %v, want %v", got, until)
		}
	}
}

// BenchmarkBulk measures the transactions of bulk operations, which block all other
// writers.
func BenchmarkBulk(b *testing.B) {
	for name, work := range map[string]func(*Store, []admin.Candidate) ([]admin.Changed, error){
		"retry": func(w *Store, p []admin.Candidate) ([]admin.Changed, error) {
			return w.Admin.RetryMessages(b.Context(), p, hookNoon)
		},
		"remove": func(w *Store, p []admin.Candidate) ([]admin.Changed, error) {
			return w.Admin.RemoveMessages(b.Context(), p, hookNoon)
		},
	} {
		b.Run(name, func(b *testing.B) {
			w := hooksInFile(b)
			r, l := subscribed(b, w)
			const size = 250 // as in package admin
			first := int64(11)
			for b.Loop() {
				b.StopTimer()
				batch := hookBatch(w.mustVersion(b), first, size, r, l, strings.Repeat("x", 1000))
				first += 2 * size
				batch.Outcomes = succeeded(batch)
				for i := range batch.Outcomes {
					batch.Outcomes[i].After.Status = webhook.Failed
				}
				if err := w.Engine.Write(b.Context(), batch); err != nil {
					b.Fatal(err)
				}
				candidates := make([]admin.Candidate, size)
				for i, m := range batch.Messages {
					candidates[i] = admin.Candidate{ID: m.ID, Status: webhook.Failed}
				}
				b.StartTimer()
				if done, err := work(w, candidates); err != nil || len(done) != size {
					b.Fatal(len(done), err)
				}
			}
		})
	}
}
