package storage

import (
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/datadir"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// TestUpgrade creates the service's tables at each version, adds rows, and migrates
// them to the latest version: all rows are retained and can be used.
func TestUpgrade(t *testing.T) {
	t.Run("file", func(t *testing.T) {
		upgrades(t, "schema/sqlite/whd", func(t *testing.T) Config { return Config{Dir: t.TempDir()} })
	})
	t.Run("server", func(t *testing.T) {
		dsn := mssqltest.Database(t)
		upgrades(t, "schema/mssql", func(t *testing.T) Config {
			return Config{
				Dir:         t.TempDir(),
				DSN:         dsn,
				Schema:      "s_" + rand.Text()[:8],
				Migrate:     true,
				LockTimeout: executor.StatementLimit,
			}
		})
	})
}

// TestUpgradeWaitsForTheDaemon checks that the tables of an earlier version are not migrated while a
// daemon uses them, except by that daemon.
func TestUpgradeWaitsForTheDaemon(t *testing.T) {
	const version = 25
	c := Config{Dir: t.TempDir(), Registry: record.Builtin(), Connections: 1}
	seeded(t, c, version)
	expectVersion := func(want bool) {
		t.Helper()
		isOutdated, err := appdb.IsOutdated(t.Context(), c.path(appdb.FileName), appdb.FileMigrations)
		if err != nil || isOutdated != want {
			t.Fatalf("the file is outdated: %t (%v), want %t", isOutdated, err, want)
		}
	}
	serving, err := datadir.LockServing(c.Dir, "pid 1")
	if err != nil {
		t.Fatal(err)
	}
	defer serving.Release()
	_, err = Open(t.Context(), c)
	if !errors.Is(err, datadir.ErrInUse) || !strings.Contains(err.Error(), "restart the daemon") || !strings.Contains(err.Error(), "pid 1") {
		t.Fatalf("opening the store while a daemon uses it: got %v, want an error about pid 1", err)
	}
	expectVersion(true)

	c.Serving = true
	openAndClose(t, c)
	expectVersion(false)
	c.Serving = false
	openAndClose(t, c) // which migrates nothing
}

// openAndClose opens a store and closes it.
func openAndClose(t *testing.T, c Config) {
	t.Helper()
	s, err := Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// upgrades runs the test for each version of the migrations in a folder of package appdb.
func upgrades(t *testing.T, folder string, newConfig func(*testing.T) Config) {
	files, err := fs.Glob(os.DirFS("../appdb"), folder+"/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		var version int64
		if _, err := fmt.Sscanf(path.Base(file), "%d", &version); err != nil {
			t.Fatal(err)
		}
		t.Run(fmt.Sprint(version), func(t *testing.T) { upgrade(t, newConfig(t), version) })
	}
}

// upgrade migrates the tables of a version.
func upgrade(t *testing.T, c Config, from int64) {
	t.Helper()
	c.Registry = record.Builtin()
	c.Connections = 2
	var saved []appdb.StoredSetting
	c.SaveSettings = func(settings []appdb.StoredSetting) error {
		saved = append(saved, settings...)
		return nil
	}
	before := seeded(t, c, from)
	s, err := Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})

	m, err := s.AppDB.Migration(t.Context())
	if err != nil || m.Before != from || m.After != m.Latest {
		t.Errorf("got the migration %+v (%v), want one from %d to %d", m, err, from, m.Latest)
	}
	var wantSaved []appdb.StoredSetting
	if from >= firstSettings && from < withoutSettings {
		wantSaved = []appdb.StoredSetting{{Name: "query.max_take", Value: "500"}}
	}
	if !slices.Equal(saved, wantSaved) {
		t.Errorf("got the saved settings %+v, want %+v", saved, wantSaved)
	}
	for _, table := range before {
		if table.name != settingsTable {
			table.expectUnchanged(t, s.AppDB)
		}
	}
	checkAccounts(t, s)
	checkServed(t, s, from)
	if from >= firstWebhooks {
		checkWebhooks(t, s)
	}
}

// Versions of the tables.
const (
	firstWebhooks   = 5 // the first one with webhook tables
	firstSettings   = 7 // the first one that stores settings
	withoutSettings = 9 // the first one that does not

	// firstServed is the first version that stores which tables of the ERP have been served.
	// Earlier ones required all of them.
	firstServed = 17
)

const settingsTable = "WH_Setting"

