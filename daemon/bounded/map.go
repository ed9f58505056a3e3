// Package bounded provides a map with a maximum number of entries, for values that
// expire and may be lost: look-ups, counts of failures, rates.
package bounded

import (
	"maps"
	"time"
)

// Map is a map with a maximum number of entries. It is not safe for concurrent use.
type Map[K comparable, V any] struct {
	max      int
	interval time.Duration // minimum time between two sweeps
	stale    func(v V, now time.Time) bool
	entries  map[K]V
	swept    time.Time // time of the last sweep
}

// New returns a Map of at most max entries. A full map removes stale entries, at most
// once per interval, so that a flood of new keys does not cause a sweep for each.
func New[K comparable, V any](max int, interval time.Duration, stale func(v V, now time.Time) bool) *Map[K, V] {
	return &Map[K, V]{max: max, interval: interval, stale: stale, entries: make(map[K]V)}
}

// Get returns the value of a key, stale or not.
func (m *Map[K, V]) Get(key K) (V, bool) {
	v, ok := m.entries[key]
	return v, ok
}

// Set sets the value of a key. In a full map, a new key evicts stale entries, or an
// arbitrary entry if there are none.
func (m *Map[K, V]) Set(key K, v V, now time.Time) {
	if _, exists := m.entries[key]; !exists && len(m.entries) >= m.max {
		m.makeRoom(now)
	}
	m.entries[key] = v
}

// makeRoom removes entries from a full map.
func (m *Map[K, V]) makeRoom(now time.Time) {
	if now.Sub(m.swept).Abs() >= m.interval {
		m.swept = now
		m.DeleteFunc(func(_ K, v V) bool { return m.stale(v, now) })
	}
	for evicted := range m.entries {
		if len(m.entries) < m.max {
			return
		}
		delete(m.entries, evicted)
	}
}

// Delete removes an entry.
func (m *Map[K, V]) Delete(key K) { delete(m.entries, key) }

// DeleteFunc removes the entries that match.
func (m *Map[K, V]) DeleteFunc(match func(K, V) bool) { maps.DeleteFunc(m.entries, match) }

// Len returns the number of entries.
func (m *Map[K, V]) Len() int { return len(m.entries) }
