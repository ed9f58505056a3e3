package appdb

import (
	"context"
	"crypto/rand"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/bizhook/whd/client/backoff"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/mssql"
	"github.com/bizhook/whd/daemon/sqlite"
	"github.com/pressly/goose/v3"
)

// schema contains the migrations: a directory for each database system, and in it
// one for each database.
//
//go:embed schema
var schema embed.FS

// Directories of the migrations.
const (
	FileMigrations   = "schema/sqlite/whd"
	LogMigrations    = "schema/sqlite/requestlog"
	serverMigrations = "schema/mssql"
)

// migrationTable is the version table of goose.
const migrationTable = "WH_Migration"

// Migrator migrates the service's tables to the latest version.
type Migrator struct {
	db           *DB
	folder       string // folder of the migrations
	before       int64  // schema version at opening
	saveSettings func([]StoredSetting) error
}

// Migration is the migration status of the service's tables.
type Migration struct {
	Name          string // for display: the file, or the schema on SQL Server
	Before, After int64  // schema versions at opening and now
	Latest        int64  // latest version that this program supports
}

// Migration returns the version of the tables at opening and now.
func (m *Migrator) Migration(ctx context.Context) (Migration, error) {
	current, latest, err := m.versions(ctx)
	if errors.Is(err, ErrNewer) {
		return Migration{}, err
	}
	if err != nil {
		return Migration{}, executor.OpenError(err)
	}
	return Migration{Name: m.db.name, Before: m.before, After: current, Latest: latest}, nil
}

// Migrate records the current version and migrates the tables to the latest.
func (m *Migrator) Migrate(ctx context.Context) error {
	err := m.db.checkJSON(ctx)
	if err != nil {
		return err
	}
	m.before, _, err = m.versions(ctx)
	if err != nil {
		return m.migrationError(err)
	}
	return m.migrationError(m.apply(ctx))
}

func (m *Migrator) migrationError(err error) error {
	if err == nil || errors.Is(err, ErrNewer) {
		return err
	}
	if errors.Is(err, mssql.ErrLost) || sqlite.Reason(err) != "" {
		return executor.OpenError(fmt.Errorf("%s: %w", m.db.name, err))
	}
	if refused, ok := errors.AsType[*mssql.Error](err); ok && refused.Forbidden() {
		return fmt.Errorf("migrating %s: the login lacks a permission:"+
			" have an administrator GRANT CREATE TABLE, CREATE VIEW to it, as store.sql does: %w",
			m.db.name, err)
	}
	return fmt.Errorf("migrating %s: %w", m.db.name, err)
}

// Provider returns the goose provider of the database's migrations.
func (m *Migrator) Provider() (*goose.Provider, error) {
	dialect := goose.DialectSQLite3
	table := migrationTable
	if m.db.Schema != "" {
		dialect = goose.DialectMSSQL
		table = m.db.InSchema("whd." + migrationTable)
	}
	files, err := fs.Sub(schema, m.folder)
	if err != nil {
		return nil, err
	}
	return goose.NewProvider(dialect, m.db.Pool, schemaFiles{files, m.db},
		goose.WithTableName(table),
		goose.WithDisableGlobalRegistry(true),
		goose.WithAllowOutofOrder(true))
}

// schemaFiles are migration files with "whd." replaced by the actual schema.
type schemaFiles struct {
	fs.FS
	db *DB
}

func (s schemaFiles) Open(name string) (fs.File, error) {
	file, err := s.FS.Open(name)
	if err != nil || !strings.HasSuffix(name, ".sql") {
		return file, err
	}
	text, err := fs.ReadFile(s.FS, name)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	migration := s.keepOutbox(s.db.InSchema(string(text)))
	return schemaFile{File: file, text: strings.NewReader(migration)}, nil
}

// OutboxTable is the table of a store on a server into which T-SQL code inserts events.
const OutboxTable = "WH_Outbox"

// keepOutbox changes the migration that creates the outbox to use an existing one, which
// outbox.sql has created for a store elsewhere.
func (s schemaFiles) keepOutbox(text string) string {
	table := s.db.InSchema("whd." + OutboxTable)
	create := "CREATE TABLE " + table + " ("
	isMissing := "OBJECT_ID(N'" + strings.ReplaceAll(table, "'", "''") + "') IS NULL"
	return strings.Replace(text, create, "IF "+isMissing+" "+create, 1)
}

