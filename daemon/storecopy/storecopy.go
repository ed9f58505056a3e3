// Package storecopy copies the service's own data from a schema on SQL Server into the
// files of the embedded store, and finds data that has not been copied.
package storecopy

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/backup"
	"github.com/bizhook/whd/daemon/datadir"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/mssql"
	"github.com/bizhook/whd/daemon/sqlite"
)

// Config configures a copy.
type Config struct {
	DSN         string        // of the server with the data
	Schema      string        // of the data there
	LockTimeout time.Duration // of statements there
	Dir         string        // of the files
	Replace     bool          // replace the result of an earlier copy
}

// Result is the result of a copy.
type Result struct {
	Tables      []Count
	ReplacedDir string `json:",omitempty"` // directory of the previous files; empty if there were none
	OutboxRows  int64  // that have not become events; they stay on the server
}

// Count is the number of rows of a table.
type Count struct {
	Table          string
	Source, Copied int64
}

// Copy replaces the files of the embedded store by new ones with the data of the server,
// which it only reads. No daemon may run. Nothing is replaced until everything has been
// copied and counted.
func Copy(ctx context.Context, c Config) (r Result, err error) {
	source, err := appdb.OpenSchema(ctx, appdb.Config{DSN: c.DSN, Schema: c.Schema, LockTimeout: c.LockTimeout})
	if err != nil {
		return r, fault.Wrap(err, fault.Unavailable, "the database on the server cannot be opened")
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	if err := checkVersion(ctx, source); err != nil {
		return r, err
	}
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return r, err
	}
	serving, err := datadir.LockServing(c.Dir, fmt.Sprintf("pid %d, whd store copy", os.Getpid())) // held by daemons with a store on a server too
	if err != nil {
		return r, err
	}
	defer serving.Release()
	target := backup.Target{Dir: c.Dir, Files: []backup.File{{Name: appdb.FileName}, {Name: appdb.LogFileName}}, Force: true}
	r.ReplacedDir, err = target.Replace("copy", func(dir string) error {
		if err := c.checkTarget(ctx); err != nil {
			return err
		}
		return r.copyAll(ctx, source, dir)
	})
	return r, err
}

// checkVersion returns an error unless the tables have the version of this program.
func checkVersion(ctx context.Context, source *appdb.DB) error {
	m, err := source.Migration(ctx)
	switch {
	case err != nil:
		return err
	case m.After == 0:
		return fmt.Errorf("%s on the server contains no tables of whd; select another one with --schema, or another database with --from", m.Name)
	case m.After < m.Latest:
		return fmt.Errorf("the tables of %s have version %d, but this whd copies version %d: run whd migrate --store sqlserver://... with the same connection string first", m.Name, m.After, m.Latest)
	case m.After > m.Latest:
		return fmt.Errorf("the tables of %s have version %d, but this whd supports versions up to %d; use a newer whd", m.Name, m.After, m.Latest)
	}
	return nil
}

// originRow is the row of WH_Number that records why the data of the server is not missing
// in a file: it was copied, or an administrator does not need it.
const (
	originRow    = "Origin"
	originCopied = 1
	originFresh  = 2
)

// checkTarget returns an error if the directory contains a store in use. If replacing the
// files was interrupted, they are replaced again.
func (c Config) checkTarget(ctx context.Context) error {
	path := filepath.Join(c.Dir, appdb.FileName)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) || datadir.ReplaceInterrupted(c.Dir) {
		return nil
	}
	conn, err := sqlite.Open(path, sqlite.Options{ReadOnly: true, BusyTimeout: appdb.FileTimeout})
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	defer conn.Close()
	defer conn.InterruptOn(ctx)()
	_, exists, err := conn.QueryInt(`SELECT 1 FROM sqlite_schema WHERE name = 'SY_WebhookMessage'`)
	if err != nil || !exists {
		return err
	}
	used, _, err := conn.QueryInt(`SELECT EXISTS (SELECT 1 FROM SY_WebhookSubscriber) OR EXISTS (SELECT 1 FROM SY_WebhookMessage)`)
	if err != nil || used == 0 {
		return err
	}
	origin, _, err := conn.QueryInt(`SELECT Next FROM WH_Number WHERE Name = ?1`, originRow)
	switch {
	case err != nil:
		return err
	case origin != originCopied:
		return fmt.Errorf("%s contains subscribers or messages that were not copied from a server; move the file away, or use another data directory", path)
	case !c.Replace:
		return fmt.Errorf("%s contains the data of an earlier copy; --replace moves it, with all later changes, to a subdirectory and copies again", path)
	}
	return nil
}

