package crashtest

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/daemontest"
)

// TestFrozenCapture suspends the one of two daemons that captures for longer than its lease, at
// random moments: rows that it has read before must not be published when it continues.
func TestFrozenCapture(t *testing.T) {
	if !daemontest.CanFreeze {
		t.Skip("processes cannot be suspended on this platform")
	}
	r := newEventRun(t, sqlServer, 2)
	moved := 0
	for range max(*rounds/20, 2) {
		holder := r.holder(t)
		r.awaitEvents(t)
		<-time.After(rand.N(maxDelay))
		r.services[holder].Freeze(t)
		<-time.After(leaseTerm + 2*attemptLimit)
		r.services[holder].Thaw(t)
		if r.holder(t) != holder {
			moved++
		}
	}
	t.Logf("after %d of %d freezes another daemon captured", moved, max(*rounds/20, 2))
	r.finish(t)
}
