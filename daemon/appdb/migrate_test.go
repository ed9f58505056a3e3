package appdb

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
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

// Checks the list of tables for the permission check.
func TestServerTablesExcludesDroppedTables(t *testing.T) {
	names, err := tablesAfter(serverMigrations)
	if err != nil || !slices.Contains(names, "WH_User") || slices.Contains(names, settingsTable) {
		t.Errorf("got %q (%v)", names, err)
	}
	if slices.Sort(names); len(slices.Compact(slices.Clone(names))) != len(names) {
		t.Errorf("%q contains a duplicate", names)
	}
}

// serverOnly lists the migrations that a file does not need: it has one writer at a time
// and no outbox, and the request log is a separate file.
var serverOnly = []string{"00003_lock.sql", "00004_requestlog.sql", "00010_outboxlocks.sql"}

// The other migrations of both databases must have the same versions and names.
func TestMigrationsOfBothDatabasesCorrespond(t *testing.T) {
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

// leased creates the schema and the lease table.
func leased(t *testing.T, db *DB) *DB {
	t.Helper()
	if err := errors.Join(db.CreateSchema(t.Context()), db.createLeaseTable(t.Context())); err != nil {
		t.Fatal(err)
	}
	return db
}

// exclusion checks that only one process holds the lease at a time.
func exclusion(t *testing.T, db *DB) {
	first, second := db.newLease(), db.newLease()
	working, done := make(chan struct{}), make(chan error)
	err := first.run(t.Context(), func(ctx context.Context) error {
		go func() {
			done <- second.run(t.Context(), func(context.Context) error { close(working); return nil })
		}()
		if got, err := db.newLease().tryAcquire(ctx, `Holder IS NULL OR ExpiryDateTime < SYSUTCDATETIME()`); err != nil || got {
			t.Errorf("a third process acquired the lease: %v (%v)", got, err)
		}
		select {
		case <-working:
			t.Error("two processes hold the lease")
		default:
		}
		return nil
	})
	if err := errors.Join(err, <-done); err != nil {
		t.Error(err)
	}
}

// expiredLease checks that the lease of a dead process can be acquired once it has
// expired.
func expiredLease(t *testing.T, db *DB) {
	expired := db.newLease()
	expired.duration = 0
	if err := expired.acquire(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := db.newLease().run(t.Context(), func(context.Context) error { return nil }); err != nil {
		t.Error(err)
	}
}

// leaseLost checks that work is cancelled if another process takes the lease.
func leaseLost(t *testing.T, db *DB) {
	l := db.newLease()
	l.renewInterval = leaseRetryInterval
	err := l.run(t.Context(), func(ctx context.Context) error {
		other := db.newLease()
		if taken, err := other.tryAcquire(ctx, `1 = 1`); err != nil || !taken {
			t.Fatalf("taken %v (%v)", taken, err)
		}
		<-ctx.Done()
		return ctx.Err()
	})
	if !errors.Is(err, errLeaseLost) {
		t.Errorf("got %v", err)
	}
}

// storeScript is run by an administrator before the first migration.
const storeScript = "../../cmd/daemon/deploy/store.sql"

// The script must grant the CREATE permissions that the migrations need, and no others.
func TestStoreScriptGrantsCreatePermissions(t *testing.T) {
	script, err := os.ReadFile(storeScript)
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
		for _, created := range regexp.MustCompile(`(?im)^\s*CREATE\s+(?:UNIQUE\s+)?(?:OR\s+ALTER\s+)?([A-Z]+)\s`).FindAllStringSubmatch(string(text), -1) {
			object := strings.ToUpper(created[1])
			if object == "INDEX" {
				continue // permitted by the ownership of the table
			}
			right := "CREATE " + object
			if needed[right] = true; !granted[right] {
				t.Errorf("%s needs %s, which %s does not grant", file, right, storeScript)
			}
		}
	}
	for right := range granted {
		if !needed[right] {
			t.Errorf("%s grants %s, which no migration needs", storeScript, right)
		}
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

// Released migrations must not change: a change requires a new migration. Before a
// release, -update records the change.
func TestMigrationsAreUnchanged(t *testing.T) {
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
		t.Errorf("migrations have changed (%v); their checksums are\n%s", err, &b)
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

// TestMigrationKeepsOutbox migrates a schema in which outbox.sql has created the outbox:
// rows that were inserted before stay.
func TestMigrationKeepsOutbox(t *testing.T) {
	dsn := mssqltest.Database(t)
	db := onServer(t, dsn)()
	if err := db.CreateSchema(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, batch := range mssqltest.Batches(t, "../../cmd/daemon/deploy/outbox.sql") {
		if strings.Contains(batch, "WH_Outbox") && !strings.Contains(batch, "GRANT") {
			mssqltest.Exec(t, dsn, strings.ReplaceAll(batch, "whd.", db.Schema+"."))
		}
	}
	mssqltest.Exec(t, dsn, `INSERT INTO `+db.Schema+`.WH_Outbox (EventName, Body) VALUES (N'debtor.updated', N'a')`)
	if err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := mssqltest.Count(t, dsn, `SELECT COUNT(EventGUID) FROM `+db.Schema+`.WH_Outbox`); n != 1 {
		t.Errorf("%d rows", n)
	}
}
