package changes_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bizhook/whd/daemon/changes"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/row"
)

// filled runs a test with n rows.
func filled(t *testing.T, n int, sort func(*table) *table, test func(t *testing.T, r *rig)) {
	synctest.Test(t, func(t *testing.T) {
		table := sort(newTable(newKind("Item")))
		for i := range n {
			table.set(fmt.Sprintf("k%05d", i), "1.00", "x")
		}
		r := newRig(t, table)
		r.run()
		defer func() { r.end() }()
		test(t, r)
	})
}

// update updates n rows and returns their keys.
func (r *rig) update(n int, amount string) {
	for i := range n {
		r.table.set(fmt.Sprintf("k%05d", i), amount, "x")
	}
}

// swept returns the number of rows that sweeps have read.
func (r *rig) swept() int64 { return r.status().Swept }

// counts counts changes by their operation.
func counts(list []feedChange) map[changes.Op]int {
	n := make(map[changes.Op]int)
	for _, c := range list {
		n[c.op]++
	}
	return n
}

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

func TestAnEmptyTableStopsTheKind(t *testing.T) {
	for _, how := range []changes.Resumption{changes.Publish, changes.Silent} {
		for name, sort := range sorts {
			t.Run(fmt.Sprint(name, " ", how), func(t *testing.T) {
				filled(t, 1200, sort, func(t *testing.T, r *rig) { emptied(t, r, how) })
			})
		}
	}
}

// emptied empties a table of 1200 rows, which stops the capture, adds a changed row, and resumes the
// capture.
func emptied(t *testing.T, r *rig, how changes.Resumption) {
	token := r.now()
	r.empty()
	r.until("it has stopped", func() bool { return r.status().Phase == changes.Stopped })
	r.restartDaemon()
	time.Sleep(time.Hour)
	if s := r.status(); s.Phase != changes.Stopped || !strings.Contains(s.Reason, "reads as empty") {
		t.Errorf("an hour after a restart the phase is %q (%s), want %q since the table reads as empty",
			s.Phase, s.Reason, changes.Stopped)
	}
	r.silent()

	r.table.set("k00007", "5.00", "x")
	if err := r.Resume("Item", how); err != nil {
		t.Fatal(err)
	}
	r.until("it goes on", func() bool { return r.status().Phase == changes.Capturing })
	if err := r.Resume("Item", how); !fault.Is(err, fault.Conflict) {
		t.Errorf("resuming a second time: got the error %v, want a fault of kind %v", err, fault.Conflict)
	}
	r.sweeps(2)

	_, err := r.feed.Read(t.Context(), r.kind, token, 10, 0)
	if how == changes.Publish {
		n := counts(r.changes(0))
		if n[changes.Deleted] != 1199 || n[changes.Updated] != 1 || err != nil {
			t.Errorf("after %q: %v changes (%v), want 1199 deletions and 1 update", how, n, err)
		}
		return
	}
	r.silent()
	if !fault.Is(err, fault.Gone) {
		t.Errorf("reading from a token before the reset: got the error %v, want a fault of kind %v",
			err, fault.Gone)
	}
	r.table.set("k00007", "6.00", "x")
	r.sweeps(1)
	if list := r.changes(0); len(list) != 1 || list[0].op != changes.Updated {
		t.Errorf("an update after the reset published %v, want one update", list)
	}
}

// restartDaemon starts another daemon without waiting for a phase.
func (r *rig) restartDaemon() {
	r.end()
	r.Capturer, r.end = r.start(nil)
	r.feed = changes.Feed{Capturer: r.Capturer}
	r.until("the state is read", func() bool { return r.status().Phase != "" })
}

// After a failover of an availability group, another replica has the same group and another
// time of creation: capture continues. So it does when the database joins a group, or leaves it.
func TestFailoverContinues(t *testing.T) {
	type database struct{ identity, group string }
	first := database{"ERP created 1", ""}
	firstInGroup := database{"ERP created 1", "g1"}
	second := database{"ERP created 2", ""}
	secondInGroup := database{"ERP created 2", "g1"}
	for _, c := range []struct {
		name     string
		before   database
		after    database
		isOlder  bool // the rowversions decrease
		wantStop bool
	}{
		{"failover", firstInGroup, secondInGroup, false, false},
		{"failover that loses data", firstInGroup, secondInGroup, true, true},
		{"another group", firstInGroup, database{"ERP created 1", "g2"}, false, true},
		{"joined", first, secondInGroup, false, false},
		{"joined, older", first, secondInGroup, true, true},
		{"left", firstInGroup, second, false, false},
		{"another name", firstInGroup, database{"Other created 2", ""}, false, true},
		{"restored", first, second, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := func(table *table) *table {
				table.identity = c.before.identity
				table.group = c.before.group
				return sorts["rowversion"](table)
			}
			filled(t, 20, before, func(t *testing.T, r *rig) {
				r.update(10, "3.00")
				time.Sleep(10 * time.Second)
				if n := r.count(); n != 10 {
					t.Fatalf("%d changes before the failover, want 10", n)
				}

				r.table.mu.Lock()
				r.table.identity = c.after.identity
				r.table.group = c.after.group
				if c.isOlder {
					r.table.version -= 5
				}
				r.table.mu.Unlock()
				time.Sleep(time.Hour)

				if got := r.status().Phase == changes.Stopped; got != c.wantStop {
					t.Fatalf("from %+v to %+v: stopped is %v (%s), want %v",
						c.before, c.after, got, r.status().Reason, c.wantStop)
				}
				if n := r.count(); n != 10 {
					t.Errorf("%d changes after the failover, want the 10 from before", n)
				}
			})
		})
	}
}

