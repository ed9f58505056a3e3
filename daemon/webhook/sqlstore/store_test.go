package sqlstore

import (
	"bytes"
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/bizhook/whd/client/goldentest"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/audit"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/sqlite"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/admin"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

var hookNoon = time.Date(2030, 1, 2, 12, 0, 0, 123_456_000, time.UTC)

// hooksInFile opens webhooks in a new file.
func hooksInFile(tb testing.TB) *Store {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), appdb.FileName)
	db, err := appdb.OpenFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	if err := db.Migrate(tb.Context()); err != nil {
		tb.Fatal(err)
	}
	w, err := Open(db, path)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := errors.Join(w.Engine.Close(), db.Close()); err != nil {
			tb.Error(err)
		}
	})
	return w
}

// openedHooks opens webhooks in the file at a path, until the test ends.
func openedHooks(t *testing.T, path string) *Store {
	t.Helper()
	db, err := appdb.Open(t.Context(), appdb.Config{Path: path, Connections: 4})
	if err != nil {
		t.Fatal(err)
	}
	w, err := Open(db, path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = errors.Join(w.Engine.Close(), db.Close()) })
	return w
}

// hooksOnServer opens webhooks in a schema of their own.
func hooksOnServer(tb testing.TB, dsn string) *Store {
	tb.Helper()
	db, err := appdb.OpenSchema(tb.Context(), appdb.Config{DSN: dsn, Schema: "s_" + rand.Text()[:8], LockTimeout: executor.StatementLimit})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := db.Close(); err != nil {
			tb.Error(err)
		}
	})
	if err := db.Migrate(tb.Context()); err != nil {
		tb.Fatal(err)
	}
	w, err := Open(db, "")
	if err != nil {
		tb.Fatal(err)
	}
	return w
}

// subscribed adds a subscription, and leases a partition.
func subscribed(tb testing.TB, w *Store) (webhook.Subscription, delivery.Lease) {
	tb.Helper()
	shop := admin.Subscriber{Name: "Shop", Enabled: true}
	s, err := w.Admin.AddSubscriber(tb.Context(), shop, audit.Entry{Actor: audit.System(), At: hookNoon})
	if err != nil {
		tb.Fatal(err)
	}
	r, err := w.Admin.AddSubscription(tb.Context(), webhook.Subscription{
		Subscriber: s.GUID,
		Pattern:    "*",
		URL:        "https://shop.example/in",
		Enabled:    true,
		SavedAt:    hookNoon,
	}, nil)
	if err != nil {
		tb.Fatal(err)
	}
	l, err := w.Engine.Lease(tb.Context(), 0)
	if err != nil {
		tb.Fatal(err)
	}
	return r, l
}

// hookBatch is a batch of n events with one message each, numbered from first.
func hookBatch(version, first int64, n int, r webhook.Subscription, l delivery.Lease, body string) delivery.Batch {
	b := delivery.Batch{Version: version, Leases: []delivery.Lease{l}}
	for i := range int64(n) {
		id := first + 2*i
		e := &webhook.Event{ID: id, GUID: fmt.Sprintf("00000000-0000-7000-8000-%012x", id), Name: "debtor.created", Body: []byte(body), AddedAt: hookNoon}
		b.Events = append(b.Events, e)
		b.Messages = append(b.Messages, &webhook.Message{
			ID: id + 1, GUID: fmt.Sprintf("00000000-0000-7000-8000-%012x", id+1), Event: e, Partition: l.Partition, Subscription: r.ID, URL: r.URL,
			State: webhook.State{Next: hookNoon},
		})
	}
	return b
}

// succeeded returns a successful result for each message of a batch.
func succeeded(b delivery.Batch) (all []webhook.AttemptResult) {
	for _, m := range b.Messages {
		all = append(all, webhook.AttemptResult{
			Message: m, After: webhook.State{Status: webhook.Successful, Attempts: m.Attempts + 1},
			Outcome: webhook.Outcome{Code: 200, Began: hookNoon, Took: 20 * time.Millisecond},
		})
	}
	return all
}

func TestWebhookViews(t *testing.T) {
	t.Run("file", func(t *testing.T) { webhookViews(t, hooksInFile(t)) })
	t.Run("server", func(t *testing.T) {
		webhookViews(t, hooksOnServer(t, mssqltest.Database(t)))
	})
}

