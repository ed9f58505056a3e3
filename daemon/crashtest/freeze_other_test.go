//go:build !unix

package crashtest

import "testing"

const canFreeze = false

// setFrozen fails the test: canFreeze is false on this platform.
func setFrozen(t *testing.T, _ int, _ bool) {
	t.Fatal("processes cannot be suspended on this platform")
}
