//go:build linux

// Package roottest is for tests that need root: the file .ci/roottests lists them, and
// `make test-root` runs them. Other tests must pass for every user.
package roottest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// Variable is set by make test-root.
const Variable = "WHD_TEST_ROOT"

// Need skips the test except under make test-root. It fails if the list does not have the
// test, since then no command would run it.
func Need(t *testing.T) {
	t.Helper()
	name, _, _ := strings.Cut(t.Name(), "/")
	if !slices.Contains(listed(t), name) {
		t.Fatalf("%s needs root: add it to .ci/roottests", name)
	}
	if os.Getenv(Variable) == "" {
		t.Skip("make test-root runs this test")
	}
	if os.Geteuid() != 0 {
		t.Fatal("make test-root must run this test as root")
	}
}

// listed returns the tests of .ci/roottests in the package under test, which is the working
// directory.
func listed(t *testing.T) (tests []string) {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	root := dir
	for !exists(filepath.Join(root, "go.mod")) {
		if root == filepath.Dir(root) {
			t.Fatalf("%s is in no Go module", dir)
		}
		root = filepath.Dir(root)
	}
	path, err := filepath.Rel(root, dir)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, ".ci", "roottests"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		test, ok := strings.CutPrefix(strings.TrimSpace(line), "./"+filepath.ToSlash(path)+" ")
		if ok {
			tests = append(tests, test)
		}
	}
	return tests
}

// exists reports whether there is a file.
func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// SmallDisk mounts a file system of a size such as 16m, and returns its directory.
func SmallDisk(t *testing.T, size string) string {
	t.Helper()
	Need(t)
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Fatalf("mounting a file system of %s: %v", size, err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// OtherUser is the number of a user other than root.
const OtherUser = 65534

// DirOfOtherUser returns an empty directory that OtherUser owns and can enter, unlike those of
// t.TempDir.
func DirOfOtherUser(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "whd-owner")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chown(dir, OtherUser, OtherUser); err != nil {
		t.Fatal(err)
	}
	return dir
}

// AsOtherUser calls work as OtherUser.
func AsOtherUser(t *testing.T, work func()) {
	t.Helper()
	if err := syscall.Seteuid(OtherUser); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := syscall.Seteuid(0); err != nil {
			t.Fatal(err)
		}
	}()
	work()
}

// Dir returns a directory that is removed after the test. Unlike that of t.TempDir, all directories
// above it belong to root.
func Dir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/var/tmp", "whd-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}
