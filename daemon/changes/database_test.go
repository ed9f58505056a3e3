package changes_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/changes"
)

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
