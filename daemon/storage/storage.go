// Package storage opens what the store setting names, the embedded files or a
// server: the records of the ERP, the service's own tables, the request log and the
// webhooks.
package storage

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/datadir"
	"github.com/bizhook/whd/daemon/erp"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/requestlog"
	logstore "github.com/bizhook/whd/daemon/requestlog/sqlstore"
	"github.com/bizhook/whd/daemon/webhook/sqlstore"
)

// Config says which store is opened.
type Config struct {
	Dir         string        // of the embedded store's files
	DSN         string        // sqlserver://...; empty for the embedded store
	ReadDSN     string        // where records are read, if elsewhere
	Schema      string        // of our own tables on a server; DefaultSchema if empty
	ERPSchema   string        // of the records on a server; erp.DefaultSchema if empty
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

// recordsFile is the file of the records. It is apart from those of package appdb,
// so that none waits for another's writer.
const recordsFile = "records.db"

// Store is an open store.
type Store struct {
	*erp.Records
	config Config
	lock   *datadir.Lock  // of the embedded store
	log    *logstore.File // of the embedded store

	Own      *appdb.DB       // our own tables
	Webhooks *sqlstore.Store // the stored subscriptions and their messages
}

// Open opens the store. Of the embedded one it creates what is missing.
func Open(ctx context.Context, c Config) (*Store, error) {
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return nil, executor.Unreachable(err)
	}
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
	if s.Records, err = erp.Open(s.config.records()); err != nil {
		return err
	}
	if s.Own, err = appdb.Open(ctx, appdb.Config{Path: s.path(appdb.FileName), Connections: s.config.Connections, Limits: s.config.Limits, KeepSettings: s.config.KeepSettings}); err != nil {
		return err
	}
	if err := s.Own.Watch(s.path(recordsFile)); err != nil {
		return executor.Unreachable(err)
	}
	s.lock.MarkStore()
	if s.Webhooks, err = sqlstore.Open(s.Own, s.path(appdb.FileName)); err != nil {
		return executor.Unreachable(err)
	}
	s.log = logstore.NewFile(s.path(appdb.LogFileName), s.config.Connections)
	return nil
}

// openServer opens the schema of our own tables. They are only migrated where
// that was asked for: changing a server's schema is for its administrators to
// decide.
func (s *Store) openServer(ctx context.Context) (err error) {
	c := s.config
	if s.Records, err = erp.Open(c.records()); err != nil {
		return err
	}
	s.Own, err = appdb.Open(ctx, appdb.Config{DSN: c.DSN, Schema: c.Schema, LockTimeout: c.LockTimeout, Migrate: c.Migrate, Limits: c.Limits, KeepSettings: c.KeepSettings})
	if err == nil {
		s.Webhooks, err = sqlstore.Open(s.Own, "")
	}
	return err
}

func (c Config) records() erp.Config {
	return erp.Config{
		Path: filepath.Join(c.Dir, recordsFile), DSN: c.DSN, ReadDSN: c.ReadDSN, Schema: c.ERPSchema, LockTimeout: c.LockTimeout,
		VersionSource: c.VersionSource, Registry: c.Registry, Sources: c.Sources, Connections: c.Connections, Limits: c.Limits,
	}
}

func (s *Store) path(file string) string { return filepath.Join(s.config.Dir, file) }

// Select starts the plan's statement in the database that has its kind.
func (s *Store) Select(ctx context.Context, plan *query.Plan) (*executor.Result, error) {
	var from executor.Database = s.Own
	switch {
	case plan.Kind.Database == record.InRecords:
		from = s.Records
	case plan.Kind.Database == record.InLog && s.log != nil:
		from = s.log
	}
	return executor.Select(ctx, from, s.config.Limits, plan)
}

// Bills are the custom field values of bill stages, whose times have the zone.
func (s *Store) Bills(zone *time.Location) *erp.Bills { return erp.NewBills(s.Records, s.Own, zone) }

// Report is what Check finds.
type Report struct {
	erp.Report
	Own    appdb.Migration
	Rights []string // what keeps the service from using its own tables, while they are up to date
}

// Failed reports whether something is missing, so that the service cannot do
// all of its work.
func (r Report) Failed() bool {
	return r.Report.Failed() || r.Own.After < r.Own.Latest || len(r.Rights) > 0
}

// Check compares the record kinds and our own tables with those that are there.
// It changes nothing.
func (s *Store) Check(ctx context.Context) (r Report, err error) {
	if r.Own, err = s.Own.Migration(ctx); err != nil {
		return r, err
	}
	if r.Own.After >= r.Own.Latest {
		if r.Rights, err = s.Own.Rights(ctx); err != nil {
			return r, fmt.Errorf("looking at the rights on the service's own tables: %w", executor.Classify(err))
		}
	}
	r.Report, err = s.Records.Check(ctx)
	return r, err
}

// RequestLog keeps the entries of the request log.
func (s *Store) RequestLog() requestlog.Store {
	if s.log != nil {
		return s.log
	}
	return logstore.OnServer(s.Own)
}

// Ready reports why the store cannot be used, if so.
func (s *Store) Ready(ctx context.Context) error {
	if err := s.Own.Lost(); err != nil {
		return err
	}
	if err := s.Ping(ctx); err != nil {
		return executor.NotReady(err)
	}
	if err := s.Own.Ready(ctx); err != nil {
		return err
	}
	return s.Own.Writable(ctx)
}

// Close closes the store. Results must have been closed before.
func (s *Store) Close() error {
	var errs []error
	if s.Records != nil {
		errs = append(errs, s.Records.Close())
	}
	if s.log != nil {
		errs = append(errs, s.log.Close())
	}
	if s.Webhooks != nil {
		errs = append(errs, s.Webhooks.Close())
	}
	if s.Own != nil {
		errs = append(errs, s.Own.Close())
	}
	if s.lock != nil {
		errs = append(errs, s.lock.Release())
	}
	return errors.Join(errs...)
}
