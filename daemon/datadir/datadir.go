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
	"strings"
)

const (
	// lockName is the file whose lock says who works with the directory. The
	// system ends the lock with the process, however that ends.
	lockName = "whd.lock"
	// servingName is the file whose lock belongs to the one daemon of the
	// directory. Its text describes that daemon.
	servingName = "serve.lock"
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
	l, err := take(dir, lockName, false, "the files in "+dir+" are being replaced by whd restore or rewritten by whd compact; try again when that has ended")
	if err != nil {
		return nil, err
	}
	if CutShort(dir) {
		return nil, errors.Join(fmt.Errorf("a restore into %s was cut short, so its files may be of different stores; run whd restore --force again", dir), l.Release())
	}
	return l, nil
}

// Own takes the right that nobody else may have meanwhile.
func Own(dir string) (*Lock, error) {
	return take(dir, lockName, true, fmt.Sprintf("a command or a daemon works with the files in %s; stop it first%s", dir, served(dir, "the last daemon there was ")))
}

// Serve takes the right to be the directory's daemon, which one process has at
// a time. The error names the process that has it by its description.
func Serve(dir, description string) (*Lock, error) {
	l, err := take(dir, servingName, true, fmt.Sprintf("another whd serves %s%s; stop it, or give this one a data directory of its own", dir, served(dir, "")))
	if err == nil {
		_ = l.Describe(description) // on a full disk the lock holds without it
	}
	return l, err
}

// Describe changes the description that others read.
func (l *Lock) Describe(text string) error {
	err := l.file.Truncate(0)
	if err == nil {
		_, err = l.file.WriteAt([]byte(text+"\n"), 0)
	}
	return err
}

// storeMark is the text of the lock file once the directory has held a store.
const storeMark = "store"

// MarkStore remembers that the directory holds a store now. Where that cannot
// be written, the next process does it.
func (l *Lock) MarkStore() {
	if !l.HasStore() {
		_ = l.Describe(storeMark)
	}
}

// HasStore reports whether the directory has held a store.
func (l *Lock) HasStore() bool { return text(l.file.Name()) == storeMark }

// served is the description of the last daemon of the directory, in brackets. That
// may have ended.
func served(dir, before string) string {
	if t := text(filepath.Join(dir, servingName)); t != "" {
		return " (" + before + t + ")"
	}
	return ""
}

// text is what a lock's file says, nothing where it cannot be read.
func text(path string) string {
	b, _ := os.ReadFile(path)
	return strings.TrimSpace(string(b))
}

// take locks a file of the directory, without waiting.
func take(dir, name string, alone bool, inUse string) (*Lock, error) {
	file, err := openLock(filepath.Join(dir, name))
	if err != nil {
		return nil, err
	}
	switch err = lock(file, alone); {
	case err == nil:
		return &Lock{file}, nil
	case errors.Is(err, errLocked):
		err = fmt.Errorf("%w: %s", ErrInUse, inUse)
	default:
		err = fmt.Errorf("locking %s: %w", file.Name(), err)
	}
	return nil, errors.Join(err, file.Close())
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
