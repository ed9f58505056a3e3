package backup

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/bizhook/whd/daemon/datadir"
)

const tempSuffix = ".draft"

// mkdirTemp creates a directory with a new name: the function of package os, or that of datadir in
// a data directory.
type mkdirTemp func(dir, pattern string) (string, error)

// newTempDir creates a hidden directory for unfinished files, and returns a
// function that removes it. First it removes the directories that killed processes
// left for the same purpose: each can be as large as the store.
func newTempDir(dir, purpose string, create mkdirTemp) (path string, remove func() error, err error) {
	prefix := "." + purpose + "."
	removeStale(dir, prefix)
	path, err = create(dir, prefix+"*"+tempSuffix)
	if err != nil {
		return "", nil, err
	}
	lock, err := datadir.LockExclusive(path)
	if err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(path))
	}
	remove = func() error { return errors.Join(lock.Release(), os.RemoveAll(path)) }
	return path, remove, nil
}

// removeStale removes temporary directories that no process has locked. Failures are ignored:
// the next call tries again.
func removeStale(dir, prefix string) {
	entries, _ := os.ReadDir(dir)
	for _, entry := range entries {
		name := entry.Name()
		if !strings.HasPrefix(name, prefix) || !strings.HasSuffix(name, tempSuffix) {
			continue
		}
		path := filepath.Join(dir, name)
		if lock, err := datadir.LockExclusive(path); err == nil {
			_ = errors.Join(lock.Release(), os.RemoveAll(path))
		}
	}
}
