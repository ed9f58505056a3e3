package changes_test

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bizhook/whd/daemon/changes"
)

// A poll that shares the reading of the database with a sweep has looked at the time of that
// reading: it does not know the changes since.
func TestPollLooksAtTheTimeOfItsReading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := newTable(newKind("Item")).byVersion()
		table.set("a", "1", "x")
		r := newRig(t, table)
		// Sweeps start 300 ms before the next poll, and read a page until then.
		table.delay = func() time.Duration { return 300 * time.Millisecond }
		r.config.Sweep = 60*time.Second + 700*time.Millisecond
		r.run()
		defer r.end()

		// The row changes 100 ms after a page of a sweep was read.
		var once sync.Once
		changed := make(chan time.Time, 1)
		table.mu.Lock()
		table.fail = func(read changes.Read) error {
			if read.Since != nil || read.Keys != nil {
				return nil
			}
			once.Do(func() {
				time.AfterFunc(100*time.Millisecond, func() {
					table.set("a", "2", "x")
					changed <- time.Now()
				})
			})
			return nil
		}
		table.mu.Unlock()

		var change time.Time // zero until the row has changed
		for r.count() == 0 {
			time.Sleep(10 * time.Millisecond)
			synctest.Wait()
			select {
			case change = <-changed:
			default:
			}
			looked, err := r.feed.LookedAt(t.Context(), r.kind)
			if err != nil {
				t.Fatal(err)
			}
			if r.count() == 0 && !change.IsZero() && looked.After(change) {
				t.Fatalf("looked at the kind %v after a change, which is not captured yet", looked.Sub(change))
			}
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
