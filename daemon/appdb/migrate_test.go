package appdb

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/mssql"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
)

// TestOwnTables runs the tests of our own tables in a file and on a server.
// Each gets a function that opens a place of its own, again at each call.
func TestOwnTables(t *testing.T) {
	t.Run("file", func(t *testing.T) {
		ownTables(t, func(t *testing.T) func() *DB {
			path := filepath.Join(t.TempDir(), FileName)
			return func() *DB { return openedOwn(t, path) }
		})
	})
	t.Run("server", func(t *testing.T) {
		dsn := mssqltest.Database(t)
		home := func(t *testing.T) func() *DB { return onServer(t, dsn) }
		ownTables(t, home)
		t.Run("Lease", func(t *testing.T) { exclusion(t, leased(t, home(t)())) })
		t.Run("LeaseOfTheDead", func(t *testing.T) { leaseOfTheDead(t, leased(t, home(t)())) })
		t.Run("LeaseLost", func(t *testing.T) { leaseLost(t, leased(t, home(t)())) })
	})
}

func ownTables(t *testing.T, home func(*testing.T) func() *DB) {
	t.Run("Migrate", func(t *testing.T) { migrate(t, home(t)()) })
	t.Run("Down", func(t *testing.T) { migrateDown(t, home(t)()) })
	t.Run("Fails", func(t *testing.T) { migrateFails(t, home(t)()) })
	t.Run("FailsAfterSettings", func(t *testing.T) { settingsGoOn(t, home(t)()) })
	t.Run("Newer", func(t *testing.T) { newerVersion(t, home(t)()) })
	t.Run("OutOfOrder", func(t *testing.T) { outOfOrder(t, home(t)()) })
	for range 3 {
		t.Run("AtOnce", func(t *testing.T) { migrateAtOnce(t, home(t)) })
	}
}

