package datadir

import (
	"os"

	"golang.org/x/sys/windows"
)

// errLocked is the error of the operating system for a lock held by another process.
var errLocked error = windows.ERROR_LOCK_VIOLATION

func lock(file *os.File, exclusive bool) error {
	flags := uint32(windows.LOCKFILE_FAIL_IMMEDIATELY)
	if exclusive {
		flags |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	at := windows.Overlapped{OffsetHigh: 1} // beyond the text, since locked bytes cannot be read
	return windows.LockFileEx(windows.Handle(file.Fd()), flags, 0, 1, 0, &at)
}

// matchOwner does nothing: files inherit the permissions of their directory.
func matchOwner(string, func(uid, gid int) error) error { return nil }

// CheckAccess does nothing: files inherit the permissions of their directory.
func CheckAccess(string) error { return nil }

// Owner returns an empty name: the permissions of a directory do not depend on its owner.
func Owner(string) string { return "" }

// CheckOwners does nothing: files inherit the permissions of their directory.
func CheckOwners(string) ([]error, error) { return nil, nil }

// FreeSpace returns the free disk space of the directory in bytes.
func FreeSpace(dir string) (int64, error) {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, err
	}
	var free uint64
	err = windows.GetDiskFreeSpaceEx(name, &free, nil, nil)
	return int64(free), err
}
