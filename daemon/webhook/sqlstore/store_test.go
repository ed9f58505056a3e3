package sqlstore

import (
	"bytes"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client/goldentest"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/audit"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
	"github.com/bizhook/whd/daemon/query"
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
	db, err := appdb.OpenSchema(tb.Context(), appdb.Config{
		DSN:         dsn,
		Schema:      "s_" + rand.Text()[:8],
		LockTimeout: executor.StatementLimit,
	})
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
		e := &webhook.Event{
			ID:      id,
			GUID:    hookGUID(id),
			Name:    "debtor.created",
			Body:    []byte(body),
			AddedAt: hookNoon,
		}
		b.Events = append(b.Events, e)
		b.Messages = append(b.Messages, &webhook.Message{
			ID:           id + 1,
			GUID:         hookGUID(id + 1),
			Event:        e,
			Partition:    l.Partition,
			Subscription: r.ID,
			URL:          r.URL,
			State:        webhook.State{Next: hookNoon},
		})
	}
	return b
}

// hookGUID returns the GUID of an event or a message.
func hookGUID(id int64) string { return fmt.Sprintf("00000000-0000-7000-8000-%012x", id) }

// succeeded returns a successful result for each message of a batch.
func succeeded(b delivery.Batch) []webhook.AttemptResult {
	var results []webhook.AttemptResult
	for _, m := range b.Messages {
		results = append(results, webhook.AttemptResult{
			Message: m,
			After:   webhook.State{Status: webhook.Successful, Attempts: m.Attempts + 1},
			Outcome: webhook.Outcome{Code: 200, Began: hookNoon, Took: 20 * time.Millisecond},
		})
	}
	return results
}

// mustVersion returns the version of the subscriptions.
func (w *Store) mustVersion(tb testing.TB) int64 {
	tb.Helper()
	v, err := w.Engine.Version(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	return v
}

// mustWrite writes a batch.
func (w *Store) mustWrite(tb testing.TB, b delivery.Batch) {
	tb.Helper()
	if err := w.Engine.Write(tb.Context(), b); err != nil {
		tb.Fatal(err)
	}
}

// mustExec executes a statement.
func (w *Store) mustExec(tb testing.TB, statement string, args ...any) {
	tb.Helper()
	if _, err := w.Admin.db.Exec(tb.Context(), statement, args...); err != nil {
		tb.Fatal(err)
	}
}

// fileWriter returns the writer of a store in a file.
func (w *Store) fileWriter() *fileWriter { return w.Engine.writer.(*fileWriter) }

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
	values := make([]any, len(names))
	scanInto := make([]any, len(names))
	for i := range values {
		scanInto[i] = &values[i]
	}

	var got []string
	for rows.Next() {
		if err := rows.Scan(scanInto...); err != nil {
			t.Fatal(err)
		}
		got = append(got, rowText(values))
	}
	if err := rows.Err(); err != nil {
		t.Fatalf("%s: %v", columns, err)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s\ngot  %q\nwant %q", columns, got, want)
	}
}

// rowText returns the values of a row, separated by |.
func rowText(values []any) string {
	var texts []string
	for _, value := range values {
		switch value := value.(type) {
		case nil:
			texts = append(texts, "null")
		case time.Time:
			texts = append(texts, appdb.Timestamp(value))
		default:
			texts = append(texts, fmt.Sprint(value))
		}
	}
	return strings.Join(texts, "|")
}

