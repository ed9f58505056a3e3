package crashtest

import (
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/daemontest"
)

// node is one of several daemons on a store, restarted after each kill.
type node struct {
	daemontest.Service
	clockOffset time.Duration // by which its clock is ahead
}

// kill kills the daemon immediately, even before it listens.
func (p *node) kill(t *testing.T, b *recordingReceiver) disturbance {
	t.Helper()
	d := disturbance{from: time.Now()}
	p.Kill(t)
	d.drained = b.settle(t)
	return d
}

// freeze suspends the daemon for a while.
func (p *node) freeze(t *testing.T, b *recordingReceiver, span time.Duration) disturbance {
	t.Helper()
	over := time.NewTimer(span)
	d := disturbance{freeze: true, from: time.Now()}
	p.Freeze(t)
	d.drained = b.settle(t)
	<-over.C
	d.until = time.Now()
	p.Thaw(t)
	return d
}
