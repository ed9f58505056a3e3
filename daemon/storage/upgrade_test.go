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
	"github.com/bizhook/whd/daemon/erp"
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

func upgrades(t *testing.T, folder string, place func(*testing.T) Config) {
	files, err := fs.Glob(os.DirFS("../appdb"), folder+"/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		var version int64
		if _, err := fmt.Sscanf(path.Base(file), "%d", &version); err != nil {
			t.Fatal(err)
		}
		t.Run(fmt.Sprint(version), func(t *testing.T) { upgrade(t, place(t), version) })
	}
}

func upgrade(t *testing.T, c Config, from int64) {
	c.Registry, c.Connections = record.Builtin(), 2
	var saved []appdb.StoredSetting
	c.SaveSettings = func(all []appdb.StoredSetting) error {
		saved = append(saved, all...)
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
		t.Errorf("%+v, %v", m, err)
	}
	if want := []appdb.StoredSetting{{Name: "query.max_take", Value: "500"}}; (from == 7 || from == 8) != slices.Equal(saved, want) {
		t.Errorf("saved settings: %+v", saved)
	}
	for _, table := range before {
		if table.name == "WH_Setting" {
			continue
		}
		if after := table.read(t, s.AppDB); !slices.Equal(after, table.rows) {
			t.Errorf("%s had\n%s\nand has\n%s", table.name, strings.Join(table.rows, "\n"), strings.Join(after, "\n"))
		}
	}
	used(t, s, from)
}

// firstServed is the first version that stores which tables of the ERP have been served. Earlier
// ones required all of them.
const firstServed = 17

// used checks that the stored rows are used.
func used(t *testing.T, s *Store, from int64) {
	t.Helper()
	ctx := t.Context()
	users, err := s.AppDB.Accounts().Users(ctx)
	if err != nil || len(users) != 1 || users[0].Name != "Ann Ö." {
		t.Errorf("users: %+v, %v", users, err)
	}
	if key, err := s.AppDB.Accounts().Key(ctx, strings.Repeat("b", 64)); err != nil || key == nil || key.Name != "till" {
		t.Errorf("the key: %+v, %v", key, err)
	}
	served, err := s.Served(ctx)
	wantServed := 0
	if from < firstServed {
		wantServed = len(record.Builtin().Kinds()) + len(erp.BillTables().Kinds())
	}
	if err != nil || len(served.Tables) != wantServed || len(served.Gone) > 0 {
		t.Errorf("from version %d: tables that must exist: %+v, %v; want %d", from, served, err, wantServed)
	}
	if from < firstWebhooks {
		return
	}
	w := s.Webhooks
	snapshot, err := w.Engine.Snapshot(ctx)
	if err != nil || snapshot.Version != 7 || len(snapshot.Match("debtor.updated")) != 1 {
		t.Fatalf("%+v, %v", snapshot, err)
	}
	leases, err := w.Engine.TakeOver(ctx, time.Minute)
	if err != nil || !slices.ContainsFunc(leases, func(l delivery.Lease) bool { return l.Partition == 2 }) {
		t.Errorf("%+v, %v", leases, err)
	}
	open, err := w.Engine.OpenMessages(ctx, delivery.Page{
		Partition:    2,
		Subscription: 11,
		Until:        time.Now().AddDate(100, 0, 0),
		Limit:        10,
	})
	if err != nil || len(open) != 1 || open[0].ID != 31 || open[0].Attempts != 1 {
		t.Fatalf("%+v, %v", open, err)
	}
	bodies, err := w.Engine.Bodies(ctx, []int64{open[0].Event.ID})
	if err != nil || string(bodies[open[0].Event.ID]) != `{"DebtorID":"Ö1"}` {
		t.Errorf("%v, %v", bodies, err)
	}
}

// seed is a row as written by the program of a version.
type seed struct {
	since   int64
	table   string
	columns string
	values  []any
}

// in reports whether a version has the table.
func (s seed) in(version int64) bool {
	return s.since <= version && (s.table != "WH_Setting" || version < 9)
}

const past = "2026-01-31T08:15:30.1234560"