// TestWebhookViews reads a message, its attempt and its subscription through the views.
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
	w.mustWrite(t, b)
	if err := w.Engine.SetDefaultRetries(t.Context(), 7); err != nil {
		t.Fatal(err)
	}

	const (
		added = "2030-01-02T12:00:00.1234560"
		ended = "2030-01-02T12:00:00.1434560"
		later = "2030-01-02T12:01:00.1234560"
	)
	first := r.Subscriber + "|" + r.GUID + "|" + b.Messages[0].GUID
	second := r.Subscriber + "|" + r.GUID + "|" + b.Messages[1].GUID
	expectRows(t, w.Admin.db, `SubscriberID, SubscriptionID, MessageID, EventName, URL, Body, ItemNo,
	Status, Retries, AddedDateTime, LastSavedDateTime,
	LastMessageResponseHTTPCode, LastMessageResponseMessage, NextAttemptDateTime, MaxRetries
FROM whd.WH_MessageView ORDER BY ItemNo`,
		first+`|debtor.created|https://shop.example/in|{"a":1}|12|2|0|`+added+"|"+ended+"|null|timeout|"+later+"|7",
		second+`|debtor.created|https://shop.example/in|{"a":1}|14|0|0|`+added+"|"+added+"|null|null|"+added+"|7")
	expectRows(t, w.Admin.db, `SubscriberID, SubscriptionID, MessageID, EventName, MessageItemNo,
	Status, Retries, AddedDateTime, MessageLastSavedDateTime,
	HTTPCode, Message, ItemNo, LastSavedDateTime, Duration, Detail, AnswerText
FROM whd.WH_MessageResponseView`,
		first+`|debtor.created|12|2|0|`+added+"|"+ended+"|null|timeout|1|"+ended+"|200000|say \"no\"|\uFFFDé")
	expectRows(t, w.Admin.db, `RecID, SY_WebhookSubscriber_RecID, EventName, ItemNo, DisabledReason FROM whd.WH_SubscriptionView`,
		r.GUID+"|"+r.Subscriber+"|*|1|null")

	// Nothing of a removed subscription is visible.
	_, err := w.Admin.RemoveSubscription(t.Context(), r.Subscriber, r.GUID, hookNoon)
	if err != nil {
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

// TestOpenMessagesByIndex checks that pages are read with an index of the open
// messages, in its order.
func TestOpenMessagesByIndex(t *testing.T) {
	w := hooksInFile(t)
	const (
		byLine   = "IX_SY_WebhookMessage_Line"
		byDue    = "IX_SY_WebhookMessage_Due"
		byKey    = "SEARCH m USING INDEX IX_SY_WebhookMessage_Key"
		ofQueue  = "PartitionID=? AND SubscriptionID=? AND "
		dueAfter = ` AND m.NextAttemptDateTime >= 'a' AND m.NextAttemptDateTime <= 'b' ORDER BY m.NextAttemptDateTime, m.ID`
		dueAt    = ` AND m.NextAttemptDateTime = 'a' AND m.ID > 1 ORDER BY m.ID`
	)
	for _, c := range []struct {
		name, where string
		want        string // part of the plan
	}{
		{"messages of a key", messagesOfKey, byKey + " (EventKey=?)"},
		{"open messages before one of a key", openBefore, byKey + " (EventKey=? AND ID<?)"},
		{"open messages with a key", openWithKey, byKey + " (EventKey=? AND ID>?)"},
		{"in order", openMessages + ` AND m.ID > 1 ORDER BY m.ID`, byLine + " (" + ofQueue + "ID>?)"},
		{"due later", openMessages + dueAfter, byDue + " (" + ofQueue + "NextAttemptDateTime>? AND NextAttemptDateTime<?)"},
		{"due at the same time", openMessages + dueAt, byDue + " (" + ofQueue + "NextAttemptDateTime=? AND ID>?)"},
	} {
		statement := `SELECT ` + messageRead + messageTables + c.where + ` LIMIT 5`
		plan := planOfText(t, w.Admin.db, statement)
		if !strings.Contains(plan, c.want) || strings.Contains(plan, "TEMP B-TREE") {
			t.Errorf("%s: the plan is\n%s\nwant %q and no sorting", c.name, plan, c.want)
		}
	}
}

// TestTracedChangesByIndex checks that the changes of a key, and those of an event, are read by an
// index.
func TestTracedChangesByIndex(t *testing.T) {
	w := hooksInFile(t)
	for statement, want := range map[string]string{
		changesOfKey:   "USING INDEX IX_WH_RecordChange_Key (RecordKey=?)",
		changesOfEvent: "USING INDEX IX_WH_RecordChange_Event (EventID=?)",
	} {
		plan := planOfText(t, w.Admin.db, statement)
		if !strings.Contains(plan, want) {
			t.Errorf("the plan of\n%s\nis\n%s\nwant %q", statement, plan, want)
		}
	}
}

// TestOrderingUsesIndex checks that messages of the first partition are not
// scanned.
func TestOrderingUsesIndex(t *testing.T) {
	w := hooksInFile(t)
	plan := planOfText(t, w.Admin.db, moveToFirstPartition)
	if want := "(PartitionID=? AND SubscriptionID=?"; !strings.Contains(plan, want) {
		t.Errorf("the plan is\n%s\nwant %q", plan, want)
	}
}

// planOfText returns SQLite's plan for a statement with named parameters. Their values have no
// influence on it.
func planOfText(t *testing.T, db *appdb.DB, statement string) string {
	t.Helper()
	return planOf(t, db, query.Statement{SQL: parameter.ReplaceAllString(statement, "'x'")})
}

// TestWebhookStatements compares the statements of batches for SQL Server with the
// golden file, so that changes are noticed.
func TestWebhookStatements(t *testing.T) {
	r := webhook.Subscription{ID: 7, URL: "https://shop.example/in"}
	l := delivery.Lease{Partition: 1, Fence: 2}
	full := hookBatch(3, 11, 2, r, l, "a\ttext")
	full.Outcomes = succeeded(full)
	full.Outcomes[0].Detail = "why"
	full.Outcomes[0].Text = []byte("what")
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
	}{
		{"nothing", delivery.Batch{}},
		{"events", hookBatch(3, 11, 3, r, l, "{}")},
		{"everything", full},
	} {
		text, args := serverBatch(&c.batch, new(messageBlocks).changed(c.batch.Messages), sql.Named("Holder", "h"))
		fmt.Fprintf(&got, "== %s\n\n%s\n", c.name, text)
		for _, a := range args {
			fmt.Fprintf(&got, "  @%s\n", a.(sql.NamedArg).Name)
		}
		got.WriteString("\n")
	}
	fmt.Fprintf(&got, "== removal\n\n%s\n", serverRemove)
	goldentest.Compare(t, "testdata/webhookbatch.sql", got.String())
}
