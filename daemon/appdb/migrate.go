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

	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/mssql"
	"github.com/pressly/goose/v3"
)

// schema holds the migrations, a folder for each database system and in it one
// for each database.
//
//go:embed schema
var schema embed.FS

const (
	FileMigrations   = "schema/sqlite/whd"
	LogMigrations    = "schema/sqlite/requestlog"
	serverMigrations = "schema/mssql"
)

// migrationTable is where goose notes the versions.
const migrationTable = "WH_Migration"

// Migrator brings our own tables to the version that this program needs.
type Migrator struct {
	db           *DB
	folder       string // of the migrations
	before       int64  // version of the tables when they were opened
	saveSettings func([]StoredSetting) error
}

// Migration is what became of our own tables when the store was opened.
type Migration struct {
	Name          string // for people: the file, or the schema on a server
	Before, After int64  // versions
	Latest        int64  // that this program knows
}

// Migration is what became of the tables when they were opened, and their
// version now.
func (m *Migrator) Migration(ctx context.Context) (Migration, error) {
	current, latest, err := m.versions(ctx)
	if err != nil {
		return Migration{}, executor.Unreachable(err)
	}
	return Migration{Name: m.db.name, Before: m.before, After: current, Latest: latest}, nil
}

// Migrate notes the version of the tables and brings them to the latest.
func (m *Migrator) Migrate(ctx context.Context) (err error) {
	if m.before, _, err = m.versions(ctx); err == nil {
		err = m.apply(ctx)
	}
	return m.migrationError(err)
}

func (m *Migrator) migrationError(err error) error {
	switch refused, is := errors.AsType[*mssql.Error](err); {
	case err == nil:
		return nil
	case errors.Is(err, mssql.ErrLost):
		return executor.Unreachable(err)
	case is && refused.Forbidden():
		return fmt.Errorf("migrating %s: the login lacks a right: have an administrator run GRANT CREATE TABLE, CREATE VIEW for it, as login.sql does: %w", m.db.name, err)
	}
	return fmt.Errorf("migrating %s: %w", m.db.name, err)
}

// Migrations are those of the database, with the schema that they work in.
func (m *Migrator) Provider() (*goose.Provider, error) {
	dialect, table := goose.DialectSQLite3, migrationTable
	if m.db.Schema != "" {
		dialect, table = goose.DialectMSSQL, m.db.inSchema("whd."+migrationTable)
	}
	files, err := fs.Sub(schema, m.folder)
	if err != nil {
		return nil, err
	}
	return goose.NewProvider(dialect, m.db.Pool, schemaFiles{files, m.db},
		goose.WithTableName(table), goose.WithDisableGlobalRegistry(true), goose.WithAllowOutofOrder(true))
}

// schemaFiles are files whose statements have the schema that they work in.
type schemaFiles struct {
	fs.FS
	db *DB
}

// Open is fs.FS's.
func (s schemaFiles) Open(name string) (fs.File, error) {
	file, err := s.FS.Open(name)
	if err != nil || !strings.HasSuffix(name, ".sql") {
		return file, err
	}
	text, err := fs.ReadFile(s.FS, name)
	return schemaFile{file, strings.NewReader(s.db.inSchema(string(text)))}, err
}

type schemaFile struct {
	fs.File
	text *strings.Reader
}

// Read is fs.File's.
func (f schemaFile) Read(b []byte) (int, error) { return f.text.Read(b) }

// versions are that of the tables, 0 where there are none, and the latest that
// this program knows. Nothing is changed.
func (m *Migrator) versions(ctx context.Context) (current, latest int64, err error) {
	provider, err := m.Provider()
	if err != nil {
		return 0, 0, err
	}
	sources := provider.ListSources()
	latest = sources[len(sources)-1].Version
	there, err := m.hasTable(ctx, migrationTable)
	if err != nil || !there {
		return 0, latest, err
	}
	applied, err := QueryAll(ctx, m.db, ScanInt, `SELECT version_id FROM whd.`+migrationTable+` WHERE is_applied = 1`)
	if err != nil {
		return 0, latest, err
	}
	return reached(sources, applied), latest, nil
}

// reached is the version up to which nothing is missing: migrations come into
// being side by side, so a later one may have been applied before an earlier.
func reached(sources []*goose.Source, applied []int64) (version int64) {
	for _, source := range sources {
		if !slices.Contains(applied, source.Version) {
			return version
		}
		version = source.Version
	}
	return slices.Max(applied) // of a newer program, perhaps
}

func (m *Migrator) hasTable(ctx context.Context, name string) (bool, error) {
	statement := `SELECT COUNT(*) FROM sqlite_schema WHERE name = @Name`
	if m.db.Schema != "" {
		statement, name = `SELECT CASE WHEN OBJECT_ID(@Name) IS NULL THEN 0 ELSE 1 END`, m.db.inSchema("whd."+mssql.Quote(name))
	}
	n, err := QueryOne(ctx, m.db, ScanInt, statement, sql.Named("Name", name))
	return err == nil && *n > 0, err
}

// apply brings our own tables to the latest version.
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
	// Not goose.WithLocker, since goose makes its own table before it locks.
	return m.newLease().during(ctx, func(ctx context.Context) (err error) {
		if m.before, _, err = m.versions(ctx); err == nil { // of several that start at once, one makes the step
			err = m.up(ctx, provider)
		}
		return err
	})
}

