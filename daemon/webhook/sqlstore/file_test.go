package sqlstore

import (
	"database/sql"
	"fmt"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// TestFileWriterRecovers checks that the writer opens a new connection after it
// lost one, and returns Unavailable for a read-only database.
func TestFileWriterRecovers(t *testing.T) {
	w := hooksInFile(t)
	r, l := subscribed(t, w)
	b := hookBatch(w.mustVersion(t), 11, 4, r, l, "{}")
	f := w.fileWriter()
	if err := f.conn.Exec("PRAGMA query_only = ON"); err != nil {
		t.Fatal(err)
	}
	err := w.Engine.Write(t.Context(), b)
	if !fault.Is(err, fault.Unavailable) {
		t.Errorf("writing to a read-only database: error %v, want Unavailable", err)
	}

	f.conn.Close()
	f.conn = nil
	w.mustWrite(t, b)
	page := delivery.Page{Partition: l.Partition, Subscription: r.ID, InOrder: true, Limit: 10}
	open, err := w.Engine.OpenMessages(t.Context(), page)
	if err != nil || len(open) != 4 {
		t.Errorf("writing with a new connection: %d messages (%v), want 4", len(open), err)
	}
}

// TestClockWasSetBack prepares a file that a clock an hour ahead has left: new messages are due,
// retries after the time that they had to wait, and all are in the partition that is leased.
func TestClockWasSetBack(t *testing.T) {
	w := hooksInFile(t)
	ahead := time.Now().UTC().Add(time.Hour)
	const wait = 10 * time.Minute
	retried, fresh := writeAhead(t, w, ahead, wait)
	w.mustExec(t, `UPDATE whd.WH_Partition SET LeaseUntil = @Ahead`, sql.Named("Ahead", appdb.Timestamp(ahead)))
	second, err := w.Engine.Lease(t.Context(), 0)
	if err != nil || second.Partition == delivery.FirstPartition {
		t.Fatalf("leased %+v (%v), want another partition than the first", second, err)
	}
	w.mustExec(t, `UPDATE whd.SY_WebhookMessage SET PartitionID = 2 WHERE Status = 0`)

	start := time.Now()
	err = w.Engine.PrepareFile(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	end := time.Now().Add(time.Millisecond) // due times are stored in milliseconds

	home, err := w.Engine.Lease(t.Context(), 0)
	if err != nil || home.Partition != delivery.FirstPartition {
		t.Errorf("leased %+v (%v) after the repair, want the first partition", home, err)
	}
	expectRows(t, w.Admin.db, `DISTINCT PartitionID FROM whd.SY_WebhookMessage WHERE NextAttemptDateTime IS NOT NULL`, "1")
	expectDueBetween(t, w, retried, start.Add(wait), end.Add(wait))
	expectDueBetween(t, w, fresh, start, end)
	expectRows(t, w.Admin.db, `COUNT(*) FROM whd.SY_WebhookMessage WHERE NextAttemptDateTime IS NULL`, "1")
}

// writeAhead writes messages at a time: one that has to wait for its retry, one that was
// delivered, and one that was not sent yet. It returns the first and the last.
func writeAhead(t *testing.T, w *Store, at time.Time, wait time.Duration) (retried, fresh *webhook.Message) {
	t.Helper()
	r, l := subscribed(t, w)
	b := hookBatch(w.mustVersion(t), 11, 3, r, l, "{}")
	for _, m := range b.Messages {
		m.Event.AddedAt = at
		m.Next = at
	}
	b.Outcomes = []webhook.AttemptResult{
		{
			Message: b.Messages[0],
			After:   webhook.State{Status: webhook.RetryPending, Attempts: 1, Next: at.Add(wait)},
			Outcome: webhook.Outcome{Code: 500, Began: at},
		},
		{
			Message: b.Messages[1],
			After:   webhook.State{Status: webhook.Successful, Attempts: 1},
			Outcome: webhook.Outcome{Code: 200, Began: at},
		},
	}
	w.mustWrite(t, b)
	return b.Messages[0], b.Messages[2]
}

// expectDueBetween checks when a message is due.
func expectDueBetween(t *testing.T, w *Store, m *webhook.Message, earliest, latest time.Time) {
	t.Helper()
	text := func(at time.Time) string { return appdb.Timestamp(at.UTC().Truncate(time.Millisecond)) }
	expectRows(t, w.Admin.db, fmt.Sprintf(
		`COUNT(*) FROM whd.SY_WebhookMessage WHERE ID = %d AND NextAttemptDateTime BETWEEN '%s' AND '%s'`,
		m.ID, text(earliest), text(latest)), "1")
}