// seeds are rows of every table that must be retained.
var seeds = []seed{
	{1, "WH_User", "RecID, UserName, UserKey, DisplayName, Role, PasswordHash, AddedDateTime, LastSavedDateTime", []any{"u1", "Ann Ö.", "ann ö.", "Ann", "admin", "$argon2id$...", past, past}},
	{1, "WH_ApiKey", "RecID, Name, NameKey, KeyHash, Role, AddedDateTime", []any{"k1", "till", "till", strings.Repeat("b", 64), "reader", past}},
	{1, "WH_Session", "SessionHash, WH_User_RecID, IsRemembered, AddedDateTime, ExpiryDateTime", []any{strings.Repeat("c", 64), "u1", 1, past, "2099-01-31T08:15:30.0000000"}},
	{2, "WH_Audit", "AddedDateTime, UserName, Via, Address, Action, Subject, Detail", []any{past, "Ann Ö.", "session", "10.1.2.3", "user add", "Bob", "Role=reader"}},
	{5, "WH_Partition", "PartitionID, Fence, LeaseUntil", []any{2, 40, past}},
	{5, "SY_WebhookSubscriber", "ID, RecID, Name, IsEnabled, ItemNo, LastSavedDateTime, RowHash", []any{10, "s1", "Shop Ö", 1, 1, past, []byte{1, 2, 3, 4, 5, 6, 7, 8}}},
	{5, "SY_WebhookSubscription", "ID, RecID, SubscriberID, EventName, URL, ItemNo, IsEnabled, Ordered, RetrySchedule, MaxRetries, Secret, MadeByAdmin, LastSavedDateTime, RowHash",
		[]any{11, "s2", 10, "debtor.*", "https://shop.example/hook?a=Ö", 1, 1, 1, "5s,30s", 2, "whsec_...", 1, past, []byte{8, 7, 6, 5, 4, 3, 2, 1}}},
	{5, "SY_WebhookSubscriptionRequestHeader", "RecID, SubscriptionID, ItemNo, Name, Value", []any{"h1", 11, 1, "X-Shop", "Ö"}},
	{5, "WH_Event", "EventID, RecID, EventName, AddedDateTime, Body", []any{20, "e1", "debtor.updated", past, `{"DebtorID":"Ö1"}`}},
	{5, "SY_WebhookMessage", "ID, RecID, EventID, PartitionID, SubscriptionID, URL, Status, Attempts, NextAttemptDateTime, AddedDateTime, LastSavedDateTime, HTTPCode, ResponseMessage, MadeByAdmin",
		[]any{31, "m1", 20, 2, 11, "https://shop.example/hook?a=Ö", 2, 1, past, past, past, 503, "Service Unavailable", 1}},
	{5, "SY_WebhookMessage", "ID, RecID, EventID, PartitionID, SubscriptionID, URL, Status, Attempts, AddedDateTime, LastSavedDateTime, HTTPCode, MadeByAdmin",
		[]any{30, "m0", 20, 2, 11, "https://shop.example/old", 1, 1, past, past, 200, 0}},
	{5, "SY_WebhookMessageResponse", "MessageID, Attempt, RecID, Status, Retries, HTTPCode, Message, Detail, AnswerText, Duration, LastSavedDateTime",
		[]any{31, 1, "r1", 2, 0, 503, "Service Unavailable", "detail Ö", "answer", 123456, past}},
	{5, "WH_IdempotencyKey", "KeyHash, Digest, EventGUID, Messages, ExpiryDateTime", []any{strings.Repeat("d", 64), strings.Repeat("e", 64), "e1", 1, "2099-01-31T08:15:30.0000000"}},
	{6, "WH_Nudge", "Number, SubscriptionID, Kind, Holder, AddedDateTime", []any{1, 11, 1, "holder", past}},
	{8, "WH_ResponseText", "TextHash, UsedDateTime, Size, Text", []any{strings.Repeat("f", 32), past, 300, "a long answer"}},
	{11, "WH_OutboxTaken", "Source, EventGUID", []any{"whd.wh_outbox", "0198c1a2-0000-7000-8000-000000000001"}},
	{7, "WH_Setting", "Name, Value, LastSavedDateTime", []any{"query.max_take", "500", past}},
}

