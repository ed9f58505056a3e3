package changestest

import (
	"errors"
	"reflect"
	"slices"

	"pgregory.net/rapid"

	"github.com/bizhook/whd/daemon/changes"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// expect compares the entries that are found by the keys of numbers.
func (c *capturing) expect(kind string, number int64, want changes.Entry) {
	c.t.Helper()
	got, err := c.store.Find(c.t.Context(), kind, [][]byte{want.Key})
	c.check(err)
	if len(got) != 1 || got[0] == nil || !reflect.DeepEqual(*got[0], want) {
		c.t.Errorf("entry %d is %+v, want %+v", number, got, want)
	}
}

func (c *capturing) expectNone(kind string, number int64) {
	c.t.Helper()
	got, err := c.store.Find(c.t.Context(), kind, [][]byte{entry(number, 0).Key})
	if err != nil || len(got) != 1 || got[0] != nil {
		c.t.Errorf("entry %d is %+v (%v), want none", number, got[0], err)
	}
}

func (c *capturing) expectSize(kind string, rows, highest int64) {
	c.t.Helper()
	n, last, err := c.store.Size(c.t.Context(), kind)
	if err != nil || n != rows || last != highest {
		c.t.Errorf("%d entries up to number %d (%v), want %d up to %d", n, last, err, rows, highest)
	}
}

// shadowEntries checks that entries are stored by their numbers and found by their keys, per kind
// and after a restart.
func shadowEntries(c *capturing) {
	c.begin("K", 1)
	c.begin("L", 1)
	c.expectSize("K", 0, 0)
	var first []changes.Entry
	for n := range int64(1500) {
		first = append(first, entry(n+1, 1))
	}
	c.check(c.store.Put(c.t.Context(), "K", 1, 0, first))
	c.check(c.store.Put(c.t.Context(), "L", 1, 0, []changes.Entry{entry(1, 9)}))
	c.expectSize("K", 1500, 1500)

	gone := entry(3, 2)
	gone.Deleted = true
	c.check(c.store.Put(c.t.Context(), "K", 1, 0, []changes.Entry{entry(2, 2), gone, entry(1501, 2)}))
	c.expectSize("K", 1500, 1501)
	c.expect("K", 1, entry(1, 1))
	c.expect("K", 2, entry(2, 2))
	c.expect("K", 1501, entry(1501, 2))
	c.expect("L", 1, entry(1, 9))
	c.expectNone("K", 3)
	c.expectNone("L", 2)
	c.expectSize("L", 1, 1)

	c.reopen()
	c.begin("K", 2)
	c.expectSize("K", 1500, 1501)
	c.expect("K", 2, entry(2, 2))
	_, err := c.store.Find(c.t.Context(), "none", [][]byte{{1}})
	if err != nil && !errors.Is(err, delivery.ErrCaptureLost) {
		c.t.Errorf("finding entries of a kind that is not captured: got the error %v, want none or %v",
			err, delivery.ErrCaptureLost)
	}
}

// shadowModel compares the shadow with a map: it finds any keys, in any order.
func shadowModel(c *capturing) {
	c.begin("K", 1)
	want := make(map[int64]changes.Entry)
	rapid.Check(c.t, func(t *rapid.T) {
		var put []changes.Entry
		for _, n := range rapid.SliceOfN(rapid.Int64Range(1, 60), 0, 20).Draw(t, "put") {
			e := entry(n, rapid.Byte().Draw(t, "version"))
			if rapid.IntRange(0, 3).Draw(t, "deleted") == 0 {
				e.Deleted = true
				delete(want, n)
			} else {
				want[n] = e
			}
			put = append(put, e)
		}
		if err := c.store.Put(c.t.Context(), "K", 1, 0, put); err != nil {
			t.Fatal(err)
		}

		numbers := rapid.SliceOfN(rapid.Int64Range(1, 62), 0, 70).Draw(t, "find")
		if rapid.Bool().Draw(t, "in order") {
			slices.Sort(numbers)
		}
		var keys [][]byte
		for _, n := range numbers {
			keys = append(keys, entry(n, 0).Key)
		}
		got, err := c.store.Find(c.t.Context(), "K", keys)
		if err != nil || len(got) != len(keys) {
			t.Fatalf("finding %d keys: got %d results (%v)", len(keys), len(got), err)
		}
		for i, n := range numbers {
			e, exists := want[n]
			if !exists && got[i] != nil {
				t.Fatalf("entry %d is %+v, want none", n, got[i])
			}
			if exists && (got[i] == nil || !reflect.DeepEqual(*got[i], e)) {
				t.Fatalf("entry %d is %+v, want %+v", n, got[i], e)
			}
		}

		highest := int64(0)
		for n := range want {
			highest = max(highest, n)
		}
		rows, last, err := c.store.Size(c.t.Context(), "K")
		if err != nil || rows != int64(len(want)) || last < highest {
			t.Fatalf("%d entries up to %d (%v), want %d up to %d", rows, last, err, len(want), highest)
		}
	})
}

// appliedByBegin checks that the entries of changes are in the shadow after a restart
// between the write of the changes and that of the shadow.
func appliedByBegin(c *capturing) {
	c.begin("K", 1)
	c.check(c.store.Put(c.t.Context(), "K", 1, 0, []changes.Entry{entry(1, 1), entry(2, 1), entry(3, 1)}))
	c.check(c.store.Save(c.t.Context(), "K", 1, changes.State{Phase: changes.Capturing}))
	c.check(c.write(group("K", 1, 1, 2, 1)))
	c.check(c.store.Put(c.t.Context(), "K", 1, 1, []changes.Entry{entry(1, 2)}))
	c.check(c.write(group("K", 1, 2, 3, 1, -2, 4, 4, 5, -5)))
	none := group("K", 1, 8, 3, -6) // of a row without an entry
	none.Changes[0].Number = 0
	c.check(c.write(none))
	c.reopen()

	got := c.begin("K", 2)
	if got.State.Phase != changes.Capturing || got.FirstKept != 1 || got.Next != 9 {
		c.t.Errorf("the capture after a restart is %+v, want the phase %q and changes 1 to 8",
			got, changes.Capturing)
	}
	c.expect("K", 1, entry(1, 3))
	c.expectNone("K", 2)
	c.expect("K", 3, entry(3, 1))
	c.expect("K", 4, entry(4, 3))
	c.expectNone("K", 5)
	if rows, _, err := c.store.Size(c.t.Context(), "K"); err != nil || rows != 3 {
		c.t.Errorf("the shadow has %d entries (%v), want 3", rows, err)
	}
}

// unseenEntries checks that Unseen returns the entries that a set lacks, in pages.
func unseenEntries(c *capturing) {
	c.begin("K", 1)
	var entries []changes.Entry
	var seen changes.Bitmap
	want := []int64{1, 64, 65, 2300, 2499}
	for n := int64(1); n < 2500; n++ {
		if n%7 == 6 {
			continue // a gap, which is not seen
		}
		entries = append(entries, entry(n, 1))
		if !slices.Contains(want, n) {
			seen.Set(n)
		}
	}
	c.check(c.store.Put(c.t.Context(), "K", 1, 0, entries))
	for _, limit := range []int{1, 2, 100} {
		got := c.unseenNumbers(&seen, limit)
		if !slices.Equal(got, want) {
			c.t.Errorf("in pages of %d: unseen are %v, want %v", limit, got, want)
		}
	}

	page, err := c.store.Unseen(c.t.Context(), "K", new(changes.Bitmap), 0, 1100)
	if err != nil || len(page) != 1100 || page[1099].Number <= page[1098].Number {
		c.t.Errorf("without a set, %d of 1100 are unseen (%v), want all in order", len(page), err)
	}
}

// unseenNumbers reads the numbers of the unseen entries of K in pages.
func (c *capturing) unseenNumbers(seen *changes.Bitmap, limit int) []int64 {
	c.t.Helper()
	var numbers []int64
	last := int64(0)
	for {
		page, err := c.store.Unseen(c.t.Context(), "K", seen, last, limit)
		c.check(err)
		for _, e := range page {
			if want := entry(e.Number, 1); !reflect.DeepEqual(e, want) {
				c.t.Errorf("an unseen entry is %+v, want %+v", e, want)
			}
			numbers = append(numbers, e.Number)
			last = e.Number
		}
		if len(page) < limit {
			return numbers
		}
	}
}
