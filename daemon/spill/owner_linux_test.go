package spill

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/bizhook/whd/daemon/daemontest/roottest"
)

// otherUser is the number of a user other than root.
const otherUser = 65534

// dataDir returns a data directory that otherUser owns and can enter, unlike those of t.TempDir.
func dataDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "whd-spill")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chown(dir, otherUser, otherUser); err != nil {
		t.Fatal(err)
	}
	return dir
}

// spilled adds a file to a new space in a directory.
func spilled(t *testing.T, dir string) {
	t.Helper()
	s, err := Open(dir, MinLimit)
	if err != nil {
		t.Fatal(err)
	}
	s.free = func(string) (int64, error) { return 1 << 40, nil }
	file, err := s.add(0)
	if err != nil {
		t.Fatal(err)
	}
	s.remove(file)
}

// wantOwner expects that otherUser owns a directory.
func wantOwner(t *testing.T, dir string) {
	t.Helper()
	info, err := os.Stat(dir)
	if err != nil {
		t.Fatal(err)
	}
	if owner := info.Sys().(*syscall.Stat_t).Uid; owner != otherUser {
		t.Errorf("%s belongs to the user %d, want %d", dir, owner, otherUser)
	}
}

// TestOwnerOfDirectory checks that a directory created by root belongs to the owner of the data
// directory.
func TestOwnerOfDirectory(t *testing.T) {
	roottest.Need(t)
	dir := filepath.Join(dataDir(t), "spill")
	spilled(t, dir)
	wantOwner(t, dir)
}

// TestDirectoryOfRoot checks that a directory of root is replaced.
func TestDirectoryOfRoot(t *testing.T) {
	roottest.Need(t)
	dir := filepath.Join(dataDir(t), "spill")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Seteuid(otherUser); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := syscall.Seteuid(0); err != nil {
			t.Fatal(err)
		}
	}()
	spilled(t, dir)
	wantOwner(t, dir)
}