// onServer gives a schema of its own.
func onServer(t *testing.T, dsn string) func() *DB {
	c := Config{DSN: dsn, Schema: "s_" + rand.Text()[:8], LockTimeout: executor.StatementLimit}
	return func() *DB {
		db, err := OpenSchema(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		return closed(t, db)
	}
}

func openedOwn(t *testing.T, path string) *DB {
	t.Helper()
	db, err := OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return closed(t, db)
}

// closed closes the database when the test ends.
func closed(t *testing.T, db *DB) *DB {
	t.Helper()
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func expectVersion(t *testing.T, db *DB, want int64) {
	t.Helper()
	files, err := fs.Glob(schema, FileMigrations+"/*.sql")
	if err != nil || len(files) == 0 {
		t.Fatalf("no migrations (%v)", err)
	}
	var last int64
	if _, err := fmt.Sscanf(filepath.Base(files[len(files)-1]), "%d", &last); err != nil {
		t.Fatal(err)
	}
	if want < 0 {
		want = last
	}
	current, latest, err := db.versions(t.Context())
	if err != nil || current != want || latest != last {
		t.Errorf("version %d of %d (%v), want %d of %d", current, latest, err, want, last)
	}
}

const newest = -1 // version

func expectTables(t *testing.T, db *DB, want bool) {
	t.Helper()
	for _, table := range []string{"WH_User", "WH_ApiKey", "WH_Session"} {
		if is, err := db.hasTable(t.Context(), table); err != nil || is != want {
			t.Errorf("%s is there: %v (%v), want %v", table, is, err, want)
		}
	}
}

func migrate(t *testing.T, db *DB) {
	expectVersion(t, db, 0)
	if err := db.Ready(t.Context()); !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "version 0") || !strings.Contains(err.Error(), "whd migrate") {
		t.Errorf("before: %v", err)
	}
	expectTables(t, db, false) // nor has looking made any
	if is, err := db.hasTable(t.Context(), migrationTable); err != nil || is {
		t.Errorf("looking at the version has made a table (%v)", err)
	}
	for range 2 { // the second finds nothing to do
		if err := db.Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
		expectVersion(t, db, newest)
		expectTables(t, db, true)
	}
	if err := db.Ready(t.Context()); err != nil {
		t.Errorf("after: %v", err)
	}
}

// Every migration can be undone, and done again.
func migrateDown(t *testing.T, db *DB) {
	if err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	provider, err := db.Provider()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := provider.DownTo(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	expectTables(t, db, false)
	if err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	expectTables(t, db, true)
}

// Daemons that start at the same moment must all come up.
func migrateAtOnce(t *testing.T, open func() *DB) {
	var all sync.WaitGroup
	var first atomic.Int64
	for range 4 {
		db := open()
		all.Go(func() {
			if err := db.Migrate(t.Context()); err != nil {
				t.Error(err)
			}
			if db.before == 0 {
				first.Add(1)
			}
		})
	}
	all.Wait()
	db := open()
	if n := first.Load(); db.Schema != "" && n != 1 {
		t.Errorf("%d say that they have made the tables", n)
	}
	expectVersion(t, db, newest)
	rows, err := QueryAll(t.Context(), db, ScanInt, `SELECT version_id FROM whd.WH_Migration ORDER BY version_id`)
	if err != nil {
		t.Fatal(err)
	}
	if len(slices.Compact(slices.Clone(rows))) != len(rows) {
		t.Errorf("a version is noted twice: %d", rows)
	}
}

// A migration that fails leaves an error, and nothing half done.
func migrateFails(t *testing.T, db *DB) {
	if db.Schema != "" {
		if err := db.CreateSchema(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := db.Exec(t.Context(), `CREATE TABLE whd.WH_ApiKey (Other int)`); err != nil {
		t.Fatal(err)
	}
	if err := db.Migrate(t.Context()); err == nil {
		t.Error("a table in the way is no error")
	}
	expectVersion(t, db, 0)
	if is, err := db.hasTable(t.Context(), "WH_User"); err != nil || is {
		t.Errorf("half a migration is left (%v)", err)
	}
}

// Where a migration fails behind the rescue of stored settings, daemons of an
// earlier version, which go by the version of the settings, read them again.
func settingsGoOn(t *testing.T, db *DB) {
	ctx := t.Context()
	if err := db.Migrate(ctx); err != nil {
		t.Fatal(err)
	}
	provider, err := db.Provider()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := provider.DownTo(ctx, 8); err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{
		`INSERT INTO whd.WH_Setting (Name, Value, LastSavedDateTime) VALUES ('log.level', 'debug', '2030-01-31T08:00:00')`,
		`DELETE FROM whd.WH_Migration WHERE version_id = 2`, // whose table is in its way
	} {
		if _, err := db.Exec(ctx, statement); err != nil {
			t.Fatal(err)
		}
	}
	kept := 0
	db.saveSettings = func(all []StoredSetting) error { kept += len(all); return nil }
	if err := db.Migrate(ctx); err == nil {
		t.Error("a table in the way is no error")
	}
	next, err := QueryOne(ctx, db, ScanInt, `SELECT Next FROM whd.WH_Number WHERE Name = 'SettingsVersion'`)
	if err != nil || kept != 1 || *next != 2 {
		t.Errorf("%d settings were kept, the version is %v (%v); want 1 and 2", kept, *next, err)
	}
}

// A migration that comes after one of a higher number is applied all the same,
// and missed until then.
func outOfOrder(t *testing.T, db *DB) {
	if err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{`DROP TABLE whd.WH_Audit`, `DELETE FROM whd.WH_Migration WHERE version_id = 2`} {
		if _, err := db.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	expectVersion(t, db, 1)
	if err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	expectVersion(t, db, newest)
	if is, err := db.hasTable(t.Context(), "WH_Audit"); err != nil || !is {
		t.Errorf("the table is there: %v (%v)", is, err)
	}
}

// A schema of a newer program serves an older one.
func newerVersion(t *testing.T, db *DB) {
	if err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(t.Context(), `INSERT INTO whd.WH_Migration (version_id, is_applied) VALUES (999, 1)`); err != nil {
		t.Fatal(err)
	}
	expectVersion(t, db, 999)
	if err := db.Migrate(t.Context()); err != nil {
		t.Error(err)
	}
	if err := db.Ready(t.Context()); err != nil {
		t.Error(err)
	}
}

// The tables whose rights are checked are those that a server has in the end.
func TestServerTables(t *testing.T) {
	names, err := serverTables()
	if err != nil || !slices.Contains(names, "WH_User") || slices.Contains(names, settingsTable) {
		t.Errorf("got %q (%v)", names, err)
	}
	if slices.Sort(names); len(slices.Compact(slices.Clone(names))) != len(names) {
		t.Errorf("%q has one twice", names)
	}
}

// serverOnly are the migrations that the file has no use for: it has one writer
// at a time, and the request log in a file of its own.
var serverOnly = []string{"00003_lock.sql", "00004_requestlog.sql"}

// The other migrations of both databases have the same versions and names.
func TestMigrationsAreTwins(t *testing.T) {
	names := func(folder string) (names []string) {
		files, err := fs.Glob(schema, folder+"/*.sql")
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			names = append(names, strings.TrimPrefix(file, folder+"/"))
		}
		return names
	}
	want := slices.DeleteFunc(names(serverMigrations), func(name string) bool { return slices.Contains(serverOnly, name) })
	if file := names(FileMigrations); !slices.Equal(file, want) {
		t.Errorf("the file has %s, the server %s", file, want)
	}
}

// leased makes the schema and in it the table of the lease.
func leased(t *testing.T, db *DB) *DB {
	t.Helper()
	if err := errors.Join(db.CreateSchema(t.Context()), db.createLeaseTable(t.Context())); err != nil {
		t.Fatal(err)
	}
	return db
}

func exclusion(t *testing.T, db *DB) {
	first, second := db.newLease(), db.newLease()
	working, over := make(chan struct{}), make(chan error)
	err := first.run(t.Context(), func(ctx context.Context) error {
		go func() {
			over <- second.run(t.Context(), func(context.Context) error { close(working); return nil })
		}()
		if got, err := db.newLease().tryAcquire(ctx, `Holder IS NULL OR ExpiryDateTime < SYSUTCDATETIME()`); err != nil || got {
			t.Errorf("a third one got the lease: %v (%v)", got, err)
		}
		select {
		case <-working:
			t.Error("two work at once")
		default:
		}
		return nil
	})
	if err := errors.Join(err, <-over); err != nil {
		t.Error(err)
	}
}

// What a process leaves that dies is for the others once it has expired.
func leaseOfTheDead(t *testing.T, db *DB) {
	dead := db.newLease()
	dead.duration = 0
	if err := dead.acquire(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := db.newLease().run(t.Context(), func(context.Context) error { return nil }); err != nil {
		t.Error(err)
	}
}

func leaseLost(t *testing.T, db *DB) {
	l := db.newLease()
	l.renewInterval = leaseRetryInterval
	err := l.run(t.Context(), func(ctx context.Context) error {
		thief := db.newLease()
		if taken, err := thief.tryAcquire(ctx, `1 = 1`); err != nil || !taken {
			t.Fatalf("taken %v (%v)", taken, err)
		}
		<-ctx.Done()
		return ctx.Err()
	})
	if !errors.Is(err, errLeaseLost) {
		t.Errorf("got %v", err)
	}
}

// loginScript is what an administrator runs before the first migration.
const loginScript = "../../cmd/daemon/deploy/login.sql"

// The login script gives the account that migrates the rights it needs: it
// grants what they create, and nothing else that creates.
func TestLoginScriptGrantsWhatMigrationsCreate(t *testing.T) {
	script, err := os.ReadFile(loginScript)
	if err != nil {
		t.Fatal(err)
	}
	granted := make(map[string]bool)
	for _, grant := range regexp.MustCompile(`(?m)^GRANT (CREATE [A-Z, ]+) TO whd;`).FindAllStringSubmatch(string(script), -1) {
		for right := range strings.SplitSeq(grant[1], ", ") {
			granted[right] = true
		}
	}
	files, err := fs.Glob(schema, serverMigrations+"/*.sql")
	if err != nil || len(files) == 0 {
		t.Fatalf("%q %v", files, err)
	}
	needed := make(map[string]bool)
	for _, file := range files {
		text, err := schema.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, made := range regexp.MustCompile(`(?im)^\s*CREATE\s+(?:UNIQUE\s+)?(?:OR\s+ALTER\s+)?([A-Z]+)\s`).FindAllStringSubmatch(string(text), -1) {
			object := strings.ToUpper(made[1])
			if object == "INDEX" {
				continue // comes with the ownership of its table
			}
			right := "CREATE " + object
			if needed[right] = true; !granted[right] {
				t.Errorf("%s needs %s, which %s does not grant", file, right, loginScript)
			}
		}
	}
	for right := range granted {
		if !needed[right] {
			t.Errorf("%s grants %s, which no migration needs", loginScript, right)
		}
	}
}

// A login that an older script made lacks the right to create views.
func TestMigrationWithoutRight(t *testing.T) {
	err := (&Migrator{db: &DB{name: "the schema whd"}}).migrationError(fmt.Errorf("goose: %w", &mssql.Error{Number: 262, Message: "denied"}))
	for _, part := range []string{"the schema whd", "GRANT CREATE TABLE, CREATE VIEW", "login.sql", "denied"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q lacks %q", err, part)
		}
	}
}

// TestMigrationsStand: what has been released is applied somewhere, so a change
// belongs into a new migration. Until then -update takes it over.
func TestMigrationsStand(t *testing.T) {
	var b strings.Builder
	err := fs.WalkDir(schema, "schema", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := schema.ReadFile(name)
		fmt.Fprintf(&b, "%x  %s\n", sha256.Sum256(text), strings.TrimPrefix(name, "schema/"))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join("testdata", "migrations.sha256")
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil || string(want) != b.String() {
		t.Errorf("migrations have changed (%v); they are\n%s", err, &b)
	}
}
