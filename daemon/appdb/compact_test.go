package appdb

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCompactNeedsFreeSpace checks that a file is not compacted without enough free
// disk space, that the error contains the required space, and that a missing file
// is not an error.
func TestCompactNeedsFreeSpace(t *testing.T) {
	path := filepath.Join(t.TempDir(), FileName)
	before, after, err := Compact(t.Context(), path)
	if before != 0 || after != 0 || err != nil {
		t.Errorf("compacting a missing file: got sizes %d and %d (%v), want 0 and no error",
			before, after, err)
	}

	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	err = file.Truncate(8 << 40) // a sparse file uses no disk space
	if err := errors.Join(err, file.Close()); err != nil {
		t.Fatal(err)
	}
	const want = "needs 16777217 MiB of free disk space"
	_, _, err = Compact(t.Context(), path)
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("compacting a file of 8 TiB: got error %v, want one with %q", err, want)
	}
}
