package appdb

import (
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
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

// TestMigrations runs the migration tests on a file and on SQL Server. Each test has a
// function that opens a new database at its first call and the same one at later calls.
func TestMigrations(t *testing.T) {
	t.Run("file", func(t *testing.T) {
		testMigrations(t, func(t *testing.T) func() *DB {
			path := filepath.Join(t.TempDir(), FileName)
			return func() *DB { return openedOwn(t, path) }
		})
	})
	t.Run("server", func(t *testing.T) {
		dsn := mssqltest.Database(t)
		home := func(t *testing.T) func() *DB { return onServer(t, dsn) }
		testMigrations(t, home)
		t.Run("Lease", func(t *testing.T) { exclusion(t, leased(t, home(t)())) })
		t.Run("ExpiredLease", func(t *testing.T) { expiredLease(t, leased(t, home(t)())) })
		t.Run("LeaseLost", func(t *testing.T) { leaseLost(t, leased(t, home(t)())) })
	})
}

func testMigrations(t *testing.T, home func(*testing.T) func() *DB) {
	t.Run("Migrate", func(t *testing.T) { migrate(t, home(t)()) })
	t.Run("Down", func(t *testing.T) { migrateDown(t, home(t)()) })
	t.Run("FailureIsRolledBack", func(t *testing.T) { migrateFails(t, home(t)()) })
	t.Run("FailureReleasesSettings", func(t *testing.T) { settingsReleased(t, home(t)()) })
	t.Run("NewerVersion", func(t *testing.T) { newerVersion(t, home(t)()) })
	t.Run("OutOfOrder", func(t *testing.T) { outOfOrder(t, home(t)()) })
	for range 3 {
		t.Run("Concurrent", func(t *testing.T) { concurrentMigrations(t, home(t)) })
	}
}

// onServer returns a function that opens a new schema.
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
	files, err := fs.Glob(schema, db.folder+"/*.sql")
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

const latest = -1 // the latest version

func expectTables(t *testing.T, db *DB, want bool) {
	t.Helper()
	for _, table := range []string{"WH_User", "WH_ApiKey", "WH_Session"} {
		if is, err := db.hasTable(t.Context(), table); err != nil || is != want {
			t.Errorf("%s exists: %v (%v), want %v", table, is, err, want)
		}
	}
}

func migrate(t *testing.T, db *DB) {
	expectVersion(t, db, 0)
	if err := db.Ready(t.Context()); !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "version 0") || !strings.Contains(err.Error(), "whd migrate") {
		t.Errorf("before: %v", err)
	}
	expectTables(t, db, false) // reading the version creates no tables
	if is, err := db.hasTable(t.Context(), migrationTable); err != nil || is {
		t.Errorf("reading the version created a table (%v)", err)
	}
	for range 2 { // the second run has nothing to do
		if err := db.Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
		expectVersion(t, db, latest)
		expectTables(t, db, true)
	}
	if err := db.Ready(t.Context()); err != nil {
		t.Errorf("after: %v", err)
	}
}

// migrateDown reverts and repeats every migration.
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

// concurrentMigrations checks that daemons can start concurrently.
func concurrentMigrations(t *testing.T, open func() *DB) {
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
		t.Errorf("%d daemons report that they created the tables, want 1", n)
	}
	expectVersion(t, db, latest)
	rows, err := QueryAll(t.Context(), db, ScanInt, `SELECT version_id FROM whd.WH_Migration ORDER BY version_id`)
	if err != nil {
		t.Fatal(err)
	}
	if len(slices.Compact(slices.Clone(rows))) != len(rows) {
		t.Errorf("a version is recorded twice: %d", rows)
	}
}

// migrateFails checks that a failed migration returns an error and is rolled back.
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
		t.Error("migrating with a conflicting table returns no error")
	}
	expectVersion(t, db, 0)
	if is, err := db.hasTable(t.Context(), "WH_User"); err != nil || is {
		t.Errorf("the failed migration was not rolled back (%v)", err)
	}
}

