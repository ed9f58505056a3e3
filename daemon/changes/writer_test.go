package changes_test

import (
	"errors"
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/changes"
	"github.com/bizhook/whd/daemon/fault"
)

// Changes that are stored before the shadow, and a store that fails, lose and repeat
// nothing.
func TestKillsBetweenChangesAndShadow(t *testing.T) {
	filled(t, 300, sorts["time"], func(t *testing.T, r *rig) {
		failures := 0
		r.store.putting = func() error {
			failures++
			if failures%2 == 1 {
				return errors.New("killed")
			}
			return nil
		}
		r.store.published = func() error {
			failures++
			if failures%3 == 1 {
				return fault.New(fault.Unavailable, "no reply")
			}
			return nil
		}
		for i := range 100 {
			r.table.set(fmt.Sprintf("k%05d", i), fmt.Sprint(i, ".25"), "x")
			time.Sleep(3 * time.Second)
			if i%10 == 0 {
				r.restartDaemon()
			}
		}
		r.sweeps(2)

		seen := make(map[string]int)
		for _, c := range r.changes(0) {
			seen[c.key]++
		}
		for key, n := range seen {
			if n != 1 {
				t.Errorf("%s has %d changes", key, n)
			}
		}
		if len(seen) != 100 {
			t.Errorf("%d rows have changes, want 100", len(seen))
		}
	})
}

// Groups have at most 256 changes, and 4096 messages.
func TestGroupsAreLimited(t *testing.T) {
	for matching, limit := range map[int]int{0: 256, 16: 256, 100: 41, 10_000: 1} {
		filled(t, 600, sorts["time"], func(t *testing.T, r *rig) {
			r.store.matching = matching
			time.Sleep(time.Second)
			r.update(600, "4.00")
			r.until("all are published", func() bool { return r.count() == 600 })
			largest := 0
			for _, g := range r.store.kind("Item").groups {
				largest = max(largest, len(g))
			}
			if largest != limit {
				t.Errorf("%d changes in a group with %d messages for each, want %d", largest, matching, limit)
			}
		})
	}
}

// If the database cannot be identified before changes are written, they are read again.
func TestServerAwayBeforeChangesAreWritten(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		time.Sleep(time.Second)
		r.table.mu.Lock()
		r.table.fail = func(changes.Read) error { // the rows are read, and then the server is away
			r.table.away = true
			return nil
		}
		r.table.mu.Unlock()
		r.table.set("new", "1", "x")
		r.table.set("b", "9", "x")
		r.table.mu.Lock()
		r.table.info.Content = "2"
		r.table.mu.Unlock()
		time.Sleep(5 * time.Minute)
		r.silent()

		r.table.mu.Lock()
		r.table.fail = nil
		r.table.mu.Unlock()
		time.Sleep(5 * time.Minute)
		want := map[changes.Op]int{changes.Created: 1, changes.Updated: 1}
		if got := counts(r.changes(0)); !maps.Equal(got, want) {
			t.Errorf("after the server is back, the changes are %v, want %v", got, want)
		}
		if phase := r.status().Phase; phase != changes.Capturing {
			t.Errorf("the phase is %q, want %q", phase, changes.Capturing)
		}
	})
}
