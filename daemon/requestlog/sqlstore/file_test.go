package sqlstore

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/requestlog"
	"github.com/bizhook/whd/daemon/sqlite"
)

// openLog returns the log in a file, which it closes at the end of the test.
func openLog(t *testing.T, path string) *File {
	t.Helper()
	file := NewFile(path, 1)
	t.Cleanup(func() { _ = file.Close() })
	return file
}

// TestRequestLogSizeOnDisk checks that the request log, including its WAL, keeps
// its maximum size while entries of all sizes are written, and shrinks when the
// maximum is lowered.
func TestRequestLogSizeOnDisk(t *testing.T) {
	const maxSize = 5 << 20
	log := &measuredLog{File: openLog(t, filepath.Join(t.TempDir(), appdb.LogFileName)), t: t}

	log.record(1000, maxSize)
	if log.peak > maxSize+maxSize/10 || log.peak < maxSize/2 {
		t.Errorf("with a maximum of %d bytes the files took up to %d", maxSize, log.peak)
	}

	const lowered = maxSize / 4
	pruneAll(t, log, lowered)
	log.record(100, lowered)
	if log.peak > lowered+lowered/10 {
		t.Errorf("with the lowered maximum of %d bytes the files took up to %d", lowered, log.peak)
	}
}

// TestWriteAfterClose checks that a write which waits while the file is closed does not open it again.
func TestWriteAfterClose(t *testing.T) {
	file := openLog(t, filepath.Join(t.TempDir(), appdb.LogFileName))
	if _, err := file.open(t.Context()); err != nil {
		t.Fatal(err)
	}
	file.writing.Lock()
	written := make(chan error)
	go func() { written <- file.Append(context.Background(), entriesOf("ann", 1)) }()
	time.Sleep(100 * time.Millisecond) // until the write waits
	if err := file.Close(); err == nil {
		t.Error("closing the file during a write: got no error, want one")
	}
	file.writing.Unlock()
	if err := <-written; !errors.Is(err, sqlite.ErrPoolClosed) {
		t.Errorf("a write after Close: got error %v, want %v", err, sqlite.ErrPoolClosed)
	}
	if file.conn != nil {
		t.Error("a write after Close has opened the file")
	}
}

