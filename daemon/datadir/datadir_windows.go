package datadir

import (
	"os"
	"syscall"
	"unsafe"
)

var (
	kernel    = syscall.NewLazyDLL("kernel32.dll")
	lockFile  = kernel.NewProc("LockFileEx")
	freeSpace = kernel.NewProc("GetDiskFreeSpaceExW")
)

// errLocked is how the system says that somebody else has the lock:
// ERROR_LOCK_VIOLATION.
var errLocked error = syscall.Errno(33)

func lock(file *os.File, alone bool) error {
	const failAtOnce, exclusive = 1, 2
	flags := uintptr(failAtOnce)
	if alone {
		flags |= exclusive
	}
	at := syscall.Overlapped{OffsetHigh: 1} // far behind the text, since what is locked cannot be read
	if done, _, err := lockFile.Call(file.Fd(), flags, 0, 1, 0, uintptr(unsafe.Pointer(&at))); done == 0 {
		return err
	}
	return nil
}

// Entrust does nothing: files have the rights that their directory hands down.
func Entrust(string, ...string) error { return nil }

// Free is the room, in bytes, that is left for files in the directory.
func Free(dir string) (int64, error) {
	name, err := syscall.UTF16PtrFromString(dir)
	if err != nil {
		return 0, err
	}
	var free uint64
	if done, _, err := freeSpace.Call(uintptr(unsafe.Pointer(name)), uintptr(unsafe.Pointer(&free)), 0, 0); done == 0 {
		return 0, err
	}
	return int64(free), nil
}
