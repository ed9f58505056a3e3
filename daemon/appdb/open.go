package appdb

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/datadir"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/mssql"
	"github.com/bizhook/whd/daemon/sqlite"
)

// DefaultSchema is the default of Config.Schema.
const DefaultSchema = "whd"

// Files in the data directory.
const (
	FileName    = "whd.db"
	LogFileName = "requestlog.db"
)

// Config selects the database.
type Config struct {
	Path        string        // path of the file; it is created if missing
	DSN         string        // DSN of SQL Server, instead of a file
	Schema      string        // on SQL Server; DefaultSchema if empty
	LockTimeout time.Duration // lock timeout of statements on SQL Server; 0 for no limit
	Migrate     bool          // migrate the tables on SQL Server; tables in a file are always migrated
	Connections int           // max. concurrent queries on a file
	Limits      func() executor.Limits

	// SaveSettings writes the settings that an earlier version stored in the
	// database to a file, before their table is dropped. If nil, such a database is
	// not migrated.
	SaveSettings func([]StoredSetting) error
}

// Open opens the service's tables. A file is created and migrated to the latest
// version. Tables on SQL Server are migrated only if configured: schema changes on
// a server are its administrators' decision. Tables that a newer program has changed are
// refused.
func Open(ctx context.Context, c Config) (o *DB, err error) {
	if c.DSN == "" {
		o, err = openAndMigrate(ctx, c)
	} else {
		o, err = openServer(ctx, c)
	}
	if err != nil && o != nil {
		return nil, errors.Join(err, o.Close())
	}
	return o, err
}

func openServer(ctx context.Context, c Config) (*DB, error) {
	o, err := OpenSchema(ctx, c)
	if err != nil {
		return nil, executor.OpenError(err)
	}
	if o.reader, err = readServer(c, o.Schema); err != nil {
		return o, err
	}
	// Another error, such as a missing permission, is reported when the tables are used.
	if _, _, err := o.versions(ctx); errors.Is(err, ErrNewer) {
		return o, err
	}
	if !c.Migrate {
		return o, nil
	}
	o.saveSettings = c.SaveSettings
	return o, o.Migrate(ctx)
}

func openAndMigrate(ctx context.Context, c Config) (*DB, error) {
	o, err := OpenFile(c.Path, rareCheckpoints, walSizeLimit)
	if err != nil {
		return nil, executor.OpenError(fmt.Errorf("%s: %w", FileName, err))
	}
	if err := o.checkUnversioned(ctx); err != nil {
		return o, err
	}
	o.saveSettings = c.SaveSettings
	if err := o.Migrate(ctx); err != nil {
		return o, err
	}
	if err := o.checkTables(ctx); err != nil {
		return o, err
	}
	if err := o.WatchFiles(c.Path, c.Path+"-wal"); err != nil {
		return o, executor.OpenError(err)
	}
	file, err := OpenReader(c.Path, c.Connections, o.Drain)
	if err != nil {
		return o, executor.OpenError(err)
	}
	o.reader = file
	return o, nil
}

// OpenReader opens a file of the service for queries.
func OpenReader(path string, connections int, drain *executor.Drain) (*executor.File, error) {
	o := sqlite.Options{ReadOnly: true, BusyTimeout: 5 * time.Second, Pragmas: []string{"cache_size = -2000"}}
	pool, err := sqlite.NewPool(path, o, connections)
	if err != nil {
		return nil, err
	}
	return executor.NewFile(pool, (*record.Kind).Source, nil, drain), nil
}

// systemConnections bounds the connections for queries of the service's tables on
// SQL Server. Logins use other connections, as do queries of ERP records.
const systemConnections = 8

// readServer returns a reader of the service's schema. It does not connect yet.
func readServer(c Config, schema string) (reader, error) {
	pool, err := mssql.Open(mssql.Config{DSN: c.DSN, Connections: systemConnections})
	if err != nil {
		return nil, err
	}
	names := func(kind *record.Kind) mssql.Table { return mssql.Table{Schema: schema, Name: kind.Source()} }
	return executor.NewServer(executor.ServerConfig{
		Pool:        pool,
		LockTimeout: c.LockTimeout,
		Limits:      c.Limits,
		Names:       names,
	}), nil
}

