package changestest

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/bizhook/whd/daemon/changes"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

func reset(c *capturing) {
	c.begin("K", 1)
	c.begin("L", 1)
	state := changes.State{
		Phase:   changes.Stopped,
		Reason:  "empty",
		Manual:  true,
		Scheme:  4,
		Stamp:   []byte{1},
		Content: "x",
		Began:   noon,
		Needed:  noon,
	}
	c.check(c.store.Save(c.Context(), "K", 1, state))
	c.check(c.write(group("K", 1, 1, 1, 1, 2)))
	c.check(c.store.Put(c.Context(), "K", 1, 2, []changes.Entry{entry(1, 1), entry(2, 1), entry(3, 1)}))
	c.check(c.store.Put(c.Context(), "L", 1, 0, []changes.Entry{entry(1, 1)}))
	c.check(c.store.Reset(c.Context(), "K", 1))
	want := changes.Capture{
		Kind:      "K",
		Fence:     1,
		Next:      3,
		FirstKept: 3,
		State:     changes.State{Phase: changes.FirstLook, Epoch: c.newestEpoch("K"), Needed: noon},
	}
	if got := c.capture("K"); !reflect.DeepEqual(got, want) {
		c.Errorf("capture is %+v, want %+v", got, want)
	}
	c.expectSize("K", 0, 0)
	c.expectNone("K", 1)
	c.clean()
	c.expect("L", 1, entry(1, 1))
	c.check(c.store.Put(c.Context(), "K", 1, 2, []changes.Entry{entry(2, 5)}))
	c.clean()
	c.reopen()
	want.Fence = 2
	if got := c.begin("K", 2); !reflect.DeepEqual(got, want) {
		c.Errorf("capture is %+v, want %+v", got, want)
	}
	c.expect("K", 2, entry(2, 5))
	c.expectSize("K", 1, 2)
	c.expect("L", 1, entry(1, 1))
}

// clean prunes until nothing is left to remove.
func (c *capturing) clean() {
	c.Helper()
	for range 102 {
		hasMore, err := c.store.Prune(c.Context(), time.Time{}, 1<<40, 2)
		c.check(err)
		if !hasMore {
			return
		}
	}
	c.Fatal("pruning does not end")
}

func remove(c *capturing) {
	for _, kind := range []string{"K", "L"} {
		c.begin(kind, 1)
		for first := int64(1); first <= 1200; first += 200 {
			numbers := make([]int64, 200)
			for i := range numbers {
				numbers[i] = int64(i + 1)
			}
			c.check(c.write(group(kind, 1, first, 1, numbers...)))
		}
		c.check(c.store.Put(c.Context(), kind, 1, 1200, []changes.Entry{entry(1, 1)}))
		c.check(c.store.Note(c.Context(), kind, [][]byte{{1}}))
	}
	c.check(c.store.Remove(c.Context(), "K"))
	c.clean()
	all, err := c.store.Captures(c.Context())
	if err != nil || len(all) != 1 || all[0].Kind != "L" {
		c.Fatalf("captures are %+v (%v)", all, err)
	}
	left, err := c.store.Changes(c.Context(), "K", 0, 1)
	c.check(err)
	epochs, err := c.store.Epochs(c.Context(), "K")
	c.check(err)
	notes, err := c.store.Noted(c.Context(), "K", 1)
	c.check(err)
	if len(left)+len(epochs)+len(notes) > 0 {
		c.Errorf("left are %d changes, %d epochs and %d notes", len(left), len(epochs), len(notes))
	}
	if err := c.write(group("K", 1, 1201, 1, 1)); !errors.Is(err, delivery.ErrCaptureLost) {
		c.Errorf("a change of a removed capture: %v", err)
	}
	if got := c.begin("K", 1); got.Next != 1201 || got.FirstKept != 1201 || got.State.Phase != changes.FirstLook {
		c.Errorf("captured again: %+v", got)
	}
	c.expectSize("K", 0, 0)
	c.expect("L", 1, entry(1, 1))
	if left, err := c.store.Changes(c.Context(), "L", 0, 2000); err != nil || len(left) != 1200 {
		c.Errorf("%d changes of the other kind (%v)", len(left), err)
	}
}

