//go:build !unix

package mssql_test

import "time"

var started = time.Now()

// cpuTime returns elapsed time on systems where the CPU time is not available.
func cpuTime() time.Duration { return time.Since(started) }
