// Package datadir locks the directory with the daemon's files and reports its free disk
// space.
package datadir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

const (
	// lockName is the file that is locked to protect the files of the directory. The
	// operating system releases the lock when the process ends.
	lockName = "whd.lock"
	// servingName is the file that the directory's only daemon locks. It contains a
	// description of that daemon.
	servingName = "serve.lock"
	// unfinishedName exists while files are being replaced.
	unfinishedName = "restore-unfinished"
)

// ErrInUse is wrapped by errors for a directory that another process has locked.
var ErrInUse = errors.New("the directory is in use")

// Lock is a lock on a directory, held until Release.
type Lock struct{ file *os.File }

// LockShared takes a shared lock, which several daemons and commands may hold. It fails while
// another process replaces the files, or if replacing them was interrupted.
func LockShared(dir string) (*Lock, error) {
	inUse := "the files in " + dir + " are being replaced by whd restore or whd store copy," +
		" or rewritten by whd compact; try again when that has ended"
	l, err := lockFile(dir, lockName, false, inUse)
	if err != nil {
		return nil, err
	}
	if err := CheckReplaced(dir); err != nil {
		return nil, errors.Join(err, l.Release())
	}
	return l, nil
}

// LockExclusive takes an exclusive lock.
func LockExclusive(dir string) (*Lock, error) {
	inUse := fmt.Sprintf("another command or daemon is using the files in %s; stop it first%s",
		dir, lastDaemon(dir, "the last daemon there was "))
	return lockFile(dir, lockName, true, inUse)
}

// LockServing takes the lock of the directory's daemon. The error contains the description of
// the process that holds it.
func LockServing(dir, description string) (*Lock, error) {
	inUse := fmt.Sprintf("another whd serves %s%s; stop it, or use another data directory",
		dir, lastDaemon(dir, ""))
	l, err := lockFile(dir, servingName, true, inUse)
	if err != nil {
		return nil, err
	}
	_ = l.Describe(description) // optional, e.g. on a full disk
	return l, nil
}

// Describe sets the description that other processes read.
func (l *Lock) Describe(text string) error {
	err := l.file.Truncate(0)
	if err == nil {
		_, err = l.file.WriteAt([]byte(text+"\n"), 0)
	}
	return err
}

// storeText is the content of the lock file that earlier versions wrote once the directory
// contained both files of a store.
const storeText = "store"

// MarkStore records that the directory contains the named files. If this cannot be
// written, the next process tries again.
func (l *Lock) MarkStore(names ...string) {
	held := text(l.file.Name())
	for _, name := range names {
		if !l.HasHeld(name) {
			held = strings.TrimSpace(held + " " + name)
		}
	}
	if held != text(l.file.Name()) {
		_ = l.Describe(held)
	}
}

// HasHeld reports whether the directory has ever contained the named file.
func (l *Lock) HasHeld(name string) bool {
	held := strings.Fields(text(l.file.Name()))
	return slices.Contains(held, name) || slices.Contains(held, storeText)
}

// lastDaemon returns the description of the directory's last daemon, which may have ended, in
// brackets after an introduction.
func lastDaemon(dir, introduction string) string {
	description := text(filepath.Join(dir, servingName))
	if description == "" {
		return ""
	}
	return " (" + introduction + description + ")"
}

// text returns the content of a lock file, empty if it cannot be read.
func text(path string) string {
	b, _ := os.ReadFile(path)
	return strings.TrimSpace(string(b))
}

// lockFile locks a file of the directory, without waiting. inUse is the text of the error if
// another process holds the lock.
func lockFile(dir, name string, exclusive bool, inUse string) (*Lock, error) {
	file, err := openLock(filepath.Join(dir, name))
	if err != nil {
		return nil, err
	}
	err = lock(file, exclusive)
	if err == nil {
		return &Lock{file}, nil
	}
	if errors.Is(err, errLocked) {
		err = fmt.Errorf("%w: %s", ErrInUse, inUse)
	} else {
		err = fmt.Errorf("locking %s: %w", file.Name(), err)
	}
	return nil, errors.Join(err, file.Close())
}

// openLock opens the lock file. If this process may not do so, the error names the owner of the
// directory in which it cannot be created, or of the file.
func openLock(path string) (*os.File, error) {
	err := Create(path)
	if err == nil {
		var file *os.File
		file, err = os.OpenFile(path, os.O_RDWR, 0)
		if err == nil {
			return file, nil
		}
	}
	for _, name := range []string{filepath.Dir(path), path} {
		if denied := CheckAccess(name); denied != nil {
			return nil, denied
		}
	}
	return nil, err
}

// Release releases the lock. It may be called several times.
func (l *Lock) Release() error {
	if err := l.file.Close(); !errors.Is(err, os.ErrClosed) {
		return err
	}
	return nil
}

// ReplaceInterrupted reports whether replacing the files was interrupted, so that they may
// belong to different stores.
func ReplaceInterrupted(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, unfinishedName))
	return !errors.Is(err, fs.ErrNotExist)
}

// CheckReplaced returns an error if replacing the files was interrupted. The caller holds a lock,
// so that no other process is replacing them.
func CheckReplaced(dir string) error {
	if !ReplaceInterrupted(dir) {
		return nil
	}
	return fmt.Errorf("a restore or copy into %s was cut short,"+
		" so its files may be of different stores;"+
		" run whd restore --force or whd store copy again", dir)
}

// MarkUnfinished marks the directory until finish is called: while it is marked, LockShared
// fails, even after a crash.
func (l *Lock) MarkUnfinished() (finish func() error, err error) {
	dir := filepath.Dir(l.file.Name())
	mark := filepath.Join(dir, unfinishedName)
	if err := Create(mark); err != nil {
		return nil, err
	}
	finish = func() error { return errors.Join(Sync(dir), os.Remove(mark), Sync(dir)) }
	return finish, Sync(dir)
}

// Sync writes directory entries to disk so that they survive a power failure. Windows
// does so automatically and has no function for it.
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
