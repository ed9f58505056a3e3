package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/requestlog"
	"github.com/bizhook/whd/daemon/sqlite"
)

// File is the request log of the embedded store, as a writer and as a
// database that records are read from. It is opened when it is first needed,
// and again at each need until that has worked: what is wrong with it keeps
// nothing else from working.
type File struct {
	path        string
	connections int

	opening sync.Mutex
	readers *executor.File // nil until the file is open
	closed  bool

	writing sync.Mutex
	conn    *sqlite.Conn // that writes
}

// NewFile makes a File at a path, which so many may read at once. It is opened
// when it is first needed.
func NewFile(path string, connections int) *File {
	return &File{path: path, connections: connections}
}

func (f *File) open(ctx context.Context) (*executor.File, error) {
	f.opening.Lock()
	defer f.opening.Unlock()
	switch {
	case f.closed:
		return nil, executor.Classify(sqlite.ErrPoolClosed)
	case f.readers != nil:
		return f.readers, nil
	}
	if err := appdb.MigrateLog(ctx, f.path); err != nil {
		return nil, executor.Unavailable(err, "the request log cannot be opened")
	}
	readers, err := appdb.OpenReader(f.path, f.connections, nil)
	if err != nil {
		return nil, executor.Unavailable(err, "the request log cannot be opened")
	}
	f.readers = readers
	return readers, nil
}

// Session is executor.Database's.
func (f *File) Session(ctx context.Context, kind *record.Kind, several bool) (executor.Session, error) {
	readers, err := f.open(ctx)
	if err != nil {
		return nil, err
	}
	return readers.Session(ctx, kind, several)
}

// Close leaves a connection that is stuck in a statement to the system.
func (f *File) Close() error {
	f.opening.Lock()
	defer f.opening.Unlock()
	f.closed = true
	var err error
	if f.readers != nil {
		err = f.readers.Close()
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

// logPragmas make a crash of the machine lose the last entries at most.
var logPragmas = []string{"synchronous = NORMAL", "cache_size = -1000"}

// write lends the connection that writes.
func (f *File) write(ctx context.Context, work func(*sqlite.Conn) error) error {
	if _, err := f.open(ctx); err != nil {
		return err
	}
	f.writing.Lock()
	defer f.writing.Unlock()
	if f.conn == nil {
		conn, err := sqlite.Open(f.path, sqlite.Options{BusyTimeout: time.Second, Pragmas: logPragmas})
		if err != nil {
			return executor.Unavailable(err, "the request log cannot be written")
		}
		f.conn = conn
	}
	defer f.conn.Watch(ctx)()
	err := work(f.conn)
	if f.conn.InTransaction() {
		err = errors.Join(err, f.conn.Exec("ROLLBACK"))
	}
	if e, is := errors.AsType[*sqlite.Error](err); is && !e.Constraint() { // which passes
		return executor.Unavailable(err, "the request log cannot be written")
	}
	return err
}

// Append adds entries in one transaction.
func (f *File) Append(ctx context.Context, entries []requestlog.Entry) error {
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

var logFileInsert = func() string {
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
}()

func appendEntry(stmt *sqlite.Stmt, e *requestlog.Entry) error {
	stmt.BindText(logAt, appdb.Timestamp(e.At))
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

const (
	logSpare  = 8    // this part of the bound is left to the WAL, and to what comes before the next pruning
	logStep   = 8    // that are removed at a time for their size, since each may be large
	logRemove = 4096 // rows that one transaction removes for their size
	logGive   = 1024 // pages that are given back at a time
)

// Prune removes the oldest rows that are too old or too many, and gives back the
// room that is then free.
func (f *File) Prune(ctx context.Context, before time.Time, maxBytes int64) (more bool, err error) {
	err = f.write(ctx, func(conn *sqlite.Conn) error {
		size, err := appdb.SizeOf(conn)
		if err != nil {
			return err
		}
		most := (maxBytes + size.Page - 1) / size.Page // 0 is no bound
		if err := conn.Exec(limitWAL(most, size.Page) + `; BEGIN IMMEDIATE`); err != nil {
			return err
		}
		removed, err := pruneRows(conn, pruneBatch, before, false)
		more = removed == pruneBatch
		for n := int64(0); err == nil && most > 0 && size.Pages-size.Free > most-most/logSpare; n += removed {
			if removed, err = pruneRows(conn, logStep, before, true); err != nil || removed == 0 {
				break
			}
			if more = n >= logRemove; more {
				break
			}
			size, err = appdb.SizeOf(conn)
		}
		if err == nil {
			err = conn.Exec("COMMIT")
		}
		if err != nil {
			return err
		}
		if most == 0 {
			most = size.Pages
		}
		shrunk, err := appdb.Shrink(conn, size, min(logGive, max(size.Pages-most, size.Free-size.Pages/appdb.MaxFreeShare)))
		more = more || shrunk
		return err
	})
	return more && err == nil, err
}

func pruneRows(conn *sqlite.Conn, limit int64, before time.Time, all bool) (int64, error) {
	err := conn.Query(pruneFile, nil, limit, appdb.Timestamp(before), appdb.Bit(all))
	return conn.Changes(), err
}

// limitWAL has the WAL written back, and then begun again, once it takes a small
// part of the bound.
func limitWAL(most, page int64) string {
	const usual = 16 << 20
	pages := usual / page
	if most > 0 {
		pages = min(pages, max(1, most/4/logSpare))
	}
	return fmt.Sprintf("PRAGMA wal_autocheckpoint = %d; PRAGMA journal_size_limit = %d", pages, pages*page)
}
