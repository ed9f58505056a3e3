// Package appdb provides the service's own tables, in a file or in a schema on SQL
// Server: it opens and migrates them, runs statements on them, and stores users,
// sessions, API keys and the audit trail.
package appdb

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/mssql"
	"github.com/bizhook/whd/daemon/sqlite"
)

// DB is the database with the service's own tables: a file, or a schema on SQL
// Server. Statements use the subset of SQL that SQLite and SQL Server share, with
// parameters @Name, which both drivers support, and tables whd.Name.
type DB struct {
	Pool   *sql.DB
	files  openFiles    // see WatchFiles; nil on SQL Server
	end    func() error // closes the pool
	name   string       // name of the file or schema, for display
	Schema string       // schema on SQL Server; empty for a file
	prefix string       // is prepended to each statement
	Dialect
	Holder    string          // holder of leases; identifies this process
	WriteLock *writeLock      // for writes to a file; nil on SQL Server
	Drain     *executor.Drain // interrupts long reads of a file; nil on SQL Server
	Probe     probe
	hasJSON   atomic.Bool // see checkJSON

	*Migrator
	reader // queries of the service's record kinds; nil if not opened for reading
}

// Errors of the file.
var (
	ErrDamaged  = errors.New("the file is damaged")
	ErrReplaced = errors.New("the file was deleted or replaced")
	ErrUnsynced = errors.New("the file was not synced")
)

// Dialect contains the SQL that differs between SQLite and SQL Server.
type Dialect struct {
	Clock      string // current time: of the server, so that all daemons agree, or of the host
	ClockAfter string // the time @Term milliseconds from now
	Limit      string // follows ORDER BY and limits the rows to @Limit
	Page       string // the same, after @Skip rows
	InList     string // the numbers of the parameter @List, see ListArg
	Size       string // function that returns a column's length in bytes without reading it
	Exact      string // follows a text that is compared exactly, not by the collation of its column
	document   func([]byte) any
}

// FileDialect is the dialect of SQLite.
var FileDialect = Dialect{
	Clock:      `strftime('%Y-%m-%dT%H:%M:%f0000', 'now')`,
	ClockAfter: `strftime('%Y-%m-%dT%H:%M:%f0000', 'now', (@Term / 1000.0) || ' seconds')`,
	Limit:      ` LIMIT +@Limit`,
	Page:       ` LIMIT +@Limit OFFSET @Skip`,
	InList:     `(SELECT j.value FROM json_each(@List) j)`,
	Size:       `octet_length`,
	Exact:      ` COLLATE BINARY`,
	document:   func(text []byte) any { return string(text) },
}

var serverDialect = Dialect{
	Clock:      `SYSUTCDATETIME()`,
	ClockAfter: `DATEADD(millisecond, @Term, SYSUTCDATETIME())`,
	Limit:      ` OFFSET 0 ROWS FETCH NEXT @Limit ROWS ONLY`,
	Page:       ` OFFSET @Skip ROWS FETCH NEXT @Limit ROWS ONLY`,
	InList:     `(SELECT j.ID FROM OPENJSON(@List) WITH (ID bigint '$') j)`,
	Size:       `DATALENGTH`,
	Exact:      ` COLLATE Latin1_General_BIN2`,
	document:   mssql.Document,
}

// reader runs query plans.
type reader interface {
	executor.Database
	Close() error
}

// Close closes the connections.
func (o *DB) Close() error {
	if o.reader == nil {
		return o.end()
	}
	return errors.Join(o.reader.Close(), o.end())
}

// Accounts returns the store of users, API keys and sessions.
func (o *DB) Accounts() *Accounts { return &Accounts{o} }

// IsServer reports whether the tables are on SQL Server.
func (o *DB) IsServer() bool { return o.Schema != "" }

// WatchFiles makes writes fail with ErrReplaced once one of the files is deleted or
// replaced.
func (o *DB) WatchFiles(paths ...string) error {
	if o.files == nil {
		o.files = make(openFiles)
	}
	return o.files.add(paths...)
}

// Fail makes writes to a file fail with ErrUnsynced. The next process finds everything in
// the WAL.
func (o *DB) Fail(err error) {
	o.WriteLock.failed.Store(fault.Wrap(fmt.Errorf("%w: %w", ErrUnsynced, err), fault.Unavailable,
		"%s could not be written to the disk", o.name))
}

// CheckFiles returns ErrReplaced if a file was deleted or replaced since it was
// opened, and ErrUnsynced after Fail.
func (o *DB) CheckFiles() error {
	if o.IsServer() {
		return nil
	}
	if err := o.WriteLock.failed.Load(); err != nil {
		return err
	}
	return o.files.check()
}