// TestCloseDuringWrite checks that a write which is running while the file is closed closes its
// connection.
func TestCloseDuringWrite(t *testing.T) {
	file := openLog(t, filepath.Join(t.TempDir(), appdb.LogFileName))
	err := file.write(t.Context(), func(*sqlite.Conn) error {
		if err := file.Close(); err == nil {
			t.Error("closing the file during a write: got no error, want one")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if file.conn != nil {
		t.Error("the connection of the write is open")
	}
}

// TestFailedWritesLeaveNoStatements checks that writes to a damaged log use up no statements.
func TestFailedWritesLeaveNoStatements(t *testing.T) {
	file := openLog(t, filepath.Join(t.TempDir(), appdb.LogFileName))
	appendEntries(t, file, entriesOf("ann", 1))
	err := file.write(t.Context(), func(conn *sqlite.Conn) error {
		file.lags = lags{} // as after a restart
		return conn.Exec("UPDATE WH_RequestLog SET DateTime = 'damaged'")
	})
	if err != nil {
		t.Fatal(err)
	}
	statements := func() int { return reflect.ValueOf(file.conn).Elem().FieldByName("cache").Len() }
	before := statements()
	for range 10 {
		if err := file.Append(t.Context(), entriesOf("ann", 1)); err == nil {
			t.Fatal("a write to a log with a damaged time: got no error, want one")
		}
	}
	if n := statements() - before; n > 3 {
		t.Errorf("10 failed writes have left %d statements, want those of one write", n)
	}
}

// measuredLog measures the size of the files after each write.
type measuredLog struct {
	*File
	t    *testing.T
	peak int64 // maximum size in bytes
}

func (l *measuredLog) Append(ctx context.Context, entries []requestlog.Entry) error {
	err := l.File.Append(ctx, entries)
	var size int64
	for _, name := range []string{l.path, l.path + "-wal"} {
		info, err := os.Stat(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			l.t.Error(err)
			continue
		}
		size += info.Size()
	}
	l.peak = max(l.peak, size)
	return err
}

// record writes entries of all sizes through a Recorder with a maximum size of the log.
// Afterwards, peak is that of these writes.
func (l *measuredLog) record(entries int, maxSize int64) {
	l.t.Helper()
	recorder := requestlog.New(requestlog.Config{
		Store:     l,
		MaxBytes:  1 << 30,
		Log:       slog.New(slog.DiscardHandler),
		Retention: func() requestlog.Retention { return requestlog.Retention{MaxSize: maxSize} },
	})
	for n := range entries {
		entry := requestlog.NewEntryBuilder()
		entry.Texts[requestlog.RequestBody] = strings.Repeat("x", n*7919%requestlog.MaxBody)
		entry.Texts[requestlog.UserAuthID] = "ann"
		recorder.Record(entry)
	}
	l.peak = 0
	recorder.Start()
	recorder.Flush(l.t.Context())
	if err := recorder.Stop(l.t.Context()); err != nil {
		l.t.Fatal(err)
	}
	if depth := recorder.Depth(); depth.Entries != 0 {
		l.t.Fatalf("after writing %d entries: %+v are buffered, want none", entries, depth)
	}
}

// entriesOf returns n entries of about 1 kB of a user, or anonymous ones.
func entriesOf(user string, n int) []requestlog.Entry {
	entries := make([]requestlog.Entry, n)
	for i := range entries {
		entries[i].Texts[requestlog.UserAuthID] = user
		entries[i].Texts[requestlog.RequestDto] = strings.Repeat("x", 1000)
	}
	return entries
}

// appendEntries appends entries to a log.
func appendEntries(t *testing.T, log requestlog.Store, entries []requestlog.Entry) {
	t.Helper()
	if err := log.Append(t.Context(), entries); err != nil {
		t.Fatal(err)
	}
}

// countRows counts the rows of a log that satisfy a condition.
func countRows(t *testing.T, file *File, condition string) (n int64) {
	t.Helper()
	err := file.write(t.Context(), func(conn *sqlite.Conn) (err error) {
		n, _, err = conn.QueryInt("SELECT COUNT(*) FROM WH_RequestLog WHERE " + condition)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestAnonymousEntriesFillAQuarter checks that anonymous entries do not push out the others
// once they fill a quarter of the log, also after a restart.
func TestAnonymousEntriesFillAQuarter(t *testing.T) {
	const (
		maxBytes   = 4 << 20
		ofAnn      = 1500 // about a third of the log
		maxUnnamed = maxBytes / requestlog.AnonymousShare / 1000
	)
	fill := func(file *File, start string) {
		t.Helper()
		for range 5 {
			appendEntries(t, file, entriesOf("", 1000))
			pruneAll(t, file, maxBytes)
		}
		if n := countRows(t, file, "UserAuthId IS NOT NULL"); n != ofAnn {
			t.Errorf("%s start: got %d entries with a user, want %d", start, n, ofAnn)
		}
		if n := countRows(t, file, "UserAuthId IS NULL"); n < 500 || n > maxUnnamed {
			t.Errorf("%s start: got %d anonymous entries, want 500 to %d", start, n, maxUnnamed)
		}
	}
	path := filepath.Join(t.TempDir(), appdb.LogFileName)

	file := openLog(t, path)
	appendEntries(t, file, entriesOf("ann", ofAnn))
	fill(file, "first")
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}

	file = openLog(t, path)
	fill(file, "second")

	// Entries with a user push out the oldest ones.
	appendEntries(t, file, entriesOf("bob", 6000))
	pruneAll(t, file, maxBytes)
	if n := countRows(t, file, "UserAuthId = 'bob'"); n < 2000 {
		t.Errorf("got %d entries of bob, want at least 2000", n)
	}
}

// TestRequestLogSizeBelowPage checks a maximum size smaller than a page.
func TestRequestLogSizeBelowPage(t *testing.T) {
	file := openLog(t, filepath.Join(t.TempDir(), appdb.LogFileName))
	appendEntries(t, file, make([]requestlog.Entry, 100))
	pruneAll(t, file, 1)
	if n := countRows(t, file, "1 = 1"); n > 1 {
		t.Errorf("with a maximum of 1 byte: got %d entries, want only the newest", n)
	}
}

// pruneAll prunes a log until nothing is left to prune.
func pruneAll(t *testing.T, log requestlog.Store, maxBytes int64) {
	t.Helper()
	hasMore := true
	for hasMore {
		var err error
		hasMore, err = log.Prune(t.Context(), time.Time{}, maxBytes)
		if err != nil {
			t.Fatal(err)
		}
	}
}
