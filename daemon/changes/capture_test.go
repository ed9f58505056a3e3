package changes_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bizhook/whd/daemon/changes"
	"github.com/bizhook/whd/daemon/fault"
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

// A stop until an administrator resumes the capture outlasts a restart during which the kind has no
// proven key.
func TestStopOutlastsAnUnprovenKey(t *testing.T) {
	filled(t, 20, sorts["sweeps"], func(t *testing.T, r *rig) {
		r.stop()
		reason := r.status().Reason
		r.setKey(nil)
		r.restartDaemon()
		if got, want := r.status().Reason, "no key of Item is proven"; got != want {
			t.Errorf("after a restart without a key, the reason is %q, want %q", got, want)
		}
		time.Sleep(5 * time.Minute)
		r.setKey([]int{itemID})
		r.update(5, "2.00")
		time.Sleep(5 * time.Minute)
		r.silent()
		if s := r.status(); s.Phase != changes.Stopped || s.Reason != reason {
			t.Errorf("after the key is proven, the phase is %q (%s), want %q (%s)", s.Phase, s.Reason, changes.Stopped, reason)
		}
		if s := r.stored().State; !s.Manual || s.Reason != reason {
			t.Errorf("stored is manual: %t (%s), want manual: true (%s)", s.Manual, s.Reason, reason)
		}
		if err := r.Resume("Item", changes.Publish); err != nil {
			t.Fatal(err)
		}
		r.sweeps(1)
		if n := counts(r.changes(0)); n[changes.Updated] != 5 || len(n) != 1 {
			t.Errorf("resumed with %v, want 5 updates", n)
		}
	})
}

// So it does if the shadow has been lost.
func TestStopOutlastsALostShadow(t *testing.T) {
	filled(t, 20, sorts["sweeps"], func(t *testing.T, r *rig) {
		r.stop()
		r.end()
		k := r.store.kind("Item")
		clear(k.entries)
		clear(k.numbers)
		r.restartDaemon()
		time.Sleep(5 * time.Minute)
		if s := r.stored().State; s.Phase != changes.Stopped || !s.Manual {
			t.Errorf("after the shadow was lost, %q is stored (manual: %t), want %q until it is resumed", s.Phase, s.Manual, changes.Stopped)
		}
		if err := r.Resume("Item", changes.Publish); err != nil {
			t.Fatal(err)
		}
		r.until("the first look has ended", func() bool { return r.status().Phase == changes.Capturing })
		r.silent()
	})
}

// A resumption that has been accepted is tried until it succeeds.
func TestResumeAfterAFailure(t *testing.T) {
	for _, how := range []changes.Resumption{changes.Publish, changes.Silent} {
		t.Run(fmt.Sprint("store ", how), func(t *testing.T) {
			filled(t, 20, sorts["sweeps"], func(t *testing.T, r *rig) {
				r.stop()
				r.fails(1)
				r.resumes(how)
			})
		})
	}
	t.Run("key", func(t *testing.T) {
		filled(t, 20, sorts["sweeps"], func(t *testing.T, r *rig) {
			r.stop()
			r.setKey(nil)
			r.restartDaemon()
			time.AfterFunc(5*time.Minute, func() { r.setKey([]int{itemID}) })
			r.resumes(changes.Publish)
		})
	})
}

// resumes resumes the capture, which goes on within 10 minutes.
func (r *rig) resumes(how changes.Resumption) {
	r.t.Helper()
	if err := r.Resume("Item", how); err != nil {
		r.t.Fatal(err)
	}
	time.Sleep(10 * time.Minute)
	if s := r.status(); s.Phase != changes.Capturing {
		r.t.Errorf("10 minutes after it was resumed, the phase is %q (%s), want %q", s.Phase, s.Reason, changes.Capturing)
	}
	if s := r.stored().State; s.Phase != changes.Capturing || s.Manual {
		r.t.Errorf("10 minutes after it was resumed, %q is stored (manual: %t), want %q", s.Phase, s.Manual, changes.Capturing)
	}
}

// A stored scheme that cannot be read stops the capture until the shadow is filled again.
func TestDamagedSchemeStopsTheKind(t *testing.T) {
	for _, field := range []string{"Amount", "Amount ", ""} {
		t.Run(field, func(t *testing.T) {
			filled(t, 20, sorts["sweeps"], func(t *testing.T, r *rig) {
				token := r.now()
				r.end()
				s := r.store.kind("Item")
				damaged := s.State.Schemes[s.State.Scheme]
				damaged.Fields = []string{"ID t", field}
				s.State.Schemes = map[int64]changes.Scheme{s.State.Scheme: damaged}
				if _, err := r.feed.Copy(t.Context(), r.kind, token); !fault.Is(err, fault.Unavailable) {
					t.Errorf("a copy with a damaged scheme failed with %v, want a fault of kind %v", err, fault.Unavailable)
				}

				r.restartDaemon()
				epochs := len(s.epochs)
				time.Sleep(time.Hour)
				want := fmt.Sprintf("the stored list 1 of compared fields of Item is damaged: its field %q has no form", field)
				if s := r.status(); s.Phase != changes.Stopped || !strings.HasPrefix(s.Reason, want) {
					t.Errorf("the phase is %q (%s), want %q (%s)", s.Phase, s.Reason, changes.Stopped, want)
				}
				if n := len(s.epochs); n != epochs {
					t.Errorf("an hour has added %d epochs, want none", n-epochs)
				}
				r.update(1, "2.00")
				r.resumes(changes.Silent)
				r.silent()
				r.update(1, "3.00")
				r.sweeps(1)
				if n := r.count(); n != 1 {
					t.Errorf("%d changes after the shadow was filled again, want 1", n)
				}
			})
		})
	}
}

