//go:build !linux

package grid

import "time"

var began = time.Now()

func used() time.Duration { return time.Since(began) }
