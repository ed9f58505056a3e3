package changes_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/changes"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/row"
)

// sorts are the ways to find changes.
var sorts = map[string]func(*table) *table{
	"sweeps":     func(t *table) *table { return t },
	"time":       (*table).byTime,
	"rowversion": (*table).byVersion,
}

// each runs a test in a bubble with each of the ways, with rows that keys and texts make
// hard.
func each(t *testing.T, test func(t *testing.T, r *rig)) {
	for name, sort := range sorts {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				table := sort(newTable(newKind("Item")))
				for i, key := range []string{"b", "c ", "co-op", "", "6F9619FF-8B86-D011-B42D-00C04FC964FF", "é"} {
					table.set(key, fmt.Sprint(i, ".50"), "x")
				}
				table.set("n", "", "")
				r := newRig(t, table)
				r.run()
				defer func() { r.end() }()
				test(t, r)
			})
		})
	}
}

// silent checks that nothing was published.
func (r *rig) silent() {
	r.t.Helper()
	if list := r.changes(0); len(list) > 0 {
		r.t.Errorf("got %d changes, the first is %q, want none", len(list), list[0])
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

// With another hash, or other fields, changes that were made in between are still found, and
// new fields are filled in.
func TestChangedFieldsOfTheKind(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		r.end()
		r.table.set("b", "9.50", "x")
		r.table.set("n", "", "text")
		kind := *r.kind
		kind.Ignore = []string{"Text", "ChangedAt"}
		r.kind = &kind
		defer changes.WithHashVersion()()
		r.run()
		r.sweeps(2)
		var got []string
		for _, c := range r.changes(0) {
			got = append(got, c.String())
		}
		slices.Sort(got)
		want := []string{"updated b [Amount Count]", "updated n [Count]"}
		if !slices.Equal(got, want) {
			t.Errorf("the changes in between are %q, want %q", got, want)
		}

		captured := kind
		captured.Ignore = nil
		r.kind = &captured
		r.sweeps(2)
		if all := r.changes(2); len(all) > 0 {
			t.Errorf("new fields published %v", all)
		}
		r.table.set("n", "", "other")
		r.sweeps(1)
		if all := r.changes(2); len(all) != 1 || !slices.Contains(all[0].fields, "Text") {
			t.Errorf("an update of Text published %v, want a change of Text", all)
		}
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

// 100 kinds without changes: the statements of some minutes.
func TestIdleCost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tables := make([]*table, 100)
		kinds := make([]*record.Kind, 100)
		source := make(sources)
		for i := range kinds {
			kinds[i] = newKind(fmt.Sprint("Kind", i))
			tables[i] = newTable(kinds[i]).byVersion()
			tables[i].set("a", "1", "x")
			source[kinds[i].Name] = tables[i]
		}
		r := newRig(t, tables[0])
		r.config.Share = 0.1
		r.kinds = kinds
		r.source = source
		r.Capturer, r.end = r.start(nil)
		defer r.end()
		time.Sleep(5 * time.Minute)
		if n := len(r.Status()); n != 100 {
			t.Errorf("%d kinds are captured, want 100", n)
		}

		const minutes = 15
		count := func() (reads, identified int) {
			for _, t := range tables {
				t.mu.Lock()
				reads += t.reads
				identified += t.identified
				t.mu.Unlock()
			}
			return reads, identified
		}
		readsBefore, identifiedBefore := count()
		time.Sleep(minutes * time.Minute)
		reads, identified := count()
		reads -= readsBefore
		identified -= identifiedBefore
		if reads < 100*(minutes-1) || reads > 100*(minutes+1) {
			t.Errorf("%d reads of 100 kinds in %d minutes, want one sweep a minute and no poll", reads, minutes)
		}
		maxIdentified := minutes*60*2 + 100*(minutes+1) // by polls, which share readings, and by each sweep
		if identified > maxIdentified {
			t.Errorf("%d readings of the database in %d minutes, want at most %d", identified, minutes, maxIdentified)
		}
		t.Log(reads, "reads,", identified, "readings of the database")
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

// A row that a poll reads twice, since it changes in between, is one change.
func TestRowsThatChangeDuringAPoll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := newTable(newKind("Item")).byTime()
		table.set("a", "1", "x")
		r := newRig(t, table)
		r.run()
		defer r.end()
		time.Sleep(time.Second)
		table.mu.Lock()
		table.moving = map[string]string{"new": "3"}
		table.mu.Unlock()
		table.set("new", "4", "x")
		r.sweeps(2)
		list := r.changes(0)
		if len(list) != 1 || fmt.Sprint(list[0].record["Amount"]) != "4" {
			t.Errorf("the changes are %+v, want one with the amount 4", list)
		}
	})
}
