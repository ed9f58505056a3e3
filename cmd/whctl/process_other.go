//go:build !unix

package main

import "os"

// processRuns reports whether there is a process of that number.
func processRuns(pid int) bool {
	process, err := os.FindProcess(pid) // which opens it, where it is there
	if err != nil {
		return false
	}
	_ = process.Release() // nothing was done with it
	return true
}
