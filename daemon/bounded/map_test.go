package bounded

import (
	"testing"
	"time"
)

func TestMap(t *testing.T) {
	day := time.Date(2030, 1, 2, 0, 0, 0, 0, time.UTC)
	m := New[int](3, time.Minute, func(until, now time.Time) bool { return !until.After(now) })
	for i := range 5 {
		m.Set(i, day.Add(time.Hour), day)
	}
	if _, there := m.Get(4); m.Len() != 3 || !there {
		t.Errorf("%d entries, the last %v", m.Len(), there)
	}
	m.Set(4, day.Add(2*time.Hour), day.Add(time.Hour))
	if m.Len() != 3 {
		t.Errorf("%d entries after one was replaced", m.Len())
	}
	m.Set(5, day.Add(2*time.Hour), day.Add(time.Hour))
	if _, there := m.Get(4); m.Len() != 2 || !there {
		t.Errorf("%d entries once others are stale, want 2; the one that is not: %v", m.Len(), there)
	}
	m.Delete(4)
	m.DeleteFunc(func(key int, _ time.Time) bool { return key == 5 })
	if m.Len() != 0 {
		t.Errorf("%d entries are left", m.Len())
	}
}
