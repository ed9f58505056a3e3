package daemontest

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
)

// The files of a data directory after a first start, by name. Copies of them start several times
// as fast as empty directories, in which a daemon creates all tables.
var (
	plainFiles = sync.OnceValues(func() (map[string][]byte, error) { return firstStart() })
	demoFiles  = sync.OnceValues(func() (map[string][]byte, error) { return firstStart("--demo") })
)

// firstStart starts and stops a daemon in an empty directory and returns the files that it left.
func firstStart(args ...string) (files map[string][]byte, err error) {
	dir, err := os.MkdirTemp("", "whd-daemontest")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()

	instance, err := Open(dir, args...)
	if err != nil {
		return nil, err
	}
	if err := instance.Stop(); err != nil {
		return nil, err
	}
	return readStore(dir)
}

// readStore returns the files of a data directory that a daemon needs to start with the same
// records. Only demo records have a key.
func readStore(dir string) (map[string][]byte, error) {
	files := make(map[string][]byte)
	for _, name := range []string{"records.db", "requestlog.db", "whd.db", "demo-key"} {
		content, err := os.ReadFile(filepath.Join(dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		files[name] = content
	}
	return files, nil
}

// Prepare fills an empty data directory as StartIn does, for tests that modify the files before
// the daemon starts. The arguments are those of StartIn.
func Prepare(t testing.TB, dir string, args ...string) {
	t.Helper()
	if err := prepare(dir, args); err != nil {
		t.Fatal(err)
	}
}

// prepare fills an empty data directory of a daemon with an embedded store.
func prepare(dir string, args []string) error {
	if slices.Contains(args, "--store") || hasOtherRecords(args) {
		return nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	isDatabase := func(e fs.DirEntry) bool { return filepath.Ext(e.Name()) == ".db" }
	if slices.ContainsFunc(entries, isDatabase) {
		return nil
	}

	prepared := plainFiles
	if slices.Contains(args, "--demo") {
		prepared = demoFiles
	}
	files, err := prepared()
	if err != nil {
		return err
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// hasOtherRecords reports whether --erp names another source of records than the demo.
func hasOtherRecords(args []string) bool {
	i := slices.Index(args, "--erp")
	hasSource := i >= 0 && i+1 < len(args) // without one, Open returns the error
	return hasSource && args[i+1] != "demo"
}
