//go:build unix

package main

import (
	"errors"
	"syscall"
)

// processRuns reports whether there is a process of that number.
func processRuns(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}
