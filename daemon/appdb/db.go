// Package appdb keeps the service's own tables, in a file or in a schema on a
// server: it opens and migrates them, runs statements on them, and has the users,
// sessions, keys and the audit trail.
package appdb

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/mssql"
	"github.com/bizhook/whd/daemon/sqlite"
)

// DB is where our own tables are: a file, or a schema on a server. Its
// statements are the subset of SQL that SQLite and SQL Server share, with
// parameters @Name, which the drivers of both understand, and tables whd.Name.
type DB struct {
	Pool   *sql.DB
	files  openFiles    // see Watch; none on a server
	end    func() error // closes the pool
	name   string       // for people
	Schema string       // on a server, else ""
	prefix string       // before each statement
	Dialect
	Holder    string          // of leases: this process, as others know it
	WriteLock *writeLock      // to write to a file; nil on a server
	Drain     *executor.Drain // of long reads of a file; nil on a server
	Probe     probe

	*Migrator
	reader // of the kinds that the service itself keeps; nil where they are not read
}

// The errors of the file of our own tables.
var (
	ErrDamaged  = errors.New("the file is damaged")
	ErrReplaced = errors.New("the file was deleted or replaced")
)

// Dialect is what differs between the statements for a file and for a server.
type Dialect struct {
	Clock      string // the store's time: a server's own, so that all daemons have the same, or the host's
	ClockAfter string // the time after @Term, in milliseconds
	Limit      string // ends a statement with ORDER BY, of whose rows it gives @Limit
	InList     string // the numbers of the parameter @List, see ListArg
	Size       string // the function that counts the bytes of a column, without reading it
	document   func([]byte) any
}

// OfFile is the dialect of a file.
var FileDialect = Dialect{
	Clock:      `strftime('%Y-%m-%dT%H:%M:%f0000', 'now')`,
	ClockAfter: `strftime('%Y-%m-%dT%H:%M:%f0000', 'now', (@Term / 1000.0) || ' seconds')`,
	Limit:      ` LIMIT @Limit`,
	InList:     `(SELECT j.value FROM json_each(@List) j)`,
	Size:       `octet_length`,
	document:   func(text []byte) any { return string(text) },
}

var serverDialect = Dialect{
	Clock:      `SYSUTCDATETIME()`,
	ClockAfter: `DATEADD(millisecond, @Term, SYSUTCDATETIME())`,
	Limit:      ` OFFSET 0 ROWS FETCH NEXT @Limit ROWS ONLY`,
	InList:     `(SELECT j.ID FROM OPENJSON(@List) WITH (ID bigint '$') j)`,
	Size:       `DATALENGTH`,
	document:   mssql.Document,
}

// reader reads plans.
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

// Accounts are the stored users, keys and sessions.
func (o *DB) Accounts() *Accounts { return &Accounts{o} }

// IsServer reports whether the tables are on a server.
func (o *DB) IsServer() bool { return o.Schema != "" }

// Watch has the tables refuse what was written once a file is gone or another
// one has its name.
func (o *DB) WatchFiles(paths ...string) error {
	if o.files == nil {
		o.files = make(openFiles)
	}
	return o.files.add(paths...)
}

// Lost reports whether files were deleted or replaced since they were opened.
func (o *DB) CheckFiles() error { return o.files.check() }

// Text is a statement with the schema that it works in.
func (o *DB) Qualify(statement string) string {
	return o.prefix + o.inSchema(statement)
}

// inSchema puts the schema where the text has ours by its usual name.
func (o *DB) inSchema(text string) string {
	if o.Schema == "" {
		return strings.ReplaceAll(text, "whd.", "")
	}
	return strings.ReplaceAll(text, "whd.", mssql.Quote(o.Schema)+".")
}

// Lock waits for the turn to write, where there are turns. leave ends it.
func (o *DB) Lock(ctx context.Context) (leave func(), err error) {
	if err := ctx.Err(); err != nil || o.WriteLock == nil {
		return func() {}, err
	}
	return o.WriteLock.lock(ctx)
}

// Run runs the steps in one transaction. It reports whether they hit what they
// must; if not, nothing has changed. The first statement of each transaction
// writes, since SQLite cannot wait for a lock once it has read.
func (o *DB) Run(ctx context.Context, steps ...Step) (hit bool, err error) {
	err = o.Transact(ctx, func(ctx context.Context, tx *sql.Tx) error {
		for _, s := range steps {
			n, err := Affected(tx.ExecContext(ctx, o.Qualify(s.SQL), s.Args...))
			if err != nil {
				return err
			}
			if s.MustAffect && n == 0 {
				return errMissed
			}
		}
		return nil
	})
	if errors.Is(err, errMissed) {
		return false, nil
	}
	return err == nil, err
}

// errMissed ends a transaction that did not hit what it must.
var errMissed = errors.New("no row was hit")

