//go:build !unix

package descriptors

// Limit returns how many descriptors the process may have open, 0 for any number.
func Limit() int { return 0 }
