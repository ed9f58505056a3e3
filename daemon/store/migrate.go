package store

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/bizhook/whd/daemon/mssql"
	"github.com/pressly/goose/v3"
)

// schema holds the migrations, a folder for each database system and in it one
// for each database.
//
//go:embed schema
var schema embed.FS

const (
	fileMigrations   = "schema/sqlite/whd"
	logMigrations    = "schema/sqlite/requestlog"
	serverMigrations = "schema/mssql"
)

// migrationTable is where goose notes the versions.
const migrationTable = "WH_Migration"

// Migration is what became of our own tables when the store was opened.
type Migration struct {
	Name          string // for people: the file, or the schema on a server
	Before, After int64  // versions
	Latest        int64  // that this program knows
}

// Migration tells what became of our own tables when the store was opened, and
// their version now.
func (s *Store) Migration(ctx context.Context) (Migration, error) {
	current, latest, err := s.own.versions(ctx)
	if err != nil {
		return Migration{}, unreachable(err)
	}
	return Migration{Name: s.own.name, Before: s.own.was, After: current, Latest: latest}, nil
}

// Current reports why our own tables are not of the version that this program
// needs, if so.
func (s *Store) Current(ctx context.Context) error { return s.own.ready(ctx) }

// bringUp notes the version of the tables and brings them to the latest.
func (o *ownDB) bringUp(ctx context.Context) (err error) {
	if o.was, _, err = o.versions(ctx); err == nil {
		err = o.migrate(ctx)
	}
	return o.migrationError(err)
}

func (o *ownDB) migrationError(err error) error {
	switch refused, is := errors.AsType[*mssql.Error](err); {
	case err == nil:
		return nil
	case errors.Is(err, mssql.ErrLost):
		return unreachable(err)
	case is && refused.Forbidden():
		return fmt.Errorf("migrating %s: the login lacks a right: have an administrator run GRANT CREATE TABLE, CREATE VIEW for it, as login.sql does: %w", o.name, err)
	}
	return fmt.Errorf("migrating %s: %w", o.name, err)
}

// migrations are those of the database, with the schema that they work in.
func (o *ownDB) migrations() (*goose.Provider, error) {
	dialect, table := goose.DialectSQLite3, migrationTable
	if o.schema != "" {
		dialect, table = goose.DialectMSSQL, o.inSchema("whd."+migrationTable)
	}
	files, err := fs.Sub(schema, o.folder)
	if err != nil {
		return nil, err
	}
	return goose.NewProvider(dialect, o.pool, schemaFiles{files, o},
		goose.WithTableName(table), goose.WithDisableGlobalRegistry(true), goose.WithAllowOutofOrder(true))
}

// schemaFiles are files whose statements have the schema that they work in.
type schemaFiles struct {
	fs.FS
	own *ownDB
}

// Open is fs.FS's.
func (s schemaFiles) Open(name string) (fs.File, error) {
	file, err := s.FS.Open(name)
	if err != nil || !strings.HasSuffix(name, ".sql") {
		return file, err
	}
	text, err := fs.ReadFile(s.FS, name)
	return schemaFile{file, strings.NewReader(s.own.inSchema(string(text)))}, err
}

type schemaFile struct {
	fs.File
	text *strings.Reader
}

// Read is fs.File's.
func (f schemaFile) Read(b []byte) (int, error) { return f.text.Read(b) }

// versions are that of the tables, 0 where there are none, and the latest that
// this program knows. Nothing is changed.
func (o *ownDB) versions(ctx context.Context) (current, latest int64, err error) {
	provider, err := o.migrations()
	if err != nil {
		return 0, 0, err
	}
	sources := provider.ListSources()
	latest = sources[len(sources)-1].Version
	there, err := o.hasTable(ctx, migrationTable)
	if err != nil || !there {
		return 0, latest, err
	}
	applied, err := list(ctx, o, scanInt, `SELECT version_id FROM whd.`+migrationTable+` WHERE is_applied = 1`)
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

func (o *ownDB) hasTable(ctx context.Context, name string) (bool, error) {
	statement := `SELECT COUNT(*) FROM sqlite_schema WHERE name = @Name`
	if o.schema != "" {
		statement, name = `SELECT CASE WHEN OBJECT_ID(@Name) IS NULL THEN 0 ELSE 1 END`, o.inSchema("whd."+mssql.Quote(name))
	}
	n, err := found(ctx, o, scanInt, statement, sql.Named("Name", name))
	return err == nil && *n > 0, err
}

func scanInt(row scanner) (n int64, err error) {
	err = row.Scan(&n)
	return n, err
}

// migrate brings our own tables to the latest version.
func (o *ownDB) migrate(ctx context.Context) error {
	provider, err := o.migrations()
	if err != nil {
		return err
	}
	if o.schema == "" {
		return o.migrateFile(ctx, provider)
	}
	if err := o.makeSchema(ctx); err != nil {
		return err
	}
	if err := o.makeLease(ctx); err != nil {
		return err
	}
	// Not goose.WithLocker, since goose makes its own table before it locks.
	return o.newLease().during(ctx, func(ctx context.Context) (err error) {
		if o.was, _, err = o.versions(ctx); err == nil { // of several that start at once, one makes the step
			err = o.up(ctx, provider)
		}
		return err
	})
}

// migrateFile needs no lock, as a migration there happens whole or not at all.
// Where another process migrates the same file at the same time, one of them
// fails, and finds on looking again that the version has moved on.
func (o *ownDB) migrateFile(ctx context.Context, provider *goose.Provider) error {
	for {
		before, _, err := provider.GetVersions(ctx)
		if err != nil {
			return err
		}
		if err = o.up(ctx, provider); err == nil {
			return nil
		}
		if now, _, versionErr := provider.GetVersions(ctx); versionErr != nil || now == before {
			return err
		}
	}
}

func (o *ownDB) up(ctx context.Context, provider *goose.Provider) error {
	err := rescueSettings(ctx, o)
	if err == nil {
		_, err = provider.Up(ctx)
	}
	return err
}
