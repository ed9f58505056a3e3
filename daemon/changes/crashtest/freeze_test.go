//go:build unix

package crashtest

import (
	"math/rand/v2"
	"syscall"
	"testing"
	"time"
)

// TestFrozenCapture suspends the one of two daemons that captures for longer than its lease, at
// random moments: rows that it has read before must not be published when it continues.
func TestFrozenCapture(t *testing.T) {
	r := newEventRun(t, sqlServer, 2)
	moved := 0
	for range max(*rounds/20, 2) {
		holder := r.holder(t)
		r.awaitEvents(t)
		<-time.After(rand.N(maxDelay))
		r.signal(t, holder, syscall.SIGSTOP)
		<-time.After(leaseTerm + 2*attemptLimit)
		r.signal(t, holder, syscall.SIGCONT)
		if r.holder(t) != holder {
			moved++
		}
	}
	t.Logf("after %d of %d freezes another daemon captured", moved, max(*rounds/20, 2))
	r.finish(t)
}

func (r *eventRun) signal(t *testing.T, index int, s syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(r.services[index].process.PID(), s); err != nil {
		t.Fatal(err)
	}
}