func webhookViews(t *testing.T, w *Store) {
	r, l := subscribed(t, w)
	b := hookBatch(w.mustVersion(t), 11, 2, r, l, `{"a":1}`)
	b.Outcomes = []webhook.AttemptResult{{
		Message: b.Messages[0],
		After:   webhook.State{Status: webhook.RetryPending, Attempts: 1, Next: hookNoon.Add(time.Minute)},
		Outcome: webhook.Outcome{
			Cause:  webhook.TimedOut,
			Detail: `say "no"`,
			Text:   []byte("\xffé"),
			Began:  hookNoon,
			Took:   20 * time.Millisecond,
		},
	}}
	if err := errors.Join(w.Engine.Write(t.Context(), b), w.Engine.SetDefaultRetries(t.Context(), 7)); err != nil {
		t.Fatal(err)
	}
	const message = `00000000-0000-7000-8000-00000000000`
	const (
		added = "2030-01-02T12:00:00.1234560"
		ended = "2030-01-02T12:00:00.1434560"
		later = "2030-01-02T12:01:00.1234560"
	)
	ids := r.Subscriber + "|" + r.GUID + "|"
	expectRows(t, w.Admin.db, `SubscriberID, SubscriptionID, MessageID, EventName, URL, Body, ItemNo, Status, Retries, AddedDateTime, LastSavedDateTime,
	LastMessageResponseHTTPCode, LastMessageResponseMessage, NextAttemptDateTime, MaxRetries FROM whd.WH_MessageView ORDER BY ItemNo`,
		ids+message+`c|debtor.created|https://shop.example/in|{"a":1}|12|2|0|`+added+"|"+ended+"|null|timeout|"+later+"|7",
		ids+message+`e|debtor.created|https://shop.example/in|{"a":1}|14|0|0|`+added+"|"+added+"|null|null|"+added+"|7")
	expectRows(t, w.Admin.db, `SubscriberID, SubscriptionID, MessageID, EventName, MessageItemNo, Status, Retries, AddedDateTime, MessageLastSavedDateTime,
	HTTPCode, Message, ItemNo, LastSavedDateTime, Duration, Detail, AnswerText FROM whd.WH_MessageResponseView`,
		ids+message+`c|debtor.created|12|2|0|`+added+"|"+ended+"|null|timeout|1|"+ended+"|200000|say \"no\"|\uFFFDé")
	expectRows(t, w.Admin.db, `RecID, SY_WebhookSubscriber_RecID, EventName, ItemNo, DisabledReason FROM whd.WH_SubscriptionView`,
		r.GUID+"|"+r.Subscriber+"|*|1|null")
	if _, err := w.Admin.RemoveSubscription(t.Context(), r.Subscriber, r.GUID, hookNoon); err != nil {
		t.Fatal(err)
	}
	for _, view := range []string{"WH_MessageView", "WH_MessageResponseView", "WH_SubscriptionView"} {
		expectRows(t, w.Admin.db, `EventName FROM whd.`+view)
	}
}

// TestColumnsOfTables checks that the written message columns are those of the
// table, and that the columns of the record kinds exist.
func TestColumnsOfTables(t *testing.T) {
	w := hooksInFile(t)
	var names []string
	for _, c := range messageFields {
		names = append(names, c.name)
	}
	slices.Sort(names)
	expectRows(t, w.Admin.db, `name FROM pragma_table_info('SY_WebhookMessage')
WHERE name NOT IN ('LastSavedDateTime', 'HTTPCode', 'ResponseMessage') -- which attempts change
ORDER BY name`, names...)
	for _, kind := range record.System().Kinds() {
		if kind.Database == record.AppDB {
			expectRows(t, w.Admin.db, strings.Join(kind.ColumnNames(), ", ")+` FROM whd.`+kind.Source()+` WHERE 1 = 0`)
		}
	}
}