// checkAccounts checks that the stored user and key are used.
func checkAccounts(t *testing.T, s *Store) {
	t.Helper()
	accounts := s.AppDB.Accounts()
	users, err := accounts.Users(t.Context())
	if err != nil || len(users) != 1 || users[0].Name != "Ann Ö." {
		t.Errorf("got users %+v (%v), want Ann Ö.", users, err)
	}
	key, err := accounts.Key(t.Context(), strings.Repeat("b", 64))
	if err != nil || key == nil || key.Name != "till" {
		t.Errorf("got the key %+v (%v), want till", key, err)
	}
}

// tablesOfFirstServed is the number of tables that the migration firstServed lists. Kinds that are
// built in later are not among them.
const tablesOfFirstServed = 19

// checkServed checks that a store of an earlier version still requires all tables.
func checkServed(t *testing.T, s *Store, from int64) {
	t.Helper()
	want := 0
	if from < firstServed {
		want = tablesOfFirstServed
	}
	served, err := s.Served(t.Context())
	if err != nil || len(served.Tables) != want || len(served.Gone) > 0 {
		t.Errorf("got tables that must exist %+v (%v), want %d and none gone", served, err, want)
	}
}

// checkWebhooks checks that the stored subscription, partition and message are used.
func checkWebhooks(t *testing.T, s *Store) {
	t.Helper()
	ctx := t.Context()
	engine := s.Webhooks.Engine
	snapshot, err := engine.Snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if snapshot.Version != 7 {
		t.Errorf("got the version %d of the subscriptions, want 7", snapshot.Version)
	}
	if n := len(snapshot.Match("debtor.updated")); n != 1 {
		t.Errorf("got %d subscriptions of debtor.updated, want 1", n)
	}

	leases, err := engine.TakeOver(ctx, time.Minute)
	isSeeded := func(l delivery.Lease) bool { return l.Partition == 2 }
	if err != nil || !slices.ContainsFunc(leases, isSeeded) {
		t.Errorf("got leases %+v (%v), want one of partition 2", leases, err)
	}

	open, err := engine.OpenMessages(ctx, delivery.Page{
		Partition:    2,
		Subscription: 11,
		Until:        time.Now().AddDate(100, 0, 0),
		Limit:        10,
	})
	if err != nil || len(open) != 1 || open[0].ID != 31 || open[0].Attempts != 1 {
		t.Fatalf("got open messages %+v (%v), want message 31 after 1 attempt", open, err)
	}
	event := open[0].Event.ID
	bodies, err := engine.Bodies(ctx, []int64{event})
	if want := `{"DebtorID":"Ö1"}`; err != nil || string(bodies[event]) != want {
		t.Errorf("got the body %q (%v), want %q", bodies[event], err, want)
	}
}

// seed is a row as written by the program of a version.
type seed struct {
	since   int64 // first version with the table
	table   string
	columns string
	values  []any
}

// in reports whether a version has the table.
func (s seed) in(version int64) bool {
	if s.table == settingsTable && version >= withoutSettings {
		return false
	}
	return s.since <= version
}

// Times in the past and in the future.
const (
	past   = "2026-01-31T08:15:30.1234560"
	future = "2099-01-31T08:15:30.0000000"
)

