package sqlstore

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/requestlog"
	"github.com/bizhook/whd/daemon/sqlite"
)

// TestCompactNeedsFreeSpace checks that a file is not compacted without enough free
// disk space, that the error contains the required space, and that a missing file
// is not an error.
func TestCompactNeedsFreeSpace(t *testing.T) {
	path := filepath.Join(t.TempDir(), appdb.FileName)
	if before, after, err := appdb.Compact(t.Context(), path); before != 0 || after != 0 || err != nil {
		t.Errorf("a missing file: %d, %d, %v", before, after, err)
	}
	file, err := os.Create(path)
	if err == nil {
		err = errors.Join(file.Truncate(8<<40), file.Close()) // a sparse file uses no disk space
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := appdb.Compact(t.Context(), path); err == nil || !strings.Contains(err.Error(), "needs 16777217 MB of free disk space") {
		t.Errorf("without free space: %v", err)
	}
}

// TestRequestLogSizeOnDisk checks that the request log, including its WAL, keeps
// its maximum size while entries of all sizes are written, and shrinks when the
// maximum is lowered.
func TestRequestLogSizeOnDisk(t *testing.T) {
	file := &measuredLog{File: File{path: filepath.Join(t.TempDir(), appdb.LogFileName), connections: 1}, t: t}
	t.Cleanup(func() { _ = file.Close() })
	bound := int64(5 << 20)
	write := func(entries int) {
		t.Helper()
		r := requestlog.New(requestlog.Config{
			Store:     file,
			MaxBytes:  1 << 30,
			Log:       slog.New(slog.DiscardHandler),
			Retention: func() requestlog.Retention { return requestlog.Retention{MaxSize: bound} },
		})
		for n := range entries {
			d := requestlog.NewEntryBuilder()
			d.Texts[requestlog.RequestBody] = strings.Repeat("x", n*7919%requestlog.MaxBody)
			d.Texts[requestlog.UserAuthID] = "ann"
			r.Record(d)
		}
		file.peak = 0
		r.Start()
		r.Flush(t.Context())
		if err := r.Stop(t.Context()); err != nil || r.Depth().Entries != 0 {
			t.Fatalf("%+v (%v)", r.Depth(), err)
		}
	}
	write(1000)
	if file.peak > bound+bound/10 || file.peak < bound/2 {
		t.Errorf("with a bound of %d bytes the files took up to %d", bound, file.peak)
	}
	bound /= 4
	pruneAll(t, file, bound)
	write(100)
	if file.peak > bound+bound/10 {
		t.Errorf("with the lower bound of %d bytes the files took up to %d", bound, file.peak)
	}
}

// TestAnonymousEntriesFillAQuarter checks that anonymous entries do not push out the others
// once they fill a quarter of the log, also after a restart.
func TestAnonymousEntriesFillAQuarter(t *testing.T) {
	const (
		maxBytes = 4 << 20
		known    = 1500 // about a third of the log
	)
	path := filepath.Join(t.TempDir(), appdb.LogFileName)
	entries := func(n int, user string) []requestlog.Entry {
		all := make([]requestlog.Entry, n)
		for i := range all {
			all[i].Texts[requestlog.UserAuthID] = user
			all[i].Texts[requestlog.RequestDto] = strings.Repeat("x", 1000)
		}
		return all
	}
	prune := func(file *File) {
		t.Helper()
		pruneAll(t, file, maxBytes)
	}
	count := func(file *File, condition string) (n int64) {
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

	for _, start := range []string{"first", "second"} {
		file := &File{path: path, connections: 1}
		if start == "first" {
			if err := file.Append(t.Context(), entries(known, "ann")); err != nil {
				t.Fatal(err)
			}
		}
		for range 5 {
			if err := file.Append(t.Context(), entries(1000, "")); err != nil {
				t.Fatal(err)
			}
			prune(file)
		}
		if n := count(file, "UserAuthId IS NOT NULL"); n != known {
			t.Errorf("%s start: %d of %d entries with a user are left", start, n, known)
		}
		if n := count(file, "UserAuthId IS NULL"); n < 500 || n > maxBytes/requestlog.AnonymousShare/1000 {
			t.Errorf("%s start: %d anonymous entries are left, want the newest in a quarter of the log", start, n)
		}
		if start == "second" { // other entries take the place of the oldest, as before
			if err := file.Append(t.Context(), entries(6000, "bob")); err != nil {
				t.Fatal(err)
			}
			prune(file)
			if n := count(file, "UserAuthId = 'bob'"); n < 2000 {
				t.Errorf("%d entries of bob are left, want those that fit", n)
			}
		}
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// measuredLog measures the size of the files after each write.
type measuredLog struct {
	File
	t    *testing.T
	peak int64
}

func (w *measuredLog) Append(ctx context.Context, entries []requestlog.Entry) error {
	err := w.File.Append(ctx, entries)
	var size int64
	for _, name := range []string{w.path, w.path + "-wal"} {
		if info, err := os.Stat(name); err == nil {
			size += info.Size()
		} else if !errors.Is(err, fs.ErrNotExist) {
			w.t.Error(err)
		}
	}
	w.peak = max(w.peak, size)
	return err
}

// TestRequestLogSizeBelowPage checks a maximum size smaller than a page.
func TestRequestLogSizeBelowPage(t *testing.T) {
	file := &File{path: filepath.Join(t.TempDir(), appdb.LogFileName), connections: 1}
	t.Cleanup(func() { _ = file.Close() })
	if err := file.Append(t.Context(), make([]requestlog.Entry, 100)); err != nil {
		t.Fatal(err)
	}
	pruneAll(t, file, 1)
	err := file.write(t.Context(), func(conn *sqlite.Conn) error {
		s, err := conn.Prepare("SELECT COUNT(*) FROM WH_RequestLog")
		if err != nil {
			return err
		}
		defer s.Reset()
		if _, err = s.Step(); err == nil && s.Int(0) > 1 {
			t.Errorf("%d entries are left, want the newest", s.Int(0))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
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