// migrateFile needs no lock, as a migration there happens whole or not at all.
// Where another process migrates the same file at the same time, one of them
// fails, and finds on looking again that the version has moved on.
func (m *Migrator) migrateFile(ctx context.Context, provider *goose.Provider) error {
	for {
		before, _, err := provider.GetVersions(ctx)
		if err != nil {
			return err
		}
		if err = m.up(ctx, provider); err == nil {
			return nil
		}
		if now, _, versionErr := provider.GetVersions(ctx); versionErr != nil || now == before {
			return err
		}
	}
}

func (m *Migrator) up(ctx context.Context, provider *goose.Provider) error {
	if err := m.rescueSettings(ctx); err != nil {
		return err
	}
	_, err := provider.Up(ctx)
	if err != nil {
		m.releaseSettings(ctx)
	}
	return err
}

// NewestMigration is the version of the last migration in a folder.
func LatestMigration(folder string) (newest int64, err error) {
	files, err := fs.Glob(schema, folder+"/*.sql")
	if err != nil || len(files) == 0 {
		return 0, fmt.Errorf("no migrations in %s (%w)", folder, err)
	}
	_, err = fmt.Sscanf(path.Base(files[len(files)-1]), "%d", &newest)
	return newest, err
}

// MakeSchema makes the schema if it is missing.
func (m *Migrator) CreateSchema(ctx context.Context) error {
	there := func() (bool, error) {
		n, err := QueryOne(ctx, m.db, ScanInt, `SELECT CASE WHEN SCHEMA_ID(@Name) IS NULL THEN 0 ELSE 1 END`, sql.Named("Name", m.db.Schema))
		return err == nil && *n > 0, err
	}
	err := m.ensure(ctx, there, m.db.prefix+schemaText(m.db.Schema))
	if _, refused := errors.AsType[*mssql.Error](err); !refused {
		return err
	}
	return fmt.Errorf("the schema %s is missing and could not be made; let somebody who may do so run CREATE SCHEMA %s AUTHORIZATION ... for the login that whd uses: %w",
		m.db.Schema, mssql.Quote(m.db.Schema), err)
}

// schemaText is a batch of its own wherever it is, since SQL Server makes a
// schema only in the first statement of one.
func schemaText(schema string) string {
	return `EXEC(N'CREATE SCHEMA ` + strings.ReplaceAll(mssql.Quote(schema), `'`, `''`) + `')`
}

func (m *Migrator) createLeaseTable(ctx context.Context) error {
	err := m.ensure(ctx, func() (bool, error) { return m.hasTable(ctx, leaseTable) },
		m.db.Qualify(`CREATE TABLE whd.`+leaseTable+` (ID int NOT NULL PRIMARY KEY, Holder nvarchar(32) NULL, ExpiryDateTime datetime2(7) NOT NULL)`))
	if err != nil {
		return err
	}
	_, err = m.db.Exec(ctx, `INSERT INTO whd.`+leaseTable+` (ID, Holder, ExpiryDateTime)
SELECT 1, NULL, SYSUTCDATETIME() WHERE NOT EXISTS (SELECT 1 FROM whd.`+leaseTable+`)`)
	if executor.IsDuplicate(err) {
		return nil
	}
	return err
}

// ensure runs what makes something unless it is there. Who does so at the same
// time as another one fails, in any way, and finds it made.
func (m *Migrator) ensure(ctx context.Context, there func() (bool, error), text string) error {
	var failed error
	for range executor.MaxAttempts {
		is, err := there()
		if err != nil || is {
			return err
		}
		if _, failed = m.db.execText(ctx, text); failed == nil {
			return nil
		}
		if err := executor.Sleep(ctx, leaseWait); err != nil {
			return err
		}
	}
	return failed
}

func (m *Migrator) newLease() *lease {
	return &lease{db: m.db, holder: sql.Named("Holder", rand.Text()), life: leaseLife, renew: leaseRenew}
}

// tableChange is how migrations make and drop tables.
var tableChange = regexp.MustCompile(`(?m)^(CREATE|DROP) TABLE whd\.(\w+)`)

// serverTables lists the tables that a server has after all migrations.
func serverTables() (names []string, err error) {
	files, err := fs.Glob(schema, serverMigrations+"/*.sql")
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
			if name := change[2]; change[1] == "CREATE" {
				names = append(names, name)
			} else {
				names = slices.DeleteFunc(names, func(other string) bool { return other == name })
			}
		}
	}
	return names, nil
}

// Rights finds what the login may not do with the service's own tables, and
// those that are missing although the version says that they are there.
func (m *Migrator) MissingRights(ctx context.Context) (problems []string, err error) {
	if m.db.Schema == "" {
		return nil, nil // the files are its own
	}
	tables, err := serverTables()
	if err != nil {
		return nil, err
	}
	for _, table := range tables {
		there, err := m.hasTable(ctx, table)
		if err != nil {
			return nil, err
		}
		if !there {
			problems = append(problems, m.db.inSchema("whd.")+table+": there is no such table, or no right to it")
			continue
		}
		lacking, err := mssql.MissingRights(ctx, m.db.Pool, m.db.inSchema("whd."+mssql.Quote(table)), "SELECT", "INSERT", "UPDATE", "DELETE")
		if err != nil {
			return nil, err
		}
		if lacking != nil {
			problems = append(problems, fmt.Sprintf("%s%s: the service's login has no right to %s", m.db.inSchema("whd."), table, strings.Join(lacking, ", ")))
		}
	}
	return problems, nil
}
