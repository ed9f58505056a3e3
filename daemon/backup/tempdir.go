package backup

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/bizhook/whd/daemon/datadir"
)

// newTempDir creates a hidden directory for unfinished files, and returns a
// function that removes it. First it removes the directories that killed processes
// entry for the same purpose: each can be as large as the store.
func newTempDir(dir, purpose string) (path string, remove func() error, err error) {
	entries, _ := os.ReadDir(dir)
	for _, entry := range entries {
		if !strings.HasPrefix(entry.Name(), "."+purpose+".") || !strings.HasSuffix(entry.Name(), ".draft") {
			continue
		}
		stale := filepath.Join(dir, entry.Name())
		if lock, err := datadir.LockExclusive(stale); err == nil {
			_ = errors.Join(lock.Release(), os.RemoveAll(stale)) // retried next time on failure
		}
	}
	if path, err = os.MkdirTemp(dir, "."+purpose+".*.draft"); err != nil {
		return "", nil, err
	}
	lock, err := datadir.LockExclusive(path)
	if err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(path))
	}
	return path, func() error { return errors.Join(lock.Release(), os.RemoveAll(path)) }, nil
}
