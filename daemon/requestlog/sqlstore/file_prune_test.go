package sqlstore

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/requestlog"
	"github.com/bizhook/whd/daemon/sqlite"
)

// entriesAt returns n entries of about 1 kB at a time.
func entriesAt(at time.Time, n int) []requestlog.Entry {
	entries := entriesOf("ann", n)
	for i := range entries {
		entries[i].At = at
	}
	return entries
}

// TestPruneInParts checks that old rows are found behind rows with a later time, of which there are
// more than a part of a pass has, and that a pass is followed by another one.
func TestPruneInParts(t *testing.T) {
	file := openLog(t, filepath.Join(t.TempDir(), appdb.LogFileName))
	appendEntries(t, file, entriesAt(listStart.AddDate(1, 0, 0), 2*agePart))
	for _, day := range []int{0, 1} {
		added := listStart.AddDate(0, 0, day)
		appendEntries(t, file, entriesAt(added, 100))
		appendEntries(t, file, entriesAt(added.Add(time.Hour), 1)) // the newest is never deleted
		for range 6 {                                              // more than the parts of a pass
			if _, err := file.Prune(t.Context(), added.Add(time.Minute), 0); err != nil {
				t.Fatal(err)
			}
		}
		want := int64(2*agePart + 1)
		if n := countRows(t, file, "1 = 1"); n != want {
			t.Errorf("day %d: got %d rows after pruning, want %d", day, n, want)
		}
	}
}

// TestPruneByAgeReturnsPages checks that the pages which one pruning frees are returned by it, also
// without a maximum size.
func TestPruneByAgeReturnsPages(t *testing.T) {
	file := openLog(t, filepath.Join(t.TempDir(), appdb.LogFileName))
	appendEntries(t, file, entriesAt(listStart, 200))
	appendEntries(t, file, entriesAt(listStart.Add(time.Hour), 1))
	before := sizeOf(t, file)
	if _, err := file.Prune(t.Context(), listStart.Add(time.Minute), 0); err != nil {
		t.Fatal(err)
	}
	if after := sizeOf(t, file); after.Pages > before.Pages/2 {
		t.Errorf("after pruning 200 of 201 rows, the file has %+v, want half of %d pages at most",
			after, before.Pages)
	}
}

// sizeOf returns the size of a log's file.
func sizeOf(t *testing.T, file *File) (size appdb.Size) {
	t.Helper()
	err := file.write(t.Context(), func(conn *sqlite.Conn) (err error) {
		size, err = appdb.SizeOf(conn)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return size
}
