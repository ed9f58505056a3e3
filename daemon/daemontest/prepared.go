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

// prepared are the files of data directories after a first start: without and with demo
// records. Copies of them start several times as fast as empty directories, in which a
// daemon creates all tables.
var prepared = map[bool]func() (map[string][]byte, error){
	false: sync.OnceValues(func() (map[string][]byte, error) { return firstStart() }),
	true:  sync.OnceValues(func() (map[string][]byte, error) { return firstStart("--demo") }),
}

func firstStart(args ...string) (files map[string][]byte, err error) {
	dir, err := os.MkdirTemp("", "whd-daemontest")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	i, err := Open(dir, args...)
	if err == nil {
		err = i.Stop()
	}
	files = make(map[string][]byte)
	for _, name := range []string{"records.db", "requestlog.db", "whd.db", "demo-key"} {
		if err == nil {
			files[name], err = os.ReadFile(filepath.Join(dir, name))
		}
		if errors.Is(err, fs.ErrNotExist) { // the key of demo records
			delete(files, name)
			err = nil
		}
	}
	return files, err
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
	erp := slices.Index(args, "--erp")
	hasOtherRecords := erp >= 0 && args[erp+1] != "demo"
	if hasOtherRecords || slices.Contains(args, "--store") {
		return nil
	}
	if found, err := filepath.Glob(filepath.Join(dir, "*.db")); len(found) > 0 || err != nil {
		return err
	}
	files, err := prepared[slices.Contains(args, "--demo")]()
	for name, content := range files {
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, name), content, 0o600))
	}
	return err
}