func (w *Store) mustVersion(tb testing.TB) int64 {
	tb.Helper()
	v, err := w.Engine.Version(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	return v
}

// expectRows compares the rows of a SELECT, as texts.
func expectRows(t *testing.T, o *appdb.DB, columns string, want ...string) {
	t.Helper()
	rows, err := o.Pool.QueryContext(t.Context(), o.Qualify(`SELECT `+columns))
	if err != nil {
		t.Fatalf("%s: %v", columns, err)
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for rows.Next() {
		values := make([]any, len(names))
		scanInto := make([]any, len(names))
		for i := range values {
			scanInto[i] = &values[i]
		}
		if err := rows.Scan(scanInto...); err != nil {
			t.Fatal(err)
		}
		var texts []string
		for _, c := range values {
			switch c := c.(type) {
			case nil:
				texts = append(texts, "null")
			case time.Time:
				texts = append(texts, appdb.Timestamp(c))
			default:
				texts = append(texts, fmt.Sprint(c))
			}
		}
		got = append(got, strings.Join(texts, "|"))
	}
	if err := rows.Err(); err != nil || strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s (%v)\ngot  %q\nwant %q", columns, err, got, want)
	}
}

// TestOpenMessagesByIndex checks that pages are read with an index of the open
// messages.
func TestOpenMessagesByIndex(t *testing.T) {
	w := hooksInFile(t)
	if plan := planOf(t, w.Admin.db, query.Statement{SQL: strings.NewReplacer("whd.", "", "@Key", "'k'").Replace(tracedChanges)}); !strings.Contains(plan, "USING INDEX IX_WH_RecordChange_Key (RecordKey=?)") {
		t.Error(plan)
	}
	for where, index := range map[string]string{
		tracedMessages + ` LIMIT 5`:                          "SEARCH m USING INDEX IX_SY_WebhookMessage_Key (EventKey=?)",
		openWithKey + ` LIMIT 5`:                             "SEARCH m USING INDEX IX_SY_WebhookMessage_Key (EventKey=? AND ID>?)",
		openMessages + ` AND m.ID > 1 ORDER BY m.ID LIMIT 5`: "IX_SY_WebhookMessage_Line (PartitionID=? AND SubscriptionID=? AND ID>?)",
		openMessages + ` AND m.NextAttemptDateTime >= 'a' AND m.NextAttemptDateTime <= 'b' ORDER BY m.NextAttemptDateTime, m.ID LIMIT 5`: "IX_SY_WebhookMessage_Due (PartitionID=? AND SubscriptionID=? AND NextAttemptDateTime>? AND NextAttemptDateTime<?)",
		openMessages + ` AND m.NextAttemptDateTime = 'a' AND m.ID > 1 ORDER BY m.ID LIMIT 5`:                                             "IX_SY_WebhookMessage_Due (PartitionID=? AND SubscriptionID=? AND NextAttemptDateTime=? AND ID>?)",
	} {
		plan, err := appdb.QueryAll(t.Context(), w.Admin.db, func(row appdb.Row) (text string, err error) {
			var n sql.NullInt64
			err = row.Scan(&n, &n, &n, &text)
			return text, err
		}, `EXPLAIN QUERY PLAN SELECT `+messageRead+messageTables+where, sql.Named("Partition", 1), sql.Named("Subscription", 1), sql.Named("Key", "k"), sql.Named("ID", 1))
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Join(plan, "; ")
		if !strings.Contains(text, index) || strings.Contains(text, "TEMP B-TREE") {
			t.Errorf("%s: %s", where, text)
		}
	}
}

// TestWebhookStatements compares the statements of batches for SQL Server with the
// golden file, so that changes are noticed.
func TestWebhookStatements(t *testing.T) {
	r, l := webhook.Subscription{ID: 7, URL: "https://shop.example/in"}, delivery.Lease{Partition: 1, Fence: 2}
	full := hookBatch(3, 11, 2, r, l, "a\ttext")
	full.Outcomes = succeeded(full)
	full.Outcomes[0].Detail, full.Outcomes[0].Text = "why", []byte("what")
	full.Outcomes[1].Text = bytes.Repeat([]byte("long "), 20)
	full.Disabled = []delivery.Disabled{{Subscription: 7, Reason: "a \"reason\"\n", At: hookNoon}}
	full.Keys = []delivery.Key{{Event: "e", Until: hookNoon}}
	full.Outbox = []int64{3, 4}
	full.Taken = []string{"g"}
	full.Captured = &delivery.Captured{Kind: "K", Changes: []delivery.CapturedChange{{ID: 1, Number: 2}}}
	var got strings.Builder
	for _, c := range []struct {
		name  string
		batch delivery.Batch
	}{{"nothing", delivery.Batch{}}, {"events", hookBatch(3, 11, 3, r, l, "{}")}, {"everything", full}} {
		text, args := serverBatch(&c.batch, sql.Named("Holder", "h"))
		fmt.Fprintf(&got, "== %s\n\n%s\n", c.name, text)
		for _, a := range args {
			fmt.Fprintf(&got, "  @%s\n", a.(sql.NamedArg).Name)
		}
		got.WriteString("\n")
	}
	fmt.Fprintf(&got, "== removal\n\n%s\n", serverRemove)
	goldentest.Compare(t, "testdata/webhookbatch.sql", got.String())
}

// TestEscapes checks that escaped texts have no character that JSON escapes, and
// that the replacements of the statement restore the text.
func TestEscapes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var e escapes
		text := rapid.StringMatching(`([~"\\\t\na012ABZé\x01\x1b\x1f\x{2028}]|[^\x00])*`).Draw(t, "text")
		sent := e.text(text)
		if utf8.RuneCountInString(sent) > 2*utf8.RuneCountInString(text) {
			t.Fatalf("%q became %q, more than twice as long", text, sent)
		}
		if i := strings.IndexFunc(sent, func(r rune) bool { return r < ' ' || r == '"' || r == '\\' || r == '\u2028' || r == '\u2029' }); i >= 0 {
			t.Fatalf("%q holds %q", sent, sent[i])
		}
		back := sent
		for _, sequence := range e.sequences() {
			back = strings.ReplaceAll(back, sequence.sequence, sequence.character)
		}
		if back != text {
			t.Errorf("%q became %q and that %q", text, sent, back)
		}
	})
}

