package spill

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/bizhook/whd/daemon/daemontest/roottest"
)

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

// wantOwner expects that roottest.OtherUser owns a directory.
func wantOwner(t *testing.T, dir string) {
	t.Helper()
	info, err := os.Stat(dir)
	if err != nil {
		t.Fatal(err)
	}
	if owner := info.Sys().(*syscall.Stat_t).Uid; owner != roottest.OtherUser {
		t.Errorf("%s belongs to the user %d, want %d", dir, owner, roottest.OtherUser)
	}
}

// TestOwnerOfDirectory checks that a directory created by root belongs to the owner of the data
// directory.
func TestOwnerOfDirectory(t *testing.T) {
	roottest.Need(t)
	dir := filepath.Join(roottest.DirOfOtherUser(t), "spill")
	spilled(t, dir)
	wantOwner(t, dir)
}

// TestDirectoryOfRoot checks that a directory of root is replaced.
func TestDirectoryOfRoot(t *testing.T) {
	roottest.Need(t)
	dir := filepath.Join(roottest.DirOfOtherUser(t), "spill")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	roottest.AsOtherUser(t, func() { spilled(t, dir) })
	wantOwner(t, dir)
}
