package changes_test

import (
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/changes"
	"github.com/bizhook/whd/daemon/row"
)

// A legitimate update of all rows is delivered, by two sweeps.
func TestManyDifferencesArePublishedIfTheyStay(t *testing.T) {
	for name, sort := range sorts {
		if name == "time" {
			continue // polls find the update
		}
		t.Run(name, func(t *testing.T) {
			filled(t, 3000, sort, func(t *testing.T, r *rig) {
				// The daemon is down while the rows change.
				r.end()
				r.update(2500, "2.00")
				for i := range 50 {
					r.table.set(fmt.Sprint("new", i), "1", "x")
				}
				r.table.info.Pollable = false // so that only sweeps find the changes
				r.table.delay = func() time.Duration { return time.Second }
				r.run()

				r.until("the alarm", func() bool { return r.count() == 999 })
				r.until("the differences are published", func() bool { return r.count() > 999 })
				if r.swept() < 3000 {
					t.Errorf("more than 999 changes after %d of 3050 rows", r.swept())
				}
				r.sweeps(3)
				want := map[changes.Op]int{changes.Updated: 2500, changes.Created: 50}
				if got := counts(r.changes(0)); !maps.Equal(got, want) {
					t.Errorf("after 3 sweeps the changes are %v, want %v", got, want)
				}
			})
		})
	}
}

// Differences that only the sweep after an alarm finds publish nothing.
func TestDifferencesOfTheSecondSweepAlone(t *testing.T) {
	filled(t, 3000, sorts["sweeps"], func(t *testing.T, r *rig) {
		r.update(2000, "2.00")
		r.table.mu.Lock()
		pages := 0
		r.table.fail = func(changes.Read) error {
			pages++
			for key, cells := range r.table.rows {
				if key < "k02000" {
					continue
				}
				switch pages {
				case 4: // the second sweep starts
					cells[itemAmount] = text("7.00")
				case 7: // and the third one
					cells[itemAmount] = text("1.00")
				}
			}
			return nil
		}
		r.table.mu.Unlock()
		r.sweeps(3)
		for _, c := range r.changes(0) {
			if c.key >= "k02000" {
				t.Fatalf("%q was published, although only the second sweep has found it", c)
			}
		}
		if n := r.count(); n != 2000 {
			t.Errorf("got %d changes, want the 2000 that both sweeps have found", n)
		}
	})
}

// Differences after the alarm that are gone in the second sweep publish nothing.
func TestManyDifferencesThatPassAreNotPublished(t *testing.T) {
	filled(t, 3000, sorts["sweeps"], func(t *testing.T, r *rig) {
		saved := maps.Clone(r.table.rows)
		r.update(3000, "2.00")
		r.table.mu.Lock()
		pages := 0
		r.table.fail = func(changes.Read) error {
			pages++
			if pages == 4 { // the last page is read: the second sweep starts
				r.table.rows = saved
			}
			return nil
		}
		r.table.mu.Unlock()
		r.sweeps(4)
		got := counts(r.changes(0))
		updated := got[changes.Updated]
		if updated < 999 || updated > 2*999 || len(got) != 1 {
			t.Errorf("the changes are %v, want 999 updates before the alarm, and those back", got)
		}
	})
}

func TestManyDeletionsArePublishedIfTheyStay(t *testing.T) {
	for name, sort := range sorts {
		t.Run(name, func(t *testing.T) {
			filled(t, 1500, sort, func(t *testing.T, r *rig) {
				for i := range 700 {
					r.table.remove(fmt.Sprintf("k%05d", i))
				}
				r.until("the alarm", func() bool { return r.count() >= 99 })
				r.sweeps(2)
				want := map[changes.Op]int{changes.Deleted: 700}
				if got := counts(r.changes(0)); !maps.Equal(got, want) {
					t.Errorf("after the alarm and 2 sweeps the changes are %v, want %v", got, want)
				}
			})
		})
	}
}

// Deletions that come back between the two sweeps: those after the 99th publish nothing.
func TestManyDeletionsThatPassAreNotPublished(t *testing.T) {
	filled(t, 900, sorts["sweeps"], func(t *testing.T, r *rig) {
		r.table.mu.Lock()
		saved := r.table.rows
		r.table.rows = map[string][]row.Cell{"k00000": saved["k00000"]}
		lookups := 0
		r.table.fail = func(read changes.Read) error {
			if read.Keys != nil {
				lookups++
			} else if lookups >= 2 {
				r.table.rows = saved
			}
			return nil
		}
		r.table.mu.Unlock()
		r.sweeps(4)
		n := counts(r.changes(0))
		if n[changes.Deleted] != 99 || n[changes.Created] != 99 {
			t.Errorf("%v, want 99 deletions before the alarm, and their return", n)
		}
	})
}
