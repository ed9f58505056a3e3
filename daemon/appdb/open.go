package appdb

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/mssql"
	"github.com/bizhook/whd/daemon/sqlite"
)

// DefaultSchema is that of our own tables on a server, unless the settings name
// another.
const DefaultSchema = "whd"

// The files of our own tables in the data directory.
const (
	FileName    = "whd.db"
	LogFileName = "requestlog.db"
)

// Config says where our own tables are.
type Config struct {
	Path        string        // of the file; it is made where it is missing
	DSN         string        // of a server, instead
	Schema      string        // on a server; DefaultSchema if empty
	LockTimeout time.Duration // how long a statement on a server waits for a lock; 0 for no limit
	Migrate     bool          // bring the tables on a server up to date; those of a file always are
	Connections int           // largest number of queries on a file at once
	Limits      func() executor.Limits

	// KeepSettings writes settings that an earlier version kept in the database to
	// a file, before their table is dropped. Without it such tables are not migrated.
	SaveSettings func([]StoredSetting) error
}

// Open opens our own tables, those of a file at the version that this program
// needs. They are only migrated on a server where that was asked for: changing a
// server's schema is for its administrators to decide.
func Open(ctx context.Context, c Config) (o *DB, err error) {
	if c.DSN == "" {
		o, err = openAndMigrate(ctx, c)
	} else if o, err = OpenSchema(ctx, c); err != nil {
		err = executor.Unreachable(err)
	} else if o.reader, err = readServer(c, o.Schema); err == nil && c.Migrate {
		o.saveSettings = c.SaveSettings
		err = o.Migrate(ctx)
	}
	if err != nil && o != nil {
		return nil, errors.Join(err, o.Close())
	}
	return o, err
}

func openAndMigrate(ctx context.Context, c Config) (*DB, error) {
	o, err := OpenFile(c.Path, rarelyBack, walSize)
	if err != nil {
		return nil, executor.Unreachable(err)
	}
	o.saveSettings = c.SaveSettings
	if err := o.Migrate(ctx); err != nil {
		return o, err
	}
	if err := o.WatchFiles(c.Path, c.Path+"-wal"); err != nil {
		return o, executor.Unreachable(err)
	}
	file, err := OpenReader(c.Path, c.Connections, o.Drain)
	if err != nil {
		return o, executor.Unreachable(err)
	}
	o.reader = file
	return o, nil
}

// OpenReader opens one of our own files for reading.
func OpenReader(path string, connections int, drain *executor.Drain) (*executor.File, error) {
	o := sqlite.Options{ReadOnly: true, BusyTimeout: 5 * time.Second, Pragmas: []string{"cache_size = -2000"}}
	pool, err := sqlite.NewPool(path, o, connections)
	if err != nil {
		return nil, err
	}
	tables := make(map[string]string)
	for _, kind := range record.System().Kinds() {
		tables[kind.Name] = kind.Source()
	}
	return executor.NewFile(pool, tables, drain), nil
}

// systemConnections is how many may read our own tables on a server at once.
// They are apart from those of logins, as the readers of records are.
const systemConnections = 8

// readServer opens our own schema on a server for reading. It does not connect.
func readServer(c Config, schema string) (reader, error) {
	pool, err := mssql.Open(mssql.Config{DSN: c.DSN, Connections: systemConnections})
	if err != nil {
		return nil, err
	}
	server := executor.NewServer(pool, c.LockTimeout, c.Limits)
	for _, kind := range record.System().Kinds() {
		server.Add(kind, mssql.Table{Schema: schema, Name: kind.Source()})
	}
	return server, nil
}

// OpenFile opens the file of our own tables. One connection writes at a time
// anyway, so a few are enough. The driver comes with package sqlite, and so do
// the collations of the columns. What comes first decides about a new file,
// which can shrink. The file is created here, since a connection that is opened
// later must not create one in the place of a file that was deleted.
func OpenFile(path string, first ...string) (*DB, error) {
	if err := sqlite.RegisterDriver(); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err == nil {
		err = file.Close()
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	pragmas := url.Values{"mode": {"rw"}, "_pragma": append(append([]string{"auto_vacuum(INCREMENTAL)"}, first...), "busy_timeout(5000)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(ON)"), "_txlock": {"immediate"}}
	db, err := sql.Open(sqlite.DriverName, "file:"+(&url.URL{Path: path}).EscapedPath()+"?"+pragmas.Encode())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(4)
	if err := db.Ping(); err != nil {
		db.Close()
		return nil, err
	}
	o := &DB{Pool: db, end: db.Close, name: FileName, Dialect: FileDialect, WriteLock: newWriteLock(), Drain: new(executor.Drain)}
	return o.init(FileMigrations), nil
}

// ownConnections are apart from those that read records, so that slow readers
// of large results do not hold up logins. What is asked is small.
const ownConnections = 8

// OpenSchema opens the schema of our own tables on a server.
func OpenSchema(ctx context.Context, c Config) (*DB, error) {
	server, err := mssql.Open(mssql.Config{DSN: c.DSN, Connections: ownConnections})
	if err != nil {
		return nil, err
	}
	if err := server.Ping(ctx); err != nil {
		return nil, errors.Join(err, server.Close())
	}
	c.Schema = cmp.Or(c.Schema, DefaultSchema)
	o := &DB{Pool: server.DB(), end: server.Close, Schema: c.Schema, name: "schema " + c.Schema, Dialect: serverDialect}
	o.prefix = mssql.LockTimeout(c.LockTimeout)
	return o.init(serverMigrations), nil
}

// init sets what files and schemas have in common.
func (o *DB) init(migrations string) *DB {
	o.Holder, o.Probe.turn, o.Migrator = NewGUID(), newWriteLock(), &Migrator{db: o, folder: migrations}
	return o
}

// openFiles are files that are open, by path, as they were then.
type openFiles map[string]os.FileInfo

// note remembers files that are open now.
func (f openFiles) add(paths ...string) error {
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		os.SameFile(info, info) // Windows reads now which file it is
		f[path] = info
	}
	return nil
}

// lost reports whether a file is gone or another one has its name. What was
// written to it then is in no file that can be opened again.
func (f openFiles) check() error {
	for path, then := range f {
		now, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(now, then) {
			return fault.Because(ErrReplaced, fault.Unavailable, "%s was deleted or replaced while the service had it open", filepath.Base(path))
		}
	}
	return nil
}

// rarelyBack has the connections beside the writer's, whose commits hold up the
// batches, leave the log to the writer. They write it back where there are no
// batches.
const rarelyBack = "wal_autocheckpoint(8192)" // pages, as many as walBehind

// walSize truncates the log when it begins again, after a long read had made it
// grow.
const walSize = "journal_size_limit(33554432)"

// logPageSize takes a fifth off the work of adding rows to the request log, which
// are only ever appended.
const logPageSize = "page_size(16384)"

// MigrateLog makes the file of the request log, or brings it to the version that
// this program needs.
func MigrateLog(ctx context.Context, path string) error {
	o, err := OpenFile(path, logPageSize)
	if err != nil {
		return err
	}
	o.name, o.folder = LogFileName, LogMigrations
	return errors.Join(o.Migrate(ctx), o.Close())
}
