//go:build unix

package datadir

import (
	"errors"
	"os"
	"syscall"
)

// errLocked is the error of the operating system for a lock held by another process.
var errLocked error = syscall.EWOULDBLOCK

func lock(file *os.File, alone bool) error {
	how := syscall.LOCK_SH
	if alone {
		how = syscall.LOCK_EX
	}
	for {
		if err := syscall.Flock(int(file.Fd()), how|syscall.LOCK_NB); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

// Entrust changes the owner of files created by root to that of the directory, since the
// daemon usually runs as another user.
func Entrust(dir string, paths ...string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	var s syscall.Stat_t
	if err := syscall.Stat(dir, &s); err != nil {
		return &os.PathError{Op: "stat", Path: dir, Err: err}
	}
	for _, path := range paths {
		if err := os.Lchown(path, int(s.Uid), int(s.Gid)); err != nil { // does not follow links
			return err
		}
	}
	return nil
}

// Free returns the free disk space of the directory in bytes.
func Free(dir string) (int64, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return 0, err
	}
	return int64(s.Bavail) * int64(s.Bsize), nil
}