// OpenFile opens the file of the service's tables for statements. A few connections
// suffice, since SQLite has one writer at a time. The pragmas in first are set
// before the others, which matters for a new file. OpenFile creates a missing file
// and opens connections in mode rw: a connection that is opened later must not
// create a new file in place of a deleted one.
func OpenFile(path string, first ...string) (*DB, error) {
	if err := sqlite.RegisterDriver(); err != nil {
		return nil, err
	}
	if err := datadir.Create(path); err != nil {
		return nil, err
	}
	pragmas := slices.Concat([]string{"auto_vacuum(INCREMENTAL)"}, first,
		[]string{"busy_timeout(5000)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(ON)"})
	options := url.Values{"mode": {"rw"}, "_pragma": pragmas, "_txlock": {"immediate"}}
	db, err := sql.Open(sqlite.DriverName, "file:"+(&url.URL{Path: path}).EscapedPath()+"?"+options.Encode())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(4)
	if err := db.Ping(); err != nil {
		db.Close()
		return nil, err
	}
	o := &DB{
		Pool:      db,
		end:       db.Close,
		name:      FileName,
		Dialect:   FileDialect,
		WriteLock: newWriteLock(),
		Drain:     new(executor.Drain),
	}
	return o.init(FileMigrations), nil
}

// dbConnections bounds the connections for statements on SQL Server. Queries of
// records use other connections, so that slow readers of large results do not delay
// logins.
const dbConnections = 8

// OpenSchema opens the schema of the service's tables on SQL Server.
func OpenSchema(ctx context.Context, c Config) (*DB, error) {
	server, err := mssql.Open(mssql.Config{DSN: c.DSN, Connections: dbConnections})
	if err != nil {
		return nil, err
	}
	if err := server.Ping(ctx); err != nil {
		return nil, errors.Join(err, server.Close())
	}
	c.Schema = cmp.Or(c.Schema, DefaultSchema)
	o := &DB{
		Pool:    server.DB(),
		end:     server.Close,
		Schema:  c.Schema,
		name:    "schema " + c.Schema,
		Dialect: serverDialect,
	}
	o.prefix = mssql.LockTimeout(c.LockTimeout)
	return o.init(serverMigrations), nil
}

// init sets the fields that files and schemas have in common.
func (o *DB) init(migrations string) *DB {
	o.Holder = NewGUID()
	o.Probe.lock = newWriteLock()
	o.Migrator = &Migrator{db: o, folder: migrations}
	return o
}

// openFiles maps paths of open files to their file info at opening.
type openFiles map[string]os.FileInfo

// add records files that are open now.
func (f openFiles) add(paths ...string) error {
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		os.SameFile(info, info) // on Windows this loads the file's identity
		f[path] = info
	}
	return nil
}

// check returns ErrReplaced if a file was deleted or replaced. Data written to it
// since then cannot be read again.
func (f openFiles) check() error {
	for path, then := range f {
		now, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(now, then) {
			return fault.Wrap(ErrReplaced, fault.Unavailable,
				"%s was deleted or replaced while the service had it open",
				filepath.Base(path))
		}
	}
	return nil
}

// rareCheckpoints leaves checkpoints to the batch writer: a checkpoint during a
// commit of another connection would delay the batches. Without batches, these
// connections write the WAL back themselves.
const rareCheckpoints = "wal_autocheckpoint(8192)" // pages; equals maxWALBehind of package sqlstore

// walSizeLimit truncates the WAL when it restarts after a long read made it grow.
const walSizeLimit = "journal_size_limit(33554432)"

// logPageSize makes adding rows to the request log about a fifth cheaper; rows are
// only appended.
const logPageSize = "page_size(16384)"

// MigrateLog creates the request log file or migrates it to the latest version.
func MigrateLog(ctx context.Context, path string) error {
	o, err := OpenFile(path, logPageSize)
	if err != nil {
		return err
	}
	o.name, o.folder = LogFileName, LogMigrations
	return errors.Join(o.Migrate(ctx), o.Close())
}
