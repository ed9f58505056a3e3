//go:build unix

package crashtest

import (
	"syscall"
	"testing"
)

const canFreeze = true

// setFrozen suspends or resumes a process.
func setFrozen(t *testing.T, pid int, still bool) {
	t.Helper()
	signal := syscall.SIGCONT
	if still {
		signal = syscall.SIGSTOP
	}
	if err := syscall.Kill(pid, signal); err != nil {
		t.Fatal(err)
	}
}
