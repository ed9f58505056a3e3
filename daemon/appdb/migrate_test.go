package appdb

import (
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
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

func TestMigrationsOfFile(t *testing.T) {
	testMigrations(t, func(t *testing.T) func() *DB {
		path := filepath.Join(t.TempDir(), FileName)
		return func() *DB { return openedOwn(t, path) }
	})
}

func TestMigrationsOfServer(t *testing.T) {
	dsn := mssqltest.Database(t)
	testMigrations(t, func(t *testing.T) func() *DB { return onServer(t, dsn) })
}

// testMigrations runs the tests that files and servers have in common. prepare returns a function
// that opens a new database at its first call, and the same one at later calls.
func testMigrations(t *testing.T, prepare func(*testing.T) func() *DB) {
	for _, tt := range []struct {
		name string
		test func(t *testing.T, db *DB)
	}{
		{"Migrate", testMigrate},
		{"MigrateDown", testMigrateDown},
		{"FailureIsRolledBack", testFailureIsRolledBack},
		{"FailureReleasesSettings", testFailureReleasesSettings},
		{"NewerVersion", testNewerVersion},
		{"OutOfOrder", testOutOfOrder},
	} {
		t.Run(tt.name, func(t *testing.T) { tt.test(t, prepare(t)()) })
	}
	for range 3 { // the migrations meet at different statements
		t.Run("Concurrent", func(t *testing.T) { testConcurrent(t, prepare(t)) })
	}
}

// onServer returns a function that opens a new schema, the same one at each call.
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

// openedOwn opens a file.
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

// exec executes statements one by one.
func exec(t *testing.T, db *DB, statements ...string) {
	t.Helper()
	for _, statement := range statements {
		if _, err := db.Exec(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

// queryInt returns the number that a query finds.
func queryInt(t *testing.T, db *DB, query string, args ...any) int64 {
	t.Helper()
	n, err := QueryOne(t.Context(), db, ScanInt, query, args...)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	if n == nil {
		t.Fatalf("%s: no row, want one", query)
	}
	return *n
}

// latestVersion returns the version of the last migration of a database.
func latestVersion(t *testing.T, db *DB) int64 {
	t.Helper()
	version, err := LatestMigration(db.folder)
	if err != nil {
		t.Fatal(err)
	}
	return version
}

func expectVersion(t *testing.T, db *DB, want int64) {
	t.Helper()
	version, latest, err := db.versions(t.Context())
	if err != nil {
		t.Errorf("reading the version: %v", err)
		return
	}
	if version != want {
		t.Errorf("the tables have version %d, want %d", version, want)
	}
	if known := latestVersion(t, db); latest != known {
		t.Errorf("the latest version is %d, want %d", latest, known)
	}
}

func expectLatest(t *testing.T, db *DB) {
	t.Helper()
	expectVersion(t, db, latestVersion(t, db))
}

func expectTable(t *testing.T, db *DB, table string, want bool) {
	t.Helper()
	exists, err := db.hasTable(t.Context(), table)
	if err != nil {
		t.Errorf("looking for %s: %v", table, err)
		return
	}
	if exists != want {
		t.Errorf("%s exists: %v, want %v", table, exists, want)
	}
}

func expectAccountTables(t *testing.T, db *DB, want bool) {
	t.Helper()
	for _, table := range []string{"WH_User", "WH_ApiKey", "WH_Session"} {
		expectTable(t, db, table, want)
	}
}

func testMigrate(t *testing.T, db *DB) {
	expectVersion(t, db, 0)
	err := db.Ready(t.Context())
	if !fault.Is(err, fault.Unavailable) {
		t.Fatalf("Ready before: %v, want unavailable", err)
	}
	for _, part := range []string{"version 0", "whd migrate"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("Ready before: %v, want %q in it", err, part)
		}
	}
	expectAccountTables(t, db, false) // reading the version creates no tables
	expectTable(t, db, migrationTable, false)

	for range 2 { // the second run has nothing to do
		if err := db.Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
		expectLatest(t, db)
		expectAccountTables(t, db, true)
	}
	if err := db.Ready(t.Context()); err != nil {
		t.Errorf("Ready after: %v", err)
	}
}

// testMigrateDown reverts and repeats every migration.
func testMigrateDown(t *testing.T, db *DB) {
	migrateDownTo(t, db, 0)
	expectAccountTables(t, db, false)
	if err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	expectAccountTables(t, db, true)
}

// migrateDownTo migrates to the latest version and then back to another.
func migrateDownTo(t *testing.T, db *DB, version int64) {
	t.Helper()
	if err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	provider, err := db.Provider()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := provider.DownTo(t.Context(), version); err != nil {
		t.Fatal(err)
	}
}

// testConcurrent checks that daemons can start concurrently.
func testConcurrent(t *testing.T, open func() *DB) {
	var daemons sync.WaitGroup
	var first atomic.Int64
	for range 4 {
		db := open()
		daemons.Go(func() {
			if err := db.Migrate(t.Context()); err != nil {
				t.Errorf("migrating together with other daemons: %v", err)
			}
			if db.before == 0 {
				first.Add(1)
			}
		})
	}
	daemons.Wait()

	db := open()
	if n := first.Load(); db.Schema != "" && n != 1 {
		t.Errorf("%d daemons report that they created the tables, want 1", n)
	}
	expectLatest(t, db)
	versions, err := QueryAll(t.Context(), db, ScanInt, `SELECT version_id FROM whd.WH_Migration ORDER BY version_id`)
	if err != nil {
		t.Fatal(err)
	}
	if unique := slices.Compact(slices.Clone(versions)); len(unique) != len(versions) {
		t.Errorf("the recorded versions are %d, want each once", versions)
	}
	if db.Schema != "" {
		return // which has a lease for migrations
	}
	_, err = db.Exec(t.Context(), `INSERT INTO whd.WH_Migration (version_id, is_applied) VALUES (1, 1)`)
	if err == nil {
		t.Error("a version can be recorded twice")
	}
}

// testFailureIsRolledBack checks that a failed migration returns an error and is rolled back.
func testFailureIsRolledBack(t *testing.T, db *DB) {
	if db.Schema != "" {
		if err := db.CreateSchema(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	exec(t, db, `CREATE TABLE whd.WH_ApiKey (Other int)`)
	if err := db.Migrate(t.Context()); err == nil {
		t.Error("migrating with a conflicting table returns no error")
	}
	expectVersion(t, db, 0)
	expectTable(t, db, "WH_User", false)
}

// testFailureReleasesSettings checks that daemons of an earlier version read stored settings
// again if a migration after their export fails.
func testFailureReleasesSettings(t *testing.T, db *DB) {
	migrateDownTo(t, db, 8)
	exec(t, db,
		`INSERT INTO whd.WH_Setting (Name, Value, LastSavedDateTime) VALUES ('log.level', 'debug', '2030-01-31T08:00:00')`,
		`DELETE FROM whd.WH_Migration WHERE version_id = 2`, // its table already exists
	)
	saved := 0
	db.saveSettings = func(settings []StoredSetting) error {
		saved += len(settings)
		return nil
	}

	if err := db.Migrate(t.Context()); err == nil {
		t.Error("migrating with a conflicting table returns no error")
	}
	if saved != 1 {
		t.Errorf("%d settings were saved, want 1", saved)
	}
	if version := queryInt(t, db, `SELECT Next FROM whd.WH_Number WHERE Name = 'SettingsVersion'`); version != 2 {
		t.Errorf("the settings have version %d after the failure, want 2", version)
	}
}

// testOutOfOrder checks that a missing earlier migration is detected, and applied after
// a later one.
func testOutOfOrder(t *testing.T, db *DB) {
	if err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	exec(t, db, `DROP TABLE whd.WH_Audit`, `DELETE FROM whd.WH_Migration WHERE version_id = 2`)
	expectVersion(t, db, 1)
	if err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	expectLatest(t, db)
	expectTable(t, db, "WH_Audit", true)
}

// testNewerVersion checks that a schema of a newer program is refused, with both versions, and
// not changed.
func testNewerVersion(t *testing.T, db *DB) {
	if err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	last := latestVersion(t, db)
	exec(t, db,
		`INSERT INTO whd.WH_Migration (version_id, is_applied) VALUES (999, 1)`,
		fmt.Sprintf(`DELETE FROM whd.WH_Migration WHERE version_id = %d`, last),
	)

	_, readErr := db.Migration(t.Context())
	want := fmt.Sprintf("has the schema version 999, but this program only knows versions up to %d", last)
	for call, err := range map[string]error{
		"Migrate":   db.Migrate(t.Context()),
		"Ready":     db.Ready(t.Context()),
		"Migration": readErr,
	} {
		if !errors.Is(err, ErrNewer) || !fault.Is(err, fault.Unavailable) {
			t.Errorf("%s: %v, want ErrNewer and unavailable", call, err)
			continue
		}
		if message := fault.From(err).Message; !strings.Contains(message, want) {
			t.Errorf("%s: %s, want %q in it", call, message, want)
		}
	}
	if n := queryInt(t, db, `SELECT COUNT(*) FROM whd.WH_Migration WHERE version_id = @Last`, sql.Named("Last", last)); n != 0 {
		t.Errorf("the newer schema was migrated: version %d is recorded %d times, want 0", last, n)
	}
}

// A login created by an older script lacks the permission to create views.
func TestMigrationErrorNamesMissingPermission(t *testing.T) {
	m := &Migrator{db: &DB{name: "the schema whd"}}
	err := m.migrationError(fmt.Errorf("goose: %w", &mssql.Error{Number: 262, Message: "denied"}))
	for _, part := range []string{"the schema whd", "GRANT CREATE TABLE, CREATE VIEW", "store.sql", "denied"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the error of a migration without a permission is %q, want %q in it", err, part)
		}
	}
}

// TestServerWithoutJSON checks that a database without OPENJSON, as those with an old
// compatibility level are, is reported by readiness and not migrated.
func TestServerWithoutJSON(t *testing.T) {
	dsn := mssqltest.Database(t)
	before := jsonStatement
	jsonStatement = `SELECT v FROM OPENJSON_OF_LATER`
	defer func() { jsonStatement = before }()

	db := onServer(t, dsn)()
	const want = "compatibility level below 130"
	for call, err := range map[string]error{"Ready": db.Ready(t.Context()), "Migrate": db.Migrate(t.Context())} {
		if !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s without JSON: %v, want unavailable with %q", call, err, want)
		}
	}

	jsonStatement = before
	if err := db.Migrate(t.Context()); err != nil {
		t.Errorf("Migrate with JSON: %v", err)
	}
	if err := db.Ready(t.Context()); err != nil {
		t.Errorf("Ready with JSON: %v", err)
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
			t.Errorf("opening with Migrate %v: %v, want ErrNewer and unavailable", migrates, err)
		}
		if newer != nil {
			closed(t, newer)
		}
	}
}