// settingsReleased checks that daemons of an earlier version read stored settings
// again if a migration after their export fails.
func settingsReleased(t *testing.T, db *DB) {
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
		`DELETE FROM whd.WH_Migration WHERE version_id = 2`, // its table already exists
	} {
		if _, err := db.Exec(ctx, statement); err != nil {
			t.Fatal(err)
		}
	}
	saved := 0
	db.saveSettings = func(all []StoredSetting) error { saved += len(all); return nil }
	if err := db.Migrate(ctx); err == nil {
		t.Error("migrating with a conflicting table returns no error")
	}
	next, err := QueryOne(ctx, db, ScanInt, `SELECT Next FROM whd.WH_Number WHERE Name = 'SettingsVersion'`)
	if err != nil || saved != 1 || *next != 2 {
		t.Errorf("%d settings were saved, the version is %v (%v); want 1 and 2", saved, *next, err)
	}
}

// outOfOrder checks that a missing earlier migration is detected, and applied after
// a later one.
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
	expectVersion(t, db, latest)
	if is, err := db.hasTable(t.Context(), "WH_Audit"); err != nil || !is {
		t.Errorf("WH_Audit exists: %v (%v), want true", is, err)
	}
}

// newerVersion checks that a schema of a newer program is refused, with both versions, and
// not changed.
func newerVersion(t *testing.T, db *DB) {
	if err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	last, err := LatestMigration(db.folder)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(t.Context(), `INSERT INTO whd.WH_Migration (version_id, is_applied) VALUES (999, 1)`); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(t.Context(), `DELETE FROM whd.WH_Migration WHERE version_id = @Last`, sql.Named("Last", last)); err != nil {
		t.Fatal(err)
	}
	_, reading := db.Migration(t.Context())
	for call, err := range map[string]error{"Migrate": db.Migrate(t.Context()), "Ready": db.Ready(t.Context()), "Migration": reading} {
		versions := fmt.Sprintf("has the schema version 999, but this program only knows versions up to %d", last)
		if !errors.Is(err, ErrNewer) || !fault.Is(err, fault.Unavailable) || !strings.Contains(fault.From(err).Message, versions) {
			t.Errorf("%s: %v, want %q", call, err, versions)
		}
	}
	n, err := QueryOne(t.Context(), db, ScanInt, `SELECT COUNT(*) FROM whd.WH_Migration WHERE version_id = @Last`, sql.Named("Last", last))
	if err != nil || *n != 0 {
		t.Errorf("the newer schema was migrated (%v)", err)
	}
}

// A login created by an older script lacks the permission to create views.
func TestMigrationErrorNamesMissingPermission(t *testing.T) {
	err := (&Migrator{db: &DB{name: "the schema whd"}}).migrationError(fmt.Errorf("goose: %w", &mssql.Error{Number: 262, Message: "denied"}))
	for _, part := range []string{"the schema whd", "GRANT CREATE TABLE, CREATE VIEW", "store.sql", "denied"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q lacks %q", err, part)
		}
	}
}

// TestServerWithoutJSON checks that a database without OPENJSON, which one with an old
// compatibility level is, is reported by readiness and not migrated.
func TestServerWithoutJSON(t *testing.T) {
	dsn := mssqltest.Database(t)
	before := jsonStatement
	jsonStatement = `SELECT v FROM OPENJSON_OF_LATER`
	defer func() { jsonStatement = before }()
	db := onServer(t, dsn)()
	for call, err := range map[string]error{"ready": db.Ready(t.Context()), "migrate": db.Migrate(t.Context())} {
		if !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "compatibility level below 130") {
			t.Errorf("%s: %v", call, err)
		}
	}
	jsonStatement = before
	if err := db.Migrate(t.Context()); err != nil {
		t.Error(err)
	}
	if err := db.Ready(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestNewerServerIsRefused checks that a schema with a version that this program does not
// know is refused when it is opened, before it is migrated.
func TestNewerServerIsRefused(t *testing.T) {
	dsn := mssqltest.Database(t)
	db, err := Open(t.Context(), Config{DSN: dsn, Migrate: true})
	if err != nil {
		t.Fatal(err)
	}
	closed(t, db)
	mssqltest.Exec(t, dsn, `INSERT INTO whd.WH_Migration (version_id, is_applied) VALUES (999, 1)`)
	for _, migrates := range []bool{false, true} {
		newer, err := Open(t.Context(), Config{DSN: dsn, Migrate: migrates})
		if !errors.Is(err, ErrNewer) || !fault.Is(err, fault.Unavailable) {
			t.Errorf("opened with Migrate %v: %v, want ErrNewer", migrates, err)
		}
		if newer != nil {
			closed(t, newer)
		}
	}
}
