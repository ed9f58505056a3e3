package changes_test

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bizhook/whd/daemon/changes"
)

// A field with another value in each read stops the kind before anything is published. Other
// changes during the first look do not.
func TestVolatileFieldsStopTheKind(t *testing.T) {
	for rows, volatile := range map[int]bool{1: true, 3: true, 30: true, 4: false} {
		synctest.Test(t, func(t *testing.T) {
			table := newTable(newKind("Item"))
			for i := range rows {
				table.set(fmt.Sprintf("k%05d", i), "1.00", "x")
			}
			reads := 0
			table.fail = func(changes.Read) error {
				reads++
				for key, cells := range table.rows {
					if volatile || key != "k00003" {
						cells = slices.Clone(cells)
						cells[itemAmount] = text(fmt.Sprint(reads, ".50"))
						table.rows[key] = cells
					}
				}
				return nil
			}
			r := newRig(t, table)
			r.Capturer, r.end = r.start(nil)
			defer func() { r.end() }()
			if !volatile {
				r.until("the first look has ended", func() bool { return r.status().Phase == changes.Capturing })
				return
			}
			r.until("it has stopped", func() bool { return r.status().Phase == changes.Stopped })
			const want = "Amount differs in every read; name it in ignore"
			if got := r.status().Reason; got != want {
				t.Errorf("the capture of %d rows has stopped since %q, want %q", rows, got, want)
			}
			time.Sleep(time.Hour)
			if phase := r.status().Phase; phase != changes.Stopped {
				t.Errorf("an hour later, the phase of %d rows is %q, want %q", rows, phase, changes.Stopped)
			}
			r.silent()
			table.mu.Lock()
			table.fail = nil
			table.mu.Unlock()
			r.until("it goes on", func() bool { return r.status().Phase == changes.Capturing })
			r.silent()
		})
	}
}

// A table that stores all values is captured although a field changes between all reads, such as a
// counter that is increased many times a second.
func TestBusyTableIsCaptured(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := newTable(newKind("Item"))
		table.info.Stored = true
		table.set("k00000", "1.00", "x")
		reads := 0
		table.fail = func(changes.Read) error {
			reads++
			cells := slices.Clone(table.rows["k00000"])
			cells[itemAmount] = text(fmt.Sprint(reads, ".50"))
			table.rows["k00000"] = cells
			return nil
		}
		r := newRig(t, table)
		r.Capturer, r.end = r.start(nil)
		defer func() { r.end() }()
		r.until("the first look has ended", func() bool { return r.status().Phase == changes.Capturing })
	})
}