// Qualify returns a statement with the actual schema and the connection's prefix.
func (o *DB) Qualify(statement string) string {
	return o.prefix + o.InSchema(statement)
}

// InSchema returns a text with "whd." replaced by the actual schema.
func (o *DB) InSchema(text string) string {
	if o.Schema == "" {
		return strings.ReplaceAll(text, "whd.", "")
	}
	return strings.ReplaceAll(text, "whd.", mssql.Quote(o.Schema)+".")
}

// Lock waits for the write lock of a file and returns a function that releases it.
// It fails after Fail, and does nothing on SQL Server.
func (o *DB) Lock(ctx context.Context) (unlock func(), err error) {
	if err := ctx.Err(); err != nil || o.WriteLock == nil {
		return func() {}, err
	}
	return o.WriteLock.lock(ctx)
}

// Run runs the steps in one transaction. It returns false, and changes nothing, if
// a step affects no row although it must. The first statement of each transaction
// must write: SQLite cannot wait for a lock after a read.
func (o *DB) Run(ctx context.Context, steps ...Step) (affected bool, err error) {
	err = o.Transact(ctx, func(ctx context.Context, tx *sql.Tx) error {
		return o.RunIn(ctx, tx, steps...)
	})
	if errors.Is(err, errNotAffected) {
		return false, nil
	}
	return err == nil, err
}

// RunIn runs steps in the transaction of Transact. A step that affects no row although it must is an
// error, and rolls the transaction back.
func (o *DB) RunIn(ctx context.Context, tx *sql.Tx, steps ...Step) error {
	for _, s := range steps {
		n, err := Affected(tx.ExecContext(ctx, o.Qualify(s.SQL), s.Args...))
		if err != nil {
			return err
		}
		if s.MustAffect && n == 0 {
			return errNotAffected
		}
	}
	return nil
}

// errNotAffected rolls back a transaction with a step that had to affect a row.
var errNotAffected = errors.New("no row was affected")

// Transact calls work in a transaction, and again if the server chose it as a
// deadlock victim. The context passed to work has the statement timeout.
func (o *DB) Transact(ctx context.Context, work func(context.Context, *sql.Tx) error) error {
	return executor.Retry(ctx, executor.IsDeadlock, func(ctx context.Context) error {
		unlock, err := o.Lock(ctx)
		if err != nil {
			return err
		}
		defer unlock()
		tx, err := o.Pool.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer tx.Rollback() // no effect after Commit
		if err := work(ctx, tx); err != nil {
			return err
		}
		if err := tx.Commit(); err != nil {
			return err
		}
		return o.files.check()
	})
}

// Exec runs a statement and returns the number of affected rows.
func (o *DB) Exec(ctx context.Context, statement string, args ...any) (int64, error) {
	return o.execText(ctx, o.Qualify(statement), args...)
}

func (o *DB) execText(ctx context.Context, text string, args ...any) (n int64, err error) {
	err = executor.Retry(ctx, executor.IsDeadlock, func(ctx context.Context) error {
		unlock, err := o.Lock(ctx)
		if err != nil {
			return err
		}
		defer unlock()
		n, err = Affected(o.Pool.ExecContext(ctx, text, args...))
		if err != nil {
			return err
		}
		return o.files.check()
	})
	return n, err
}

