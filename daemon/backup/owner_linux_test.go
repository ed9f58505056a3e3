package backup_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/bizhook/whd/daemon/backup"
	"github.com/bizhook/whd/daemon/daemontest/roottest"
)

// TestOwnerOfRestoredFiles checks that files restored by root belong to the owner
// of the directory.
func TestOwnerOfRestoredFiles(t *testing.T) {
	roottest.Need(t)
	const daemon = 65534
	s := source(t)
	file := saved(t, s)
	must(0, os.Remove(filepath.Join(s.Dir, "whd.lock")))(t)
	must(0, os.Chown(s.Dir, daemon, daemon))(t)
	must(0, os.Chmod(s.Dir, 0o700))(t)
	must(backup.Write(t.Context(), s, filepath.Join(t.TempDir(), "file")))(t)
	ownedBy(t, daemon, filepath.Join(s.Dir, "whd.lock"))

	r := must(backup.Restore(t.Context(), backup.Target{Dir: s.Dir, Files: s.Files, Force: true}, file))(t)
	for _, name := range names(t, s.Dir) {
		ownedBy(t, daemon, filepath.Join(s.Dir, name))
	}
	if info := must(os.Stat(r.ReplacedDir))(t); info.Mode().Perm() != 0o700 {
		t.Errorf("the directory of the replaced files has the mode %v, want 0700", info.Mode())
	}
}

func ownedBy(t *testing.T, user uint32, path string) {
	t.Helper()
	if got := must(os.Lstat(path))(t).Sys().(*syscall.Stat_t).Uid; got != user {
		t.Errorf("%s belongs to the user %d, want %d", path, got, user)
	}
}
