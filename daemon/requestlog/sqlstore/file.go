package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
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
	closed  atomic.Bool

	writing   sync.Mutex
	conn      *sqlite.Conn // the writer's connection; nil until the first write
	anonymous anonymousRows
	ages      agePass
	lags      lags
}

// NewFile returns a File for a path; connections bounds the concurrent queries. The
// file is opened at the first use.
func NewFile(path string, connections int) *File {
	return &File{path: path, connections: connections}
}

// open opens the file for queries unless it is open.
func (f *File) open(ctx context.Context) (*executor.File, error) {
	f.opening.Lock()
	defer f.opening.Unlock()
	if f.closed.Load() {
		return nil, errClosed()
	}
	if f.readers != nil {
		return f.readers, nil
	}
	// A migration that reads a large log may take longer than a write may. It is not cancelled with
	// the write that started it, since the next one would have to start again.
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

// errClosed returns the error of requests after Close.
func errClosed() error { return executor.Classify(sqlite.ErrPoolClosed) }

// Session starts a session for queries.
func (f *File) Session(ctx context.Context, kind *record.Kind, several bool) (executor.Session, error) {
	readers, err := f.open(ctx)
	if err != nil {
		return nil, err
	}
	return readers.Session(ctx, kind, several)
}

// Close closes the file. It waits for a migration, which can take minutes, but not for a write: it
// returns an error if one is running, which closes its connection when it ends.
func (f *File) Close() error {
	f.opening.Lock()
	defer f.opening.Unlock()
	f.closed.Store(true)
	var err error
	if f.readers != nil {
		err = f.readers.Close()
	}
	isWriting, closeErr := f.closeWriter()
	if isWriting {
		closeErr = errors.New("the request log is still being written")
	}
	return errors.Join(err, closeErr)
}

// closeWriter closes the writer's connection unless a write is running.
func (f *File) closeWriter() (isWriting bool, err error) {
	if !f.writing.TryLock() {
		return true, nil
	}
	defer f.writing.Unlock()
	if f.conn == nil {
		return false, nil
	}
	err = f.conn.Close()
	f.conn = nil
	return false, err
}

// writerPragmas are those of the writer's connection. With synchronous = NORMAL, a commit does not
// wait for the disk: a crash of the machine loses at most the last entries. The cache of 1,000 KiB
// is enough for rows that are appended.
var writerPragmas = []string{"synchronous = NORMAL", "cache_size = -1000"}

// write calls work with the writer's connection. It ends a transaction that work leaves open.
func (f *File) write(ctx context.Context, work func(*sqlite.Conn) error) error {
	if _, err := f.open(ctx); err != nil {
		return err
	}
	err := f.writeAlone(ctx, work)
	if f.closed.Load() { // Close has not waited for this write
		_, closeErr := f.closeWriter()
		err = errors.Join(err, closeErr)
	}
	return err
}

// writeAlone is write for an open file, while no other write is running.
func (f *File) writeAlone(ctx context.Context, work func(*sqlite.Conn) error) error {
	f.writing.Lock()
	defer f.writing.Unlock()
	if f.closed.Load() { // since it was opened
		return errClosed()
	}
	if f.conn == nil {
		conn, err := sqlite.Open(f.path, sqlite.Options{BusyTimeout: time.Second, Pragmas: writerPragmas})
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
		err := f.append(conn, entries)
		if err != nil {
			f.lags = lags{} // they may include rows that are rolled back
		}
		return err
	})
}

func (f *File) append(conn *sqlite.Conn, entries []requestlog.Entry) error {
	if err := conn.Exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	if err := f.lags.add(conn, entries); err != nil {
		return err
	}
	if err := insertEntries(conn, entries); err != nil {
		return err
	}
	if err := conn.Exec("COMMIT"); err != nil {
		return err
	}
	f.anonymous.added(entries)
	return nil
}

// Parameters of insertFileRow that follow those of the texts, which are counted from 1.
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

// insertEntries inserts entries in a transaction.
func insertEntries(conn *sqlite.Conn, entries []requestlog.Entry) error {
	stmt, err := conn.Prepare(insertFileRow)
	if err != nil {
		return err
	}
	for i := range entries {
		if err := insertEntry(stmt, &entries[i]); err != nil {
			return err
		}
	}
	return stmt.Reset() // insertEntry has done so unless there are no entries
}

// insertEntry inserts an entry and resets the statement, also after an error.
func insertEntry(stmt *sqlite.Stmt, e *requestlog.Entry) error {
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
