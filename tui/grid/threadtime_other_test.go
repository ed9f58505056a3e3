//go:build !linux

package grid

import "time"

var began = time.Now()

// threadTime returns the time since the start: there is no time of threads.
func threadTime() time.Duration { return time.Since(began) }