// seeds are rows of every table that must be retained.
var seeds = []seed{
	{
		1, "WH_User",
		"RecID, UserName, UserKey, DisplayName, Role, PasswordHash, AddedDateTime, LastSavedDateTime",
		[]any{"u1", "Ann Ö.", "ann ö.", "Ann", "admin", "$argon2id$...", past, past},
	},
	{
		1, "WH_ApiKey",
		"RecID, Name, NameKey, KeyHash, Role, AddedDateTime",
		[]any{"k1", "till", "till", strings.Repeat("b", 64), "reader", past},
	},
	{
		1, "WH_Session",
		"SessionHash, WH_User_RecID, IsRemembered, AddedDateTime, ExpiryDateTime",
		[]any{strings.Repeat("c", 64), "u1", 1, past, future},
	},
	{
		2, "WH_Audit",
		"AddedDateTime, UserName, Via, Address, Action, Subject, Detail",
		[]any{past, "Ann Ö.", "session", "10.1.2.3", "user add", "Bob", "Role=reader"},
	},
	{
		5, "WH_Partition",
		"PartitionID, Fence, LeaseUntil",
		[]any{2, 40, past},
	},
	{
		5, "SY_WebhookSubscriber",
		"ID, RecID, Name, IsEnabled, ItemNo, LastSavedDateTime, RowHash",
		[]any{10, "s1", "Shop Ö", 1, 1, past, []byte{1, 2, 3, 4, 5, 6, 7, 8}},
	},
	{
		5, "SY_WebhookSubscription",
		"ID, RecID, SubscriberID, EventName, URL, ItemNo, IsEnabled, Ordered, RetrySchedule, " +
			"MaxRetries, Secret, MadeByAdmin, LastSavedDateTime, RowHash",
		[]any{
			11, "s2", 10, "debtor.*", "https://shop.example/hook?a=Ö", 1, 1, 1, "5s,30s",
			2, "whsec_...", 1, past, []byte{8, 7, 6, 5, 4, 3, 2, 1},
		},
	},
	{
		5, "SY_WebhookSubscriptionRequestHeader",
		"RecID, SubscriptionID, ItemNo, Name, Value",
		[]any{"h1", 11, 1, "X-Shop", "Ö"},
	},
	{
		5, "WH_Event",
		"EventID, RecID, EventName, AddedDateTime, Body",
		[]any{20, "e1", "debtor.updated", past, `{"DebtorID":"Ö1"}`},
	},
	{
		5, "SY_WebhookMessage",
		"ID, RecID, EventID, PartitionID, SubscriptionID, URL, Status, Attempts, " +
			"NextAttemptDateTime, AddedDateTime, LastSavedDateTime, HTTPCode, ResponseMessage, MadeByAdmin",
		[]any{
			31, "m1", 20, 2, 11, "https://shop.example/hook?a=Ö", 2, 1,
			past, past, past, 503, "Service Unavailable", 1,
		},
	},
	{
		5, "SY_WebhookMessage",
		"ID, RecID, EventID, PartitionID, SubscriptionID, URL, Status, Attempts, " +
			"AddedDateTime, LastSavedDateTime, HTTPCode, MadeByAdmin",
		[]any{30, "m0", 20, 2, 11, "https://shop.example/old", 1, 1, past, past, 200, 0},
	},
	{
		5, "SY_WebhookMessageResponse",
		"MessageID, Attempt, RecID, Status, Retries, HTTPCode, Message, Detail, AnswerText, " +
			"Duration, LastSavedDateTime",
		[]any{31, 1, "r1", 2, 0, 503, "Service Unavailable", "detail Ö", "answer", 123456, past},
	},
	{
		5, "WH_IdempotencyKey",
		"KeyHash, Digest, EventGUID, Messages, ExpiryDateTime",
		[]any{strings.Repeat("d", 64), strings.Repeat("e", 64), "e1", 1, future},
	},
	{
		6, "WH_Nudge",
		"Number, SubscriptionID, Kind, Holder, AddedDateTime",
		[]any{1, 11, 1, "holder", past},
	},
	{
		8, "WH_ResponseText",
		"TextHash, UsedDateTime, Size, Text",
		[]any{strings.Repeat("f", 32), past, 300, "a long answer"},
	},
	{
		11, "WH_OutboxTaken",
		"Source, EventGUID",
		[]any{"whd.wh_outbox", "0198c1a2-0000-7000-8000-000000000001"},
	},
	{
		19, "WH_DeliveryMinute",
		"Minute, SubscriptionID, DaemonID, Events, Messages, Delivered, Failed, GivenUp, Took1, Took2, Took3, " +
			"Took4, Took5, Took6, Took7, Took8, Took9, Took10, Took11, Took12, FailedDateTime, HTTPCode, FailedMessage",
		[]any{29_000_000, 11, 1, 1, 2, 3, 4, 5, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, past, 503, "Ö"},
	},
	{
		firstSettings, settingsTable,
		"Name, Value, LastSavedDateTime",
		[]any{"query.max_take", "500", past},
	},
}

// tableRows is a table with its rows before the upgrade.
type tableRows struct {
	name    string
	columns []string
	rows    []string
}