// copyAll copies the data into new files in dir.
func (r *Result) copyAll(ctx context.Context, source *appdb.DB, dir string) error {
	before, err := stateOf(ctx, source)
	if err != nil {
		return err
	}
	if before.leased > 0 {
		return fault.New(fault.Unavailable, "a daemon uses the data on the server: its leases end in %d seconds, unless it renews them; stop all daemons, or wait if it was killed", before.leased)
	}
	columns, err := serverColumns(ctx, source)
	if err != nil {
		return err
	}
	own := filepath.Join(dir, appdb.FileName)
	db, err := appdb.Open(ctx, appdb.Config{Path: own, Connections: 1})
	if err == nil {
		err = db.Close()
	}
	log := filepath.Join(dir, appdb.LogFileName)
	if err == nil {
		err = appdb.MigrateLog(ctx, log)
	}
	for _, path := range []string{own, log} {
		if err == nil {
			err = r.copyFile(ctx, source, columns, path)
		}
	}
	if err != nil {
		return err
	}
	after, err := stateOf(ctx, source)
	if err == nil && after != before {
		err = errChanged
	}
	if err == nil {
		// Other programs insert rows here at any time.
		r.OutboxRows, err = queryInt(ctx, source, `SELECT COUNT_BIG(*) FROM whd.WH_Outbox WHERE RefusedReason IS NULL`)
	}
	return err
}

var errChanged = errors.New("the data on the server changed during the copy; stop all daemons and other commands of whd, then run the command again")

// state is the state of the data on a server. Most changes change it.
type state struct {
	leased          int64 // seconds until the last lease ends, 0 if there is none
	fences, numbers int64 // sums
}

func stateOf(ctx context.Context, source *appdb.DB) (state, error) {
	row, err := appdb.QueryOne(ctx, source, func(row appdb.Row) (s state, err error) {
		return s, row.Scan(&s.leased, &s.fences, &s.numbers)
	}, `SELECT COALESCE((SELECT MAX(DATEDIFF(second, SYSUTCDATETIME(), p.LeaseUntil)) + 1 FROM whd.WH_Partition p WHERE p.LeaseUntil > SYSUTCDATETIME()), 0),
	COALESCE((SELECT SUM(p.Fence) FROM whd.WH_Partition p), 0), COALESCE((SELECT SUM(n.Next) FROM whd.WH_Number n), 0)`)
	if err != nil {
		return state{}, err
	}
	return *row, nil
}

// queryInt returns the number that a statement selects.
func queryInt(ctx context.Context, db *appdb.DB, statement string, args ...any) (int64, error) {
	n, err := appdb.QueryOne(ctx, db, appdb.ScanInt, statement, args...)
	if err != nil {
		return 0, err
	}
	return *n, nil
}

// Skip records in a file store that the data on the server is not needed.
func Skip(ctx context.Context, own *appdb.DB) error {
	name := sql.Named("Name", originRow)
	_, err := own.Run(ctx, appdb.Statement(`DELETE FROM whd.WH_Number WHERE Name = @Name`, name),
		appdb.Statement(`INSERT INTO whd.WH_Number (Name, Next) VALUES (@Name, @Next)`, name, sql.Named("Next", originFresh)))
	return err
}

// Missing reports whether a file store without subscribers is used although the database
// on the server has subscribers in a schema of whd that is visible to the login. It is
// false if that data was copied or skipped.
func Missing(ctx context.Context, own *appdb.DB, dsn, schema string) (bool, error) {
	known, err := queryInt(ctx, own, `SELECT EXISTS (SELECT 1 FROM whd.SY_WebhookSubscriber) OR EXISTS (SELECT 1 FROM whd.WH_Number WHERE Name = @Name)`,
		sql.Named("Name", originRow))
	if err != nil || known > 0 {
		return false, err
	}
	server, err := mssql.Open(mssql.Config{DSN: dsn, Connections: 1})
	if err != nil {
		return false, err
	}
	defer server.Close()
	var n int64
	err = server.DB().QueryRowContext(ctx, `SELECT CASE WHEN EXISTS (SELECT 1 FROM `+mssql.Quote(schema)+`.SY_WebhookSubscriber) THEN 1 ELSE 0 END`).Scan(&n)
	if refused, is := errors.AsType[*mssql.Error](err); is && (refused.NoTable() || refused.Forbidden()) {
		return false, nil
	}
	return n > 0, err
}