// Transact does work in a transaction, again where the server ended it in favour
// of another one. The context that work gets ends with the statement limit.
func (o *DB) Transact(ctx context.Context, work func(context.Context, *sql.Tx) error) error {
	return executor.Retry(ctx, executor.IsDeadlock, func(ctx context.Context) error {
		leave, err := o.Lock(ctx)
		if err != nil {
			return err
		}
		defer leave()
		tx, err := o.Pool.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer tx.Rollback() // does nothing after Commit
		if err := work(ctx, tx); err != nil {
			return err
		}
		if err := tx.Commit(); err != nil {
			return err
		}
		return o.files.check()
	})
}

// Exec runs a statement by itself and counts the rows that it hit.
func (o *DB) Exec(ctx context.Context, statement string, args ...any) (int64, error) {
	return o.execText(ctx, o.Qualify(statement), args...)
}

func (o *DB) execText(ctx context.Context, text string, args ...any) (n int64, err error) {
	err = executor.Retry(ctx, executor.IsDeadlock, func(ctx context.Context) error {
		leave, err := o.Lock(ctx)
		if err != nil {
			return err
		}
		defer leave()
		if n, err = Affected(o.Pool.ExecContext(ctx, text, args...)); err != nil {
			return err
		}
		return o.files.check()
	})
	return n, err
}

// Query has work read the rows of a statement, again where the first time failed.
func (o *DB) Query(ctx context.Context, work func(*sql.Rows) error, statement string, args ...any) error {
	return executor.Retry(ctx, executor.MayReadAgain, func(ctx context.Context) error {
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

// QueryInt runs a statement that changes something and gives one number. It reads
// to the end: that is where a transaction is committed.
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

// ListArg is the parameter @List.
func (o *DB) ListArg(values any) sql.NamedArg {
	text, err := json.Marshal(values)
	if err != nil {
		panic("store: " + err.Error()) // numbers and texts can always be written
	}
	return sql.Named("List", o.document(text))
}

// HolderArg is the parameter @Holder.
func (o *DB) HolderArg() sql.NamedArg { return sql.Named("Holder", o.Holder) }

// LockKey keeps the transactions of other daemons on the server from locking the
// key until tx ends: it changes a row of WH_Lock, which tx need not be one of our
// own connections for.
func (o *DB) LockKey(ctx context.Context, tx *sql.Tx, key string) error {
	text, args := mssql.Call(o.Qualify("UPDATE whd.WH_Lock SET Changes = Changes + 1 WHERE ID = @p1"), mssql.Long(lockRow(key)))
	n, err := Affected(tx.ExecContext(ctx, text, args...))
	e, refused := errors.AsType[*mssql.Error](err)
	if err == nil && n == 0 || refused && !e.Deadlock() && !e.LockTimeout() && !e.Away() {
		return executor.Unavailable(err, "the service's own table WH_Lock is missing or not whole; it needs whd migrate")
	}
	return err
}

// Fault is what those who asked may know of an error of our own tables.
func (o *DB) Fault(err error, doing string) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	err = fmt.Errorf("%s: %w", doing, err)
	if sqlite.IsDamaged(err) {
		return executor.Unavailable(errors.Join(ErrDamaged, err), "the file "+o.name+" is damaged")
	}
	if e, is := errors.AsType[*mssql.Error](err); is && (e.NoTable() || e.NoColumn()) {
		return executor.Unavailable(err, "the service's own tables are missing or of an older version; they need whd migrate")
	}
	return executor.Unavailable(err, "the service's own tables cannot be used at the moment")
}

// Ready reports why the tables cannot be used, if so.
func (o *DB) Ready(ctx context.Context) error {
	current, latest, err := o.versions(ctx)
	if err != nil {
		return executor.NotReady(err)
	}
	if current < latest {
		return behind(o.name, current, latest)
	}
	return nil
}

// probe is the last attempt to write to our own tables, and how it ended. The
// turn guards it.
type probe struct {
	turn *writeLock
	At   time.Time
	err  error
}

const (
	probeInterval = time.Second     // between two attempts, however many ask
	probeLimit    = 2 * time.Second // that one may take
)

// Writable reports why nothing can be written to the tables, if so. It writes,
// since nothing less shows a disk that is full or a database that is read-only.
func (o *DB) Writable(ctx context.Context) error {
	leave, err := o.Probe.turn.lock(ctx)
	if err != nil {
		return executor.NotReady(err)
	}
	defer leave()
	if time.Since(o.Probe.At) >= probeInterval {
		limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), probeLimit)
		defer cancel()
		_, err := o.Exec(limited, `UPDATE whd.WH_Number SET Next = Next + 1 WHERE Name = 'Probe'`)
		o.Probe.err, o.Probe.At = executor.NotReady(err), time.Now()
	}
	return o.Probe.err
}

// ErrBehind is what is wrapped where our own tables are older than this program
// needs them. On a server it is for people to end this, by whd migrate.
var ErrOutdated = errors.New("its own tables are behind")

func behind(name string, current, latest int64) *fault.Error {
	return fault.Because(ErrOutdated, fault.Unavailable,
		"the tables of %s have version %d and this program needs version %d; they need whd migrate", name, current, latest)
}

// NewGUID makes a random GUID, the form that ids of records have. It cannot be
// guessed.
func NewGUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
