package store

import (
	"context"
	"database/sql"
	"embed"
	"io/fs"

	"github.com/pressly/goose/v3"
	_ "modernc.org/sqlite" // the driver "sqlite"
)

// schema holds the migrations, a folder for each database system and in it one
// for each database.
//
//go:embed schema
var schema embed.FS

const ownSchema = "schema/sqlite/whd"

// migrationTable is where goose notes the versions.
const migrationTable = "WH_Migration"

func migrations(db *sql.DB) (*goose.Provider, error) {
	folder, err := fs.Sub(schema, ownSchema)
	if err != nil {
		return nil, err
	}
	return goose.NewProvider(goose.DialectSQLite3, db, folder,
		goose.WithTableName(migrationTable), goose.WithDisableGlobalRegistry(true))
}

// migrateUp brings our own tables to the latest version.
func migrateUp(ctx context.Context, db *sql.DB) error {
	provider, err := migrations(db)
	if err != nil {
		return err
	}
	// goose takes no lock on SQLite. Where another process migrates the same
	// file at the same time, one of them fails whole, and finds on looking
	// again that the version has moved on.
	for {
		before, _, err := provider.GetVersions(ctx)
		if err != nil {
			return err
		}
		if _, err = provider.Up(ctx); err == nil {
			return nil
		}
		if now, _, versionErr := provider.GetVersions(ctx); versionErr != nil || now == before {
			return err
		}
	}
}

// SchemaVersion is the version that our own tables have, and the latest that
// this program knows.
func (s *Store) SchemaVersion(ctx context.Context) (current, latest int64, err error) {
	provider, err := migrations(s.own)
	if err != nil {
		return 0, 0, err
	}
	return provider.GetVersions(ctx)
}
