package storage

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/daemontest/roottest"
	"github.com/bizhook/whd/daemon/datadir"
	"github.com/bizhook/whd/daemon/fault"
)

// otherUser is the number of a user other than root.
const otherUser = 65534

// TestOwnerOfNewFiles checks that files created by root belong to the owner of the directory.
func TestOwnerOfNewFiles(t *testing.T) {
	roottest.Need(t)
	c := Config{Dir: t.TempDir(), Registry: record.Builtin(), Connections: 1}
	if err := os.Chown(c.Dir, otherUser, otherUser); err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.RequestLog().Prune(t.Context(), time.Time{}, 1<<30); err != nil {
		t.Error(err)
	}
	wantOwner(t, c.Dir, "of the open store", 7)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	wantOwner(t, c.Dir, "of the closed store", 3)
}

// wantOwner expects that the directory contains a number of files or more, all of
// otherUser.
func wantOwner(t *testing.T, dir, files string, atLeast int) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) < atLeast {
		t.Errorf("files %s: got %v, want %d or more", files, entries, atLeast)
	}
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil {
			t.Fatal(err)
		}
		owner := info.Sys().(*syscall.Stat_t)
		if owner.Uid != otherUser || owner.Gid != otherUser {
			t.Errorf("file %s %s belongs to %d:%d, want %d", entry.Name(), files, owner.Uid, owner.Gid, otherUser)
		}
	}
}

// TestFilesOfAnotherUser checks that the error names the owner of files that the process may
// not write.
func TestFilesOfAnotherUser(t *testing.T) {
	roottest.Need(t)
	for _, name := range []string{appdb.FileName, RecordsFile, ShadowFiles()[0], "whd.lock"} {
		t.Run(name, func(t *testing.T) { openAs(t, otherUser, name) })
	}
}

// openAs opens a store of a user with one file of root as that user.
func openAs(t *testing.T, user int, name string) {
	// Other users may not enter the directories of the test.
	dir, err := os.MkdirTemp("/tmp", "whd-owner")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	c := Config{Dir: dir, Registry: record.Builtin(), Connections: 1}
	if err := os.Chown(dir, user, user); err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, name)
	if err := datadir.Create(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(path, 0, 0); err != nil {
		t.Fatal(err)
	}

	if err := syscall.Seteuid(user); err != nil {
		t.Fatal(err)
	}
	s, err = Open(t.Context(), c)
	if err := syscall.Seteuid(0); err != nil {
		t.Fatal(err)
	}
	if err == nil {
		s.Close()
	}
	want := path + " belongs to the user root"
	if !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), want) {
		t.Fatalf("opening the store: got %v, want unavailable with %q", err, want)
	}
	if n := strings.Count(err.Error(), "permission denied"); n != 1 {
		t.Errorf("opening the store: got %v, want one cause, not %d", err, n)
	}
}
