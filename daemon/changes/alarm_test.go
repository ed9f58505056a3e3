package changes_test

import (
	"errors"
	"fmt"
	"maps"
	"strings"
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
func counts(list []raised) map[changes.Op]int {
	n := make(map[changes.Op]int)
	for _, c := range list {
		n[c.op]++
	}
	return n
}

// A legitimate update of all rows is delivered, by two sweeps.
func TestManyDifferencesAreRaisedIfTheyStay(t *testing.T) {
	for name, sort := range sorts {
		if name == "time" {
			continue // polls find the update
		}
		t.Run(name, func(t *testing.T) {
			filled(t, 3000, sort, func(t *testing.T, r *rig) {
				r.end()
				r.update(2500, "2.00")
				for i := range 50 {
					r.table.set(fmt.Sprint("new", i), "1", "x")
				}
				r.table.info.Pollable = false
				r.table.delay = func() time.Duration { return time.Second }
				r.run()
				r.until("the alarm", func() bool { return r.count() == 999 })
				r.until("the differences are raised", func() bool { return r.count() > 999 })
				if r.swept() < 3000 {
					t.Errorf("more than 999 changes after %d of 3050 rows", r.swept())
				}
				r.sweeps(3)
				if n := counts(r.changes(0)); n[changes.Updated] != 2500 || n[changes.Created] != 50 || len(n) != 2 {
					t.Error(n)
				}
			})
		})
	}
}

// Differences that only the sweep after an alarm finds raise nothing.
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
				t.Fatal(c)
			}
		}
		if n := r.count(); n != 2000 {
			t.Errorf("%d changes", n)
		}
	})
}

// Differences after the alarm that are gone in the second sweep raise nothing.
func TestManyDifferencesThatPassAreNotRaised(t *testing.T) {
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
		all := r.changes(0)
		if n := counts(all); n[changes.Updated] < 999 || n[changes.Updated] > 2*999 || len(n) != 1 {
			t.Errorf("%v, want 999 changes before the alarm, and those back", n)
		}
	})
}

func TestManyDeletionsAreRaisedIfTheyStay(t *testing.T) {
	for name, sort := range sorts {
		t.Run(name, func(t *testing.T) {
			filled(t, 1500, sort, func(t *testing.T, r *rig) {
				for i := range 700 {
					r.table.remove(fmt.Sprintf("k%05d", i))
				}
				r.until("the alarm", func() bool { return r.count() >= 99 })
				r.sweeps(2)
				if n := counts(r.changes(0)); n[changes.Deleted] != 700 || len(n) != 1 {
					t.Error(n)
				}
			})
		})
	}
}

// Deletions that come back between the two sweeps: those after the 99th raise nothing.
func TestManyDeletionsThatPassAreNotRaised(t *testing.T) {
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
	for _, how := range []changes.Resumption{changes.Raise, changes.Silent} {
		for name, sort := range sorts {
			t.Run(fmt.Sprint(name, " ", how), func(t *testing.T) {
				filled(t, 1200, sort, func(t *testing.T, r *rig) { emptied(t, r, how) })
			})
		}
	}
}

func emptied(t *testing.T, r *rig, how changes.Resumption) {
	token, err := r.feed.Now(t.Context(), r.kind)
	if err != nil {
		t.Fatal(err)
	}
	r.table.mu.Lock()
	clear(r.table.rows)
	r.table.mu.Unlock()
	r.until("it has stopped", func() bool { return r.status().Phase == changes.Stopped })
	r.restart2()
	time.Sleep(time.Hour)
	if s := r.status(); s.Phase != changes.Stopped || !strings.Contains(s.Reason, "reads as empty") {
		t.Errorf("%+v", s)
	}
	r.silent()
	r.table.set("k00007", "5.00", "x")
	if err := r.Resume("Item", how); err != nil {
		t.Fatal(err)
	}
	r.until("it goes on", func() bool { return r.status().Phase == changes.Capturing })
	if err := r.Resume("Item", how); !fault.Is(err, fault.Conflict) {
		t.Errorf("a second time: %v", err)
	}
	r.sweeps(2)
	_, err = r.feed.Read(t.Context(), r.kind, token, 10, 0)
	if how == changes.Raise {
		n := counts(r.changes(0))
		if n[changes.Deleted] != 1199 || n[changes.Updated] != 1 || err != nil {
			t.Errorf("after %q: %v changes (%v), want 1199 deletions and 1 update", how, n, err)
		}
		return
	}
	r.silent()
	if !fault.Is(err, fault.Gone) {
		t.Errorf("a token from before the reset: %v", err)
	}
	r.table.set("k00007", "6.00", "x")
	r.sweeps(1)
	if all := r.changes(0); len(all) != 1 || all[0].op != changes.Updated {
		t.Error(all)
	}
}

// restart2 starts another daemon without waiting for a phase.
func (r *rig) restart2() {
	r.end()
	r.Capturer, r.end = r.start(nil)
	r.feed = changes.Feed{Capturer: r.Capturer}
	r.until("the state is read", func() bool { return r.status().Phase != "" })
}

