//go:build unix

package datadir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/bizhook/whd/daemon/access"
)

// errLocked is the error of the operating system for a lock held by another process.
var errLocked error = syscall.EWOULDBLOCK

func lock(file *os.File, exclusive bool) error {
	mode := syscall.LOCK_SH
	if exclusive {
		mode = syscall.LOCK_EX
	}
	for {
		err := syscall.Flock(int(file.Fd()), mode|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

// matchOwner changes the owner of a file created by root to that of the directory, since the
// daemon usually runs as another user.
func matchOwner(dir string, chown func(uid, gid int) error) error {
	if os.Geteuid() != 0 {
		return nil
	}
	var s syscall.Stat_t
	if err := syscall.Stat(dir, &s); err != nil {
		return &os.PathError{Op: "stat", Path: dir, Err: err}
	}
	return chown(int(s.Uid), int(s.Gid))
}

// CheckAccess returns an error with the owner of a file that this process may not read and
// write. The file may be missing. It is not opened, since closing it would release the locks
// of SQLite.
func CheckAccess(path string) error {
	err := unix.Faccessat(unix.AT_FDCWD, path, unix.R_OK|unix.W_OK, unix.AT_EACCESS)
	if !errors.Is(err, fs.ErrPermission) {
		return nil
	}
	var s syscall.Stat_t
	if syscall.Stat(path, &s) != nil {
		return &os.PathError{Op: "open", Path: path, Err: err}
	}
	return fmt.Errorf("%s belongs to the user %s, and the user %s may not read and write it: %w",
		path, access.UserName(s.Uid), access.UserName(uint32(os.Geteuid())), err)
}

// Owner returns the name of a directory's owner, or an empty one if it cannot be determined.
func Owner(dir string) string {
	var s syscall.Stat_t
	if syscall.Stat(dir, &s) != nil {
		return ""
	}
	return access.UserName(s.Uid)
}

// CheckOwners returns an error for each file in the data directory that the owner of the
// directory, as which the daemon usually runs, may not read and write.
func CheckOwners(dir string) (problems []error, err error) {
	var owner syscall.Stat_t
	if err := syscall.Stat(dir, &owner); err != nil {
		return nil, &os.PathError{Op: "stat", Path: dir, Err: err}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		path := filepath.Join(dir, entry.Name())
		var s syscall.Stat_t
		isOfSystem := entry.Name() == lostFound
		if isOfSystem || syscall.Lstat(path, &s) != nil || mayUse(owner, s) {
			continue
		}
		problems = append(problems,
			fmt.Errorf("%s belongs to the user %s, and the owner of the directory, %s, may not read and write it",
				path, access.UserName(s.Uid), access.UserName(owner.Uid)))
	}
	return problems, nil
}

// lostFound is the directory that some file systems have in their root.
const lostFound = "lost+found"

// mayUse reports whether the owner of a directory may read and write a file in it. Links have
// no permissions of their own.
func mayUse(dir, file syscall.Stat_t) bool {
	isLink := file.Mode&syscall.S_IFMT == syscall.S_IFLNK
	if isLink || dir.Uid == 0 {
		return true
	}
	if dir.Uid == file.Uid {
		return file.Mode&0o600 == 0o600
	}
	if dir.Gid == file.Gid {
		return file.Mode&0o060 == 0o060
	}
	return file.Mode&0o006 == 0o006
}

// FreeSpace returns the free disk space of the directory in bytes.
func FreeSpace(dir string) (int64, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return 0, err
	}
	return int64(s.Bavail) * int64(s.Bsize), nil
}
