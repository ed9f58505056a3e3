package sqlstore

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/goldentest"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/audit"
	"github.com/bizhook/whd/daemon/dialect"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/admin"
)

// TestListStatements compares the statements of lists for both databases, and SQLite's
// plans for them, with a golden file: each reads messages by an index, and sorts only as
// many as each subscription adds to the page.
func TestListStatements(t *testing.T) {
	file := hooksInFile(t).Admin
	server := &Admin{tables{&appdb.DB{Schema: "whd"}}}
	var golden strings.Builder
	for _, l := range listsOfMessages(t) {
		l.plan.Columns = []int{l.plan.Kind.KeyField()}
		l.plan.Take = 10
		l.plan.Count = true
		view := l.plan.Kind.Source()
		writeStatements(t, &golden, l, file, dialect.SQLite(), view)
		writeStatements(t, &golden, l, server, dialect.TSQL(), "[whd].["+view+"]")
		golden.WriteString("\n")
	}
	goldentest.Compare(t, "testdata/lists.sql", golden.String())
}

// namedList is a list in the golden file.
type namedList struct {
	name string
	plan query.Plan
}

// listsOfMessages returns the lists of the golden file.
func listsOfMessages(t *testing.T) []namedList {
	t.Helper()
	message := systemKind(t, "Message")
	attempt := systemKind(t, "Attempt")
	where := func(kind *record.Kind, name string, op record.Operator, operands ...wire.Value) query.Condition {
		field, _ := kind.Column(name)
		return query.Condition{Field: field, Operator: op, Operands: operands}
	}
	subscriber := where(message, "SubscriberID", record.Equal, wire.Value{Text: "a"})
	subscription := where(message, "SubscriptionID", record.Equal, wire.Value{Text: "b"})
	delivered := where(message, "Status", record.Equal, wire.Value{Int: 1})
	retrying := where(message, "Status", record.Equal, wire.Value{Int: 2})
	failed := where(message, "Status", record.Equal, wire.Value{Int: 3})
	unsuccessful := where(message, "Status", record.In, wire.Value{Int: 3}, wire.Value{Int: 2})
	keyed := where(message, "Key", record.Equal, wire.Value{Text: "k"})
	behind := where(message, "ItemNo", record.GreaterThan, wire.Value{Int: 1})
	ofEvent := where(message, "EventName", record.Equal, wire.Value{Text: "e"})
	until := where(message, "ItemNo", record.LessThanOrEqualTo, wire.Value{Int: 9})
	ofSubscriber := where(attempt, "SubscriberID", record.Equal, wire.Value{Text: "a"})

	oldest := []query.Order{{Field: message.KeyField()}}
	newest := []query.Order{{Field: message.KeyField(), Desc: true}}
	saved, _ := message.Column("LastSavedDateTime")
	lastSaved := []query.Order{{Field: saved, Desc: true}, newest[0]}
	added, _ := message.Column("AddedDateTime")
	byTime := []query.Order{{Field: added, Desc: true}, newest[0]}
	since := where(message, "AddedDateTime", record.GreaterThanOrEqualTo, wire.Value{Text: "2026-01-02T00:00:00.0000000"})
	before := where(message, "AddedDateTime", record.LessThan, wire.Value{Text: "2026-01-03T00:00:00.0000000"})
	newestAttempts := []query.Order{{Field: attempt.KeyField(), Desc: true}}

	list := func(name string, kind *record.Kind, order []query.Order, where ...query.Condition) namedList {
		return namedList{name: name, plan: query.Plan{Kind: kind, Order: order, Where: where}}
	}
	return []namedList{
		list("of all", message, newest),
		list("of a subscriber", message, newest, subscriber),
		list("of a subscription", message, newest, subscriber, subscription),
		list("failed", message, newest, failed),
		list("failed of a subscriber", message, newest, failed, subscriber),
		list("retrying", message, newest, retrying),
		list("retrying of a subscriber", message, newest, retrying, subscriber),
		list("delivered of a subscriber", message, newest, delivered, subscriber),
		list("retrying or failed by the last attempt", message, lastSaved, unsuccessful),
		list("candidates of a bulk operation", message, oldest, failed, behind, until),
		list("attempts of a subscriber", attempt, newestAttempts, ofSubscriber),
		list("by time", message, byTime),
		list("of a period", message, newest, since, before),
		list("of a period by time", message, byTime, since, before),
		list("failed of a subscriber since a time", message, newest, failed, subscriber, since),
		list("by key", message, newest, keyed),
		list("of an event", message, newest, ofEvent),
		list("of an event, from an ID on", message, oldest, ofEvent, behind),
		list("by key, failed or retrying, of a subscriber", message, newest, keyed, unsuccessful, subscriber),
	}
}

