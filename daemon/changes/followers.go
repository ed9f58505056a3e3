package changes

import (
	"sync"
	"time"
)

// Followers are woken in groups, one after the other. If a thousand of them continued at the same
// moment, the goroutines of other requests would wait until the scheduler had run all of them.
const (
	wakeGroups   = 32
	wakeInterval = 2 * time.Millisecond
)

// followers are those that wait for changes.
type followers struct {
	mu      sync.Mutex
	waiting map[string]*waiting // keyed by kind
}

func newFollowers() *followers {
	return &followers{waiting: make(map[string]*waiting)}
}

// join returns a channel that is closed when the followers of a kind are notified.
func (f *followers) join(kind string) <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	w, ok := f.waiting[kind]
	if !ok {
		w = &waiting{}
		f.waiting[kind] = w
	}
	return w.join()
}

// notify wakes the followers of a kind.
func (f *followers) notify(kind string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	w, ok := f.waiting[kind]
	if !ok {
		return
	}
	w.wake()
	delete(f.waiting, kind)
}

// waiting is the groups of followers that wait for changes of a kind.
type waiting struct {
	groups [wakeGroups]chan struct{} // closed when changes have been published; nil for an empty group
	next   int                       // the group of the next follower
}

// join returns the channel of the next group.
func (w *waiting) join() <-chan struct{} {
	group := &w.groups[w.next]
	w.next = (w.next + 1) % wakeGroups
	if *group == nil {
		*group = make(chan struct{})
	}
	return *group
}

// wake wakes the first group now and the others later.
func (w *waiting) wake() {
	for i, group := range w.groups {
		if group != nil {
			time.AfterFunc(time.Duration(i)*wakeInterval, func() { close(group) })
		}
	}
}
