package sqlstore

import (
	"cmp"
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
	w := hooksInFile(t)
	server := &Admin{tables{&appdb.DB{Schema: "whd"}}}
	message, attempt := systemKind(t, "Message"), systemKind(t, "Attempt")
	oldest := []query.Order{{Field: message.KeyField()}}
	newest := []query.Order{{Field: message.KeyField(), Desc: true}}
	where := func(kind *record.Kind, name string, op record.Operator, v wire.Value) query.Condition {
		field, _ := kind.Column(name)
		return query.Condition{Field: field, Operator: op, Operands: []wire.Value{v}}
	}
	subscriber := where(message, "SubscriberID", record.Equal, wire.Value{Text: "a"})
	subscription := where(message, "SubscriptionID", record.Equal, wire.Value{Text: "b"})
	failed := where(message, "Status", record.Equal, wire.Value{Int: 3})
	retrying := where(message, "Status", record.Equal, wire.Value{Int: 2})
	delivered := where(message, "Status", record.Equal, wire.Value{Int: 1})
	unsuccessful := failed
	unsuccessful.Operator = record.In
	unsuccessful.Operands = []wire.Value{{Int: 3}, {Int: 2}}
	bulk := []query.Condition{
		failed,
		where(message, "ItemNo", record.GreaterThan, wire.Value{Int: 1}),
		where(message, "ItemNo", record.LessThanOrEqualTo, wire.Value{Int: 9}),
	}
	ofSubscriber := []query.Condition{where(attempt, "SubscriberID", record.Equal, wire.Value{Text: "a"})}
	newestAttempts := []query.Order{{Field: attempt.KeyField(), Desc: true}}
	keyed := where(message, "Key", record.Equal, wire.Value{Text: "k"})
	saved, _ := message.Column("LastSavedDateTime")
	lastSaved := []query.Order{{Field: saved, Desc: true}, newest[0]}
	var b strings.Builder
	for _, c := range []struct {
		name string
		plan query.Plan
	}{
		{"of all", query.Plan{Kind: message, Order: newest}},
		{"of a subscriber", query.Plan{Kind: message, Order: newest, Where: []query.Condition{subscriber}}},
		{"of a subscription", query.Plan{Kind: message, Order: newest, Where: []query.Condition{subscriber, subscription}}},
		{"failed", query.Plan{Kind: message, Order: newest, Where: []query.Condition{failed}}},
		{"failed of a subscriber", query.Plan{Kind: message, Order: newest, Where: []query.Condition{failed, subscriber}}},
		{"retrying", query.Plan{Kind: message, Order: newest, Where: []query.Condition{retrying}}},
		{"retrying of a subscriber", query.Plan{Kind: message, Order: newest, Where: []query.Condition{retrying, subscriber}}},
		{"delivered of a subscriber", query.Plan{Kind: message, Order: newest, Where: []query.Condition{delivered, subscriber}}},
		{"retrying or failed by the last attempt", query.Plan{Kind: message, Order: lastSaved, Where: []query.Condition{unsuccessful}}},
		{"candidates of a bulk operation", query.Plan{Kind: message, Order: oldest, Where: bulk}},
		{"attempts of a subscriber", query.Plan{Kind: attempt, Order: newestAttempts, Where: ofSubscriber}},
		{"by key", query.Plan{Kind: message, Order: newest, Where: []query.Condition{keyed}}},
		{"by key, failed or retrying, of a subscriber", query.Plan{Kind: message, Order: newest, Where: []query.Condition{keyed, unsuccessful, subscriber}}},
	} {
		c.plan.Columns = []int{c.plan.Kind.KeyField()}
		c.plan.Take = 10
		c.plan.Count = true
		for _, s := range []struct {
			store   *Admin
			dialect *dialect.Dialect
			source  string
		}{
			{w.Admin, dialect.SQLite(), c.plan.Kind.Source()},
			{server, dialect.TSQL(), "[whd].[" + c.plan.Kind.Source() + "]"},
		} {
			plan := s.store.ListPlan(&c.plan)
			for _, compile := range []compiler{query.Compile, query.CompileCount} {
				st, err := compile(plan, s.dialect, s.source)
				if err != nil {
					t.Fatal(err)
				}
				fmt.Fprintf(&b, "-- %s, %s\n%s;\n", c.name, s.dialect.Name, st.SQL)
				if s.store == w.Admin {
					b.WriteString(planOf(t, w.Admin.db, st))
				}
			}
		}
		b.WriteString("\n")
	}
	goldentest.Compare(t, "testdata/lists.sql", b.String())
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
	steps, err := appdb.QueryAll(t.Context(), db, func(row appdb.Row) (step string, err error) {
		var ignored int
		return step, row.Scan(&ignored, &ignored, &ignored, &step)
	}, "EXPLAIN QUERY PLAN "+s.SQL, make([]any, len(s.Args))...)
	if err != nil {
		t.Fatal(err)
	}
	return "--     " + strings.Join(steps, "\n--     ") + "\n"
}

