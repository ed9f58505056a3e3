// Package bounded has a map of at most so many entries, for what becomes stale by
// itself and may be lost: look-ups, counts of failures, rates.
package bounded

import (
	"maps"
	"time"
)

// Map is such a map. It is not safe for concurrent use.
type Map[K comparable, V any] struct {
	max      int
	interval time.Duration // between two searches for stale entries
	stale    func(v V, now time.Time) bool
	entries  map[K]V
	swept    time.Time
}

// New makes a Map of at most max entries. It looks for stale ones when it is full,
// but not more often than once in an interval: else a flood of new keys would have
// it walk all entries for each.
func New[K comparable, V any](max int, interval time.Duration, stale func(v V, now time.Time) bool) *Map[K, V] {
	return &Map[K, V]{max: max, interval: interval, stale: stale, entries: make(map[K]V)}
}

// Get is the entry of a key, stale or not.
func (m *Map[K, V]) Get(key K) (V, bool) {
	v, ok := m.entries[key]
	return v, ok
}

// Set sets an entry. A new one takes the place of those that are stale, and where
// none is, of any.
func (m *Map[K, V]) Set(key K, v V, now time.Time) {
	if _, there := m.entries[key]; !there && len(m.entries) >= m.max {
		if now.Sub(m.swept).Abs() >= m.interval {
			m.swept = now
			m.DeleteFunc(func(_ K, v V) bool { return m.stale(v, now) })
		}
		for other := range m.entries {
			if len(m.entries) < m.max {
				break
			}
			delete(m.entries, other)
		}
	}
	m.entries[key] = v
}

// Delete removes an entry.
func (m *Map[K, V]) Delete(key K) { delete(m.entries, key) }

// DeleteFunc removes the entries that match.
func (m *Map[K, V]) DeleteFunc(match func(K, V) bool) { maps.DeleteFunc(m.entries, match) }

// Len is the number of entries.
func (m *Map[K, V]) Len() int { return len(m.entries) }
