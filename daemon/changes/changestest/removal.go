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

// reset checks that Reset leaves an empty shadow and drops the state, of one kind only.
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
	c.check(c.store.Save(c.t.Context(), "K", 1, state))
	c.check(c.write(group("K", 1, 1, 1, 1, 2)))
	c.check(c.store.Put(c.t.Context(), "K", 1, 2, []changes.Entry{entry(1, 1), entry(2, 1), entry(3, 1)}))
	c.check(c.store.Put(c.t.Context(), "L", 1, 0, []changes.Entry{entry(1, 1)}))

	c.check(c.store.Reset(c.t.Context(), "K", 1))
	want := changes.Capture{
		Kind:      "K",
		Fence:     1,
		Next:      3,
		FirstKept: 3,
		State:     changes.State{Phase: changes.FirstLook, Epoch: c.newestEpoch("K"), Needed: noon},
	}
	c.expectCapture("K", want)
	c.expectSize("K", 0, 0)
	c.expectNone("K", 1)
	c.clean()
	c.expect("L", 1, entry(1, 1))

	// The new shadow outlasts a restart.
	c.check(c.store.Put(c.t.Context(), "K", 1, 2, []changes.Entry{entry(2, 5)}))
	c.clean()
	c.reopen()
	want.Fence = 2
	if got := c.begin("K", 2); !reflect.DeepEqual(got, want) {
		c.t.Errorf("the capture after a restart is %+v, want %+v", got, want)
	}
	c.expect("K", 2, entry(2, 5))
	c.expectSize("K", 1, 2)
	c.expect("L", 1, entry(1, 1))
}

// clean prunes until nothing is left to remove.
func (c *capturing) clean() {
	c.t.Helper()
	const maxPrunes = 102 // of two entries each
	for range maxPrunes {
		hasMore, err := c.store.Prune(c.t.Context(), time.Time{}, 1<<40, 2)
		c.check(err)
		if !hasMore {
			return
		}
	}
	c.t.Fatalf("there is more to remove after pruning %d times", maxPrunes)
}

// remove checks that Remove leaves nothing of a kind but the ID of its next change.
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
		c.check(c.store.Put(c.t.Context(), kind, 1, 1200, []changes.Entry{entry(1, 1)}))
		c.check(c.store.Note(c.t.Context(), kind, [][]byte{{1}}))
	}

	c.check(c.store.Remove(c.t.Context(), "K"))
	c.clean()
	captures, err := c.store.Captures(c.t.Context())
	if err != nil || len(captures) != 1 || captures[0].Kind != "L" {
		c.t.Fatalf("captures are %+v (%v), want the one of L", captures, err)
	}
	list, err := c.store.Changes(c.t.Context(), "K", 0, 1)
	c.check(err)
	epochs, err := c.store.Epochs(c.t.Context(), "K")
	c.check(err)
	notes, err := c.store.Noted(c.t.Context(), "K", 1)
	c.check(err)
	if len(list)+len(epochs)+len(notes) > 0 {
		c.t.Errorf("%d changes, %d epochs and %d notes remain, want none",
			len(list), len(epochs), len(notes))
	}
	if err := c.write(group("K", 1, 1201, 1, 1)); !errors.Is(err, delivery.ErrCaptureLost) {
		c.t.Errorf("writing a change of a removed capture: got the error %v, want %v",
			err, delivery.ErrCaptureLost)
	}

	got := c.begin("K", 1)
	if got.Next != 1201 || got.FirstKept != 1201 || got.State.Phase != changes.FirstLook {
		c.t.Errorf("the kind is captured again as %+v, want next 1201 and the phase %q",
			got, changes.FirstLook)
	}
	c.expectSize("K", 0, 0)
	c.expect("L", 1, entry(1, 1))
	list, err = c.store.Changes(c.t.Context(), "L", 0, 2000)
	if err != nil || len(list) != 1200 {
		c.t.Errorf("the other kind has %d changes (%v), want 1200", len(list), err)
	}
}

