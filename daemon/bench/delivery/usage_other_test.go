//go:build !linux

package delivery

import (
	"errors"
	"time"
)

var errUsage = errors.New("resource usage can only be measured on Linux")

func cpuTime(int) (time.Duration, error) { return 0, errUsage }

func peakMemory(int) (float64, error) { return 0, errUsage }

func busyTime() (time.Duration, error) { return 0, errUsage }