type schemaFile struct {
	fs.File
	text *strings.Reader
}

func (f schemaFile) Read(b []byte) (int, error) { return f.text.Read(b) }

// versions returns the version of the tables, 0 if there are none, and the latest
// that this program supports. It fails with ErrNewer if a newer program has changed the
// tables. It changes nothing.
func (m *Migrator) versions(ctx context.Context) (current, latest int64, err error) {
	provider, err := m.Provider()
	if err != nil {
		return 0, 0, err
	}
	sources := provider.ListSources()
	latest = sources[len(sources)-1].Version
	exists, err := m.hasTable(ctx, migrationTable)
	if err != nil || !exists {
		return 0, latest, err
	}
	const statement = `SELECT version_id FROM whd.` + migrationTable + ` WHERE is_applied = 1`
	applied, err := QueryAll(ctx, m.db, ScanInt, statement)
	if err != nil {
		return 0, latest, err
	}
	if err := checkKnown(m.db.name, m.folder, applied); err != nil {
		return 0, latest, err
	}
	return currentVersion(sources, applied), latest, nil
}

// currentVersion returns the last version that is applied without a gap. A later
// migration may have been applied before an earlier one, since migrations are
// developed in parallel.
func currentVersion(sources []*goose.Source, applied []int64) (version int64) {
	for _, source := range sources {
		if !slices.Contains(applied, source.Version) {
			return version
		}
		version = source.Version
	}
	return version
}

// ErrNewer is wrapped by errors about tables that a newer program has changed. This program
// could misunderstand or damage them.
var ErrNewer = errors.New("the service's tables are newer than this program")

// checkKnown returns an error if this program does not have one of the applied migrations.
// The version 0 is in every version table.
func checkKnown(name, folder string, applied []int64) error {
	known, err := migrationVersions(folder)
	if err != nil {
		return err
	}
	unknown := slices.DeleteFunc(slices.Clone(applied), func(version int64) bool {
		return version == 0 || slices.Contains(known, version)
	})
	if len(unknown) == 0 {
		return nil
	}
	return fault.Wrap(ErrNewer, fault.Unavailable,
		"%s has the schema version %d, but this program only knows versions up to %d;"+
			" use the whd that wrote it, a later one, or a backup of before",
		name, slices.Max(unknown), slices.Max(known))
}

// CheckVersion returns an error that wraps ErrNewer if a newer program has changed the
// tables of a file. It only reads the file, so it is for the time before anything is
// written. Opening the file reports all other problems.
func CheckVersion(ctx context.Context, path, folder string) error {
	return checkKnown(path, folder, appliedToFile(ctx, path))
}

// IsOutdated reports whether a file has tables that opening it would migrate. It only reads the file.
func IsOutdated(ctx context.Context, path, folder string) (bool, error) {
	versions, err := migrationVersions(folder)
	if err != nil {
		return false, err
	}
	applied := appliedToFile(ctx, path)
	isMissing := func(version int64) bool { return !slices.Contains(applied, version) }
	return len(applied) > 0 && slices.ContainsFunc(versions, isMissing), nil
}

// appliedToFile returns the versions of the migrations that a file has; nil if it cannot be read, which
// opening it reports.
func appliedToFile(ctx context.Context, path string) (applied []int64) {
	conn, err := sqlite.Open(path, sqlite.Options{ReadOnly: true, BusyTimeout: FileTimeout})
	if err != nil {
		return nil
	}
	defer conn.Close()
	defer conn.InterruptOn(ctx)()

	const statement = `SELECT version_id FROM ` + migrationTable + ` WHERE is_applied = 1`
	err = conn.Query(statement, func(stmt *sqlite.Stmt) error {
		applied = append(applied, stmt.Int(0))
		return nil
	})
	if err != nil {
		return nil
	}
	return applied
}