// writeStatements writes the statements of a list and of its total for a database, with SQLite's
// plans.
func writeStatements(
	t *testing.T, golden *strings.Builder, l namedList, store *Admin, d *dialect.Dialect, source string,
) {
	t.Helper()
	plan := store.ListPlan(&l.plan)
	for _, compile := range []compiler{query.Compile, query.CompileCount} {
		statement, err := compile(plan, d, source)
		if err != nil {
			t.Fatalf("compiling the list %s: %v", l.name, err)
		}
		fmt.Fprintf(golden, "-- %s, %s\n%s;\n", l.name, d.Name, statement.SQL)
		if !store.db.IsServer() {
			golden.WriteString(planOf(t, store.db, statement))
		}
	}
}

type compiler = func(*query.Plan, *dialect.Dialect, string) (query.Statement, error)

func systemKind(t *testing.T, name string) *record.Kind {
	kind, found := record.System().Lookup(name)
	if !found {
		t.Fatalf("no kind %s", name)
	}
	return kind
}

// planOf returns SQLite's plan as a comment.
func planOf(t *testing.T, db *appdb.DB, s query.Statement) string {
	t.Helper()
	scanStep := func(row appdb.Row) (string, error) {
		var ignored int
		var step string
		err := row.Scan(&ignored, &ignored, &ignored, &step)
		return step, err
	}
	steps, err := appdb.QueryAll(t.Context(), db, scanStep, "EXPLAIN QUERY PLAN "+s.SQL, make([]any, len(s.Args))...)
	if err != nil {
		t.Fatal(err)
	}
	return "--     " + strings.Join(steps, "\n--     ") + "\n"
}

// TestSubscriptionsByNumber checks that pages are parts of the whole list even where the
// numbers of subscriptions have another order than their IDs.
func TestSubscriptionsByNumber(t *testing.T) {
	const count = 5
	ctx := t.Context()
	w := hooksInFile(t)
	shop := admin.Subscriber{Name: "Shop", Enabled: true}
	subscriber, err := w.Admin.AddSubscriber(ctx, shop, audit.Entry{Actor: audit.System(), At: hookNoon})
	if err != nil {
		t.Fatal(err)
	}
	for range count {
		_, err := w.Admin.AddSubscription(ctx, webhook.Subscription{
			Subscriber: subscriber.GUID,
			Pattern:    "*",
			URL:        "http://a",
			Secret:     "s",
			SavedAt:    hookNoon,
		}, nil)
		if err != nil {
			t.Fatal(err)
		}
	}
	w.mustExec(t, `UPDATE SY_WebhookSubscription SET ItemNo = 6 - ItemNo`)

	page := func(skip, take int64) []int {
		t.Helper()
		subscriptions, total, err := w.Admin.Subscriptions(ctx, subscriber.GUID, skip, take)
		if err != nil || total != count {
			t.Fatalf("skip %d, take %d: total %d (%v), want %d", skip, take, total, err, count)
		}
		var numbers []int
		for _, s := range subscriptions {
			numbers = append(numbers, s.ItemNo)
		}
		return numbers
	}
	want := []int{1, 2, 3, 4, 5}
	if got := page(0, -1); !slices.Equal(got, want) {
		t.Errorf("without a limit the numbers are %v, want %v", got, want)
	}
	for take := int64(1); take <= count; take++ {
		var got []int
		for skip := int64(0); skip < count; skip += take {
			got = append(got, page(skip, take)...)
		}
		if !slices.Equal(got, want) {
			t.Errorf("on pages of %d the numbers are %v, want %v", take, got, want)
		}
	}
}