// seeded creates the tables of a version, adds rows, and returns them.
func seeded(t *testing.T, c Config, version int64) []*tableRows {
	t.Helper()
	db := openedAt(t, c)
	defer db.Close()
	provider, err := db.Provider()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := provider.UpTo(t.Context(), version); err != nil {
		t.Fatal(err)
	}

	var names []string
	for _, s := range seeds {
		if s.in(version) {
			s.insert(t, db)
			names = append(names, s.table)
		}
	}
	if version >= firstWebhooks {
		const setVersion = `UPDATE whd.WH_Number SET Next = 7 WHERE Name = 'SubscriptionVersion'`
		if _, err := db.Exec(t.Context(), setVersion); err != nil {
			t.Fatal(err)
		}
	}
	var tables []*tableRows
	for _, name := range slices.Compact(names) {
		table := &tableRows{name: name}
		table.rows = table.read(t, db)
		tables = append(tables, table)
	}
	return tables
}

// openedAt opens the tables without migrating them.
func openedAt(t *testing.T, c Config) *appdb.DB {
	t.Helper()
	if c.DSN == "" {
		db, err := appdb.OpenFile(filepath.Join(c.Dir, appdb.FileName))
		if err != nil {
			t.Fatal(err)
		}
		return db
	}
	db, err := appdb.OpenSchema(t.Context(), appdb.Config{
		DSN:         c.DSN,
		Schema:      c.Schema,
		LockTimeout: c.LockTimeout,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.CreateSchema(t.Context()); err != nil {
		t.Fatal(err)
	}
	return db
}

func (s seed) insert(t *testing.T, db *appdb.DB) {
	t.Helper()
	var params []string
	var args []any
	for i, value := range s.values {
		name := fmt.Sprintf("V%d", i)
		params = append(params, "@"+name)
		args = append(args, sql.Named(name, value))
	}
	statement := "INSERT INTO whd." + s.table + " (" + s.columns + ")" +
		" VALUES (" + strings.Join(params, ", ") + ")"
	if _, err := db.Exec(t.Context(), statement, args...); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// read returns the rows, sorted, with the columns that the table had when it was
// first read.
func (r *tableRows) read(t *testing.T, db *appdb.DB) []string {
	t.Helper()
	columns := "*"
	if r.columns != nil {
		columns = strings.Join(r.columns, ", ")
	}
	statement := db.Qualify("SELECT " + columns + " FROM whd." + r.name)
	rows, err := db.Pool.QueryContext(t.Context(), statement)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	r.columns, err = rows.Columns()
	if err != nil {
		t.Fatal(err)
	}

	var texts []string
	for rows.Next() {
		values := make([]any, len(r.columns))
		pointers := make([]any, len(values))
		for i := range values {
			pointers[i] = &values[i]
		}
		if err := rows.Scan(pointers...); err != nil {
			t.Fatal(err)
		}
		texts = append(texts, fmt.Sprint(values...))
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	slices.Sort(texts)
	return texts
}

// expectUnchanged expects the rows that were read first.
func (r *tableRows) expectUnchanged(t *testing.T, db *appdb.DB) {
	t.Helper()
	if got := r.read(t, db); !slices.Equal(got, r.rows) {
		t.Errorf("%s: got rows\n%s\nwant\n%s",
			r.name, strings.Join(got, "\n"), strings.Join(r.rows, "\n"))
	}
}

// TestSettingsAreNotLost checks that the table of stored settings is not dropped,
// and the store not opened, if the settings cannot be saved to a file.
func TestSettingsAreNotLost(t *testing.T) {
	c := Config{Dir: t.TempDir(), Registry: record.Builtin(), Connections: 2}
	before := seeded(t, c, withoutSettings-1)
	errFull := errors.New("no space left on device")
	for want, save := range map[error]func([]appdb.StoredSetting) error{
		appdb.ErrSettingsNotSaved: nil,
		errFull:                   func([]appdb.StoredSetting) error { return errFull },
	} {
		c.SaveSettings = save
		if _, err := Open(t.Context(), c); !errors.Is(err, want) {
			t.Errorf("opening the store: got error %v, want %v", err, want)
		}
	}

	db := openedAt(t, c)
	defer db.Close()
	for _, table := range before {
		table.expectUnchanged(t, db)
	}
	const settingsVersion = `SELECT Next FROM whd.WH_Number WHERE Name = 'SettingsVersion'`
	version, err := appdb.QueryOne(t.Context(), db, appdb.ScanInt, settingsVersion)
	if err != nil {
		t.Fatal(err)
	}
	if *version != 1 {
		t.Errorf("got the version %d of the settings, want 1", *version)
	}
}
