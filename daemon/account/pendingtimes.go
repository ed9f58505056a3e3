package account

import (
	"maps"
	"sync"
	"time"
)

// pendingTimes collects the latest time for each name until it is stored.
type pendingTimes struct {
	mu      sync.Mutex
	pending map[string]time.Time
}

func newPendingTimes() *pendingTimes { return &pendingTimes{pending: make(map[string]time.Time)} }

func (l *pendingTimes) record(name string, at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if at.After(l.pending[name]) {
		l.pending[name] = at
	}
}

// latest returns the time recorded for the name and not yet stored, zero if none.
func (l *pendingTimes) latest(name string) time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.pending[name]
}

func (l *pendingTimes) drop(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.pending, name)
}

// all returns the times to store. They stay until stored is called.
func (l *pendingTimes) all() map[string]time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.pending)
}

// stored removes times that have been stored, except those recorded since.
func (l *pendingTimes) stored(times map[string]time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	maps.DeleteFunc(l.pending, func(name string, at time.Time) bool { return at.Equal(times[name]) })
}