// TestMessageCounts checks that the numbers of messages are those of the existing messages
// after a migration of a file with messages, after every change of one, and after a program
// without the numbers has used the file. The suite checks them after new messages.
func TestMessageCounts(t *testing.T) {
	path := filepath.Join(t.TempDir(), appdb.FileName)
	db, err := appdb.OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	provider, err := db.Provider()
	if err != nil {
		t.Fatal(err)
	}
	const before = 11 // last version without the numbers
	if _, err := provider.UpTo(t.Context(), before); err != nil {
		t.Fatal(err)
	}
	exec := func(statement string) {
		t.Helper()
		if _, err := db.Exec(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	add := func(id, subscription int, status webhook.Status) {
		t.Helper()
		exec(fmt.Sprintf(`INSERT INTO SY_WebhookMessage (ID, RecID, EventID, PartitionID, SubscriptionID, URL,
	Status, Attempts, AddedDateTime, LastSavedDateTime, MadeByAdmin)
VALUES (%d, '%[1]d', 1, 1, %d, '', %d, 0, '', '', 0)`, id, subscription, status))
	}
	changeAll := func(statements ...string) {
		t.Helper()
		for _, statement := range statements {
			exec(statement)
			expectCounted(t, db, statement)
		}
	}
	countNew := func() { // as a start of the program does
		t.Helper()
		w, err := Open(db, path)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Engine.Close(); err != nil {
			t.Fatal(err)
		}
		expectRows(t, db, `COUNT(*) FROM `+uncounted, "0")
		expectCounted(t, db, "counting")
	}

	add(1, 7, webhook.Successful)
	add(2, 7, webhook.Failed)
	add(3, 7, webhook.Failed)
	add(4, 8, webhook.NotSent)
	add(5, 7, webhook.Failed)
	add(6, 9, webhook.Successful)
	if err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	expectCounted(t, db, "migration")

	changeAll(
		`UPDATE SY_WebhookMessage SET Status = 3 WHERE ID IN (1, 2, 4)`,
		`UPDATE SY_WebhookMessage SET Status = 2 WHERE ID IN (1, 3)`,
		`UPDATE SY_WebhookMessage SET Status = 1`,
		`UPDATE SY_WebhookMessage SET Status = 3`,
		`DELETE FROM SY_WebhookMessage WHERE ID IN (2, 4)`)

	// Messages of a program that does not count them.
	add(10, 7, webhook.NotSent)
	add(11, 8, webhook.NotSent)
	add(12, 8, webhook.NotSent)
	add(13, 9, webhook.NotSent)
	expectCounted(t, db, "new messages")
	changeAll(
		`UPDATE SY_WebhookMessage SET Status = 3 WHERE ID IN (10, 11, 12)`,
		`UPDATE SY_WebhookMessage SET Status = 1 WHERE ID IN (1, 10)`,
		`DELETE FROM SY_WebhookMessage WHERE ID IN (5, 12)`)
	countNew()
	changeAll(
		`UPDATE SY_WebhookMessage SET Status = 1 WHERE ID = 11`,
		`DELETE FROM SY_WebhookMessage WHERE ID = 13`)
	countNew()

	changeAll(
		`INSERT INTO WH_SubscriptionRemoved VALUES (7, ''), (8, '')`,
		`DELETE FROM WH_SubscriptionRemoved`,
		`DELETE FROM SY_WebhookMessage`)
	expectRows(t, db, `group_concat(SubscriptionID) FROM (SELECT * FROM WH_MessageCount ORDER BY 1)`, "7,8,9")
}

// expectCounted compares the numbers of messages of each subscription with the existing messages.
func expectCounted(t *testing.T, db *appdb.DB, after string) {
	t.Helper()
	want := mustText(t, db, `SELECT group_concat(c.S || ': ' || c.N || ' ' || c.F)
FROM (SELECT SubscriptionID S, COUNT(*) N, SUM(Status = 3) F FROM SY_WebhookMessage GROUP BY 1 ORDER BY 1) c`)
	got := mustText(t, db, `SELECT group_concat(c.S || ': ' || c.N || ' ' || c.F)
FROM (SELECT SubscriptionID S, SUM(Messages) N, SUM(Failed) F FROM `+messageCounts+` GROUP BY 1 ORDER BY 1) c
WHERE N > 0`)
	if got != want {
		t.Errorf("after %s: the numbers of all and of failed messages are %q, want %q", after, got, want)
	}
}

// messageCounts are all counts.
const messageCounts = `(SELECT * FROM WH_MessageCount UNION ALL SELECT * FROM ` + newCounts + `)`

// TestNewMessagesAreCounted checks that few messages are left to be counted by each list.
func TestNewMessagesAreCounted(t *testing.T) {
	w := hooksInFile(t)
	r, l := subscribed(t, w)
	version := w.mustVersion(t)
	for n := range int64(maxUncounted + 10) {
		w.mustWrite(t, hookBatch(version, 1+2*n, 1, r, l, "{}"))
	}
	expectRows(t, w.Admin.db, `COUNT(*) FROM `+uncounted, "10")
	expectRows(t, w.Admin.db, `SUM(Messages) FROM `+messageCounts, strconv.Itoa(maxUncounted+10))
	expectRows(t, w.Admin.db, `COUNT(*) FROM SY_WebhookMessage WHERE ID > `+lastNamed, "10")
	expectRows(t, w.Admin.db, `COUNT(*) FROM SY_WebhookMessage m JOIN WH_Event e ON e.EventID = m.EventID
WHERE m.ID <= `+lastNamed+` AND NOT EXISTS (SELECT 1 FROM WH_EventBlock k
	WHERE k.EventName = e.EventName AND k.Block = m.ID / `+strconv.Itoa(blockSize)+`)`, "0")
}

// TestOldBlocksAreRemoved checks that the blocks of messages that were pruned are removed.
func TestOldBlocksAreRemoved(t *testing.T) {
	w := hooksInFile(t)
	r, l := subscribed(t, w)
	w.mustWrite(t, hookBatch(w.mustVersion(t), 5*blockSize, 1, r, l, "{}"))
	w.mustExec(t, `INSERT INTO WH_EventBlock (EventName, Block) VALUES ('a', 4), ('a', 5), ('b', 0), ('b', 6)`)
	if _, err := w.Engine.Sweep(t.Context(), 10); err != nil {
		t.Fatal(err)
	}
	expectRows(t, w.Admin.db, `group_concat(EventName || Block, ' ') FROM WH_EventBlock`, "a5 b6")
}

// TestOldMessagesAreNamed checks that the messages of an older program are added to the blocks of
// their events without new messages, but for as many as the writer of batches adds at a time.
func TestOldMessagesAreNamed(t *testing.T) {
	const messages = 3*maxNamed + 10
	w := hooksInFile(t)
	w.mustExec(t, fmt.Sprintf(`WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < %d)
INSERT INTO SY_WebhookMessage (ID, RecID, EventID, PartitionID, SubscriptionID, URL, Status, Attempts,
	AddedDateTime, LastSavedDateTime, MadeByAdmin)
SELECT 2 * n, n, n %% 2, 1, 1, '', 1, 1, '', '', 0 FROM numbers`, messages))
	w.mustExec(t, `INSERT INTO WH_Event (EventID, RecID, EventName, AddedDateTime, Body) VALUES
(0, '', 'a', '', ''), (1, '', 'b', '', '')`)
	steps := 0
	for {
		step, err := w.Engine.Sweep(t.Context(), 10)
		if err != nil {
			t.Fatal(err)
		}
		if !step.More {
			break
		}
		steps++
		if step.Named != maxNamed || step.Rows != 0 {
			t.Errorf("step %d: %d messages were named and %d removed, want %d and 0", steps, step.Named, step.Rows, maxNamed)
		}
	}
	if want := messages / maxNamed; steps != want {
		t.Errorf("%d steps, want %d", steps, want)
	}
	expectRows(t, w.Admin.db, `COUNT(*) FROM SY_WebhookMessage WHERE ID > `+lastNamed, strconv.Itoa(messages%maxNamed))
	expectRows(t, w.Admin.db, `COUNT(*) FROM SY_WebhookMessage m JOIN WH_Event e ON e.EventID = m.EventID
WHERE m.ID <= `+lastNamed+` AND NOT EXISTS (SELECT 1 FROM WH_EventBlock k
	WHERE k.EventName = e.EventName AND k.Block = m.ID / `+strconv.Itoa(blockSize)+`)`, "0")
}

// TestCountReadsNewMessages checks that counting new messages does not read the others.
func TestCountReadsNewMessages(t *testing.T) {
	plan := planOfText(t, hooksInFile(t).Admin.db, countUncounted)
	if want := "SEARCH SY_WebhookMessage USING INTEGER PRIMARY KEY (rowid>?)"; !strings.Contains(plan, want) {
		t.Errorf("the plan is\n%s\nwant %q", plan, want)
	}
}

// mustText returns the only text that a statement selects.
func mustText(t *testing.T, db *appdb.DB, statement string) string {
	t.Helper()
	scan := func(row appdb.Row) (sql.NullString, error) {
		var text sql.NullString
		err := row.Scan(&text)
		return text, err
	}
	text, err := appdb.QueryOne(t.Context(), db, scan, statement)
	if err != nil {
		t.Fatal(err)
	}
	if !text.Valid {
		return "null"
	}
	return text.String
}
