// Package storage opens the two databases that the settings select, each in files or on
// SQL Server: the database of the ERP's records, and the database of the service's own data with
// its tables, the request log and the webhooks.
package storage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/appdb"
	changestore "github.com/bizhook/whd/daemon/changes/sqlstore"
	"github.com/bizhook/whd/daemon/datadir"
	"github.com/bizhook/whd/daemon/dialect"
	"github.com/bizhook/whd/daemon/erp"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/requestlog"
	logstore "github.com/bizhook/whd/daemon/requestlog/sqlstore"
	"github.com/bizhook/whd/daemon/webhook/sqlstore"
)

// Config selects and configures the two databases: the ERP's records, and the service's
// own data. Each is in files or on SQL Server.
type Config struct {
	Dir string     // directory of the files
	ERP erp.Config // Open sets Path, Registry and Limits

	DSN         string        // DSN of the own data: sqlserver://...; empty for files
	Schema      string        // schema of the own tables on SQL Server; appdb.DefaultSchema if empty
	LockTimeout time.Duration // lock timeout of statements on the own tables; 0 for no limit
	Migrate     bool          // migrate the own tables; tables in files are always migrated
	Serving     bool          // this process holds the lock of the directory's daemon, see datadir.LockServing
	New         bool          // allow creating files where there have been some

	Tracked []erp.Tracked // tables on the ERP's server that are missed if they vanish

	// SaveSettings writes the settings that an earlier version stored in the
	// database to a file, before their table is dropped. If nil, such a database is
	// not migrated.
	SaveSettings func([]appdb.StoredSetting) error

	Registry    *record.Registry
	Connections int // max. concurrent queries of each file

	// Limits returns the limits of statements that read records. It is called for each
	// statement; nil means no limits.
	Limits func() executor.Limits
}

// RecordsFile is the file of the ERP records. It is separate from the files of
// package appdb, so that writers of one do not wait for writers of the other.
const RecordsFile = "records.db"

// Store is an open store.
type Store struct {
	*erp.Records
	config Config
	lock   *datadir.Lock  // lock of the data directory; nil if both databases are on servers
	log    *logstore.File // nil if the own data is on a server

	probe   *erpProbe
	cursors *cursors

	AppDB    *appdb.DB          // the service's own tables
	Webhooks *sqlstore.Store    // the webhook tables
	Changes  *changestore.Store // capture of changes
}

