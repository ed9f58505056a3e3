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

	writing   sync.Mutex
	conn      *sqlite.Conn // the writer's connection
	anonymous anonymousRows
}

// NewFile returns a File for a path; connections bounds the concurrent queries. The
// file is opened at the first use.
func NewFile(path string, connections int) *File {
	return &File{path: path, connections: connections}
}

func (f *File) open(ctx context.Context) (*executor.File, error) {
	f.opening.Lock()
	defer f.opening.Unlock()
	if f.closed {
		return nil, executor.Classify(sqlite.ErrPoolClosed)
	}
	if f.readers != nil {
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
		if err := conn.Exec("COMMIT"); err != nil {
			return err
		}
		f.anonymous.added(entries)
		return nil
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
	into[atParam-1] = "DateTime"
	into[statusParam-1] = "StatusCode"
	into[durationParam-1] = "RequestDuration"
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
	resetErr := stmt.Reset()
	if err != nil {
		return err
	}
	return resetErr
}

// deleteFile deletes the oldest rows, but never the newest one, since it determines
// the next ID.
const deleteFile = `DELETE FROM WH_RequestLog WHERE Id IN (SELECT Id FROM WH_RequestLog%s ORDER BY Id LIMIT ?1)
AND Id < (SELECT MAX(Id) FROM WH_RequestLog)%s RETURNING Id, UserAuthId IS NULL, %s`

var (
	deleteOld       = fmt.Sprintf(deleteFile, "", " AND DateTime < ?2", rowSize)
	deleteOldest    = fmt.Sprintf(deleteFile, "", "", rowSize)
	deleteAnonymous = fmt.Sprintf(deleteFile, " WHERE UserAuthId IS NULL AND Id >= ?2", "", rowSize)
	measureSome     = `SELECT SUM(` + rowSize + `) FROM WH_RequestLog WHERE Id > ?1 AND Id <= ?2 AND UserAuthId IS NULL`
)

// rowSize is the size of a row as Entry.Size.
var rowSize = func() string {
	size := fmt.Sprint(requestlog.BaseSize)
	for i := range requestlog.Texts {
		size += " + COALESCE(octet_length(" + requestlog.Column(i) + "), 0)"
	}
	return size
}()

// anonymousRows is the number of bytes of anonymous rows. It is measured after each start,
// part by part, since that reads the whole file.
type anonymousRows struct {
	bytes      int64 // size of the rows up to measuredTo
	measuredTo int64 // ID
	complete   bool  // all rows have been measured
	first      int64 // no anonymous row has a lower ID
}

// added counts new rows.
func (a *anonymousRows) added(entries []requestlog.Entry) {
	if !a.complete {
		return
	}
	for i := range entries {
		if e := &entries[i]; e.Anonymous() {
			a.bytes += int64(e.Size())
		}
	}
}

// measure measures some rows, and reports whether there are more.
func (a *anonymousRows) measure(conn *sqlite.Conn) (hasMore bool, err error) {
	if a.complete {
		return false, nil
	}
	oldest, _, err := conn.QueryInt("SELECT MIN(Id) FROM WH_RequestLog")
	if err != nil {
		return false, err
	}
	newest, _, err := conn.QueryInt("SELECT MAX(Id) FROM WH_RequestLog")
	if err != nil {
		return false, err
	}
	from := max(a.measuredTo, oldest-1)
	size, _, err := conn.QueryInt(measureSome, from, from+measureBatch)
	if err != nil {
		return false, err
	}
	a.bytes += size
	a.measuredTo = from + measureBatch
	a.complete = a.measuredTo >= newest
	return !a.complete, nil
}

// remove runs a statement that deletes rows, and returns their number and the last ID.
func (a *anonymousRows) remove(conn *sqlite.Conn, statement string, args ...any) (n, last int64, err error) {
	err = conn.Query(statement, func(row *sqlite.Stmt) error {
		n++
		id := row.Int(0)
		last = max(last, id)
		if anonymous := row.Int(1) != 0; anonymous && (a.complete || id <= a.measuredTo) {
			a.bytes -= row.Int(2)
		}
		return nil
	}, args...)
	return n, last, err
}

// exceed reports whether anonymous rows exceed their share of a log of maxBytes.
func (a *anonymousRows) exceed(maxBytes int64) bool {
	return a.bytes > maxBytes/requestlog.AnonymousShare
}

// shrink deletes a few of the oldest anonymous rows if those exceed their share of maxBytes,
// otherwise a few of the oldest rows if the log is too large.
func (a *anonymousRows) shrink(conn *sqlite.Conn, maxBytes int64, tooLarge bool) (n int64, err error) {
	if a.exceed(maxBytes) {
		n, last, err := a.remove(conn, deleteAnonymous, int64(sizeStep), a.first)
		if n > 0 || err != nil {
			a.first = max(a.first, last)
			return n, err
		}
	}
	if !tooLarge {
		return 0, nil
	}
	n, _, err = a.remove(conn, deleteOldest, int64(sizeStep))
	return n, err
}

const (
	reservedShare  = 8      // 1/8 of the maximum size is reserved for the WAL and for entries until the next pruning
	measureBatch   = 20_000 // IDs of rows that are measured at a time
	sizeStep       = 8      // rows that are deleted at a time to reduce the size; each may be large
	maxSizeRows    = 4096   // max. rows that one transaction deletes to reduce the size
	maxShrinkPages = 1024   // max. pages to return at a time
)

// Prune deletes the oldest rows that are too old or exceed the size, and returns
// free pages to the file system.
func (f *File) Prune(ctx context.Context, before time.Time, maxBytes int64) (hasMore bool, err error) {
	err = f.write(ctx, func(conn *sqlite.Conn) error {
		size, err := appdb.SizeOf(conn)
		if err != nil {
			return err
		}
		maxPages := (maxBytes + size.PageSize - 1) / size.PageSize // 0 means no limit
		if err := conn.Exec(limitWAL(maxPages, size.PageSize) + `; BEGIN IMMEDIATE`); err != nil {
			return err
		}
		measuring := false
		if maxPages > 0 {
			measuring, err = f.anonymous.measure(conn)
			if err != nil {
				return err
			}
		}
		removed, _, err := f.anonymous.remove(conn, deleteOld, int64(pruneBatch), appdb.Timestamp(before))
		if err != nil {
			return err
		}
		hasMore = removed == pruneBatch

		kept := maxPages - maxPages/reservedShare
		removedForSize := int64(0)
		for maxPages > 0 {
			tooLarge := size.Pages-size.FreePages > kept
			n, err := f.anonymous.shrink(conn, kept*size.PageSize, tooLarge)
			if err != nil {
				return err
			}
			if n == 0 {
				break
			}
			if removedForSize >= maxSizeRows {
				hasMore = true
				break
			}
			size, err = appdb.SizeOf(conn)
			if err != nil {
				return err
			}
			removedForSize += n
		}
		if err := conn.Exec("COMMIT"); err != nil {
			return err
		}
		if maxPages == 0 {
			maxPages = size.Pages
		}
		shrunk, err := appdb.Shrink(conn, size,
			min(maxShrinkPages, max(size.Pages-maxPages, size.FreePages-size.Pages/appdb.MaxFreeShare)))
		hasMore = hasMore || shrunk || measuring
		return err
	})
	if err != nil {
		f.forgetAnonymous()
	}
	return hasMore && err == nil, err
}

// forgetAnonymous has the anonymous rows measured again, after a failure that may have
// rolled deletions back.
func (f *File) forgetAnonymous() {
	f.writing.Lock()
	defer f.writing.Unlock()
	f.anonymous = anonymousRows{}
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