// TestFileWriterRecovers checks that the writer opens a new connection after it
// lost one, and returns Unavailable for a read-only database.
func TestFileWriterRecovers(t *testing.T) {
	w := hooksInFile(t)
	r, l := subscribed(t, w)
	b := hookBatch(w.mustVersion(t), 11, 4, r, l, "{}")
	f := w.Engine.writer.(*fileWriter)
	if err := f.conn.Exec("PRAGMA query_only = ON"); err != nil {
		t.Fatal(err)
	}
	if err := w.Engine.Write(t.Context(), b); !fault.Is(err, fault.Unavailable) {
		t.Errorf("read only: %v", err)
	}
	f.conn.Close()
	f.conn = nil
	if err := w.Engine.Write(t.Context(), b); err != nil {
		t.Error(err)
	}
	if all, err := w.Engine.OpenMessages(t.Context(), delivery.Page{Partition: l.Partition, Subscription: r.ID, InOrder: true, Limit: 10}); err != nil || len(all) != 4 {
		t.Errorf("%d messages (%v)", len(all), err)
	}
}

// TestWALIsCheckpointed checks that the WAL stays small during continuous writes.
func TestWALIsCheckpointed(t *testing.T) {
	w := hooksInFile(t)
	r, l := subscribed(t, w)
	version, f := w.mustVersion(t), w.Engine.writer.(*fileWriter)
	for i := range int64(8) {
		f.wal.running <- struct{}{} // waits for the last checkpoint
		f.wal.last = time.Time{}
		<-f.wal.running
		if err := w.Engine.Write(t.Context(), hookBatch(version, 1+10*i, 1, r, l, strings.Repeat("x", 16<<20))); err != nil {
			t.Fatal(err)
		}
	}
	f.wal.running <- struct{}{}
	defer func() { <-f.wal.running }()
	info, err := os.Stat(f.path + "-wal")
	if err != nil || info.Size() > 6*16<<20 {
		t.Errorf("the WAL has %d bytes (%v) after %d", info.Size(), err, 8*16<<20)
	}
}