// firstWebhooks is the first version with webhook tables.
const firstWebhooks = 5

// tableRows is a table with its rows before the upgrade.
type tableRows struct {
	name    string
	columns []string
	rows    []string
}

// seeded creates the tables of a version, adds rows, and returns them.
func seeded(t *testing.T, c Config, version int64) (all []*tableRows) {
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
	for _, s := range seeds {
		if s.in(version) {
			s.insert(t, db)
		}
	}
	if version >= firstWebhooks {
		if _, err := db.Exec(t.Context(), `UPDATE whd.WH_Number SET Next = 7 WHERE Name = 'SubscriptionVersion'`); err != nil {
			t.Fatal(err)
		}
	}
	for _, s := range seeds {
		if s.in(version) && !slices.ContainsFunc(all, func(k *tableRows) bool { return k.name == s.table }) {
			k := &tableRows{name: s.table}
			k.rows = k.read(t, db)
			all = append(all, k)
		}
	}
	return all
}

func openedAt(t *testing.T, c Config) *appdb.DB {
	t.Helper()
	if c.DSN == "" {
		db, err := appdb.OpenFile(filepath.Join(c.Dir, appdb.FileName))
		if err != nil {
			t.Fatal(err)
		}
		return db
	}
	db, err := appdb.OpenSchema(t.Context(), appdb.Config{DSN: c.DSN, Schema: c.Schema, LockTimeout: c.LockTimeout})
	if err == nil {
		err = db.CreateSchema(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	return db
}

func (s seed) insert(t *testing.T, db *appdb.DB) {
	t.Helper()
	var places []string
	var args []any
	for i, value := range s.values {
		name := fmt.Sprintf("V%d", i)
		places = append(places, "@"+name)
		args = append(args, sql.Named(name, value))
	}
	if _, err := db.Exec(t.Context(), "INSERT INTO whd."+s.table+" ("+s.columns+") VALUES ("+strings.Join(places, ", ")+")", args...); err != nil {
		t.Fatalf("%s: %v", s.table, err)
	}
}

// read returns the rows, sorted, with the columns that the table had when it was
// first read.
func (k *tableRows) read(t *testing.T, db *appdb.DB) (all []string) {
	t.Helper()
	columns := "*"
	if k.columns != nil {
		columns = strings.Join(k.columns, ", ")
	}
	rows, err := db.Pool.QueryContext(t.Context(), db.Qualify("SELECT "+columns+" FROM whd."+k.name))
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	if k.columns, err = rows.Columns(); err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		values := make([]any, len(k.columns))
		into := make([]any, len(values))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		all = append(all, fmt.Sprint(values...))
	}
	slices.Sort(all)
	return all
}

// TestSettingsAreNotLost checks that the table of stored settings is not dropped,
// and the store not opened, if the settings cannot be saved to a file.
func TestSettingsAreNotLost(t *testing.T) {
	c := Config{Dir: t.TempDir(), Registry: record.Builtin(), Connections: 2}
	before := seeded(t, c, 8)
	full := errors.New("no space left on device")
	for want, save := range map[error]func([]appdb.StoredSetting) error{appdb.ErrSettingsNotSaved: nil, full: func([]appdb.StoredSetting) error { return full }} {
		c.SaveSettings = save
		if _, err := Open(t.Context(), c); !errors.Is(err, want) {
			t.Errorf("got %v, want %v", err, want)
		}
	}
	db := openedAt(t, c)
	defer db.Close()
	for _, table := range before {
		if after := table.read(t, db); !slices.Equal(after, table.rows) {
			t.Errorf("%s had %s and has %s", table.name, table.rows, after)
		}
	}
	if n, err := appdb.QueryOne(t.Context(), db, appdb.ScanInt, `SELECT Next FROM whd.WH_Number WHERE Name = 'SettingsVersion'`); err != nil || *n != 1 {
		t.Errorf("the version of the settings has changed (%v)", err)
	}
}
