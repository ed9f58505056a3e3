package service

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/bizhook/whd/daemon/daemontest/roottest"
)

// TestAccountCommands checks that an existing group is used, since useradd --user-group fails
// with one, and that an existing user is not changed.
func TestAccountCommands(t *testing.T) {
	const useradd = "[useradd --system --gid whd --home-dir /var/lib/whd --no-create-home --shell /usr/sbin/nologin whd]"
	for _, test := range []struct {
		noGroup, noUser bool
		want            string
	}{
		{true, true, "[[groupadd --system whd] " + useradd + "]"},
		{false, true, "[" + useradd + "]"},
		{false, false, "[]"},
		{true, false, "[]"},
	} {
		if got := fmt.Sprint(accountCommands(test.noGroup, test.noUser)); got != test.want {
			t.Errorf("no group %v, no user %v: %s, want %s", test.noGroup, test.noUser, got, test.want)
		}
	}
}

// TestPrivateDir checks the owner and the mode of data directories: a new one, one of root, and
// the target of a symbolic link.
func TestPrivateDir(t *testing.T) {
	roottest.Need(t)
	const daemon, other = 65534, 65533
	top := t.TempDir()
	made, existing := filepath.Join(top, "made"), filepath.Join(top, "existing")
	target := filepath.Join(top, "target")
	for _, dir := range []string{existing, target} {
		for _, err := range []error{
			os.Mkdir(dir, 0o755),
			os.WriteFile(filepath.Join(dir, "file"), nil, 0o600),
			os.WriteFile(filepath.Join(dir, "foreign"), nil, 0o600),
			os.Chown(filepath.Join(dir, "foreign"), other, other),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	link := filepath.Join(top, "link")
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{made, existing, link} {
		if err := makePrivateDir(dir, daemon, daemon); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{made, existing, target} {
		wantOwner(t, dir, daemon)
		if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s has the mode %v, want 0700 (%v)", dir, info.Mode(), err)
		}
	}
	for _, dir := range []string{existing, target} {
		wantOwner(t, filepath.Join(dir, "file"), daemon)
		wantOwner(t, filepath.Join(dir, "foreign"), other)
	}
	wantOwner(t, link, 0)
}

func wantOwner(t *testing.T, path string, want uint32) {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	if s := info.Sys().(*syscall.Stat_t); s.Uid != want || s.Gid != want {
		t.Errorf("%s belongs to the user %d and the group %d, want %d", path, s.Uid, s.Gid, want)
	}
}
