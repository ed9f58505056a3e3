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
			dir := roottest.DirOfOtherUser(t)
			serveUntil(t, dir, c.files, c.args...)
			wantOwner(t, dir)
			roottest.AsOtherUser(t, func() {
				log := serveUntil(t, dir, c.files, c.args...)
				if strings.Contains(log, "permission denied") {
					t.Errorf("the owner of the directory cannot use all files:\n%s", log)
				}
			})
		})
	}
}

// wantOwner expects that everything in a directory belongs to roottest.OtherUser.
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
		if owner.Uid != roottest.OtherUser || owner.Gid != roottest.OtherUser {
			t.Errorf("%s belongs to %d:%d, want %d:%d",
				path, owner.Uid, owner.Gid, roottest.OtherUser, roottest.OtherUser)
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
			dir := roottest.DirOfOtherUser(t)
			roottest.AsOtherUser(t, func() { serveUntil(t, dir, []string{"requestlog.db"}, "--erp", "demo") })
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
			roottest.AsOtherUser(t, func() {
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
	dir := roottest.DirOfOtherUser(t)
	roottest.AsOtherUser(t, func() { serveUntil(t, dir, nil, "--erp", "demo") })
	path := filepath.Join(dir, "admin-password.new")
	if err := os.WriteFile(path, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	roottest.AsOtherUser(t, func() {
		log := serveUntil(t, dir, nil, "--erp", "demo")
		if want := path + " belongs to the user root"; !strings.Contains(log, want) {
			t.Errorf("the log does not contain %q:\n%s", want, log)
		}
	})
}
