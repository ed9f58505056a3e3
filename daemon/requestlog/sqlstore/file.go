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

// File is the request log of the embedded store: it stores entries and is queried
// as a database. It is opened at the first use. If that fails, each further use
// tries again: a damaged request log does not affect the rest of the service.
type File struct {
	path        string
	connections int

	opening sync.Mutex
	readers *executor.File // nil until the file is open
	closed  bool

	writing sync.Mutex
	conn    *sqlite.Conn // the writer's connection
}

// NewFile returns a File for a path; connections bounds the concurrent queries. The
// file is opened at the first use.
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

// Session implements executor.Database.
func (f *File) Session(ctx context.Context, kind *record.Kind, several bool) (executor.Session, error) {
	readers, err := f.open(ctx)
	if err != nil {
		return nil, err
	}
	return readers.Session(ctx, kind, several)
}

// Close closes the file. It returns an error if a write is still running, and
// leaves that connection open.
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

// logPragmas: a crash of the machine loses at most the last entries.
var logPragmas = []string{"synchronous = NORMAL", "cache_size = -1000"}

// write calls work with the writer's connection.
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
	defer f.conn.InterruptOn(ctx)()
	err := work(f.conn)
	if f.conn.InTransaction() {
		err = errors.Join(err, f.conn.Exec("ROLLBACK"))
	}
	if e, ok := errors.AsType[*sqlite.Error](err); ok && !e.Constraint() { // constraint violations are permanent, other errors temporary
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
		stmt, err := conn.Prepare(insertFileRow)
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

// Parameter numbers that follow those of the texts.
const (
	atParam = requestlog.Texts + 1 + iota
	statusParam
	durationParam
)

var insertFileRow = func() string {
	into := make([]string, durationParam)
	values := make([]string, durationParam)
	for i := range requestlog.Texts {
		into[i] = requestlog.Column(i)
	}
	into[atParam-1], into[statusParam-1], into[durationParam-1] = "DateTime", "StatusCode", "RequestDuration"
	for i := range values {
		values[i] = fmt.Sprintf("?%d", i+1)
	}
	return "INSERT INTO WH_RequestLog (" + strings.Join(into, ", ") + ") VALUES (" + strings.Join(values, ", ") + ")"
}()

func appendEntry(stmt *sqlite.Stmt, e *requestlog.Entry) error {
	stmt.BindText(atParam, appdb.Timestamp(e.At))
	stmt.BindInt(statusParam, int64(e.Status))
	stmt.BindInt(durationParam, ticks(e.Duration))
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

// pruneFile deletes the oldest rows, but never the newest one, since it determines
// the next ID.
const pruneFile = `DELETE FROM WH_RequestLog WHERE Id IN (SELECT Id FROM WH_RequestLog ORDER BY Id LIMIT ?1)
AND Id < (SELECT MAX(Id) FROM WH_RequestLog) AND (DateTime < ?2 OR ?3)`

const (
	reservedShare  = 8    // 1/8 of the maximum size is reserved for the WAL and for entries until the next pruning
	sizeStep       = 8    // rows that are deleted at a time to reduce the size; each may be large
	maxSizeRows    = 4096 // max. rows that one transaction deletes to reduce the size
	maxShrinkPages = 1024 // max. pages to return at a time
)

// Prune deletes the oldest rows that are too old or exceed the size, and returns
// free pages to the file system.
func (f *File) Prune(ctx context.Context, before time.Time, maxBytes int64) (more bool, err error) {
	err = f.write(ctx, func(conn *sqlite.Conn) error {
		size, err := appdb.SizeOf(conn)
		if err != nil {
			return err
		}
		maxPages := (maxBytes + size.PageSize - 1) / size.PageSize // 0 means no limit
		if err := conn.Exec(limitWAL(maxPages, size.PageSize) + `; BEGIN IMMEDIATE`); err != nil {
			return err
		}
		removed, err := pruneRows(conn, pruneBatch, before, false)
		more = removed == pruneBatch
		for n := int64(0); err == nil && maxPages > 0 && size.Pages-size.FreePages > maxPages-maxPages/reservedShare; n += removed {
			if removed, err = pruneRows(conn, sizeStep, before, true); err != nil || removed == 0 {
				break
			}
			if more = n >= maxSizeRows; more {
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
		if maxPages == 0 {
			maxPages = size.Pages
		}
		shrunk, err := appdb.Shrink(conn, size, min(maxShrinkPages, max(size.Pages-maxPages, size.FreePages-size.Pages/appdb.MaxFreeShare)))
		more = more || shrunk
		return err
	})
	return more && err == nil, err
}

func pruneRows(conn *sqlite.Conn, limit int64, before time.Time, anyAge bool) (int64, error) {
	err := conn.Query(pruneFile, nil, limit, appdb.Timestamp(before), appdb.Bit(anyAge))
	return conn.Changes(), err
}

// limitWAL returns pragmas that make the WAL restart once it reaches a small part
// of the maximum size.
func limitWAL(maxPages, pageSize int64) string {
	const defaultSize = 16 << 20
	pages := defaultSize / pageSize
	if maxPages > 0 {
		pages = min(pages, max(1, maxPages/4/reservedShare))
	}
	return fmt.Sprintf("PRAGMA wal_autocheckpoint = %d; PRAGMA journal_size_limit = %d", pages, pages*pageSize)
}
