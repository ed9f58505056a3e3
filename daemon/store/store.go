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
	"github.com/bizhook/whd/daemon/datadir"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/sqlite"
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
	KeepSettings func([]StoredSetting) error

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
	ownFile     = "whd.db"
	logFileName = "requestlog.db"
)

// Store is an open store.
type Store struct {
	config  Config
	lock    *datadir.Lock // of the embedded store
	records backend
	system  map[record.Database]systemDatabase // of the kinds that the service itself keeps
	pool    *sqlite.Pool                       // of the embedded store's records
	own     *ownDB
	log     *logFile    // of the embedded store
	batches batchWriter // of webhooks
}

// Open opens the store. Of the embedded one it creates what is missing.
func Open(ctx context.Context, c Config) (*Store, error) {
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return nil, unreachable(err)
	}
	c.Schema, c.ERPSchema = cmp.Or(c.Schema, DefaultSchema), cmp.Or(c.ERPSchema, DefaultERPSchema)
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
		return unreachable(err)
	}
	s.records, s.pool = records, records.Pool
	if s.own, err = openOwn(s.path(ownFile), rarelyBack, walSize); err != nil {
		return unreachable(err)
	}
	s.own.keepSettings = s.config.KeepSettings
	if err := s.own.bringUp(ctx); err != nil {
		return err
	}
	if s.own.files, err = note(s.path(ownFile), s.path(ownFile)+"-wal", s.path(recordsFile)); err != nil {
		return unreachable(err)
	}
	s.lock.MarkStore()
	if s.batches, err = openFileWriter(s.own, s.path(ownFile)); err != nil {
		return unreachable(err)
	}
	return s.openSystemFiles()
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
	if err := s.openSystemSchema(); err != nil {
		return err
	}
	if s.own, err = openOwnSchema(ctx, s.config); err != nil {
		return unreachable(err)
	}
	s.own.keepSettings = s.config.KeepSettings
	s.batches = &serverWriter{s.own}
	if s.config.Migrate {
		return s.own.bringUp(ctx)
	}
	return nil
}

func (s *Store) path(file string) string { return filepath.Join(s.config.Dir, file) }

func unreachable(err error) error {
	return fault.Because(err, fault.Unavailable, "the store cannot be opened")
}

// Accounts are the stored users, keys and sessions.
func (s *Store) Accounts() *Accounts { return &Accounts{s.own} }

// Ready reports why the store cannot be used, if so.
func (s *Store) Ready(ctx context.Context) error {
	if err := s.Lost(); err != nil {
		return err
	}
	if err := s.records.ping(ctx); err != nil {
		return executor.NotReady(err)
	}
	if err := s.own.ready(ctx); err != nil {
		return err
	}
	return s.own.writable(ctx)
}

// Close closes the store. Results must have been closed before.
func (s *Store) Close() error {
	var errs []error
	if s.records != nil {
		errs = append(errs, s.records.close())
	}
	errs = append(errs, s.closeSystem())
	if s.batches != nil {
		errs = append(errs, s.batches.close())
	}
	if s.own != nil {
		errs = append(errs, s.own.close())
	}
	if s.lock != nil {
		errs = append(errs, s.lock.Release())
	}
	return errors.Join(errs...)
}