// Open opens the store. It creates missing files. It does not connect to the ERP's
// server, which may be down.
func Open(ctx context.Context, c Config) (*Store, error) {
	if err := datadir.Make(c.Dir); err != nil {
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

func (s *Store) open(ctx context.Context) (err error) {
	c := s.config
	if len(c.files()) > 0 {
		if err := s.lockFiles(ctx); err != nil {
			return err
		}
	}
	unlock, err := c.lockMigration(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	s.Records, err = erp.Open(c.records())
	if err != nil {
		return err
	}
	s.probe = &erpProbe{database: s.Records}
	s.AppDB, err = appdb.Open(ctx, c.appDB())
	if err != nil {
		return err
	}
	s.cursors = &cursors{db: s.AppDB}
	if s.lock != nil {
		s.lock.MarkStore(c.files()...)
	}
	s.Webhooks, err = sqlstore.Open(s.AppDB, c.appDB().Path)
	if err != nil {
		return executor.OpenError(err)
	}
	s.Changes = changestore.Open(s.AppDB, c.path(changestore.FileName))
	if c.DSN != "" {
		return nil
	}
	s.log = logstore.NewFile(c.path(appdb.LogFileName), c.Connections)
	if c.ERP.DSN != "" {
		return nil
	}
	err = s.AppDB.WatchFiles(c.path(RecordsFile))
	if err != nil {
		return executor.OpenError(err)
	}
	return nil
}

// lockFiles locks the data directory, and checks the files in it before one is opened for
// writing.
func (s *Store) lockFiles(ctx context.Context) (err error) {
	s.lock, err = datadir.LockShared(s.config.Dir)
	if err != nil {
		return fault.Wrap(err, fault.Unavailable, "the store cannot be opened")
	}
	if err := s.config.checkFiles(s.lock); err != nil {
		return err
	}
	if err := s.config.checkAccess(); err != nil {
		return err
	}
	if s.config.DSN == "" {
		if err := CheckVersions(ctx, s.config.Dir); err != nil {
			return err
		}
	}
	return s.config.createRecords()
}

// appDB returns the configuration of the own tables.
func (c Config) appDB() appdb.Config {
	config := appdb.Config{
		DSN:          c.DSN,
		Schema:       c.Schema,
		LockTimeout:  c.LockTimeout,
		Migrate:      c.Migrate,
		Connections:  c.Connections,
		Limits:       c.Limits,
		SaveSettings: c.SaveSettings,
	}
	if c.DSN == "" {
		config.Path = c.path(appdb.FileName)
	}
	return config
}

// records returns the configuration of the ERP's records.
func (c Config) records() erp.Config {
	r := c.ERP
	r.Path = c.path(RecordsFile)
	r.Registry = c.Registry
	r.Limits = c.Limits
	r.Connections = cmp.Or(r.Connections, c.Connections)
	return r
}

// path returns the path of a file in the data directory.
func (c Config) path(file string) string { return filepath.Join(c.Dir, file) }

// Select starts the plan's statement on the database that contains its kind.
func (s *Store) Select(ctx context.Context, plan *query.Plan) (*executor.Result, error) {
	kind := plan.Source()
	if kind.Database == record.AppDB { // which has the messages
		plan = s.Webhooks.Admin.ListPlan(plan)
	}
	if kind.Database == record.LogDB && s.log != nil {
		return s.log.Select(ctx, s.config.Limits, plan)
	}
	return executor.Select(ctx, s.database(kind), s.config.Limits, plan)
}

func (s *Store) database(kind *record.Kind) executor.Database {
	if kind.Database == record.RecordsDB {
		return s.Records
	}
	if kind.Database == record.LogDB && s.log != nil {
		return s.log
	}
	return s.AppDB
}

// Key returns the fields that identify a row of a kind, nil if none are proven to do so.
func (s *Store) Key(ctx context.Context, kind *record.Kind) ([]int, error) {
	return executor.Key(ctx, s.database(kind), kind)
}

// Columns returns the columns of a kind's table by field, as far as the database knows them.
func (s *Store) Columns(ctx context.Context, kind *record.Kind) ([]dialect.Column, error) {
	return executor.ColumnsOf(ctx, s.database(kind), kind)
}

// Leads reports whether an index of a kind's table starts with a field.
func (s *Store) Leads(ctx context.Context, kind *record.Kind, field int) (bool, error) {
	return executor.Leads(ctx, s.database(kind), kind, field)
}

// SetPlace sets the place of a request with a cursor. path are conditions of the request that
// its URL's path adds.
func (s *Store) SetPlace(ctx context.Context, r *query.Request, path []query.Condition) error {
	cursors, err := s.cursors.load(ctx)
	if err != nil {
		return err
	}
	if *r.Cursor != "" {
		return cursors.Continue(r, path)
	}
	key, unchecked, err := executor.PageKey(ctx, s.database(r.Kind), r.Kind)
	if err != nil {
		return err
	}
	if key == nil {
		err = executor.KeyColumnsError(ctx, s.database(r.Kind), r.Kind)
		if err != nil {
			return err
		}
	}
	if err := cursors.Start(r, path, key); err != nil {
		return err
	}
	r.Place.Unchecked = unchecked
	return nil
}

// Bills returns the store of custom field values of bill stages; zone is the time
// zone of its times.
func (s *Store) Bills(zone *time.Location) *erp.Bills {
	return erp.NewBills(s.Records, s.AppDB.LockKey, zone)
}

// Report is the result of Check.
type Report struct {
	erp.Report
	Migration appdb.Migration
	Rights    []string // missing rights on the service's tables; only checked if those are up to date
	OwnGrants []string // statements that grant the missing rights on the service's tables and schema

	NothingServed bool // no table of a record kind or of bills is seen
	SeesTables    bool // other tables are seen
}

// Grants returns the statements that grant all missing rights.
func (r Report) Grants() []string { return append(r.Report.Grants(), r.OwnGrants...) }

// Failed reports whether a problem was found that the service cannot work with.
func (r Report) Failed() bool {
	return r.Report.Failed() || r.Migration.After < r.Migration.Latest || len(r.Rights) > 0
}

// Served returns the tables of the ERP that have been served.
func (s *Store) Served(ctx context.Context) (served erp.Served, err error) {
	tables, err := s.AppDB.ServedTables(ctx)
	for _, t := range tables {
		if t.IsGone {
			served.Gone = append(served.Gone, t.Name)
		} else {
			served.Tables = append(served.Tables, t.Name)
		}
	}
	return served, err
}

// presence returns the presence of the tracked tables. Outdated tables of the service do not
// have those that were served, so that nothing is known.
func (s *Store) presence(ctx context.Context, m appdb.Migration) (erp.Presence, error) {
	if m.After < m.Latest {
		return erp.Presence{}, nil
	}
	served, err := s.Served(ctx)
	if err != nil {
		return erp.Presence{}, err
	}
	return s.Presence(ctx, s.config.Tracked, served)
}

// Check compares the record kinds and the service's tables with the database. It
// changes nothing.
func (s *Store) Check(ctx context.Context) (r Report, err error) {
	r.Migration, err = s.AppDB.Migration(ctx)
	if err != nil {
		return r, err
	}
	isOutdated := r.Migration.After < r.Migration.Latest
	r.Rights, r.OwnGrants, err = s.AppDB.MissingRights(ctx, isOutdated)
	if err != nil {
		return r, fmt.Errorf("checking rights on the service's tables: %w", executor.Classify(err))
	}
	presence, err := s.presence(ctx, r.Migration)
	if err != nil {
		return r, err
	}
	r.Report, err = s.Records.Check(ctx, presence)
	if err != nil {
		return r, err
	}
	if r.Absent > 0 && r.Kinds+r.Bills == 0 {
		r.NothingServed = true
		r.SeesTables, err = s.SeesTables(ctx, s.config.Schema)
	}
	return r, err
}

// RequestLog returns the store of the request log.
func (s *Store) RequestLog() requestlog.Store {
	if s.log != nil {
		return s.log
	}
	return logstore.OnServer(s.AppDB)
}

// ERPReady returns an error if the ERP's records cannot be read. If the database does not
// respond until ctx is done, it returns the previous result, so that callers need not
// wait long for a server that does not respond at all.
func (s *Store) ERPReady(ctx context.Context) error {
	select {
	case <-s.probe.start(ctx):
	case <-ctx.Done():
	}
	return s.probe.result()
}

// Ready returns an error with the reason if the own data cannot be used.
func (s *Store) Ready(ctx context.Context) error {
	if err := s.AppDB.CheckFiles(); err != nil {
		return err
	}
	if err := s.AppDB.Ready(ctx); err != nil {
		return err
	}
	return s.AppDB.Writable(ctx)
}

// Close closes the store. All results must be closed before.
func (s *Store) Close() error {
	if s.probe != nil {
		s.probe.wait()
	}
	var errs []error
	if s.Records != nil {
		errs = append(errs, s.Records.Close())
	}
	if s.log != nil {
		errs = append(errs, s.log.Close())
	}
	if s.Changes != nil {
		errs = append(errs, s.Changes.Close())
	}
	if s.Webhooks != nil {
		errs = append(errs, s.Webhooks.Engine.Close())
	}
	if s.AppDB != nil {
		errs = append(errs, s.AppDB.Close())
	}
	if s.lock != nil {
		errs = append(errs, s.lock.Release())
	}
	return errors.Join(errs...)
}