// prune removes changes by age, and by the size of all bodies.
func prune(c *capturing) {
	c.begin("K", 1)
	c.begin("L", 1)
	c.writeAt("K", 1, 0, 1, 2, 3)
	c.writeAt("L", 1, 1, 1, 2)
	c.writeAt("K", 4, 2, 1, 2)
	c.writeAt("L", 3, 3, 1)
	c.expectFirsts("nothing was pruned", 1, 1)

	const unlimited = 1 << 40
	for _, step := range []struct {
		name    string
		minute  int // changes before it are old
		size    int64
		limit   int
		hasMore bool
		firstK  int64 // IDs of the first changes that remain
		firstL  int64
	}{
		{"nothing is old or too large", 0, 800, 100, false, 1, 1},
		{"two old ones", 1, 800, 2, true, 3, 1},
		{"all old ones", 1, 800, 2, false, 4, 1},
		{"the oldest ones that exceed the size", 0, 399, 100, false, 4, 3},
		{"exactly the size", 0, 300, 100, false, 4, 3},
		{"all", 9, unlimited, 100, false, 6, 4},
	} {
		c.prune(step.name, step.minute, step.size, step.limit, step.hasMore)
		c.expectFirsts(step.name, step.firstK, step.firstL)
	}

	c.writeAt("K", 6, 9, 1)
	c.prune("a new one fits", 9, 100, 100, false)
	c.expectFirsts("a new one fits", 6, 4)
	c.prune("a new one is too large", 9, 99, 100, false)
	c.expectFirsts("a new one is too large", 7, 4)
}

// writeAt writes changes with bodies of 100 bytes, a number of minutes after noon.
func (c *capturing) writeAt(kind string, first int64, minute int, numbers ...int64) {
	c.t.Helper()
	g := group(kind, 1, first, 1, numbers...)
	g.AddedAt = noon.Add(time.Duration(minute) * time.Minute)
	for i := range g.Changes {
		g.Changes[i].Body = fmt.Appendf(nil, "%100d", i)
	}
	c.check(c.write(g))
}

// prune prunes changes from before a number of minutes after noon.
func (c *capturing) prune(step string, minute int, size int64, limit int, want bool) {
	c.t.Helper()
	before := noon.Add(time.Duration(minute) * time.Minute)
	hasMore, err := c.store.Prune(c.t.Context(), before, size, limit)
	if err != nil || hasMore != want {
		c.t.Errorf("%s: there is more to prune: %v (%v), want %v", step, hasMore, err, want)
	}
}

// expectFirsts checks that the changes of K and of L remain from these IDs on.
func (c *capturing) expectFirsts(step string, firstK, firstL int64) {
	c.t.Helper()
	for kind, first := range map[string]int64{"K": firstK, "L": firstL} {
		list, err := c.store.Changes(c.t.Context(), kind, 0, 100)
		c.check(err)
		got := c.capture(kind)
		startsLater := len(list) > 0 && list[0].ID != first
		if int64(len(list)) != got.Next-first || got.FirstKept != first || startsLater {
			c.t.Errorf("%s: %d changes of %s from %d on, want from %d on to %d",
				step, len(list), kind, got.FirstKept, first, got.Next)
		}
	}
}

// pruneEpochs checks that an epoch is removed once all its changes are.
func pruneEpochs(c *capturing) {
	c.begin("K", 1)
	c.check(c.write(group("K", 1, 1, 1, 1, 2)))
	c.begin("K", 1)
	c.check(c.write(group("K", 1, 3, 1, 1, 2)))
	c.begin("K", 1)
	before, err := c.store.Epochs(c.t.Context(), "K")
	c.check(err)
	_, err = c.store.Prune(c.t.Context(), time.Time{}, 50, 100) // leaves the last one
	c.check(err)
	c.begin("K", 1)
	after, err := c.store.Epochs(c.t.Context(), "K")
	c.check(err)
	if len(before) != 4 || len(after) != 3 || !slices.Equal(after[:2], before[2:]) {
		c.t.Errorf("epochs %+v became %+v, want the last two and a new one", before, after)
	}
}

// notes checks that keys are noted per kind, in their order, until they are removed.
func notes(c *capturing) {
	c.begin("K", 1)
	keys := [][]byte{{1, 0, 255}, []byte("größe"), {}, {1, 0, 255}}
	c.check(c.store.Note(c.t.Context(), "K", keys))
	c.check(c.store.Note(c.t.Context(), "K", nil))
	c.check(c.store.Note(c.t.Context(), "L", [][]byte{{9}}))
	first, err := c.store.Noted(c.t.Context(), "K", 2)
	c.check(err)
	all, err := c.store.Noted(c.t.Context(), "K", 100)
	c.check(err)
	if len(first) != 2 || len(all) != 4 || !reflect.DeepEqual(first, all[:2]) {
		c.t.Fatalf("the first 2 notes are %+v of %+v, want 2 of 4", first, all)
	}
	for i, n := range all {
		if string(n.Key) != string(keys[i]) {
			c.t.Errorf("note %d is %q, want %q", i, n.Key, keys[i])
		}
	}
	c.check(c.store.Unnote(c.t.Context(), "K", first))
	c.check(c.store.Unnote(c.t.Context(), "L", all)) // of another kind
	remaining, err := c.store.Noted(c.t.Context(), "K", 100)
	if err != nil || !reflect.DeepEqual(remaining, all[2:]) {
		c.t.Errorf("the remaining notes are %+v (%v), want %+v", remaining, err, all[2:])
	}
}