func TestWithoutChangesThereIsSilence(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		r.sweeps(8)
		r.silent()
		r.restart()
		r.sweeps(2)
		r.silent()

		r.store.mu.Lock()
		r.store.fence++ // another daemon takes over
		r.store.mu.Unlock()
		r.sweeps(2)
		r.silent()

		defer changes.WithHashVersion()()
		r.restart()
		r.sweeps(2)
		r.silent()
		r.store.mu.Lock()
		for _, e := range r.store.kind("Item").entries {
			if e.Scheme != 2 {
				t.Errorf("%q has scheme %d after a sweep with another hash", e.Key, e.Scheme)
			}
		}
		r.store.mu.Unlock()

		r.table.mu.Lock()
		for _, cells := range r.table.rows { // decimal(18,2) becomes decimal(18,4)
			cells[itemAmount].Data = append(slices.Clone(cells[itemAmount].Data), "00"...)
		}
		r.table.mu.Unlock()
		r.sweeps(2)
		r.silent()
	})
}

func TestStampsAlonePublishNoEvent(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		time.Sleep(time.Second) // for another stamp
		r.table.mu.Lock()
		cells := slices.Clone(r.table.rows["b"])
		cells[itemChanged], cells[itemVersion], _ = r.table.stamps()
		r.table.rows["b"] = cells
		r.table.mu.Unlock()
		r.sweeps(2)
		if r.table.info.Version { // no captured field has changed
			r.silent()
			return
		}
		list := r.changes(0)
		if len(list) != 1 || list[0].String() != "updated b [ChangedAt]" {
			t.Fatalf("the changes are %v, want the update of ChangedAt", list)
		}
		wantEvent := r.table.info.Stamp != itemChanged // ChangedAt is a field like any other
		if hasEvent := list[0].event != ""; hasEvent != wantEvent {
			t.Errorf("the change has the event %q, want an event: %v", list[0].event, wantEvent)
		}
	})
}

func TestKeysAreExact(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		copied := make(map[string]bool) // a copy with the source's equality of keys
		for key := range r.table.rows {
			copied[fold(key)] = true
		}
		for from, to := range map[string]string{"b": "B", "c ": "c", "co-op": "coop"} {
			r.table.move(from, to)
		}
		r.sweeps(2)

		var got []string
		for _, c := range r.changes(0) {
			copied[fold(c.key)] = c.op != changes.Deleted
			if c.op != changes.Updated { // repeated after the deletion
				got = append(got, fmt.Sprintf("%s %q", c.op, c.key))
			}
		}
		for key := range r.table.rows {
			if !copied[fold(key)] {
				t.Errorf("a copy that ignores case, blanks and hyphens has lost %q: %v", key, got)
			}
		}
		if slices.Index(got, `deleted "b"`) > slices.Index(got, `created "B"`) {
			t.Errorf("a key in another case: %v, want the deletion first", got)
		}
		slices.Sort(got)
		want := []string{
			`created "B"`,
			`created "c"`,
			`created "coop"`,
			`deleted "b"`,
			`deleted "c "`,
			`deleted "co-op"`,
		}
		if !slices.Equal(got, want) {
			t.Errorf("changed keys published %v, want %v", got, want)
		}
	})
}

// move changes the key of a row.
func (t *table) move(from, to string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	cells := slices.Clone(t.rows[from])
	cells[itemID] = text(to)
	cells[itemChanged], cells[itemVersion], _ = t.stamps()
	delete(t.rows, from)
	t.rows[to] = cells
}

func TestWithoutAProvenKeyNothingIsCaptured(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := newTable(newKind("Item"))
		table.info.Key = nil
		r := newRig(t, table)
		r.Capturer, r.end = r.start(nil)
		defer r.end()
		r.until("it has stopped", func() bool { return r.status().Phase == changes.Stopped })
		time.Sleep(time.Hour)
		if got, want := r.status().Reason, "no key of Item is proven"; got != want {
			t.Errorf("the capture has stopped since %q, want %q", got, want)
		}
		if n := table.readCount(); n > 0 {
			t.Errorf("the table was read %d times, want never", n)
		}
		if n := len(r.store.kind("Item").epochs); n != 1 {
			t.Errorf("an hour has made %d epochs, want 1", n)
		}
	})
}

// Each cause is a warning once, however often it is met, and another time after it was gone.
func TestFailuresOfCaptureAreLoggedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := newTable(newKind("Item"))
		table.set("a", "1", "x")
		r := newRig(t, table)
		r.run()
		defer func() { r.end() }()
		fails := func(text string) {
			table.mu.Lock()
			defer table.mu.Unlock()
			table.fail = nil
			if text != "" {
				table.fail = func(changes.Read) error { return fault.New(fault.Unavailable, "%s", text) }
			}
		}
		for _, text := range []string{"the server is away", "the login failed", "", "the login failed"} {
			fails(text)
			time.Sleep(time.Hour)
		}
		synctest.Wait()
		for text, want := range map[string]int{"the server is away": 1, "the login failed": 2} {
			if n := strings.Count(r.log.String(), text); n != want {
				t.Errorf("logged %q %d times, want %d", text, n, want)
			}
		}
	})
}
