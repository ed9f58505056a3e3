package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/bizhook/whd/daemon/mssql"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// execer is a connection pool or a transaction.
type execer interface {
	ExecContext(ctx context.Context, statement string, args ...any) (sql.Result, error)
}

// put adds events to the outbox as the ERP does.
func put(t *testing.T, w *Store, to execer, bodies ...string) {
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
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range rows {
		got = append(got, string(r.Body))
	}
	if !slices.Equal(got, want) {
		t.Errorf("the outbox has %q, want %q", got, want)
	}
	return rows
}

// TestOutbox reads events of committed transactions, and refuses one.
func TestOutbox(t *testing.T) {
	w := hooksOnServer(t, mssqltest.Database(t))
	for _, end := range []func(*sql.Tx) error{(*sql.Tx).Rollback, (*sql.Tx).Commit} {
		tx, err := w.Admin.db.Pool.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		put(t, w, tx, "a", "b")
		expectOutbox(t, w, 10) // does not wait for the open transaction
		if err := end(tx); err != nil {
			t.Fatal(err)
		}
	}
	const body = `{"Name":"Größe 日本 😀","Tab":"	"}`
	put(t, w, w.Admin.db.Pool, body)
	rows := expectOutbox(t, w, 10, "a", "b", body)
	expectOutbox(t, w, 2, "a", "b")

	if err := w.Engine.RefuseOutbox(t.Context(), rows[0], "because of \x00"+strings.Repeat("é", 500)); err != nil {
		t.Fatal(err)
	}
	expectOutbox(t, w, 10, "b", body)
	expectRows(t, w.Admin.db,
		`LEN(RefusedReason), SUBSTRING(RefusedReason, 1, 13) FROM whd.WH_Outbox WHERE RefusedReason IS NOT NULL`,
		"205|because of \uFFFDé")
}

// TestLargeBodiesInTheOutbox checks that large bodies are read a few at a time, and
// bodies beyond the limit not at all.
func TestLargeBodiesInTheOutbox(t *testing.T) {
	w := hooksOnServer(t, mssqltest.Database(t))
	half := strings.Repeat("x", delivery.OutboxBytes/2)
	largest := strings.Repeat("é", delivery.MaxEventBody/2)
	tooLarge := largest + "x"
	notRead := strings.Repeat("x", mssql.NvarcharSize(delivery.MaxEventBody)+1)
	put(t, w, w.Admin.db.Pool, half, half, half, largest, tooLarge, notRead)

	first, err := w.Engine.ReadOutbox(t.Context(), 10, nil)
	if err != nil || len(first) != 2 {
		t.Fatalf("%d rows (%v), want 2, which have a mebibyte", len(first), err)
	}
	for i, want := range [][]bool{{false, false}, {false, false}, {true}, {true}} {
		rows, err := w.Engine.ReadOutbox(t.Context(), 10, nil)
		if err != nil {
			t.Fatal(err)
		}
		var got []bool
		for _, r := range rows {
			got = append(got, r.TooLarge)
			if err := w.Engine.RefuseOutbox(t.Context(), r, "seen"); err != nil {
				t.Fatal(err)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("read %d: the bodies are too large: %v, want %v", i+1, got, want)
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
		err := w.Engine.Write(t.Context(), batch)
		if !errors.Is(err, want) {
			t.Errorf("writing with rows %v of the outbox: error %v, want %v", outbox, err, want)
		}
		page := delivery.Page{Partition: l.Partition, Subscription: r.ID, InOrder: true, Limit: 100}
		open, err := w.Engine.OpenMessages(t.Context(), page)
		if err != nil {
			t.Fatal(err)
		}
		exists := slices.ContainsFunc(open, func(m *webhook.Message) bool { return m.ID == first+1 })
		if exists != (want == nil) {
			t.Errorf("after rows %v of the outbox the message exists: %v, want %v", outbox, exists, want == nil)
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
		version := w.mustVersion(t)
		results := make(chan error)
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
			t.Errorf("row %d was taken %d times, want once", row.ID, written)
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
	err := w.Engine.Write(t.Context(), b)
	if !errors.Is(err, delivery.ErrOutboxTaken) {
		t.Errorf("writing with a row of an outbox: error %v, want %v", err, delivery.ErrOutboxTaken)
	}
}
