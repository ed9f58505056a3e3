//go:build !linux

package benchtest

import (
	"errors"
	"fmt"
	"time"
)

var errLinuxOnly = fmt.Errorf("another process's CPU time and memory are only read on Linux (%w)",
	errors.ErrUnsupported)

// CPUTime fails.
func CPUTime(int) (time.Duration, error) { return 0, errLinuxOnly }

// Memory fails.
func Memory(int) (now, peak float64, err error) { return 0, 0, errLinuxOnly }

// ResetPeak fails.
func ResetPeak(int) error { return errLinuxOnly }

// BusyTime fails.
func BusyTime() (time.Duration, error) { return 0, errLinuxOnly }
