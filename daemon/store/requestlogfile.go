package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/requestlog"
	"github.com/bizhook/whd/daemon/sqlite"
)

// logFile is the request log of the embedded store, as a writer and as a
// database that records are read from. It is opened when it is first needed,
// and again at each need until that has worked: what is wrong with it is to keep
// nobody from anything else.
type logFile struct {
	path        string
	connections int

	opening sync.Mutex
	readers *sqliteRecords // nil until the file is open
	closed  bool

	writing sync.Mutex
	conn    *sqlite.Conn // that writes
}

func (f *logFile) open(ctx context.Context) (*sqliteRecords, error) {
	f.opening.Lock()
	defer f.opening.Unlock()
	switch {
	case f.closed:
		return nil, classify(sqlite.ErrPoolClosed)
	case f.readers != nil:
		return f.readers, nil
	}
	if err := f.migrate(ctx); err != nil {
		return nil, unavailable(err, "the request log cannot be opened")
	}
	readers, err := openSystemFile(f.path, f.connections)
	if err != nil {
		return nil, unavailable(err, "the request log cannot be opened")
	}
	f.readers = readers
	return readers, nil
}

// logPageSize takes a fifth off the work of adding rows, which only ever stand
// behind the others.
const logPageSize = "page_size(16384)"

func (f *logFile) migrate(ctx context.Context) error {
	own, err := openOwn(f.path, logPageSize)
	if err != nil {
		return err
	}
	own.name, own.folder = logFileName, logMigrations
	return errors.Join(own.bringUp(ctx), own.close())
}

func (f *logFile) session(ctx context.Context, kind *record.Kind, several bool) (session, error) {
	readers, err := f.open(ctx)
	if err != nil {
		return nil, err
	}
	return readers.session(ctx, kind, several)
}

// close leaves a connection that is stuck in a statement to the system.
func (f *logFile) close() error {
	f.opening.Lock()
	defer f.opening.Unlock()
	f.closed = true
	var err error
	if f.readers != nil {
		err = f.readers.close()
	}
	if !f.writing.TryLock() {
		return errors.Join(err, errors.New("the request log is still being written"))
	}
	defer f.writing.Unlock()
	if f.conn != nil {
		err = errors.Join(err, f.conn.Close())
		f.conn = nil
	}
	return err
}

// logPragmas make a crash of the machine lose the last entries at most. What a
// long read has made the log of changes grow to is given back.
var logPragmas = []string{"synchronous = NORMAL", "cache_size = -1000", "journal_size_limit = 16777216"}

// write lends the connection that writes.
func (f *logFile) write(ctx context.Context, work func(*sqlite.Conn) error) error {
	if _, err := f.open(ctx); err != nil {
		return err
	}
	f.writing.Lock()
	defer f.writing.Unlock()
	if f.conn == nil {
		conn, err := sqlite.Open(f.path, sqlite.Options{BusyTimeout: time.Second, Pragmas: logPragmas})
		if err != nil {
			return unavailable(err, "the request log cannot be written")
		}
		f.conn = conn
	}
	defer f.conn.Watch(ctx)()
	err := work(f.conn)
	if f.conn.InTransaction() {
		err = errors.Join(err, f.conn.Exec("ROLLBACK"))
	}
	return unwritten(err)
}

// unwritten tells what passes from what does not.
func unwritten(err error) error {
	if e, is := errors.AsType[*sqlite.Error](err); is && !e.Constraint() {
		return unavailable(err, "the request log cannot be written")
	}
	return err
}

// Append adds entries in one transaction.
func (f *logFile) Append(ctx context.Context, entries []requestlog.Entry) error {
	return f.write(ctx, func(conn *sqlite.Conn) error {
		if err := conn.Exec("BEGIN IMMEDIATE"); err != nil {
			return err
		}
		stmt, err := conn.Prepare(logFileInsert)
		if err != nil {
			return err
		}
		for i := range entries {
			if err := appendEntry(stmt, &entries[i]); err != nil {
				return err
			}
		}
		return conn.Exec("COMMIT")
	})
}

// The numbers of the parameters behind those of the texts.
const (
	logAt = requestlog.Texts + 1 + iota
	logStatus
	logDuration
)

var logFileInsert = makeLogFileInsert()

func makeLogFileInsert() string {
	into := make([]string, logDuration)
	values := make([]string, logDuration)
	for i := range requestlog.Texts {
		into[i] = requestlog.Column(i)
	}
	into[logAt-1], into[logStatus-1], into[logDuration-1] = "DateTime", "StatusCode", "RequestDuration"
	for i := range values {
		values[i] = fmt.Sprintf("?%d", i+1)
	}
	return "INSERT INTO WH_RequestLog (" + strings.Join(into, ", ") + ") VALUES (" + strings.Join(values, ", ") + ")"
}

func appendEntry(stmt *sqlite.Stmt, e *requestlog.Entry) error {
	stmt.BindText(logAt, stamp(e.At))
	stmt.BindInt(logStatus, int64(e.Status))
	stmt.BindInt(logDuration, logTicks(e.Duration))
	for i, text := range e.Texts {
		if text != "" {
			stmt.BindText(i+1, text)
		}
	}
	_, err := stmt.Step()
	if failed := stmt.Reset(); err == nil {
		err = failed
	}
	return err
}

// pruneFile removes the oldest rows but never the newest, since ids go on from
// that.
const pruneFile = `DELETE FROM WH_RequestLog WHERE Id IN (SELECT Id FROM WH_RequestLog ORDER BY Id LIMIT ?1)
AND Id < (SELECT MAX(Id) FROM WH_RequestLog) AND (DateTime < ?2 OR ?3)`

// Prune removes the oldest rows that are too old or too many. The file does not
// shrink: the room is used again.
func (f *logFile) Prune(ctx context.Context, before time.Time, maxBytes int64) (more bool, err error) {
	err = f.write(ctx, func(conn *sqlite.Conn) error {
		used, err := usedBytes(conn)
		if err != nil {
			return err
		}
		stmt, err := conn.Prepare(pruneFile)
		if err != nil {
			return err
		}
		defer stmt.Reset()
		stmt.BindInt(1, pruneBatch)
		stmt.BindText(2, stamp(before))
		if maxBytes > 0 && used > maxBytes {
			stmt.BindInt(3, 1)
		}
		_, err = stmt.Step()
		more = conn.Changes() == pruneBatch
		return err
	})
	return more && err == nil, err
}

// usedBytes is what the file's rows take.
func usedBytes(conn *sqlite.Conn) (int64, error) {
	stmt, err := conn.Prepare(`SELECT (p.page_count - f.freelist_count) * s.page_size FROM pragma_page_count p, pragma_freelist_count f, pragma_page_size s`)
	if err != nil {
		return 0, err
	}
	defer stmt.Reset()
	if _, err := stmt.Step(); err != nil {
		return 0, err
	}
	return stmt.Int(0), nil
}