// After a failover of an availability group, another replica has the same group and another
// time of creation: capture continues. So it does when the database joins a group, or leaves it.
func TestFailoverContinues(t *testing.T) {
	for _, c := range []struct {
		name    string
		before  [2]string // identity and group
		after   [2]string
		older   bool // the rowversions decrease
		stopped bool
	}{
		{"failover", [2]string{"ERP created 1", "g1"}, [2]string{"ERP created 2", "g1"}, false, false},
		{"failover that loses data", [2]string{"ERP created 1", "g1"}, [2]string{"ERP created 2", "g1"}, true, true},
		{"another group", [2]string{"ERP created 1", "g1"}, [2]string{"ERP created 1", "g2"}, false, true},
		{"joined", [2]string{"ERP created 1", ""}, [2]string{"ERP created 2", "g1"}, false, false},
		{"joined, older", [2]string{"ERP created 1", ""}, [2]string{"ERP created 2", "g1"}, true, true},
		{"left", [2]string{"ERP created 1", "g1"}, [2]string{"ERP created 2", ""}, false, false},
		{"another name", [2]string{"ERP created 1", "g1"}, [2]string{"Other created 2", ""}, false, true},
		{"restored", [2]string{"ERP created 1", ""}, [2]string{"ERP created 2", ""}, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := func(database *table) *table {
				database.identity, database.group = c.before[0], c.before[1]
				return sorts["rowversion"](database)
			}
			filled(t, 20, before, func(t *testing.T, r *rig) {
				r.update(10, "3.00")
				time.Sleep(10 * time.Second)
				known := len(r.changes(0))
				if known != 10 {
					t.Fatalf("%d changes before the failover, want 10", known)
				}
				r.table.mu.Lock()
				r.table.identity, r.table.group = c.after[0], c.after[1]
				if c.older {
					r.table.version -= 5
				}
				r.table.mu.Unlock()
				time.Sleep(time.Hour)
				if got := r.status().Phase == changes.Stopped; got != c.stopped {
					t.Fatalf("stopped: %v (%s), want %v", got, r.status().Reason, c.stopped)
				}
				if n := len(r.changes(0)); n != known {
					t.Errorf("%d changes after the failover, want %d", n, known)
				}
			})
		})
	}
}

// Another database raises nothing, even if it is found between a page and its changes.
func TestAnotherDatabaseStopsEverything(t *testing.T) {
	for name, replace := range map[string]func(*table){
		"name":        func(t *table) { t.identity = "ERP 2" },
		"rowversions": func(t *table) { t.version -= 5 },
	} {
		for _, during := range []bool{false, true} {
			t.Run(fmt.Sprint(name, " ", during), func(t *testing.T) {
				filled(t, 20, sorts["rowversion"], func(t *testing.T, r *rig) {
					r.update(10, "3.00")
					time.Sleep(10 * time.Second)
					known := len(r.changes(0))
					if known != 10 {
						t.Fatal(known)
					}
					swap := func() {
						for key, cells := range r.table.rows {
							cells[itemAmount] = text("7.00")
							cells[itemVersion].Data = append([]byte(nil), cells[itemVersion].Data...)
							cells[itemVersion].Data[0] = 1
							r.table.rows[key] = cells
						}
						replace(r.table)
					}
					r.table.mu.Lock()
					if during {
						done := false
						r.table.fail = func(changes.Read) error {
							if !done {
								done = true
								swap()
							}
							return nil
						}
					} else {
						swap()
					}
					r.table.mu.Unlock()
					r.until("it has stopped", func() bool { return r.status().Phase == changes.Stopped })
					r.restart2()
					time.Sleep(time.Hour)
					if n := len(r.changes(0)); n != known || r.status().Phase != changes.Stopped || !strings.Contains(r.status().Reason, "database is") {
						t.Errorf("%d changes of another database; %+v", n-known, r.status())
					}
					if err := r.Resume("Item", changes.Raise); err != nil {
						t.Fatal(err)
					}
					r.until("the differences are raised", func() bool { return r.count() == known+20 })
				})
			})
		}
	}
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
				r.restart2()
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
			r.until("all are raised", func() bool { return r.count() == 600 })
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
		first, second := newTable(newKind("Kind0")), newTable(newKind("Kind1")).byTime()
		var busy time.Duration
		for _, table := range []*table{first, second} {
			for i := range 500 {
				table.set(fmt.Sprintf("k%05d", i), "1", "x")
			}
			table.delay = func() time.Duration { // called with the locks of two tables
				first.mu.Lock()
				defer first.mu.Unlock()
				busy += 200 * time.Millisecond
				return 200 * time.Millisecond
			}
		}
		r := newRig(t, first)
		r.config.Share, r.config.Sweep = 0.1, time.Second
		r.source = sources{"Kind0": first, "Kind1": second}
		r.kinds = append(r.kinds, first.kind, second.kind)
		_, end := r.start(nil)
		time.Sleep(10 * time.Minute)
		end()
		first.mu.Lock()
		defer first.mu.Unlock()
		if share := busy.Minutes() / 10; share > 0.102 || share < 0.05 {
			t.Errorf("reading took %.3f of the time", share)
		}
	})
}
