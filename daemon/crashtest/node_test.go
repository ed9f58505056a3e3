package crashtest

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/daemontest"
)

// node is one of several daemons on a store, restarted after each kill.
type node struct {
	dir         string
	program     daemontest.Program
	args        []string
	clockOffset time.Duration // by which its clock is ahead

	process *daemontest.Process
	url     atomic.Pointer[string] // nil while it does not listen
	ready   chan error             // result of the last launch
}

// launch starts a daemon without waiting for it.
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

// maxStarts is the number of attempts to start a daemon, which fails if the server is
// too slow.
const maxStarts = 5

// await waits until the daemon listens, and restarts it if it has exited.
func (p *node) await(t *testing.T) {
	t.Helper()
	for range maxStarts {
		err := <-p.ready
		if err == nil {
			p.ready <- nil
			return
		}
		_ = p.process.Kill() // it has exited
		t.Logf("restarting a daemon: %.300v", err)
		p.launch(t)
	}
	t.Fatal("a daemon does not start")
}

// kill kills the daemon immediately, even before it listens.
func (p *node) kill(t *testing.T, b *recordingReceiver) disturbance {
	t.Helper()
	d := disturbance{from: time.Now()}
	if err := p.process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-p.ready // an error if it was killed too early
	p.url.Store(nil)
	d.drained = b.settle(t)
	return d
}

// stop shuts the daemon down.
func (p *node) stop(t *testing.T) {
	t.Helper()
	p.url.Store(nil)
	if err := p.process.Stop(); err != nil {
		t.Error(err)
	}
}

// freeze suspends the daemon for a while.
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
