//go:build !unix

package crashtest

import "testing"

const canFreeze = false

func signalTo(t *testing.T, _ int, _ bool) { t.Fatal("processes cannot be frozen here") }
