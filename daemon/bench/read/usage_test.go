package read

import (
	"os"
	"time"
)

// cpuOf is the CPU time that a process uses while f runs.
func cpuOf(pid int, f func() error) (time.Duration, error) {
	before, err := cpuTime(pid)
	if err != nil {
		return 0, err
	}
	if err := f(); err != nil {
		return 0, err
	}
	after, err := cpuTime(pid)
	return after - before, err
}

// spent is the CPU time that f takes in this process, or where that cannot be
// read how long it takes.
func spent(f func() error) (time.Duration, error) {
	if _, err := cpuTime(os.Getpid()); err == nil {
		return cpuOf(os.Getpid(), f)
	}
	return lasted(f)
}

// lasted is how long f takes.
func lasted(f func() error) (time.Duration, error) {
	start := time.Now()
	err := f()
	return time.Since(start), err
}
