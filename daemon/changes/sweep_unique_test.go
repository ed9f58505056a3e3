package changes_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bizhook/whd/daemon/changes"
	"github.com/bizhook/whd/daemon/row"
)

// A duplicate or a null stops the capture with the key and publishes nothing; when its cause
// is gone, capture goes on with the changes since.
func TestDuplicatesAndNullsStopTheKind(t *testing.T) {
	for name, c := range map[string]struct {
		key    row.Cell
		reason string
	}{
		"duplicate": {text("b"), "two rows have the key b"},
		"null":      {row.Cell{Null: true}, "a field of the key is null: ID = "},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				table := newTable(newKind("Item"))
				for _, key := range []string{"0", "a", "b"} {
					table.set(key, "1", "x")
				}
				table.limit = 2
				r := newRig(t, table)
				r.run()
				defer r.end()
				r.table.mu.Lock()
				extra := slices.Clone(r.table.rows["b"])
				extra[itemID] = c.key
				extra[itemAmount] = text("7")
				r.table.rows["extra"] = extra
				r.table.mu.Unlock()
				r.until("it has stopped", func() bool { return r.status().Phase == changes.Stopped })
				table.set("a", "5", "x") // on the page before
				if got := r.status().Reason; got != c.reason {
					t.Errorf("the capture has stopped since %q, want %q", got, c.reason)
				}
				time.Sleep(5 * time.Minute)
				if phase := r.status().Phase; phase != changes.Stopped {
					t.Errorf("the phase is %q while the cause remains, want %q", phase, changes.Stopped)
				}
				r.silent()
				if n := strings.Count(r.log.String(), "the capture of a kind has stopped"); n != 1 {
					t.Errorf("logged %d times that the capture has stopped, want once:\n%s", n, &r.log)
				}

				table.remove("extra")
				r.until("it goes on", func() bool { return len(r.changes(0)) == 1 })
				r.sweeps(2)
				list := r.changes(0)
				if len(list) != 1 || list[0].op != changes.Updated || list[0].key != "a" {
					t.Errorf("the changes after the cause is gone are %v, want the update of a", list)
				}
			})
		})
	}
}
