package account

import (
	"maps"
	"sync"
	"time"
)

// ledger collects the latest time for each name until it is written down.
type ledger struct {
	mu      sync.Mutex
	pending map[string]time.Time
}

func newLedger() *ledger { return &ledger{pending: make(map[string]time.Time)} }

func (l *ledger) note(name string, at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if at.After(l.pending[name]) {
		l.pending[name] = at
	}
}

// latest is the time noted for the name and not yet in the store.
func (l *ledger) latest(name string) time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.pending[name]
}

func (l *ledger) drop(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.pending, name)
}

// all gives what is to be written. Until wrote, latest still knows it.
func (l *ledger) all() map[string]time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.pending)
}

// wrote removes the times that are in the store now, but none that was noted since.
func (l *ledger) wrote(stored map[string]time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	maps.DeleteFunc(l.pending, func(name string, at time.Time) bool { return at.Equal(stored[name]) })
}
