//go:build !linux

package read

import (
	"errors"
	"fmt"
	"time"
)

var errLinuxOnly = fmt.Errorf("another process's CPU time and memory are only read on Linux (%w)", errors.ErrUnsupported)

func cpuTime(int) (time.Duration, error) { return 0, errLinuxOnly }
func forgetPeak(int) error               { return errLinuxOnly }
func peakMemory(int) (float64, error)    { return 0, errLinuxOnly }
func heldMemory(int) (float64, error)    { return 0, errLinuxOnly }
