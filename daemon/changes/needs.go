package changes

import (
	"sync"
	"time"
)

// needs knows when followers last needed the changes of each kind.
type needs struct {
	mu        sync.Mutex
	requested map[string]time.Time // keyed by kind; the last request of a follower, on any daemon
	noted     map[string]time.Time // keyed by kind; the last request here that was noted in the store
}

func newNeeds() *needs {
	return &needs{requested: make(map[string]time.Time), noted: make(map[string]time.Time)}
}

// add records a request, and reports whether it is the first one of the kind. Times may come in any
// order.
func (n *needs) add(kind string, requested time.Time) (first bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	last := n.requested[kind]
	if requested.After(last) {
		n.requested[kind] = requested
	}
	return last.IsZero()
}

// last returns the time of the last request; zero if there was none.
func (n *needs) last(kind string) time.Time {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.requested[kind]
}

// beginNote reports whether a request has to be noted in the store. If so, requests of the next
// needInterval leave it to this one.
func (n *needs) beginNote(kind string, requested time.Time) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if requested.Sub(n.noted[kind]) < needInterval {
		return false
	}
	n.noted[kind] = requested
	return true
}

// noteFailed has the next request noted.
func (n *needs) noteFailed(kind string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.noted, kind)
}