func (m *Migrator) hasTable(ctx context.Context, name string) (bool, error) {
	statement := `SELECT COUNT(*) FROM sqlite_schema WHERE name = @Name`
	if m.db.Schema != "" {
		statement = `SELECT CASE WHEN OBJECT_ID(@Name) IS NULL THEN 0 ELSE 1 END`
		name = m.db.InSchema("whd." + mssql.Quote(name))
	}
	n, err := QueryOne(ctx, m.db, ScanInt, statement, sql.Named("Name", name))
	return err == nil && *n > 0, err
}

// apply migrates the tables to the latest version.
func (m *Migrator) apply(ctx context.Context) error {
	provider, err := m.Provider()
	if err != nil {
		return err
	}
	if m.db.Schema == "" {
		return m.migrateFile(ctx, provider)
	}
	if err := m.CreateSchema(ctx); err != nil {
		return err
	}
	if err := m.createLeaseTable(ctx); err != nil {
		return err
	}
	// Not goose.WithLocker: goose creates its table before it locks.
	return m.newLease().run(ctx, func(ctx context.Context) error {
		var err error
		m.before, _, err = m.versions(ctx) // another daemon may have migrated
		if err != nil {
			return err
		}
		return m.up(ctx, provider)
	})
}

// migrateFile needs no lock, as each migration of a file is atomic. If another
// process migrates the same file concurrently, one of the two fails and finds the
// version changed when it reads it again.
func (m *Migrator) migrateFile(ctx context.Context, provider *goose.Provider) error {
	for {
		before, _, err := provider.GetVersions(ctx)
		if err != nil {
			return err
		}
		err = m.up(ctx, provider)
		if err == nil {
			return nil
		}
		after, _, versionErr := provider.GetVersions(ctx)
		if versionErr != nil || after == before {
			return err
		}
	}
}

func (m *Migrator) up(ctx context.Context, provider *goose.Provider) error {
	if err := m.exportSettings(ctx); err != nil {
		return err
	}
	_, err := provider.Up(ctx)
	if err != nil {
		m.releaseSettings(ctx)
	}
	return err
}

// LatestMigration returns the version of the last migration in a folder.
func LatestMigration(folder string) (int64, error) {
	versions, err := migrationVersions(folder)
	if err != nil {
		return 0, err
	}
	return slices.Max(versions), nil
}

// migrationVersions returns the versions of the migrations in a folder, at least one.
func migrationVersions(folder string) (versions []int64, err error) {
	files, err := fs.Glob(schema, folder+"/*.sql")
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("no migrations in %s (%w)", folder, err)
	}
	for _, file := range files {
		var version int64
		if _, err := fmt.Sscanf(path.Base(file), "%d", &version); err != nil {
			return nil, fmt.Errorf("migration %s: %w", file, err)
		}
		versions = append(versions, version)
	}
	return versions, nil
}

// CreateSchema creates the schema if it is missing.
func (m *Migrator) CreateSchema(ctx context.Context) error {
	exists := func() (bool, error) {
		n, err := QueryOne(ctx, m.db, ScanInt,
			`SELECT CASE WHEN SCHEMA_ID(@Name) IS NULL THEN 0 ELSE 1 END`, sql.Named("Name", m.db.Schema))
		return err == nil && *n > 0, err
	}
	err := ensure(ctx, m.db, exists, m.db.prefix+schemaText(m.db.Schema))
	if _, refused := errors.AsType[*mssql.Error](err); !refused {
		return err
	}
	return fmt.Errorf("the schema %s is missing and could not be created;"+
		" have an administrator run CREATE SCHEMA %s AUTHORIZATION ... for the login that whd uses: %w",
		m.db.Schema, mssql.Quote(m.db.Schema), err)
}

// schemaText returns a statement that creates the schema. SQL Server requires
// CREATE SCHEMA to be the first statement of a batch, hence EXEC.
func schemaText(schema string) string {
	return `EXEC(N'CREATE SCHEMA ` + strings.ReplaceAll(mssql.Quote(schema), `'`, `''`) + `')`
}

