package storage

import (
	"context"
	"sync"
	"time"

	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/fault"
)

// probeTimeout limits a ping.
const probeTimeout = 2 * time.Second

// erpProbe pings the ERP's database, one ping at a time, and has the result of the last one.
type erpProbe struct {
	database interface{ Ping(context.Context) error }

	mu      sync.Mutex
	running chan struct{} // closed at the end of the ping in progress, nil if there is none
	err     error
}

// start pings the database, unless a ping is in progress. The returned channel is closed when
// the ping has ended.
func (p *erpProbe) start(ctx context.Context) <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running != nil {
		return p.running
	}
	ended := make(chan struct{})
	p.running = ended
	go func() {
		defer close(ended)
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), probeTimeout)
		defer cancel()
		err := pingError(p.database.Ping(ctx))
		p.mu.Lock()
		defer p.mu.Unlock()
		p.running = nil
		p.err = err
	}()
	return ended
}

// result returns the error of the last ping.
func (p *erpProbe) result() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

// wait waits for the end of the ping in progress.
func (p *erpProbe) wait() {
	p.mu.Lock()
	ended := p.running
	p.mu.Unlock()
	if ended != nil {
		<-ended
	}
}

// pingError returns the temporary error for the error of a ping, nil for none.
func pingError(err error) error {
	err = executor.Classify(err)
	if err == nil || fault.Is(err, fault.Unavailable) {
		return err
	}
	if fault.Is(err, fault.Timeout) {
		return executor.Unavailable(err, "the database did not respond in time")
	}
	return executor.Unavailable(err, "the database cannot be used at the moment")
}
