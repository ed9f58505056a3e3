package grid

import (
	"syscall"
	"time"
)

// used is the processor time of this thread: other programs on the computer do
// not count.
func used() time.Duration {
	const thisThread = 1 // RUSAGE_THREAD
	var u syscall.Rusage
	if err := syscall.Getrusage(thisThread, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