// Another database publishes nothing, even if it is found between a page and its changes.
func TestAnotherDatabaseStopsEverything(t *testing.T) {
	for name, replace := range map[string]func(*table){
		"name":        func(t *table) { t.identity = "ERP 2" },
		"rowversions": func(t *table) { t.version -= 5 },
	} {
		t.Run(fmt.Sprint(name, " ", false), func(t *testing.T) {
			filled(t, 20, sorts["rowversion"], func(t *testing.T, r *rig) {
				swap := func() {
					r.table.mu.Lock()
					defer r.table.mu.Unlock()
					r.table.changeRows()
					replace(r.table)
				}
				stoppedBy(t, r, swap)
			})
		})
		t.Run(fmt.Sprint(name, " ", true), func(t *testing.T) {
			filled(t, 20, sorts["rowversion"], func(t *testing.T, r *rig) {
				swapDuringRead := func() {
					r.table.mu.Lock()
					defer r.table.mu.Unlock()
					r.table.fail = func(changes.Read) error {
						r.table.fail = nil
						r.table.changeRows()
						replace(r.table)
						return nil
					}
				}
				stoppedBy(t, r, swapDuringRead)
			})
		})
	}
}

// changeRows changes all rows, to rowversions that are later than all others. The table is locked.
func (t *table) changeRows() {
	for key, cells := range t.rows {
		cells[itemAmount] = text("7.00")
		cells[itemVersion].Data = bytes.Clone(cells[itemVersion].Data)
		cells[itemVersion].Data[0] = 1
		t.rows[key] = cells
	}
}

// stoppedBy checks that the capture of 20 rows stops when another database takes the place of the
// one that was captured, and publishes the differences only when it is resumed.
func stoppedBy(t *testing.T, r *rig, swap func()) {
	t.Helper()
	r.update(10, "3.00")
	time.Sleep(10 * time.Second)
	if n := r.count(); n != 10 {
		t.Fatalf("%d changes before another database, want 10", n)
	}

	swap()
	r.until("it has stopped", func() bool { return r.status().Phase == changes.Stopped })
	r.restartDaemon()
	time.Sleep(time.Hour)
	if n := r.count(); n != 10 {
		t.Errorf("another database has published %d changes, want none", n-10)
	}
	if s := r.status(); s.Phase != changes.Stopped || !strings.Contains(s.Reason, "database is") {
		t.Errorf("the phase is %q (%s), want %q by the other database", s.Phase, s.Reason, changes.Stopped)
	}

	if err := r.Resume("Item", changes.Publish); err != nil {
		t.Fatal(err)
	}
	r.until("the differences are published", func() bool { return r.count() == 10+20 })
}

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

// Reading takes a tenth of the time, also with several kinds.
func TestShareOfTheTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const readTime = 200 * time.Millisecond
		var reads atomic.Int64
		first := newTable(newKind("Kind0"))
		second := newTable(newKind("Kind1")).byTime()
		for _, table := range []*table{first, second} {
			for i := range 500 {
				table.set(fmt.Sprintf("k%05d", i), "1", "x")
			}
			table.delay = func() time.Duration {
				reads.Add(1)
				return readTime
			}
		}
		r := newRig(t, first)
		r.config.Share = 0.1
		r.config.Sweep = time.Second
		r.source = sources{"Kind0": first, "Kind1": second}
		r.kinds = append(r.kinds, first.kind, second.kind)

		const duration = 10 * time.Minute
		_, end := r.start(nil)
		time.Sleep(duration)
		end()
		busy := time.Duration(reads.Load()) * readTime
		share := busy.Seconds() / duration.Seconds()
		if share > 0.102 || share < 0.05 {
			t.Errorf("reading took %.3f of the time, want between 0.05 and 0.102", share)
		}
	})
}
