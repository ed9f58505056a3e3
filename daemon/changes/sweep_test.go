package changes_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bizhook/whd/daemon/changes"
	"github.com/bizhook/whd/daemon/fault"
)

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
	t.Helper()
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

// Rows of a page that cannot be read are not gone.
func TestRowsThatCannotBeReadAreNotGone(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		random := rand.New(rand.NewPCG(1, 1))
		r.table.mu.Lock()
		r.table.fail = func(changes.Read) error {
			if random.IntN(3) > 0 {
				return fault.New(fault.Unavailable, "a row is locked")
			}
			return nil
		}
		r.table.mu.Unlock()
		r.until("the reason is shown", func() bool { return r.status().Reason == "a row is locked" })
		r.table.remove("b")
		r.until("the deletion is found", func() bool { return len(r.changes(0)) > 0 })
		r.sweeps(2)
		list := r.changes(0)
		if len(list) != 1 || list[0].op != changes.Deleted || list[0].key != "b" {
			t.Fatalf("the changes are %v, want the deletion of b", list)
		}
		if list[0].before["Amount"] == nil {
			t.Errorf("the deletion has the values %v before it, want Amount", list[0].before)
		}
	})
}

func TestUnchangedContentIsNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := newTable(newKind("Item"))
		table.set("a", "1", "x")
		r := newRig(t, table)
		table.info.Content = "1"
		r.run()
		defer r.end()
		reads := table.reads
		time.Sleep(time.Hour)
		if table.reads != reads {
			t.Errorf("unchanged content was read %d times, want never", table.reads-reads)
		}
		if lag := r.status().Lag; lag > 2*time.Minute {
			t.Errorf("the lag is %v, want at most 2m", lag)
		}
		table.set("a", "2", "x")
		table.mu.Lock()
		table.info.Content = "2"
		table.mu.Unlock()
		r.until("the change is found", func() bool { return len(r.changes(0)) == 1 })
	})
}
