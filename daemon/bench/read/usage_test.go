package read

import (
	"os"
	"time"

	"github.com/bizhook/whd/daemon/bench/benchtest"
)

// cpuOf returns the CPU time that a process uses while f runs.
func cpuOf(pid int, f func() error) (time.Duration, error) {
	before, err := benchtest.CPUTime(pid)
	if err != nil {
		return 0, err
	}
	if err := f(); err != nil {
		return 0, err
	}
	after, err := benchtest.CPUTime(pid)
	return after - before, err
}

// spent returns the CPU time of f in this process, or the elapsed time if that
// cannot be read.
func spent(f func() error) (time.Duration, error) {
	if _, err := benchtest.CPUTime(os.Getpid()); err == nil {
		return cpuOf(os.Getpid(), f)
	}
	return lasted(f)
}

// lasted returns the elapsed time of f.
func lasted(f func() error) (time.Duration, error) {
	start := time.Now()
	err := f()
	return time.Since(start), err
}