// prune removes changes by age, and by the size of all bodies.
func prune(c *capturing) {
	c.begin("K", 1)
	c.begin("L", 1)
	at := func(kind string, first int64, minute int, numbers ...int64) {
		c.Helper()
		g := group(kind, 1, first, 1, numbers...)
		g.AddedAt = noon.Add(time.Duration(minute) * time.Minute)
		for i := range g.Changes {
			g.Changes[i].Body = fmt.Appendf(nil, "%100d", i)
		}
		c.check(c.write(g))
	}
	at("K", 1, 0, 1, 2, 3)
	at("L", 1, 1, 1, 2)
	at("K", 4, 2, 1, 2)
	at("L", 3, 3, 1)
	expect := func(name string, k, l int64) {
		c.Helper()
		for kind, first := range map[string]int64{"K": k, "L": l} {
			all, err := c.store.Changes(c.Context(), kind, 0, 100)
			c.check(err)
			got := c.capture(kind)
			startsLater := len(all) > 0 && all[0].ID != first
			if int64(len(all)) != got.Next-first || got.FirstKept != first || startsLater {
				c.Errorf("%s: %d changes of %s from %d on, want from %d on to %d",
					name, len(all), kind, got.FirstKept, first, got.Next)
			}
		}
	}
	expect("all", 1, 1)
	step := func(minute int, size int64, limit int, want bool) {
		c.Helper()
		before := noon.Add(time.Duration(minute) * time.Minute)
		hasMore, err := c.store.Prune(c.Context(), before, size, limit)
		if err != nil || hasMore != want {
			c.Errorf("more: %v (%v), want %v", hasMore, err, want)
		}
	}
	step(0, 800, 100, false)
	expect("nothing is old or too large", 1, 1)
	step(1, 800, 2, true)
	expect("two old ones", 3, 1)
	step(1, 800, 2, false)
	expect("all old ones", 4, 1)
	step(0, 399, 100, false)
	expect("the oldest ones that exceed the size", 4, 3)
	step(0, 300, 100, false)
	expect("exactly the size", 4, 3)
	step(9, 1<<40, 100, false)
	expect("all", 6, 4)
	at("K", 6, 9, 1)
	step(9, 100, 100, false)
	expect("a new one", 6, 4)
	step(9, 99, 100, false)
	expect("none fits", 7, 4)
}

// pruneEpochs checks that an epoch is removed once all its changes are.
func pruneEpochs(c *capturing) {
	c.begin("K", 1)
	c.check(c.write(group("K", 1, 1, 1, 1, 2)))
	c.begin("K", 1)
	c.check(c.write(group("K", 1, 3, 1, 1, 2)))
	c.begin("K", 1)
	before, err := c.store.Epochs(c.Context(), "K")
	c.check(err)
	_, err = c.store.Prune(c.Context(), time.Time{}, 50, 100) // leaves the last one
	c.check(err)
	c.begin("K", 1)
	after, err := c.store.Epochs(c.Context(), "K")
	c.check(err)
	if len(before) != 4 || len(after) != 3 || !slices.Equal(after[:2], before[2:]) {
		c.Errorf("epochs %+v became %+v", before, after)
	}
}

func notes(c *capturing) {
	c.begin("K", 1)
	keys := [][]byte{{1, 0, 255}, []byte("größe"), {}, {1, 0, 255}}
	c.check(c.store.Note(c.Context(), "K", keys))
	c.check(c.store.Note(c.Context(), "K", nil))
	c.check(c.store.Note(c.Context(), "L", [][]byte{{9}}))
	first, err := c.store.Noted(c.Context(), "K", 2)
	c.check(err)
	all, err := c.store.Noted(c.Context(), "K", 100)
	c.check(err)
	if len(first) != 2 || len(all) != 4 || !reflect.DeepEqual(first, all[:2]) {
		c.Fatalf("noted are %+v and %+v", first, all)
	}
	for i, n := range all {
		if string(n.Key) != string(keys[i]) {
			c.Errorf("note %d is %q, want %q", i, n.Key, keys[i])
		}
	}
	c.check(c.store.Unnote(c.Context(), "K", first))
	c.check(c.store.Unnote(c.Context(), "L", all)) // of another kind
	if left, err := c.store.Noted(c.Context(), "K", 100); err != nil || !reflect.DeepEqual(left, all[2:]) {
		c.Errorf("left are %+v (%v)", left, err)
	}
}
