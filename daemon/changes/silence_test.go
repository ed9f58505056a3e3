package changes_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/changes"
	"github.com/bizhook/whd/daemon/fault"
)

// sorts are the ways to find changes.
var sorts = map[string]func(*table) *table{
	"sweeps": func(t *table) *table { return t }, "time": (*table).byTime, "rowversion": (*table).byVersion,
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

func (r *rig) silent() {
	r.t.Helper()
	if all := r.changes(0); len(all) > 0 {
		r.t.Errorf("%d changes, the first is %v", len(all), all[0])
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
		if want := "[updated b [Amount Count] updated n [Count]]"; fmt.Sprint(got) != want {
			t.Errorf("%v, want %s", got, want)
		}
		captured := kind
		captured.Ignore = nil
		r.kind = &captured
		r.sweeps(2)
		if all := r.changes(2); len(all) > 0 {
			t.Errorf("new fields raised %v", all)
		}
		r.table.set("n", "", "other")
		r.sweeps(1)
		if all := r.changes(2); len(all) != 1 || !slices.Contains(all[0].fields, "Text") {
			t.Errorf("%v, want a change of Text", all)
		}
	})
}

func TestStampsAloneRaiseNoEvent(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		time.Sleep(time.Second) // for another stamp
		r.table.mu.Lock()
		cells := slices.Clone(r.table.rows["b"])
		cells[itemChanged], cells[itemVersion], _ = r.table.stamps()
		r.table.rows["b"] = cells
		r.table.mu.Unlock()
		r.sweeps(2)
		all := r.changes(0)
		if r.table.info.Version { // no captured field has changed
			r.silent()
			return
		}
		stamp := r.table.info.Stamp == itemChanged // else a field like any other
		if len(all) != 1 || all[0].String() != "updated b [ChangedAt]" || (all[0].event == "") != stamp {
			t.Errorf("%+v", all)
		}
	})
}

func TestKeysAreExact(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		move := func(from, to string) {
			r.table.mu.Lock()
			defer r.table.mu.Unlock()
			cells := slices.Clone(r.table.rows[from])
			cells[itemID] = text(to)
			cells[itemChanged], cells[itemVersion], _ = r.table.stamps()
			delete(r.table.rows, from)
			r.table.rows[to] = cells
		}
		copied := make(map[string]bool) // a copy with the source's equality of keys
		for key := range r.table.rows {
			copied[fold(key)] = true
		}
		for from, to := range map[string]string{"b": "B", "c ": "c", "co-op": "coop"} {
			move(from, to)
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
		if want := `[created "B" created "c" created "coop" deleted "b" deleted "c " deleted "co-op"]`; fmt.Sprint(got) != want {
			t.Errorf("%v, want %s", got, want)
		}
	})
}

// A duplicate or a null stops the capture with the key and raises nothing; when its cause
// is gone, capture goes on with the changes since.
func TestDuplicatesAndNullsStopTheKind(t *testing.T) {
	for name, second := range map[string]func([][]string) (string, string){
		"duplicate": func([][]string) (string, string) { return "b", "two rows have the key b" },
		"null":      func([][]string) (string, string) { return "null", "a field of the key is null: ID = " },
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
				key, reason := second(nil)
				r.table.mu.Lock()
				extra := slices.Clone(r.table.rows["b"])
				extra[itemID].Data, extra[itemID].Null = []byte(key), key == "null"
				extra[itemAmount] = text("7")
				r.table.rows["extra"] = extra
				r.table.mu.Unlock()
				r.until("it has stopped", func() bool { return r.status().Phase == changes.Stopped })
				table.set("a", "5", "x") // on the page before
				if got := r.status().Reason; got != reason {
					t.Errorf("%q, want %q", got, reason)
				}
				time.Sleep(5 * time.Minute)
				if r.status().Phase != changes.Stopped {
					t.Errorf("the phase is %s while the cause remains", r.status().Phase)
				}
				r.silent()
				if n := strings.Count(r.log.String(), "the capture of a kind has stopped"); n != 1 {
					t.Errorf("logged %d times that the capture has stopped, want once:\n%s", n, &r.log)
				}
				table.remove("extra")
				r.until("it goes on", func() bool { return len(r.changes(0)) == 1 })
				r.sweeps(2)
				if all := r.changes(0); len(all) != 1 || !strings.HasPrefix(all[0].String(), "updated a") {
					t.Error(all)
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
		if n := len(r.store.kind("Item").epochs); r.status().Reason != "no key of Item is proven" || table.reads > 0 || n != 1 {
			t.Errorf("%+v, %d reads, %d epochs", r.status(), table.reads, n)
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
		if all := r.changes(0); len(all) != 1 || all[0].op != changes.Deleted || all[0].key != "b" || all[0].before["Amount"] == nil {
			t.Errorf("%+v", all)
		}
	})
}

// 100 kinds without changes: the statements of some minutes.
func TestIdleCost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tables := make([]*table, 100)
		kinds := make([]*record.Kind, 100)
		all := make(sources)
		for i := range kinds {
			kinds[i] = newKind(fmt.Sprint("Kind", i))
			tables[i] = newTable(kinds[i]).byVersion()
			tables[i].set("a", "1", "x")
			all[kinds[i].Name] = tables[i]
		}
		r := newRig(t, tables[0])
		r.config.Share = 0.1
		r.kinds, r.source = kinds, all
		r.Capturer, r.end = r.start(nil)
		defer r.end()
		time.Sleep(5 * time.Minute)
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
		reads, identified := count()
		if n := len(r.Status()); n != 100 {
			t.Errorf("%d kinds are captured", n)
		}
		time.Sleep(minutes * time.Minute)
		totalReads, totalIdentified := count()
		reads = totalReads - reads
		identified = totalIdentified - identified
		if reads < 100*(minutes-1) || reads > 100*(minutes+1) {
			t.Errorf("%d reads of 100 kinds in %d minutes, want one sweep a minute and no poll", reads, minutes)
		}
		if identified > minutes*60*2+100*(minutes+1) {
			t.Errorf("%d readings of the database in %d minutes", identified, minutes)
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
			t.Errorf("%d reads of unchanged content", table.reads-reads)
		}
		if lag := r.status().Lag; lag > 2*time.Minute {
			t.Errorf("the lag is %v", lag)
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
		if n := counts(r.changes(0)); n[changes.Created] != 1 || n[changes.Updated] != 1 || len(n) != 2 || r.status().Phase != changes.Capturing {
			t.Errorf("%v, %+v", n, r.status())
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
		if all := r.changes(0); len(all) != 1 || fmt.Sprint(all[0].record["Amount"]) != "4" {
			t.Errorf("%+v", all)
		}
	})
}
