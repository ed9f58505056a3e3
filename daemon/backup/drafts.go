package backup

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/bizhook/whd/daemon/datadir"
)

// newDrafts makes a hidden directory for what is not finished, which drop
// removes. Those that killed processes have left for the same purpose go first:
// each has the size of a store.
func newDrafts(dir, purpose string) (drafts string, drop func() error, err error) {
	left, err := filepath.Glob(filepath.Join(literally(dir), "."+literally(purpose)+".*.draft"))
	if err != nil {
		return "", nil, err
	}
	for _, one := range left {
		if lock, err := datadir.Own(one); err == nil {
			_ = errors.Join(lock.Release(), os.RemoveAll(one)) // else the next time
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

// literally has a pattern mean a name, whatever stands in it.
func literally(name string) string {
	var b []rune
	for _, r := range name {
		switch r {
		case '*', '?', '[':
			b = append(b, '[', r, ']')
		default:
			b = append(b, r)
		}
	}
	return string(b)
}
