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

	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/backup"
	"github.com/bizhook/whd/daemon/datadir"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/mssql"
)

// Config configures a copy.
type Config struct {
	DSN, Schema string // DSN and schema of the data on the server
	Dir         string // directory of the files
	Replace     bool   // replace the result of an earlier copy
}

// Result is the result of a copy.
type Result struct {
	Dir         string
	ReplacedDir string // directory of the previous files; empty if there were none
	Tables      []Count
	OutboxRows  int64 // rows that have not become events; they stay on the server
}

// Count is the number of rows of a table on the server, and of those that were copied.
type Count struct {
	Table          string
	Source, Copied int64
}

// Copy replaces the files of the embedded store by new ones with the data of the server,
// which it only reads. No daemon may run. Nothing is replaced until everything has been
// copied and counted.
func Copy(ctx context.Context, c Config) (r Result, err error) {
	source, err := appdb.OpenSchema(ctx, appdb.Config{DSN: c.DSN, Schema: c.Schema})
	if err != nil {
		return r, fault.Wrap(err, fault.Unavailable, "the database on the server cannot be opened")
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	fences, err := checkSource(ctx, source)
	if err != nil {
		return r, err
	}
	if err := datadir.Make(c.Dir); err != nil {
		return r, err
	}
	// A daemon with a store on a server holds this lock only.
	serving, err := datadir.LockServing(c.Dir, fmt.Sprintf("pid %d, whd store copy", os.Getpid()))
	if err != nil {
		return r, err
	}
	defer serving.Release()
	r.Dir = c.Dir
	target := backup.Target{
		Dir:   c.Dir,
		Files: []backup.File{{Name: appdb.FileName}, {Name: appdb.LogFileName}},
		Force: true,
	}
	r.ReplacedDir, err = target.Replace("copy", func(dir string) error {
		if err := c.checkTarget(ctx); err != nil {
			return err
		}
		if err := r.copyAll(ctx, source, dir); err != nil {
			return err
		}
		fencesAfter, err := checkSource(ctx, source)
		if err != nil {
			return err
		}
		if fencesAfter != fences {
			return errors.New("a daemon has used the data on the server during the copy;" +
				" stop all daemons, then copy again")
		}
		return nil
	})
	return r, err
}

// checkSource returns an error if the tables do not have the version of this program, or
// are in use. fences changes whenever a daemon starts.
func checkSource(ctx context.Context, source *appdb.DB) (fences int64, err error) {
	m, err := source.Migration(ctx)
	if err != nil {
		return 0, err
	}
	if m.After == 0 {
		return 0, fmt.Errorf("%s on the server contains no tables of whd;"+
			" select another one with --schema, or another database with --from", m.Name)
	}
	if m.After != m.Latest {
		return 0, fmt.Errorf("the tables of %s have version %d, but this whd copies version %d:"+
			" run whd migrate --store sqlserver://... with the same connection string first,"+
			" or use the latest whd", m.Name, m.After, m.Latest)
	}
	leasedSeconds, err := queryInt(ctx, source,
		`SELECT COALESCE(MAX(DATEDIFF(second, SYSUTCDATETIME(), p.LeaseUntil)) + 1, 0)
FROM whd.WH_Partition p WHERE p.LeaseUntil > SYSUTCDATETIME()`)
	if err != nil {
		return 0, err
	}
	if leasedSeconds > 0 {
		return 0, fault.New(fault.Unavailable, "a daemon uses the data on the server:"+
			" its leases end in %d seconds, unless it renews them;"+
			" stop all daemons, or wait if it was killed", leasedSeconds)
	}
	return queryInt(ctx, source, `SELECT COALESCE(SUM(p.Fence), 0) FROM whd.WH_Partition p`)
}

// originRow is the row of WH_Number that records why the data of the server is not missing
// in a file: it was copied, or an administrator does not need it.
const (
	originRow    = "Origin"
	originCopied = 1
	originFresh  = 2
)

// checkTarget returns an error if the directory contains a store in use. Files that may be
// of different stores, since replacing them was interrupted, are replaced.
func (c Config) checkTarget(ctx context.Context) error {
	path := filepath.Join(c.Dir, appdb.FileName)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) || datadir.ReplaceInterrupted(c.Dir) {
		return nil
	}
	db, err := appdb.OpenFile(path)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	defer db.Close()
	const unused = -1 // the origin does not matter
	origin, err := queryInt(ctx, db, `SELECT CASE WHEN
	EXISTS (SELECT 1 FROM whd.SY_WebhookSubscriber) OR EXISTS (SELECT 1 FROM whd.SY_WebhookMessage)
THEN COALESCE((SELECT Next FROM whd.WH_Number WHERE Name = '`+originRow+`'), 0) ELSE -1 END`)
	if err != nil || origin == unused {
		return err
	}
	if origin != originCopied {
		return fmt.Errorf("%s contains subscribers or messages that were not copied from a server;"+
			" move the file away, or use another data directory", path)
	}
	if !c.Replace {
		return fmt.Errorf("%s contains the data of an earlier copy;"+
			" --replace moves it, with all later changes, to a subdirectory and copies again", path)
	}
	return nil
}

// Skip records in a file store that the data on the server is not needed.
func Skip(ctx context.Context, file *appdb.DB) error { return setOrigin(ctx, file, originFresh) }

// setOrigin records the origin in a file store, unless one is recorded already.
func setOrigin(ctx context.Context, file *appdb.DB, origin int) error {
	const statement = `INSERT INTO whd.WH_Number (Name, Next)
SELECT @Name, @Next WHERE NOT EXISTS (SELECT 1 FROM whd.WH_Number WHERE Name = @Name)`
	_, err := file.Exec(ctx, statement, sql.Named("Name", originRow), sql.Named("Next", origin))
	return err
}

// IsNew reports whether a file store has no subscribers, and no data on a server was copied
// or skipped.
func IsNew(ctx context.Context, file *appdb.DB) (bool, error) {
	const statement = `SELECT EXISTS (SELECT 1 FROM whd.SY_WebhookSubscriber)
OR EXISTS (SELECT 1 FROM whd.WH_Number WHERE Name = '` + originRow + `')`
	used, err := queryInt(ctx, file, statement)
	return used == 0 && err == nil, err
}

// ErrUnreadable means that subscribers may exist, but the login has no permission to read them.
var ErrUnreadable = errors.New("the login has no permission to read the table of subscribers")

// HasSubscribers reports whether the database on the server has subscribers in a schema of
// whd. It returns ErrUnreadable if the login may not read them.
func HasSubscribers(ctx context.Context, dsn, schema string) (bool, error) {
	server, err := appdb.OpenSchema(ctx, appdb.Config{DSN: dsn, Schema: schema})
	if err != nil {
		return false, err
	}
	defer server.Close()
	n, err := queryInt(ctx, server,
		`SELECT CASE WHEN EXISTS (SELECT 1 FROM whd.SY_WebhookSubscriber) THEN 1 ELSE 0 END`)
	if refused, ok := errors.AsType[*mssql.Error](err); ok {
		if refused.NoTable() {
			return false, nil
		}
		if refused.Forbidden() {
			return false, ErrUnreadable
		}
	}
	return n > 0, err
}

// queryInt returns the number that a statement selects.
func queryInt(ctx context.Context, db *appdb.DB, statement string) (int64, error) {
	n, err := appdb.QueryOne(ctx, db, appdb.ScanInt, statement)
	if err != nil {
		return 0, err
	}
	return *n, nil
}
