//go:build !unix

package mssql_test

import "time"

var started = time.Now()

// cpuTime is the time itself where the CPU's cannot be read.
func cpuTime() time.Duration { return time.Since(started) }
