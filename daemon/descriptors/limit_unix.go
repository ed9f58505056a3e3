//go:build unix

package descriptors

import (
	"math"
	"syscall"
)

// Limit returns how many descriptors the process may have open, 0 for any number. At its start
// Go raises the soft limit to the hard one.
func Limit() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0
	}
	if limit.Cur > math.MaxInt32 {
		return 0
	}
	return int(limit.Cur)
}
