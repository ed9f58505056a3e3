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
	lags      lags
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
	// A migration that reads a large log may take longer than a write.
	if err := appdb.MigrateLog(context.WithoutCancel(ctx), f.path); err != nil {
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
	// Constraint violations are permanent, other errors temporary.
	if e, ok := errors.AsType[*sqlite.Error](err); ok && !e.Constraint() {
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
		if err := f.lags.add(conn, entries); err != nil {
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
	columns := make([]string, durationParam)
	params := make([]string, durationParam)
	for i := range requestlog.Texts {
		columns[i] = requestlog.Column(i)
	}
	columns[atParam-1] = "DateTime"
	columns[statusParam-1] = "StatusCode"
	columns[durationParam-1] = "RequestDuration"
	for i := range params {
		params[i] = fmt.Sprintf("?%d", i+1)
	}
	return "INSERT INTO WH_RequestLog (" + strings.Join(columns, ", ") + ")" +
		" VALUES (" + strings.Join(params, ", ") + ")"
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
	measureSome     = `SELECT SUM(` + rowSize + `) FROM WH_RequestLog` +
		` WHERE Id > ?1 AND Id <= ?2 AND UserAuthId IS NULL`
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
	measuredTo int64 // ID of the last row that has been measured
	complete   bool  // all rows have been measured
	first      int64 // no anonymous row has a lower ID
	missing    missing
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
		a.missing.add(id)
		isAnonymous := row.Int(1) != 0
		isMeasured := a.complete || id <= a.measuredTo
		if isAnonymous && isMeasured {
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
	// reservedShare is the part (1/8) of the maximum size that is reserved for the WAL and
	// for entries until the next pruning.
	reservedShare = 8

	measureBatch   = 20_000 // IDs of rows that are measured at a time
	sizeStep       = 8      // rows that are deleted at a time to reduce the size; each may be large
	maxSizeRows    = 4096   // max. rows that one transaction deletes to reduce the size
	maxShrinkPages = 1024   // max. pages to return at a time
)

// Prune deletes the oldest rows that are too old or exceed the size, and returns
// free pages to the file system.
func (f *File) Prune(ctx context.Context, before time.Time, maxBytes int64) (hasMore bool, err error) {
	err = f.write(ctx, func(conn *sqlite.Conn) error {
		var err error
		hasMore, err = f.prune(conn, before, maxBytes)
		return err
	})
	if err != nil {
		f.forgetAnonymous()
		return false, err
	}
	return hasMore, nil
}

// prune prunes the file of the writer's connection.
func (f *File) prune(conn *sqlite.Conn, before time.Time, maxBytes int64) (hasMore bool, err error) {
	size, err := appdb.SizeOf(conn)
	if err != nil {
		return false, err
	}
	maxPages := (maxBytes + size.PageSize - 1) / size.PageSize // 0 means no limit
	if err := conn.Exec(limitWAL(maxPages, size.PageSize) + `; BEGIN IMMEDIATE`); err != nil {
		return false, err
	}
	f.anonymous.missing, err = newMissing(conn)
	if err != nil {
		return false, err
	}
	hasUnmeasured := false
	if maxPages > 0 {
		hasUnmeasured, err = f.anonymous.measure(conn)
		if err != nil {
			return false, err
		}
	}
	n, _, err := f.anonymous.remove(conn, deleteOld, int64(pruneBatch), appdb.Timestamp(before))
	if err != nil {
		return false, err
	}
	hasOld := n == pruneBatch

	isTooLarge := false
	if maxPages > 0 {
		size, isTooLarge, err = f.reduce(conn, size, maxPages)
		if err != nil {
			return false, err
		}
	}
	if err := f.anonymous.missing.store(conn); err != nil {
		return false, err
	}
	if err := conn.Exec("COMMIT"); err != nil {
		return false, err
	}
	if err := f.lags.forget(conn); err != nil {
		return false, err
	}

	excess := size.FreePages - size.Pages/appdb.MaxFreeShare
	if maxPages > 0 {
		excess = max(excess, size.Pages-maxPages)
	}
	shrunk, err := appdb.Shrink(conn, size, min(maxShrinkPages, excess))
	return hasUnmeasured || hasOld || isTooLarge || shrunk, err
}

// reduce deletes rows of a file until it fits into maxPages without the reserved part. It
// returns the new size, and whether it stopped early, at the limit of one transaction.
func (f *File) reduce(
	conn *sqlite.Conn, size appdb.Size, maxPages int64,
) (reduced appdb.Size, isTooLarge bool, err error) {
	usable := maxPages - maxPages/reservedShare
	deleted := int64(0)
	for {
		exceeds := size.Pages-size.FreePages > usable
		n, err := f.anonymous.shrink(conn, usable*size.PageSize, exceeds)
		if err != nil {
			return size, false, err
		}
		if n == 0 {
			return size, false, nil
		}
		if deleted >= maxSizeRows {
			return size, true, nil
		}
		deleted += n
		size, err = appdb.SizeOf(conn)
		if err != nil {
			return size, false, err
		}
	}
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
