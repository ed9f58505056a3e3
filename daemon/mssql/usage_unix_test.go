//go:build unix

package mssql_test

import (
	"syscall"
	"time"
)

// cpuTime is the CPU time that this process has taken.
func cpuTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
