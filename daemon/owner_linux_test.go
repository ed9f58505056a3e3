package daemon_test

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bizhook/whd/cmd/daemon/whd"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/daemontest/roottest"
	"github.com/bizhook/whd/daemon/datadir"
)

// otherUser is the number of a user other than root.
const otherUser = 65534

// dirOfOtherUser returns an empty directory that otherUser owns and can enter, unlike those of
// t.TempDir.
func dirOfOtherUser(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "whd-owner")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chown(dir, otherUser, otherUser); err != nil {
		t.Fatal(err)
	}
	return dir
}

// asOtherUser calls work as otherUser.
func asOtherUser(t *testing.T, work func()) {
	t.Helper()
	if err := syscall.Seteuid(otherUser); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := syscall.Seteuid(0); err != nil {
			t.Fatal(err)
		}
	}()
	work()
}

// serveUntil runs whd serve on a data directory until it listens and the directory contains these
// files. It returns the log.
func serveUntil(t *testing.T, dir string, files []string, args ...string) string {
	t.Helper()
	signals := make(chan os.Signal, 1)
	log := daemontest.NewLog()
	isReady := func() bool {
		return strings.Contains(log.String(), "msg=listening") && missingFile(dir, files) == ""
	}
	go func() {
		end := time.Now().Add(30 * time.Second)
		for !isReady() && time.Now().Before(end) {
			time.Sleep(20 * time.Millisecond)
		}
		signals <- os.Interrupt
	}()
	status := whd.Main(whd.Process{
		Args:    append([]string{"serve", "--listen", "127.0.0.1:0", "--data-dir", dir}, args...),
		Stdin:   strings.NewReader(""),
		Stdout:  io.Discard,
		Stderr:  log,
		Signals: signals,
	})
	missing := missingFile(dir, files)
	if status != 0 || missing != "" {
		t.Fatalf("whd serve %q: status %d, missing file %q; log:\n%s", args, status, missing, log)
	}
	return log.String()
}

// missingFile returns the first of the files that a directory does not contain; empty if there
// is none.
func missingFile(dir string, files []string) string {
	i := slices.IndexFunc(files, func(name string) bool {
		_, err := os.Stat(filepath.Join(dir, name))
		return err != nil
	})
	if i < 0 {
		return ""
	}
	return files[i]
}

// TestOwnerOfServedFiles runs whd serve as root with everything that creates files in the data
// directory, and checks that they belong to the owner of the directory. Package spill checks
// those of slow clients.
func TestOwnerOfServedFiles(t *testing.T) {
	roottest.Need(t)
	store := []string{"records.db", "requestlog.db", "serve.lock", "whd.db", "whd.lock", "admin-password"}
	for _, c := range []struct {
		name  string
		args  []string
		files []string
	}{
		{
			name: "all features",
			args: []string{
				"--demo", "--demo-activity", "--mcp-enabled",
				"--erp-kinds", "demo/kinds.toml", "--changes-sweep", "1s",
			},
			files: append(store, "demo-key", "shadow.db"),
		},
		{
			name:  "without erp",
			files: append(store, "erp-is-demo"),
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := dirOfOtherUser(t)
			serveUntil(t, dir, c.files, c.args...)
			wantOwner(t, dir)
			asOtherUser(t, func() {
				log := serveUntil(t, dir, c.files, c.args...)
				if strings.Contains(log, "permission denied") {
					t.Errorf("the owner of the directory cannot use all files:\n%s", log)
				}
			})
		})
	}
}

// wantOwner expects that everything in a directory belongs to otherUser.
func wantOwner(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		owner := info.Sys().(*syscall.Stat_t)
		if owner.Uid != otherUser || owner.Gid != otherUser {
			t.Errorf("%s belongs to %d:%d, want %d:%d", path, owner.Uid, owner.Gid, otherUser, otherUser)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestCheckOfFilesOfRoot checks that whd check reports files of root that the service cannot use,
// run by root or by the owner of the data directory.
func TestCheckOfFilesOfRoot(t *testing.T) {
	roottest.Need(t)
	for _, name := range []string{"shadow.db", "requestlog.db", "admin-password"} {
		t.Run(name, func(t *testing.T) {
			dir := dirOfOtherUser(t)
			asOtherUser(t, func() { serveUntil(t, dir, []string{"requestlog.db"}, "--erp", "demo") })
			checkOf(t, dir, 0, "data directory", "ok", "free")
			path := filepath.Join(dir, name)
			if err := datadir.Create(path); err != nil {
				t.Fatal(err)
			}
			if err := os.Chown(path, 0, 0); err != nil {
				t.Fatal(err)
			}

			problem := path + " belongs to the user root"
			checkOf(t, dir, 0, "data directory", "warning", problem)
			asOtherUser(t, func() {
				if name == "admin-password" {
					checkOf(t, dir, 0, "data directory", "warning", problem)
				} else {
					checkOf(t, dir, 3, "store", "failed", problem)
				}
			})
		})
	}
}

// TestPasswordFileOfRoot checks that the service starts, and warns, if it cannot read the file of
// a first start by root that was cut short.
func TestPasswordFileOfRoot(t *testing.T) {
	roottest.Need(t)
	dir := dirOfOtherUser(t)
	asOtherUser(t, func() { serveUntil(t, dir, nil, "--erp", "demo") })
	path := filepath.Join(dir, "admin-password.new")
	if err := os.WriteFile(path, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	asOtherUser(t, func() {
		log := serveUntil(t, dir, nil, "--erp", "demo")
		if want := path + " belongs to the user root"; !strings.Contains(log, want) {
			t.Errorf("the log does not contain %q:\n%s", want, log)
		}
	})
}
