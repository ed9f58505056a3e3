// Package storage opens the store that the settings select, the embedded files or
// SQL Server: the ERP records, the service's own tables, the request log and the
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

// Config selects and configures the store.
type Config struct {
	Dir         string        // of the embedded store's files
	DSN         string        // sqlserver://...; empty for the embedded store
	ReadDSN     string        // server that records are read from, if not DSN
	Schema      string        // of the service's tables on SQL Server; DefaultSchema if empty
	ERPSchema   string        // of the ERP records on SQL Server; erp.DefaultSchema if empty
	LockTimeout time.Duration // lock timeout of statements on SQL Server; 0 for no limit
	New         bool          // allow creating an embedded store where there has been one
	Migrate     bool          // migrate the service's tables on SQL Server; embedded ones are always migrated

	// SaveSettings writes the settings that an earlier version stored in the
	// database to a file, before their table is dropped. If nil, such a database is
	// not migrated.
	SaveSettings func([]appdb.StoredSetting) error

	VersionSource string // table and column of the ERP version; empty for none

	Registry    *record.Registry
	Sources     map[string]string      // table or view by record kind, if not the kind's name
	Connections int                    // max. concurrent queries
	Limits      func() executor.Limits // of statements that read records, called for each statement; nil for none
}

// recordsFile is the file of the ERP records. It is separate from the files of
// package appdb, so that writers of one do not wait for writers of the other.
const recordsFile = "records.db"

// Store is an open store.
type Store struct {
	*erp.Records
	config Config
	lock   *datadir.Lock  // of the data directory, embedded store only
	log    *logstore.File // embedded store only

	AppDB    *appdb.DB       // the service's own tables
	Webhooks *sqlstore.Store // the webhook tables
}

// Open opens the store. It creates missing files of an embedded store.
func Open(ctx context.Context, c Config) (*Store, error) {
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return nil, executor.OpenError(err)
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
	if s.lock, err = datadir.LockShared(s.config.Dir); err != nil {
		return fault.Wrap(err, fault.Unavailable, "the store cannot be opened: %s", err)
	}
	if err := s.checkFiles(); err != nil {
		return err
	}
	if s.Records, err = erp.Open(s.config.records()); err != nil {
		return err
	}
	if s.AppDB, err = appdb.Open(ctx, appdb.Config{Path: s.path(appdb.FileName), Connections: s.config.Connections, Limits: s.config.Limits, SaveSettings: s.config.SaveSettings}); err != nil {
		return err
	}
	if err := s.AppDB.WatchFiles(s.path(recordsFile)); err != nil {
		return executor.OpenError(err)
	}
	s.lock.MarkStore()
	if s.Webhooks, err = sqlstore.Open(s.AppDB, s.path(appdb.FileName)); err != nil {
		return executor.OpenError(err)
	}
	s.log = logstore.NewFile(s.path(appdb.LogFileName), s.config.Connections)
	return nil
}

// openServer opens the tables on SQL Server. It migrates them only if configured:
// schema changes on a server are its administrators' decision.
func (s *Store) openServer(ctx context.Context) (err error) {
	c := s.config
	if s.Records, err = erp.Open(c.records()); err != nil {
		return err
	}
	s.AppDB, err = appdb.Open(ctx, appdb.Config{DSN: c.DSN, Schema: c.Schema, LockTimeout: c.LockTimeout, Migrate: c.Migrate, Limits: c.Limits, SaveSettings: c.SaveSettings})
	if err == nil {
		s.Webhooks, err = sqlstore.Open(s.AppDB, "")
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

// Select starts the plan's statement on the database that contains its kind.
func (s *Store) Select(ctx context.Context, plan *query.Plan) (*executor.Result, error) {
	var from executor.Database = s.AppDB
	switch {
	case plan.Kind.Database == record.RecordsDB:
		from = s.Records
	case plan.Kind.Database == record.LogDB && s.log != nil:
		from = s.log
	}
	return executor.Select(ctx, from, s.config.Limits, plan)
}

// Bills returns the store of custom field values of bill stages; zone is the time
// zone of its times.
func (s *Store) Bills(zone *time.Location) *erp.Bills { return erp.NewBills(s.Records, s.AppDB, zone) }

// Report is the result of Check.
type Report struct {
	erp.Report
	Migration appdb.Migration
	Rights    []string // missing rights on the service's tables; only checked if those are up to date
}

// Failed reports whether a problem was found that the service cannot work with.
func (r Report) Failed() bool {
	return r.Report.Failed() || r.Migration.After < r.Migration.Latest || len(r.Rights) > 0
}

// Check compares the record kinds and the service's tables with the database. It
// changes nothing.
func (s *Store) Check(ctx context.Context) (r Report, err error) {
	if r.Migration, err = s.AppDB.Migration(ctx); err != nil {
		return r, err
	}
	if r.Migration.After >= r.Migration.Latest {
		if r.Rights, err = s.AppDB.MissingRights(ctx); err != nil {
			return r, fmt.Errorf("checking rights on the service's tables: %w", executor.Classify(err))
		}
	}
	r.Report, err = s.Records.Check(ctx)
	return r, err
}

// RequestLog returns the store of the request log.
func (s *Store) RequestLog() requestlog.Store {
	if s.log != nil {
		return s.log
	}
	return logstore.OnServer(s.AppDB)
}

// Ready returns an error with the reason if the store cannot be used.
func (s *Store) Ready(ctx context.Context) error {
	if err := s.AppDB.CheckFiles(); err != nil {
		return err
	}
	if err := s.Ping(ctx); err != nil {
		return executor.ReadinessError(err)
	}
	if err := s.AppDB.Ready(ctx); err != nil {
		return err
	}
	return s.AppDB.Writable(ctx)
}

// Close closes the store. All results must be closed before.
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
	if s.AppDB != nil {
		errs = append(errs, s.AppDB.Close())
	}
	if s.lock != nil {
		errs = append(errs, s.lock.Release())
	}
	return errors.Join(errs...)
}
