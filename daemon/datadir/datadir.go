// Package datadir guards the directory of the daemon's files: who works with
// them at the moment, and how much room is left for them.
package datadir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

const (
	// lockName is the file whose lock says who works with the directory. The
	// system ends the lock with the process, however that ends.
	lockName = "whd.lock"
	// unfinishedName is there while files are being replaced.
	unfinishedName = "restore-unfinished"
)

// ErrInUse is what is wrapped where somebody else works with the directory.
var ErrInUse = errors.New("the directory is in use")

// Lock is the right to work with a directory until Release.
type Lock struct{ file *os.File }

// Share takes a right that daemons and commands may have at the same time. It
// fails while somebody replaces the files, and where that was cut short.
func Share(dir string) (*Lock, error) {
	l, err := take(dir, false)
	if err != nil {
		return nil, err
	}
	if CutShort(dir) {
		return nil, errors.Join(fmt.Errorf("a restore into %s was cut short, so its files may be of different stores; run whd restore --force again", dir), l.Release())
	}
	return l, nil
}

// Own takes the right that nobody else may have meanwhile.
func Own(dir string) (*Lock, error) { return take(dir, true) }

func take(dir string, alone bool) (*Lock, error) {
	file, err := openLock(filepath.Join(dir, lockName))
	if err != nil {
		return nil, err
	}
	switch err := lock(file, alone); {
	case err == nil:
		return &Lock{file}, nil
	case errors.Is(err, errLocked) && alone:
		err = fmt.Errorf("%w: a daemon or a command works with the files in %s; stop it first", ErrInUse, dir)
		return nil, errors.Join(err, file.Close())
	case errors.Is(err, errLocked):
		err = fmt.Errorf("%w: the files in %s are being replaced by whd restore", ErrInUse, dir)
		return nil, errors.Join(err, file.Close())
	default:
		return nil, errors.Join(fmt.Errorf("locking %s: %w", file.Name(), err), file.Close())
	}
}

// openLock opens the file, which is made once and belongs to whom the directory
// does: a command that root has run must not keep the daemon out.
func openLock(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	}
	if err != nil {
		return nil, err
	}
	if err := Entrust(filepath.Dir(path), path); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// Release gives the right back. Calling it again does nothing.
func (l *Lock) Release() error {
	if err := l.file.Close(); !errors.Is(err, os.ErrClosed) {
		return err
	}
	return nil
}

// CutShort reports whether the files in the directory may be of different stores,
// since replacing them did not come to its end.
func CutShort(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, unfinishedName))
	return !errors.Is(err, fs.ErrNotExist)
}

// Unfinished marks the directory: until the mark is finished nobody works with
// its files, not even after a crash.
func (l *Lock) Unfinished() (finish func() error, err error) {
	dir := filepath.Dir(l.file.Name())
	mark := filepath.Join(dir, unfinishedName)
	if err := os.WriteFile(mark, nil, 0o600); err != nil {
		return nil, err
	}
	return func() error { return errors.Join(Sync(dir), os.Remove(mark), Sync(dir)) }, Sync(dir)
}

// Sync has the names in a directory outlive a crash of the machine. Windows
// writes them by itself, and has no call for it.
func Sync(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
