package crashtest

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/daemontest"
)

// node is one of several daemons on a store: it is launched anew after each time
// that it was killed.
type node struct {
	dir         string
	program     daemontest.Program
	args        []string
	clockOffset time.Duration // of its clock

	process *daemontest.Process
	url     atomic.Pointer[string] // nil while nobody listens
	ready   chan error             // what came of the last launch
}

// launch begins a daemon and does not wait for it.
func (p *node) launch(t *testing.T) {
	t.Helper()
	process, err := p.program.Launch(p.dir, p.args...)
	if err != nil {
		t.Fatal(err)
	}
	p.process, p.ready = process, make(chan error, 1)
	go func() {
		err := process.Await()
		if err == nil {
			p.url.Store(&process.URL)
		}
		p.ready <- err
	}()
}

// maxStarts is how often a daemon may fail to start: it gives up where the
// server is too slow.
const maxStarts = 5

// await waits until the daemon listens, and launches it again where it has ended.
func (p *node) await(t *testing.T) {
	t.Helper()
	for range maxStarts {
		err := <-p.ready
		if err == nil {
			p.ready <- nil
			return
		}
		_ = p.process.Kill() // which has ended
		t.Logf("a daemon is launched again: %.300v", err)
		p.launch(t)
	}
	t.Fatal("a daemon does not start")
}

// kill ends the daemon at once, whether it listens yet or not.
func (p *node) kill(t *testing.T, b *recordingReceiver) disturbance {
	t.Helper()
	d := disturbance{from: time.Now()}
	if err := p.process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-p.ready // an error where it was too early
	p.url.Store(nil)
	d.drained = b.settle(t)
	return d
}

// stop ends the daemon as it should be.
func (p *node) stop(t *testing.T) {
	t.Helper()
	p.url.Store(nil)
	if err := p.process.Stop(); err != nil {
		t.Error(err)
	}
}

// freeze has the daemon stand still for a time.
func (p *node) freeze(t *testing.T, b *recordingReceiver, span time.Duration) disturbance {
	t.Helper()
	over := time.NewTimer(span)
	d := disturbance{freeze: true, from: time.Now()}
	setFrozen(t, p.process.PID(), true)
	d.drained = b.settle(t)
	<-over.C
	d.until = time.Now()
	setFrozen(t, p.process.PID(), false)
	return d
}
