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
	for _, l := range goldenLists {
		plan := planOfQuery(t, l.kind, membersOf(l.query)...)
		plan.Columns = []int{plan.Kind.KeyField()}
		plan.Count = true
		view := plan.Kind.Source()
		statements := listStatements{name: l.name, plan: plan}
		golden.WriteString(statements.text(t, file, dialect.SQLite(), view))
		golden.WriteString(statements.text(t, server, dialect.TSQL(), "[whd].["+view+"]"))
		golden.WriteString("\n")
	}
	goldentest.Compare(t, "testdata/lists.sql", golden.String())
}

// goldenLists are the lists of the golden file. The members of a query are separated by spaces.
var goldenLists = []struct{ name, kind, query string }{
	{"of all", "Message", "OrderByDesc=ItemNo"},
	{"of a subscriber", "Message", "OrderByDesc=ItemNo SubscriberID=a"},
	{"of a subscription", "Message", "OrderByDesc=ItemNo SubscriberID=a SubscriptionID=b"},
	{"failed", "Message", "OrderByDesc=ItemNo Status=3"},
	{"failed of a subscriber", "Message", "OrderByDesc=ItemNo Status=3 SubscriberID=a"},
	{"retrying", "Message", "OrderByDesc=ItemNo Status=2"},
	{"retrying of a subscriber", "Message", "OrderByDesc=ItemNo Status=2 SubscriberID=a"},
	{"delivered of a subscriber", "Message", "OrderByDesc=ItemNo Status=1 SubscriberID=a"},
	{"retrying or failed by the last attempt", "Message", "OrderByDesc=LastSavedDateTime,ItemNo StatusIn=3,2"},
	{
		"candidates of a bulk operation", "Message",
		"OrderBy=ItemNo Status=3 ItemNoGreaterThan=1 ItemNoLessThanOrEqualTo=9",
	},
	{"attempts of a subscriber", "Attempt", "OrderByDesc=MessageItemNo SubscriberID=a"},
	{"by time", "Message", "OrderByDesc=AddedDateTime,ItemNo"},
	{"of a period", "Message", "OrderByDesc=ItemNo " + ofPeriod},
	{"of a period by time", "Message", "OrderByDesc=AddedDateTime,ItemNo " + ofPeriod},
	{
		"failed of a subscriber since a time", "Message",
		"OrderByDesc=ItemNo Status=3 SubscriberID=a AddedDateTimeGreaterThanOrEqualTo=2026-01-02",
	},
	{"by key", "Message", "OrderByDesc=ItemNo Key=k"},
	{"of an event", "Message", "OrderByDesc=ItemNo EventName=e"},
	{"of an event, from an ID on", "Message", "OrderBy=ItemNo EventName=e ItemNoGreaterThan=1"},
	{
		"by key, failed or retrying, of a subscriber", "Message",
		"OrderByDesc=ItemNo Key=k StatusIn=3,2 SubscriberID=a",
	},
}

const ofPeriod = "AddedDateTimeGreaterThanOrEqualTo=2026-01-02 AddedDateTimeLessThan=2026-01-03"

// membersOf returns the members of a query in goldenLists, with a limit.
func membersOf(text string) query.Members {
	members := query.Members{{Name: "Take", Texts: []string{"10"}}}
	for member := range strings.FieldsSeq(text) {
		name, value, _ := strings.Cut(member, "=")
		texts := strings.Split(value, ",")
		members = append(members, query.Member{Name: name, Texts: texts, List: len(texts) > 1})
	}
	return members
}

// listStatements are the statements of a list and of its total.
type listStatements struct {
	name string
	plan *query.Plan
}

// text returns the statements for a database, with SQLite's plans for them.
func (l listStatements) text(t *testing.T, store *Admin, d *dialect.Dialect, source string) string {
	t.Helper()
	var text strings.Builder
	plan := store.ListPlan(l.plan)
	for _, compile := range []compiler{query.Compile, query.CompileCount} {
		statement, err := compile(plan, d, source)
		if err != nil {
			t.Fatalf("compiling the list %s: %v", l.name, err)
		}
		fmt.Fprintf(&text, "-- %s, %s\n%s;\n", l.name, d.Name, statement.SQL)
		if !store.db.IsServer() {
			text.WriteString(planOf(t, store.db, statement))
		}
	}
	return text.String()
}

type compiler = func(*query.Plan, *dialect.Dialect, string) (query.Statement, error)

func systemKind(t *testing.T, name string) *record.Kind {
	t.Helper()
	kind, ok := record.System().Lookup(name)
	if !ok {
		t.Fatalf("no kind %s", name)
	}
	return kind
}

// planOf returns SQLite's plan as a comment. The plan does not depend on the arguments, so they
// are null.
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