func (m *Migrator) createLeaseTable(ctx context.Context) error {
	const (
		create = `CREATE TABLE whd.` + leaseTable +
			` (ID int NOT NULL PRIMARY KEY, Holder nvarchar(32) NULL, ExpiryDateTime datetime2(7) NOT NULL)`
		insert = `INSERT INTO whd.` + leaseTable + ` (ID, Holder, ExpiryDateTime)
SELECT 1, NULL, SYSUTCDATETIME() WHERE NOT EXISTS (SELECT 1 FROM whd.` + leaseTable + `)`
	)
	exists := func() (bool, error) { return m.hasTable(ctx, leaseTable) }
	if err := ensure(ctx, m.db, exists, m.db.Qualify(create)); err != nil {
		return err
	}
	_, err := m.db.Exec(ctx, insert)
	if executor.IsDuplicate(err) {
		return nil
	}
	return err
}

// ensure runs a statement that creates an object, unless the object exists. If
// another process creates it concurrently, the statement fails with any error; the
// next attempt finds the object.
func ensure(ctx context.Context, db *DB, exists func() (bool, error), text string) error {
	var failed error
	for range executor.MaxAttempts {
		found, err := exists()
		if err != nil || found {
			return err
		}
		_, failed = db.execText(ctx, text)
		if failed == nil {
			return nil
		}
		if err := backoff.Sleep(ctx, leaseRetryInterval); err != nil {
			return err
		}
	}
	return failed
}

func (m *Migrator) newLease() *lease {
	return &lease{
		db:            m.db,
		holder:        sql.Named("Holder", rand.Text()),
		duration:      leaseDuration,
		renewInterval: leaseRenewInterval,
	}
}

// tableChange matches how migrations create and drop tables.
var tableChange = regexp.MustCompile(`(?m)^(CREATE|DROP) TABLE (?:whd\.)?(\w+)`)

// tablesAfter lists the tables of a database after all migrations of a folder.
func tablesAfter(folder string) (names []string, err error) {
	files, err := fs.Glob(schema, folder+"/*.sql")
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		text, err := schema.ReadFile(file)
		if err != nil {
			return nil, err
		}
		up, _, _ := strings.Cut(string(text), "-- +goose Down")
		for _, change := range tableChange.FindAllStringSubmatch(up, -1) {
			name := change[2]
			if change[1] == "CREATE" {
				names = append(names, name)
			} else {
				names = slices.DeleteFunc(names, func(other string) bool { return other == name })
			}
		}
	}
	return names, nil
}

// checkUnversioned returns an error if a file has tables of the service but no version: the
// version is lost, and migrating the file would fail half-way.
func (m *Migrator) checkUnversioned(ctx context.Context) error {
	names, err := tablesAfter(m.folder)
	if err != nil {
		return err
	}
	existing, err := fileTables(ctx, m.db)
	if err != nil || slices.Contains(existing, migrationTable) {
		return err
	}
	exists := func(name string) bool { return slices.Contains(existing, name) }
	if !slices.ContainsFunc(names, exists) {
		return nil
	}
	return fault.Wrap(ErrDamaged, fault.Unavailable,
		"%s has tables but lacks their version in %s; restore a backup (whd restore)",
		m.db.name, migrationTable)
}

// checkTables returns an error if a file lacks a table that its version has.
func (m *Migrator) checkTables(ctx context.Context) error {
	names, err := tablesAfter(m.folder)
	if err != nil {
		return err
	}
	existing, err := fileTables(ctx, m.db)
	if err != nil {
		return err
	}
	exists := func(name string) bool { return slices.Contains(existing, name) }
	missing := slices.DeleteFunc(names, exists)
	if len(missing) > 0 {
		return fault.Wrap(ErrDamaged, fault.Unavailable, "%s lacks the table %s; restore a backup (whd restore)",
			m.db.name, strings.Join(missing, ", "))
	}
	return nil
}

// fileTables lists the tables of a file.
func fileTables(ctx context.Context, db *DB) ([]string, error) {
	scan := func(row Row) (name string, err error) {
		err = row.Scan(&name)
		return name, err
	}
	names, err := QueryAll(ctx, db, scan,
		`SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`)
	if err != nil {
		return nil, executor.OpenError(fmt.Errorf("%s: %w", db.name, err))
	}
	return names, nil
}