// TestBatchesDoNotWaitForCheckpoint writes batches while a checkpoint waits to end, and
// checks that the WAL restarts after it.
func TestBatchesDoNotWaitForCheckpoint(t *testing.T) {
	w := hooksInFile(t)
	r, l := subscribed(t, w)
	version, f := w.mustVersion(t), w.Engine.writer.(*fileWriter)
	write := func(id int64, size int) {
		t.Helper()
		if err := w.Engine.Write(t.Context(), hookBatch(version, id, 1, r, l, strings.Repeat("x", size))); err != nil {
			t.Fatal(err)
		}
	}
	walPages := func() int64 {
		t.Helper()
		unlock, err := f.db.Lock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer unlock()
		_, length, _, err := runCheckpoint(f.conn, "NOOP")
		if err != nil {
			t.Fatal(err)
		}
		return length
	}
	ending, end := make(chan struct{}), make(chan struct{})
	lock := f.wal.lock
	f.wal.lock = func(ctx context.Context) (func(), error) {
		close(ending)
		<-end
		return lock(ctx)
	}
	reader, err := sqlite.Open(f.path, sqlite.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	exec := func(statement string) {
		t.Helper()
		if err := reader.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	exec("BEGIN; SELECT COUNT(*) FROM WH_Event") // pages that it needs are left to the end
	write(1, 25<<20)
	<-ending
	exec("COMMIT")
	write(11, 1000)
	before := walPages()
	close(end)
	f.wal.running <- struct{}{} // waits for the checkpoint
	<-f.wal.running
	write(21, 1000)
	if after := walPages(); before < maxWALBehind || after > 100 {
		t.Errorf("the WAL has %d pages before the end of the checkpoint, and %d after it", before, after)
	}
}

// TestFailedSync lets a checkpoint fail to sync the file. Everything that is written must
// stay in the WAL, also after the connections are closed, and all later writes must fail.
func TestFailedSync(t *testing.T) {
	w := hooksInFile(t)
	r, l := subscribed(t, w)
	version, f := w.mustVersion(t), w.Engine.writer.(*fileWriter)
	f.wal.sync = func(*sqlite.Conn) error { return errors.New("input/output error") }
	if err := w.Engine.Write(t.Context(), hookBatch(version, 1, 1, r, l, strings.Repeat("x", 25<<20))); err != nil {
		t.Fatal(err)
	}
	f.wal.running <- struct{}{} // waits for the checkpoint
	f.wal.last = time.Time{}
	if f.wal.due(maxWALSize+1, maxWALSize) {
		t.Error("another checkpoint is due")
	}
	<-f.wal.running
	if err := f.db.CheckFiles(); !errors.Is(err, appdb.ErrUnsynced) || !strings.Contains(err.Error(), "input/output error") {
		t.Errorf("the check of the files returned %v", err)
	}
	if err := w.Engine.Write(t.Context(), hookBatch(version, 11, 1, r, l, "{}")); !errors.Is(err, delivery.ErrFenced) {
		t.Errorf("a batch: %v", err)
	}
	if _, err := w.Engine.AllocateIDs(t.Context(), 1); !errors.Is(err, appdb.ErrUnsynced) {
		t.Errorf("another write: %v", err)
	}
	err := f.conn.Close()
	f.conn = nil
	if err := errors.Join(err, w.Engine.Close(), w.Admin.db.Close()); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(f.path + "-wal"); err != nil || info.Size() < 25<<20 {
		t.Errorf("the WAL was deleted or truncated: %v, %v", info, err)
	}
	if err := f.wal.conn.Close(); err != nil {
		t.Error(err)
	}
}

// TestWaitForCheckpointEnds cancels a write that waits for a checkpoint of a long WAL.
func TestWaitForCheckpointEnds(t *testing.T) {
	w := hooksInFile(t)
	r, l := subscribed(t, w)
	b, f := hookBatch(w.mustVersion(t), 1, 1, r, l, "{}"), w.Engine.writer.(*fileWriter)
	f.wal.running <- struct{}{}
	defer func() { <-f.wal.running }()
	f.wal.length.Store(waitWALSize + 1)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := w.Engine.Write(ctx, b); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// TestFailedCheckpointWaits checks that a checkpoint that cannot open the file is not
// repeated after each transaction.
func TestFailedCheckpointWaits(t *testing.T) {
	w := hooksInFile(t)
	k := &w.Engine.writer.(*fileWriter).wal
	k.path += ".missing"
	k.checkpoint()
	if k.last.IsZero() {
		t.Error("the next checkpoint is due immediately")
	}
}

// TestOrderingUsesIndex checks that messages of the first partition are not
// scanned.
func TestOrderingUsesIndex(t *testing.T) {
	w := hooksInFile(t)
	plan, err := appdb.QueryAll(t.Context(), w.Admin.db, func(row appdb.Row) (detail string, err error) {
		var a, b, c int
		err = row.Scan(&a, &b, &c, &detail)
		return detail, err
	}, `EXPLAIN QUERY PLAN `+moveToFirstPartition, sql.Named("Subscription", "x"))
	if err != nil {
		t.Fatal(err)
	}
	if text := strings.Join(plan, "\n"); !strings.Contains(text, "(PartitionID=? AND SubscriptionID=?") {
		t.Error(text)
	}
}

// TestWALStaysBounded writes many pages with small batches, as outcomes of many
// subscriptions do, while a reader is always active and ends only when the WAL
// needs to restart.
func TestWALStaysBounded(t *testing.T) {
	w := hooksInFile(t)
	f := w.Engine.writer.(*fileWriter)
	if err := f.conn.Exec("CREATE TABLE scratch (n INTEGER PRIMARY KEY, filling BLOB)"); err != nil {
		t.Fatal(err)
	}
	reader, err := sqlite.Open(f.path, sqlite.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	beginRead := func() {
		if err := reader.Exec("BEGIN; SELECT COUNT(*) FROM scratch"); err != nil {
			t.Error(err)
		}
	}
	written, ended := make(chan struct{}), make(chan struct{})
	beginRead()
	go func() {
		defer close(ended)
		for {
			drained := f.db.Drain.Requested()
			if drained != nil {
				if err := reader.Exec("COMMIT"); err != nil {
					t.Error(err)
				}
				<-drained
				beginRead()
			}
			select {
			case <-written:
				return
			case <-time.After(time.Millisecond):
			}
		}
	}()
	var longest int64
	const transactions, size = 14, 8 << 20
	for range transactions {
		err := f.locked(t.Context(), func() error {
			return f.conn.Exec(fmt.Sprintf("INSERT OR REPLACE INTO scratch VALUES (1, zeroblob(%d))", size))
		})
		if err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(f.path + "-wal")
		if err != nil {
			t.Fatal(err)
		}
		longest = max(longest, info.Size())
	}
	close(written)
	<-ended
	if longest > 64<<20 {
		t.Errorf("the WAL had up to %d bytes, with %d bytes written", longest, transactions*size)
	}
}

// TestClockWasSetBack prepares a file that a clock an hour ahead has left: new messages are due,
// retries after the time that they had to wait, and all are in the partition that is leased.
func TestClockWasSetBack(t *testing.T) {
	w := hooksInFile(t)
	r, l := subscribed(t, w)
	ahead := time.Now().UTC().Add(time.Hour)
	b := hookBatch(w.mustVersion(t), 11, 3, r, l, "{}")
	for _, m := range b.Messages {
		m.Event.AddedAt, m.Next = ahead, ahead
	}
	const wait = 10 * time.Minute
	b.Outcomes = []webhook.AttemptResult{{Message: b.Messages[0], After: webhook.State{Status: webhook.RetryPending, Attempts: 1, Next: ahead.Add(wait)}, Outcome: webhook.Outcome{Code: 500, Began: ahead}},
		{Message: b.Messages[1], After: webhook.State{Status: webhook.Successful, Attempts: 1}, Outcome: webhook.Outcome{Code: 200, Began: ahead}}}
	if err := w.Engine.Write(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Admin.db.Exec(t.Context(), `UPDATE whd.WH_Partition SET LeaseUntil = @Ahead`, sql.Named("Ahead", appdb.Timestamp(ahead))); err != nil {
		t.Fatal(err)
	}
	if other, err := w.Engine.Lease(t.Context(), 0); err != nil || other.Partition == delivery.FirstPartition {
		t.Fatalf("leased %+v, %v", other, err)
	}
	if _, err := w.Admin.db.Exec(t.Context(), `UPDATE whd.SY_WebhookMessage SET PartitionID = 2 WHERE Status = 0`); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if err := w.Engine.PrepareFile(t.Context()); err != nil {
		t.Fatal(err)
	}
	ended := time.Now()
	if home, err := w.Engine.Lease(t.Context(), 0); err != nil || home.Partition != delivery.FirstPartition {
		t.Errorf("leased %+v, %v", home, err)
	}
	expectRows(t, w.Admin.db, `DISTINCT PartitionID FROM whd.SY_WebhookMessage WHERE NextAttemptDateTime IS NOT NULL`, "1")
	for n, want := range map[int]time.Duration{0: wait, 2: 0} {
		at := func(moment time.Time) string {
			return appdb.Timestamp(moment.UTC().Add(want).Truncate(time.Millisecond))
		}
		expectRows(t, w.Admin.db, fmt.Sprintf(`COUNT(*) FROM whd.SY_WebhookMessage WHERE ID = %d AND NextAttemptDateTime BETWEEN '%s' AND '%s'`, b.Messages[n].ID, at(began), at(ended.Add(time.Millisecond))), "1")
	}
	expectRows(t, w.Admin.db, `COUNT(*) FROM whd.SY_WebhookMessage WHERE NextAttemptDateTime IS NULL`, "1")
}