// TestMessageCounts checks that the stored numbers of messages match the existing messages: after
// the migration of a file with messages, after every change, and after a program that does not
// count has used the file. The suite checks them after new messages.
func TestMessageCounts(t *testing.T) {
	f := openUncounted(t)
	f.add(1, 7, webhook.Successful)
	f.add(2, 7, webhook.Failed)
	f.add(3, 7, webhook.Failed)
	f.add(4, 8, webhook.NotSent)
	f.add(5, 7, webhook.Failed)
	f.add(6, 9, webhook.Successful)
	if err := f.db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	expectCounted(t, f.db, "migration")
	f.change(
		`UPDATE SY_WebhookMessage SET Status = 3 WHERE ID IN (1, 2, 4)`,
		`UPDATE SY_WebhookMessage SET Status = 2 WHERE ID IN (1, 3)`,
		`UPDATE SY_WebhookMessage SET Status = 1`,
		`UPDATE SY_WebhookMessage SET Status = 3`,
		`DELETE FROM SY_WebhookMessage WHERE ID IN (2, 4)`)

	// Messages of a program that does not count them.
	f.add(10, 7, webhook.NotSent)
	f.add(11, 8, webhook.NotSent)
	f.add(12, 8, webhook.NotSent)
	f.add(13, 9, webhook.NotSent)
	expectCounted(t, f.db, "new messages")
	f.change(
		`UPDATE SY_WebhookMessage SET Status = 3 WHERE ID IN (10, 11, 12)`,
		`UPDATE SY_WebhookMessage SET Status = 1 WHERE ID IN (1, 10)`,
		`DELETE FROM SY_WebhookMessage WHERE ID IN (5, 12)`)
	f.start()
	f.change(
		`UPDATE SY_WebhookMessage SET Status = 1 WHERE ID = 11`,
		`DELETE FROM SY_WebhookMessage WHERE ID = 13`)
	f.start()

	f.change(
		`INSERT INTO WH_SubscriptionRemoved VALUES (7, ''), (8, '')`,
		`DELETE FROM WH_SubscriptionRemoved`,
		`DELETE FROM SY_WebhookMessage`)
	expectRows(t, f.db, `group_concat(SubscriptionID) FROM (SELECT * FROM WH_MessageCount ORDER BY 1)`, "7,8,9")
}

// countedFile is a file with messages that a test changes by statements, without the store.
type countedFile struct {
	t    *testing.T
	db   *appdb.DB
	path string
}

// openUncounted creates a file of the last version without the numbers of messages.
func openUncounted(t *testing.T) countedFile {
	t.Helper()
	const lastWithoutNumbers = 11
	db, path := createVersion(t, lastWithoutNumbers)
	return countedFile{t: t, db: db, path: path}
}

// createVersion creates a file with the tables of an earlier version.
func createVersion(t *testing.T, version int64) (db *appdb.DB, path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), appdb.FileName)
	db, err := appdb.OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	provider, err := db.Provider()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := provider.UpTo(t.Context(), version); err != nil {
		t.Fatal(err)
	}
	return db, path
}

func (f countedFile) exec(statement string) {
	f.t.Helper()
	if _, err := f.db.Exec(f.t.Context(), statement); err != nil {
		f.t.Fatalf("%s: %v", statement, err)
	}
}

// add adds a message.
func (f countedFile) add(id, subscription int, status webhook.Status) {
	f.t.Helper()
	f.exec(fmt.Sprintf(`INSERT INTO SY_WebhookMessage (ID, RecID, EventID, PartitionID, SubscriptionID, URL,
	Status, Attempts, AddedDateTime, LastSavedDateTime, MadeByAdmin)
VALUES (%d, '%[1]d', 1, 1, %d, '', %d, 0, '', '', 0)`, id, subscription, status))
}

// change executes statements and checks the numbers after each.
func (f countedFile) change(statements ...string) {
	f.t.Helper()
	for _, statement := range statements {
		f.exec(statement)
		expectCounted(f.t, f.db, statement)
	}
}

// start opens and closes the store, which counts the messages that are not counted yet.
func (f countedFile) start() {
	f.t.Helper()
	w, err := Open(f.db, f.path)
	if err != nil {
		f.t.Fatal(err)
	}
	if err := w.Engine.Close(); err != nil {
		f.t.Fatal(err)
	}
	expectRows(f.t, f.db, `COUNT(*) FROM `+uncounted, "0")
	expectCounted(f.t, f.db, "counting")
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
	expectNamed(t, w.Admin.db, 10)
}

// expectNamed checks that all messages but the newest ones are in the blocks of their events.
func expectNamed(t *testing.T, db *appdb.DB, newest int) {
	t.Helper()
	expectRows(t, db, `COUNT(*) FROM SY_WebhookMessage WHERE ID > `+lastNamed, strconv.Itoa(newest))
	expectRows(t, db, `COUNT(*) FROM SY_WebhookMessage m JOIN WH_Event e ON e.EventID = m.EventID
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

// TestOldMessagesAreNamed checks that sweeps add the messages of an older program to the blocks of
// their events, maxNamed at a time. The last ones, which are fewer, are left to the writer of
// batches.
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
		if step.Rows != 0 || step.Took <= 0 {
			t.Errorf("step %d has removed %d messages in %v, want none in the time of a write", steps, step.Rows, step.Took)
		}
		expectNamed(t, w.Admin.db, messages-steps*maxNamed)
	}
	if want := messages / maxNamed; steps != want {
		t.Errorf("%d steps, want %d", steps, want)
	}
	expectNamed(t, w.Admin.db, messages%maxNamed)
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
