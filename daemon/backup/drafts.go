package backup

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/bizhook/whd/daemon/datadir"
)

// newDrafts makes a hidden directory for what is not finished, which drop
// removes. Those that killed processes have left for the same purpose go first:
// each has the size of a store.
func newDrafts(dir, purpose string) (drafts string, drop func() error, err error) {
	entries, _ := os.ReadDir(dir)
	for _, left := range entries {
		if !strings.HasPrefix(left.Name(), "."+purpose+".") || !strings.HasSuffix(left.Name(), ".draft") {
			continue
		}
		path := filepath.Join(dir, left.Name())
		if lock, err := datadir.Own(path); err == nil {
			_ = errors.Join(lock.Release(), os.RemoveAll(path)) // else the next time
		}
	}
	if drafts, err = os.MkdirTemp(dir, "."+purpose+".*.draft"); err != nil {
		return "", nil, err
	}
	lock, err := datadir.Own(drafts)
	if err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(drafts))
	}
	return drafts, func() error { return errors.Join(lock.Release(), os.RemoveAll(drafts)) }, nil
}
