package service

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
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

// The account of the tests.
var testIDs = accountIDs{user: 65534, group: 65534, groups: []uint32{65534}}

// run runs commands of a shell in a directory.
func run(t *testing.T, dir, commands string) {
	t.Helper()
	shell := exec.Command("sh", "-euc", commands)
	shell.Dir = dir
	if text, err := shell.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", commands, err, text)
	}
}

// realTempDir returns a temporary directory that others can access, without symbolic links.
func realTempDir(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Dir(dir), dir} { // 0700 by a umask
		if err := os.Chmod(path, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestPrivateDir checks which existing data directories are accepted, and that only the owner of
// an empty one is changed.
func TestPrivateDir(t *testing.T) {
	roottest.Need(t)
	const mine = "0700 65534:65534"
	defer syscall.Umask(syscall.Umask(0o077))
	for _, test := range []struct {
		name, commands string
		dir            string // of the data; data itself may be a link to it
		want, wantErr  string
	}{
		{"missing", "", "data", mine, ""},
		{"empty", "mkdir -m 755 data", "data", mine, ""},
		{"disk", "mkdir -m 755 data; mkdir -m 700 data/lost+found", "data", mine, ""},
		{"its own", "install -d -m 750 -o 65534 -g 65534 data; touch data/file", "data", "0750 65534:65534", ""},
		{"link to an empty directory", "mkdir -m 755 disk; ln -s disk data", "disk", mine, ""},
		{"link to a missing directory", "ln -s second data; ln -s disk/whd second", "disk/whd", mine, ""},
		{"of others", "mkdir -m 755 data; touch data/file", "data", "0755 0:0", "is not empty"},
		{"link to one of others", "mkdir -m 755 disk; touch disk/file; ln -s disk data",
			"disk", "0755 0:0", "is not empty"},
		{"loop", "ln -s second data; ln -s data second", "", "", "too many levels of symbolic links"},
		{"file", "touch data", "", "", "not a directory"},
	} {
		t.Run(test.name, func(t *testing.T) {
			top := realTempDir(t)
			run(t, top, test.commands)
			err := makePrivateDir(filepath.Join(top, "data"), testIDs)
			wantError(t, err, test.wantErr)
			if test.want != "" {
				wantAccess(t, filepath.Join(top, test.dir), test.want)
			}
			if filepath.Dir(test.dir) != "." {
				wantAccess(t, filepath.Join(top, filepath.Dir(test.dir)), "0755 0:0")
			}
			for _, name := range []string{"file", "lost+found"} {
				path := filepath.Join(top, test.dir, name)
				if info, err := os.Lstat(path); err == nil && info.Sys().(*syscall.Stat_t).Uid != 0 {
					t.Errorf("the owner of %s was changed", path)
				}
			}
		})
	}
}

// TestSettings checks that the account can read new settings, and existing ones of root with any
// mode, but that files behind a symbolic link, which others may use, are not changed.
func TestSettings(t *testing.T) {
	roottest.Need(t)
	for _, test := range []struct {
		name, commands string
		want           map[string]string
		wantErr        string
	}{
		{"missing", "", map[string]string{
			"whd":          "0750 0:65534",
			"whd/whd.toml": "0640 0:65534",
		}, ""},
		{"private", "umask 077; mkdir -p whd/kinds; touch whd/whd.toml", map[string]string{
			"whd":          "0750 0:65534",
			"whd/kinds":    "0750 0:65534",
			"whd/whd.toml": "0640 0:65534",
		}, ""},
		{"readable", "umask 022; mkdir whd; touch whd/whd.toml", map[string]string{
			"whd":          "0755 0:0",
			"whd/whd.toml": "0644 0:0",
		}, ""},
		{"link", "install -d -m 750 -g 65533 shared; ln -s shared whd", map[string]string{
			"shared": "0750 0:65533",
		}, "is a symbolic link"},
	} {
		t.Run(test.name, func(t *testing.T) {
			top := realTempDir(t)
			run(t, top, test.commands)
			i := Installation{Config: filepath.Join(top, "whd", "whd.toml")}
			wantError(t, i.makeSettings(testIDs, io.Discard), test.wantErr)
			for name, want := range test.want {
				wantAccess(t, filepath.Join(top, name), want)
			}
		})
	}
}

// wantError expects an error with a text, or none if the text is empty.
func wantError(t *testing.T, err error, want string) {
	t.Helper()
	if want == "" && err != nil {
		t.Errorf("got the error %v", err)
	}
	if want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
		t.Errorf("got the error %v, want one with %q", err, want)
	}
}

// wantAccess expects the mode, user and group of a file.
func wantAccess(t *testing.T, path, want string) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Error(err)
		return
	}
	s := info.Sys().(*syscall.Stat_t)
	if got := fmt.Sprintf("%04o %d:%d", info.Mode().Perm(), s.Uid, s.Gid); got != want {
		t.Errorf("%s has mode and owner %s, want %s", path, got, want)
	}
}
