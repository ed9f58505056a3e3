package datadir

import (
	"os"

	"golang.org/x/sys/windows"
)

// errLocked is how the system says that somebody else has the lock.
var errLocked error = windows.ERROR_LOCK_VIOLATION

func lock(file *os.File, alone bool) error {
	flags := uint32(windows.LOCKFILE_FAIL_IMMEDIATELY)
	if alone {
		flags |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	at := windows.Overlapped{OffsetHigh: 1} // far behind the text, since what is locked cannot be read
	return windows.LockFileEx(windows.Handle(file.Fd()), flags, 0, 1, 0, &at)
}

// Entrust does nothing: files have the rights that their directory hands down.
func Entrust(string, ...string) error { return nil }

// Free is the room, in bytes, that is left for files in the directory.
func Free(dir string) (int64, error) {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, err
	}
	var free uint64
	err = windows.GetDiskFreeSpaceEx(name, &free, nil, nil)
	return int64(free), err
}
