package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bizhook/whd/daemon/mssql/mssqltest"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// put adds events to the outbox as the ERP does.
func put(t *testing.T, w *Store, to interface {
	ExecContext(ctx context.Context, statement string, args ...any) (sql.Result, error)
}, bodies ...string) {
	t.Helper()
	insert := w.Admin.db.Qualify(`INSERT INTO whd.WH_Outbox (EventName, Body) VALUES (N'debtor.created', @Body)`)
	for _, body := range bodies {
		if _, err := to.ExecContext(t.Context(), insert, sql.Named("Body", body)); err != nil {
			t.Fatal(err)
		}
	}
}

// expectOutbox compares the bodies in the outbox, and returns the rows.
func expectOutbox(t *testing.T, w *Store, limit int, want ...string) []delivery.OutboxEvent {
	t.Helper()
	rows, err := w.Engine.ReadOutbox(t.Context(), limit, nil)
	var got []string
	for _, r := range rows {
		got = append(got, string(r.Body))
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("the outbox has %q (%v), want %q", got, err, want)
	}
	return rows
}

func TestOutbox(t *testing.T) {
	w := hooksOnServer(t, mssqltest.Database(t))
	for _, kept := range []bool{false, true} {
		tx, err := w.Admin.db.Pool.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		put(t, w, tx, "a", "b")
		expectOutbox(t, w, 10) // does not wait for the open transaction
		end := tx.Rollback
		if kept {
			end = tx.Commit
		}
		if err := end(); err != nil {
			t.Fatal(err)
		}
	}
	put(t, w, w.Admin.db.Pool, `{"Name":"Größe 日本 😀","Tab":"	"}`)
	rows := expectOutbox(t, w, 10, "a", "b", `{"Name":"Größe 日本 😀","Tab":"	"}`)
	expectOutbox(t, w, 2, "a", "b")
	if err := w.Engine.RefuseOutbox(t.Context(), rows[0], "because of \x00"+strings.Repeat("é", 500)); err != nil {
		t.Fatal(err)
	}
	expectOutbox(t, w, 10, "b", string(rows[2].Body))
	expectRows(t, w.Admin.db, `LEN(RefusedReason), SUBSTRING(RefusedReason, 1, 13) FROM whd.WH_Outbox WHERE RefusedReason IS NOT NULL`,
		"205|because of \uFFFDé")
}

// TestLargeBodiesInTheOutbox checks that large bodies are read a few at a time, and
// bodies beyond the limit not at all.
func TestLargeBodiesInTheOutbox(t *testing.T) {
	w := hooksOnServer(t, mssqltest.Database(t))
	half, most := strings.Repeat("x", outboxBytes/2), strings.Repeat("é", delivery.MaxBodySize/2)
	put(t, w, w.Admin.db.Pool, half, half, half, most, most+"x", strings.Repeat("x", outboxPerByte*delivery.MaxBodySize+1))
	first, err := w.Engine.ReadOutbox(t.Context(), 10, nil)
	if err != nil || len(first) != 2 {
		t.Fatalf("%d rows (%v), want as many as have a mebibyte", len(first), err)
	}
	sizes := func() string {
		text := ""
		rows, err := w.Engine.ReadOutbox(t.Context(), 10, nil)
		for _, r := range rows {
			text += fmt.Sprintf("%v ", r.TooLarge)
			err = errors.Join(err, w.Engine.RefuseOutbox(t.Context(), r, "seen"))
		}
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	for _, want := range []string{"false false ", "false false ", "true ", "true "} {
		if got := sizes(); got != want {
			t.Errorf("too large: %q, want %q", got, want)
		}
	}
}

// TestOutboxInABatch checks that the rows of a batch are deleted with it or not at
// all, and must be the next ones.
func TestOutboxInABatch(t *testing.T) {
	w := hooksOnServer(t, mssqltest.Database(t))
	r, l := subscribed(t, w)
	put(t, w, w.Admin.db.Pool, "a", "b", "c", "d")
	rows := expectOutbox(t, w, 10, "a", "b", "c", "d")
	a, b := rows[0].ID, rows[1].ID
	c, d := rows[2].ID, rows[3].ID
	if err := w.Engine.RefuseOutbox(t.Context(), rows[1], "no event"); err != nil {
		t.Fatal(err)
	}
	write := func(first int64, want error, outbox ...int64) {
		t.Helper()
		batch := hookBatch(w.mustVersion(t), first, 1, r, l, "{}")
		batch.Outbox = outbox
		if err := w.Engine.Write(t.Context(), batch); !errors.Is(err, want) {
			t.Errorf("with rows %v of the outbox: %v, want %v", outbox, err, want)
		}
		page := delivery.Page{Partition: l.Partition, Subscription: r.ID, InOrder: true, Limit: 100}
		open, err := w.Engine.OpenMessages(t.Context(), page)
		exists := slices.ContainsFunc(open, func(m *webhook.Message) bool { return m.ID == first+1 })
		if err != nil || exists != (want == nil) {
			t.Errorf("with rows %v of the outbox the message exists: %v (%v)", outbox, exists, err)
		}
	}
	write(11, delivery.ErrOutboxTaken, c)          // a would be overtaken
	write(21, delivery.ErrOutboxTaken, a, b)       // b was refused
	write(31, delivery.ErrOutboxTaken, a, c, d+10) // d+10 does not exist
	expectOutbox(t, w, 10, "a", "c", "d")
	write(41, nil, a, c)
	expectOutbox(t, w, 10, "d")
	write(51, delivery.ErrOutboxTaken, c) // a second time
	write(61, nil, d)
	expectOutbox(t, w, 10)
}

// TestConcurrentOutboxBatches checks that only one of several concurrent batches
// with the same row is written.
func TestConcurrentOutboxBatches(t *testing.T) {
	dsn := mssqltest.Database(t)
	w := hooksOnServer(t, dsn)
	r, l := subscribed(t, w)
	put(t, w, w.Admin.db.Pool, "a", "b", "c")
	for _, row := range expectOutbox(t, w, 10, "a", "b", "c") {
		version, results := w.mustVersion(t), make(chan error)
		for i := range int64(4) {
			go func() {
				batch := hookBatch(version, 1000*row.ID+10*i, 1, r, l, "{}")
				batch.Outbox = []int64{row.ID}
				results <- w.Engine.Write(t.Context(), batch)
			}()
		}
		written := 0
		for range 4 {
			err := <-results
			if err == nil {
				written++
			} else if !errors.Is(err, delivery.ErrOutboxTaken) {
				t.Error(err)
			}
		}
		if written != 1 {
			t.Errorf("row %d was taken %d times", row.ID, written)
		}
	}
	expectRows(t, w.Admin.db, `COUNT(*) FROM whd.SY_WebhookMessage`, "3")
}

// TestNoOutboxInAFile checks that a file has no outbox.
func TestNoOutboxInAFile(t *testing.T) {
	w := hooksInFile(t)
	r, l := subscribed(t, w)
	expectOutbox(t, w, 10)
	b := hookBatch(w.mustVersion(t), 11, 1, r, l, "{}")
	b.Outbox = []int64{1}
	if err := w.Engine.Write(t.Context(), b); !errors.Is(err, delivery.ErrOutboxTaken) {
		t.Errorf("a row of it was written: %v", err)
	}
}
