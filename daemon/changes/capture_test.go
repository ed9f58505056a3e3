package changes_test

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/changes"
)

// empty removes all rows of the table, and returns a function that restores them.
func (r *rig) empty() (restore func()) {
	r.table.mu.Lock()
	defer r.table.mu.Unlock()
	saved := maps.Clone(r.table.rows)
	clear(r.table.rows)
	return func() {
		r.table.mu.Lock()
		defer r.table.mu.Unlock()
		r.table.rows = saved
	}
}

// stop stops the capture until an administrator resumes it. The table has its rows again then.
func (r *rig) stop() {
	restore := r.empty()
	r.until("it has stopped", func() bool { return r.status().Phase == changes.Stopped })
	restore()
}

// fails has the store fail to save states, n times.
func (r *rig) fails(n int) {
	r.store.mu.Lock()
	defer r.store.mu.Unlock()
	r.store.saving = failing(n)
}

// setKey sets the key of the table that is proven.
func (r *rig) setKey(fields []int) {
	r.table.mu.Lock()
	defer r.table.mu.Unlock()
	r.table.info.Key = fields
}

// A stop that the store could not save is found again, and saved.
func TestStopIsSavedAfterAFailureOfTheStore(t *testing.T) {
	filled(t, 20, sorts["sweeps"], func(t *testing.T, r *rig) {
		r.fails(1)
		r.empty()
		time.Sleep(10 * time.Minute)
		s := r.stored().State
		if s.Phase != changes.Stopped || !s.Manual || !strings.Contains(s.Reason, "reads as empty") {
			t.Errorf("10 minutes after a failure to save the stop, %q is stored (manual: %t, reason %q), want %q until it is resumed",
				s.Phase, s.Manual, s.Reason, changes.Stopped)
		}
		if phase := r.status().Phase; phase != changes.Stopped {
			t.Errorf("the daemon shows the phase %q, want %q", phase, changes.Stopped)
		}
		r.silent()
	})
}
