// Package store keeps what the daemon knows and reads what the ERP knows. All
// SQL is run here.
package store

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/datadir"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/requestlog"
	logstore "github.com/bizhook/whd/daemon/requestlog/sqlstore"
	"github.com/bizhook/whd/daemon/sqlite"
	"github.com/bizhook/whd/daemon/webhook/sqlstore"
)

// Config says which store is opened.
type Config struct {
	Dir         string        // of the embedded store's files
	DSN         string        // sqlserver://...; empty for the embedded store
	ReadDSN     string        // where records are read, if elsewhere
	Schema      string        // of our own tables on a server; DefaultSchema if empty
	ERPSchema   string        // of the records on a server; DefaultERPSchema if empty
	LockTimeout time.Duration // how long a statement on a server waits for a lock; 0 for no limit
	New         bool          // the embedded store may be made where there has been one
	Migrate     bool          // bring our own tables on a server up to date; the embedded store's always are

	// KeepSettings writes settings that an earlier version kept in the database to
	// a file, before their table is dropped. Without it such tables are not migrated.
	KeepSettings func([]appdb.StoredSetting) error

	VersionSource string // table and column of the ERP's version; empty for none

	Registry    *record.Registry
	Sources     map[string]string      // record kind -> table or view, where not its name
	Connections int                    // largest number of queries at once
	Limits      func() executor.Limits // of statements that read records, asked for each; nil for none
}

// The files of the embedded store. They are apart so that none waits for
// another's writer.
const (
	recordsFile = "records.db"
)

// DefaultERPSchema is that of the records on a server, unless the settings name
// another.
const DefaultERPSchema = "dbo"

// Store is an open store.
type Store struct {
	config  Config
	lock    *datadir.Lock // of the embedded store
	records backend
	pool    *sqlite.Pool // of the embedded store's records
	own     *appdb.DB
	log     *logstore.File // of the embedded store
	hooks   *sqlstore.Store
}

// Open opens the store. Of the embedded one it creates what is missing.
func Open(ctx context.Context, c Config) (*Store, error) {
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return nil, executor.Unreachable(err)
	}
	c.Schema, c.ERPSchema = cmp.Or(c.Schema, appdb.DefaultSchema), cmp.Or(c.ERPSchema, DefaultERPSchema)
	if c.Limits == nil {
		c.Limits = func() executor.Limits { return executor.Limits{} }
	}
	s := &Store{config: c}
	if err := s.open(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Store) open(ctx context.Context) error {
	if s.config.DSN != "" {
		return s.openServer(ctx)
	}
	var err error
	if s.lock, err = datadir.Share(s.config.Dir); err != nil {
		return fault.Because(err, fault.Unavailable, "the store cannot be opened: %s", err)
	}
	if err := s.complete(); err != nil {
		return err
	}
	records, err := newSQLiteRecords(s.path(recordsFile), s.config)
	if err != nil {
		return executor.Unreachable(err)
	}
	s.records, s.pool = records, records.Pool
	if s.own, err = appdb.Open(ctx, appdb.Config{Path: s.path(appdb.FileName), Connections: s.config.Connections, Limits: s.config.Limits, KeepSettings: s.config.KeepSettings}); err != nil {
		return err
	}
	if err := s.own.Watch(s.path(recordsFile)); err != nil {
		return executor.Unreachable(err)
	}
	s.lock.MarkStore()
	if s.hooks, err = sqlstore.Open(s.own, s.path(appdb.FileName)); err != nil {
		return executor.Unreachable(err)
	}
	s.log = logstore.NewFile(s.path(appdb.LogFileName), s.config.Connections)
	return nil
}

// openServer opens the schema of our own tables. They are only migrated where
// that was asked for: changing a server's schema is for its administrators to
// decide.
func (s *Store) openServer(ctx context.Context) error {
	records, err := newMSSQLRecords(s.config)
	if err != nil {
		return err
	}
	s.records = records
	c := s.config
	s.own, err = appdb.Open(ctx, appdb.Config{DSN: c.DSN, Schema: c.Schema, LockTimeout: c.LockTimeout, Migrate: c.Migrate, Limits: c.Limits, KeepSettings: c.KeepSettings})
	if err == nil {
		s.hooks, err = sqlstore.Open(s.own, "")
	}
	return err
}

func (s *Store) path(file string) string { return filepath.Join(s.config.Dir, file) }

// Migration is what became of our own tables when the store was opened.
func (s *Store) Migration(ctx context.Context) (appdb.Migration, error) { return s.own.Migration(ctx) }

// Lost reports whether files of the embedded store were deleted or replaced
// since they were opened.
func (s *Store) Lost() error { return s.own.Lost() }

// Current reports why our own tables are not of the version that this program
// needs, if so.
func (s *Store) Current(ctx context.Context) error { return s.own.Ready(ctx) }

// RequestLog keeps the entries of the request log.
func (s *Store) RequestLog() requestlog.Store {
	if s.log != nil {
		return s.log
	}
	return logstore.OnServer(s.own)
}

// Webhooks are the stored subscriptions and their messages.
func (s *Store) Webhooks() *sqlstore.Store { return s.hooks }

// Accounts are the stored users, keys and sessions.
func (s *Store) Accounts() *appdb.Accounts { return s.own.Accounts() }

// Ready reports why the store cannot be used, if so.
func (s *Store) Ready(ctx context.Context) error {
	if err := s.Lost(); err != nil {
		return err
	}
	if err := s.records.ping(ctx); err != nil {
		return executor.NotReady(err)
	}
	if err := s.own.Ready(ctx); err != nil {
		return err
	}
	return s.own.Writable(ctx)
}

// Close closes the store. Results must have been closed before.
func (s *Store) Close() error {
	var errs []error
	if s.records != nil {
		errs = append(errs, s.records.close())
	}
	if s.log != nil {
		errs = append(errs, s.log.Close())
	}
	if s.hooks != nil {
		errs = append(errs, s.hooks.Close())
	}
	if s.own != nil {
		errs = append(errs, s.own.Close())
	}
	if s.lock != nil {
		errs = append(errs, s.lock.Release())
	}
	return errors.Join(errs...)
}
