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
	writing map[string]time.Time // on their way to the store
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
	if at := l.pending[name]; at.After(l.writing[name]) {
		return at
	}
	return l.writing[name]
}

func (l *ledger) drop(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.pending, name)
}

// take gives what is to be written. Until wrote, latest still knows it.
func (l *ledger) take() map[string]time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.writing, l.pending = l.pending, make(map[string]time.Time)
	return maps.Clone(l.writing)
}

// wrote ends what take began. What could not be written stays noted.
func (l *ledger) wrote(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		for name, at := range l.writing {
			if at.After(l.pending[name]) {
				l.pending[name] = at
			}
		}
	}
	l.writing = nil
}