// TestSubscriptionsByNumber checks that pages are parts of the whole list even where the
// numbers of subscriptions have another order than their IDs.
func TestSubscriptionsByNumber(t *testing.T) {
	ctx, w := t.Context(), hooksInFile(t)
	shop := admin.Subscriber{Name: "Shop", Enabled: true}
	subscriber, err := w.Admin.AddSubscriber(ctx, shop, audit.Entry{Actor: audit.System(), At: hookNoon})
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		sub := webhook.Subscription{Subscriber: subscriber.GUID, Pattern: "*", URL: "http://a", Secret: "s", SavedAt: hookNoon}
		if _, err := w.Admin.AddSubscription(ctx, sub, nil); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Admin.db.Exec(ctx, `UPDATE SY_WebhookSubscription SET ItemNo = 6 - ItemNo`); err != nil {
		t.Fatal(err)
	}
	for take := range int64(6) {
		var numbers []int
		for skip := int64(0); skip < 5; skip += max(take, 5*(1-take)) { // 0 stands for all
			page, total, err := w.Admin.Subscriptions(ctx, subscriber.GUID, skip, cmp.Or(take, -1))
			if err != nil || total != 5 {
				t.Fatalf("total %d (%v)", total, err)
			}
			for _, s := range page {
				numbers = append(numbers, s.ItemNo)
			}
		}
		if !slices.Equal(numbers, []int{1, 2, 3, 4, 5}) {
			t.Errorf("take %d: %v", take, numbers)
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
	add := func(id, subscription, status int) string {
		return fmt.Sprintf(`INSERT INTO SY_WebhookMessage (ID, RecID, EventID, PartitionID, SubscriptionID, URL, Status, Attempts, AddedDateTime, LastSavedDateTime, MadeByAdmin)
VALUES (%d, '%[1]d', 1, 1, %d, '', %d, 0, '', '', 0)`, id, subscription, status)
	}
	migrated := false
	for _, statement := range []string{
		add(1, 7, 1), add(2, 7, 3), add(3, 7, 3), add(4, 8, 0), add(5, 7, 3), add(6, 9, 1), "migrate",
		`UPDATE SY_WebhookMessage SET Status = 3 WHERE ID IN (1, 2, 4)`,
		`UPDATE SY_WebhookMessage SET Status = 2 WHERE ID IN (1, 3)`,
		`UPDATE SY_WebhookMessage SET Status = 1`,
		`UPDATE SY_WebhookMessage SET Status = 3`,
		`DELETE FROM SY_WebhookMessage WHERE ID IN (2, 4)`,
		add(10, 7, 0), add(11, 8, 0), add(12, 8, 0), add(13, 9, 0),
		`UPDATE SY_WebhookMessage SET Status = 3 WHERE ID IN (10, 11, 12)`,
		`UPDATE SY_WebhookMessage SET Status = 1 WHERE ID IN (1, 10)`,
		`DELETE FROM SY_WebhookMessage WHERE ID IN (5, 12)`,
		"count",
		`UPDATE SY_WebhookMessage SET Status = 1 WHERE ID = 11`,
		`DELETE FROM SY_WebhookMessage WHERE ID = 13`,
		"count",
		`INSERT INTO WH_SubscriptionRemoved VALUES (7, ''), (8, '')`,
		`DELETE FROM WH_SubscriptionRemoved`,
		`DELETE FROM SY_WebhookMessage`,
	} {
		switch statement {
		case "migrate":
			err = db.Migrate(t.Context())
			migrated = true
		case "count":
			w, failed := Open(db, path)
			if failed != nil {
				t.Fatal(failed)
			}
			err = w.Engine.Close()
			expectRows(t, db, `COUNT(*) FROM `+uncounted, "0")
		default:
			_, err = db.Exec(t.Context(), statement)
		}
		if err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
		if migrated {
			want := mustText(t, db, `SELECT group_concat(c.S || ': ' || c.N || ' ' || c.F)
FROM (SELECT SubscriptionID S, COUNT(*) N, SUM(Status = 3) F FROM SY_WebhookMessage GROUP BY 1 ORDER BY 1) c`)
			expectRows(t, db, `group_concat(c.S || ': ' || c.N || ' ' || c.F)
FROM (SELECT SubscriptionID S, SUM(Messages) N, SUM(Failed) F FROM `+messageCounts+` GROUP BY 1 ORDER BY 1) c WHERE N > 0`, want)
		}
	}
	expectRows(t, db, `group_concat(SubscriptionID) FROM (SELECT * FROM WH_MessageCount ORDER BY 1)`, "7,8,9")
}

// messageCounts are all counts.
const messageCounts = `(SELECT * FROM WH_MessageCount UNION ALL SELECT * FROM ` + newCounts + `)`

// TestNewMessagesAreCounted checks that few messages are left to be counted by each list.
func TestNewMessagesAreCounted(t *testing.T) {
	w := hooksInFile(t)
	r, l := subscribed(t, w)
	version := w.mustVersion(t)
	for n := range int64(maxUncounted + 10) {
		if err := w.Engine.Write(t.Context(), hookBatch(version, 1+2*n, 1, r, l, "{}")); err != nil {
			t.Fatal(err)
		}
	}
	expectRows(t, w.Admin.db, `COUNT(*) FROM `+uncounted, "10")
	expectRows(t, w.Admin.db, `SUM(Messages) FROM `+messageCounts, strconv.Itoa(maxUncounted+10))
}

// TestCountReadsNewMessages checks that counting new messages does not read the others.
func TestCountReadsNewMessages(t *testing.T) {
	plan := planOf(t, hooksInFile(t).Admin.db, query.Statement{SQL: countUncounted})
	if !strings.Contains(plan, "SEARCH SY_WebhookMessage USING INTEGER PRIMARY KEY (rowid>?)") {
		t.Error(plan)
	}
}

func mustText(t *testing.T, db *appdb.DB, statement string) string {
	t.Helper()
	text, err := appdb.QueryOne(t.Context(), db, func(row appdb.Row) (text *string, err error) { return text, row.Scan(&text) }, statement)
	if err != nil {
		t.Fatal(err)
	}
	if *text == nil {
		return "null"
	}
	return **text
}
