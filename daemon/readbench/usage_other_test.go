//go:build !linux

package readbench

import (
	"errors"
	"time"
)

var errLinuxOnly = errors.New("another process's CPU time and memory are only read on Linux")

func cpuTime(int) (time.Duration, error)  { return 0, errLinuxOnly }
func forgetPeak(int) error                { return errLinuxOnly }
func peakMemory(int) (float64, error)     { return 0, errLinuxOnly }
func heldMemory(int) (float64, error)     { return 0, errLinuxOnly }
