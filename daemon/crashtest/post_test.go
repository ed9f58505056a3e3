package crashtest

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/daemontest"
)

// post is one of several daemons on a store: it is launched anew after each time
// that it was killed.
type post struct {
	dir     string
	program daemontest.Program
	args    []string
	ahead   time.Duration // of its clock

	process *daemontest.Process
	url     atomic.Pointer[string] // nil while nobody listens
	listens chan error             // what came of the last launch
}

// launch begins a daemon and does not wait for it.
func (p *post) launch(t *testing.T) {
	t.Helper()
	process, err := p.program.Launch(p.dir, p.args...)
	if err != nil {
		t.Fatal(err)
	}
	p.process, p.listens = process, make(chan error, 1)
	go func() {
		err := process.Await()
		if err == nil {
			p.url.Store(&process.URL)
		}
		p.listens <- err
	}()
}

// mostStarts is how often a daemon may fail to start: it gives up where the
// server is too slow.
const mostStarts = 5

// await waits until the daemon listens, and launches it again where it has ended.
func (p *post) await(t *testing.T) {
	t.Helper()
	for range mostStarts {
		err := <-p.listens
		if err == nil {
			p.listens <- nil
			return
		}
		_ = p.process.Kill() // which has ended
		t.Logf("a daemon is launched again: %.300v", err)
		p.launch(t)
	}
	t.Fatal("a daemon does not start")
}

// kill ends the daemon at once, whether it listens yet or not.
func (p *post) kill(t *testing.T, b *bureau) disturbance {
	t.Helper()
	d := disturbance{from: time.Now()}
	if err := p.process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-p.listens // an error where it was too early
	p.url.Store(nil)
	d.settled = b.settle(t)
	return d
}

// stop ends the daemon as it should be.
func (p *post) stop(t *testing.T) {
	t.Helper()
	p.url.Store(nil)
	if err := p.process.Stop(); err != nil {
		t.Error(err)
	}
}

// freeze has the daemon stand still for a time.
func (p *post) freeze(t *testing.T, b *bureau, span time.Duration) disturbance {
	t.Helper()
	over := time.NewTimer(span)
	d := disturbance{frozen: true, from: time.Now()}
	signalTo(t, p.process.PID(), true)
	d.settled = b.settle(t)
	<-over.C
	d.until = time.Now()
	signalTo(t, p.process.PID(), false)
	return d
}