// Query passes the rows of a statement to work, and retries transient failures.
func (o *DB) Query(ctx context.Context, work func(*sql.Rows) error, statement string, args ...any) error {
	return executor.Retry(ctx, executor.IsReadRetryable, func(ctx context.Context) error {
		rows, err := o.Pool.QueryContext(ctx, o.Qualify(statement), args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		if err := work(rows); err != nil {
			return err
		}
		return rows.Err()
	})
}

// QueryInt runs a statement that writes and returns one number. It reads all rows:
// only then is the statement's transaction committed.
func (o *DB) QueryInt(ctx context.Context, statement string, args ...any) (n int64, err error) {
	rows, err := o.Pool.QueryContext(ctx, o.Qualify(statement), args...)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for rows.Next() {
		if err := rows.Scan(&n); err != nil {
			return 0, err
		}
	}
	return n, rows.Err()
}

// ListArg returns the parameter @List.
func (o *DB) ListArg(values any) sql.NamedArg {
	text, err := json.Marshal(values)
	if err != nil {
		panic("store: " + err.Error()) // numbers and texts can always be encoded
	}
	return sql.Named("List", o.document(text))
}

// HolderArg returns the parameter @Holder.
func (o *DB) HolderArg() sql.NamedArg { return sql.Named("Holder", o.Holder) }

// LockKey locks a key until unlock is called, so that other daemons on the same server
// wait. It updates a row of WH_Lock in a transaction that is never committed. It does
// nothing for a file, which one daemon uses.
func (o *DB) LockKey(ctx context.Context, key string) (unlock func(), err error) {
	if o.Schema == "" {
		return func() {}, nil
	}
	tx, err := o.Pool.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	unlock = func() { tx.Rollback() }
	text, args := mssql.Call(o.Qualify("UPDATE whd.WH_Lock SET Changes = Changes + 1 WHERE ID = @p1"),
		mssql.Long(lockRow(key)))
	n, err := Affected(tx.ExecContext(ctx, text, args...))
	lacksRow := err == nil && n == 0
	if e, ok := errors.AsType[*mssql.Error](err); ok {
		isTransient := e.Deadlock() || e.LockTimeout() || e.Unavailable()
		lacksRow = !isTransient
	}
	if lacksRow {
		err = executor.Unavailable(err,
			"the service's table WH_Lock is missing or incomplete; run whd migrate")
	}
	if err != nil {
		unlock()
		return nil, err
	}
	return unlock, nil
}

// Fault wraps an error of the service's tables into one that is safe to return to
// clients; action describes the failed action, such as "adding a user".
func (o *DB) Fault(err error, action string) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	err = fmt.Errorf("%s: %w", action, err)
	if sqlite.IsDamaged(err) {
		return executor.Unavailable(errors.Join(ErrDamaged, err), "the file "+o.name+" is damaged")
	}
	if e, ok := errors.AsType[*mssql.Error](err); ok && (e.NoTable() || e.NoColumn()) {
		return executor.Unavailable(err, "the service's tables are missing or outdated; run whd migrate")
	}
	return executor.Unavailable(err, "the service's tables are unavailable")
}

// Ready returns an error if the tables cannot be used, are outdated or newer than this
// program.
func (o *DB) Ready(ctx context.Context) error {
	if err := o.checkJSON(ctx); err != nil {
		return executor.ReadinessError(err)
	}
	current, latest, err := o.versions(ctx)
	if errors.Is(err, ErrNewer) {
		return err
	}
	if err != nil {
		return executor.ReadinessError(err)
	}
	if current < latest {
		return outdated(o.name, current, latest)
	}
	return nil
}

// jsonStatement is a statement with the function through which lists are passed to SQL
// Server. A test replaces it.
var jsonStatement = `SELECT v FROM OPENJSON(N'[1]') WITH (v int '$')`

// checkJSON returns an error if the database does not have OPENJSON.
func (o *DB) checkJSON(ctx context.Context) error {
	if o.Schema == "" || o.hasJSON.Load() {
		return nil
	}
	_, err := QueryOne(ctx, o, ScanInt, jsonStatement)
	if refused, ok := errors.AsType[*mssql.Error](err); ok && refused.UnknownSyntax() {
		return executor.Unavailable(err,
			"the database has a compatibility level below 130 (SQL Server 2016),"+
				" which the service's own tables need:"+
				" have an administrator raise it by ALTER DATABASE ... SET COMPATIBILITY_LEVEL,"+
				" or use another database for the store")
	}
	o.hasJSON.Store(err == nil)
	return err
}

// probe is the result of the last write test. Its lock guards it.
type probe struct {
	lock *writeLock
	At   time.Time
	err  error
}

const (
	probeInterval = time.Second     // between two attempts, independent of the number of callers
	probeTimeout  = 2 * time.Second // timeout of one attempt
)

// Writable returns an error if the tables cannot be written. It writes a row, since
// only a write detects a full disk or a read-only database.
func (o *DB) Writable(ctx context.Context) error {
	unlock, err := o.Probe.lock.lock(ctx)
	if err != nil {
		return executor.ReadinessError(err)
	}
	defer unlock()
	if time.Since(o.Probe.At) >= probeInterval {
		limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), probeTimeout)
		defer cancel()
		_, err := o.Exec(limited, `UPDATE whd.WH_Number SET Next = Next + 1 WHERE Name = 'Probe'`)
		o.Probe.err = executor.ReadinessError(err)
		o.Probe.At = time.Now()
	}
	return o.Probe.err
}

// ErrOutdated is wrapped by errors about tables that are older than this program
// requires. On SQL Server an administrator has to run whd migrate.
var ErrOutdated = errors.New("the service's tables are outdated")

func outdated(name string, current, latest int64) *fault.Error {
	return fault.Wrap(ErrOutdated, fault.Unavailable,
		"the tables of %s have version %d, but this program requires version %d; run whd migrate",
		name, current, latest)
}

// NewGUID returns a random GUID, in the format of record IDs. It cannot be guessed.
func NewGUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:])  // never fails
	b[6] = b[6]&0x0f | 0x40 // version 4
	b[8] = b[8]&0x3f | 0x80 // variant of RFC 9562
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
