// Package changestest is the conformance test suite of the storage of change capture.
package changestest

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/changes"
	"github.com/bizhook/whd/daemon/storage"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// Run runs the suite. Each call of place returns a function that opens an empty store;
// further calls of that function close it and open it again.
func Run(t *testing.T, place func(t *testing.T) (open func() *storage.Store)) {
	for name, test := range map[string]func(*capturing){
		"Begin":       begin,
		"Changes":     changesInOrder,
		"Refused":     refusedGroups,
		"Shadow":      shadowEntries,
		"ShadowModel": shadowModel,
		"Applied":     appliedByBegin,
		"Unseen":      unseenEntries,
		"Reset":       reset,
		"Remove":      remove,
		"Prune":       prune,
		"PruneEpochs": pruneEpochs,
		"Notes":       notes,
	} {
		t.Run(name, func(t *testing.T) {
			c := &capturing{t: t, open: place(t)}
			c.reopen()
			test(c)
		})
	}
}

// capturing is a store with the capture of kinds.
type capturing struct {
	t       *testing.T
	open    func() *storage.Store
	store   changes.Store // the part of storage that is tested
	storage *storage.Store
	lease   delivery.Lease
}

// reopen opens the store, again if it is open, as after a restart.
func (c *capturing) reopen() {
	c.t.Helper()
	c.storage = c.open()
	c.store = c.storage.Changes
	lease, err := c.storage.Webhooks.Engine.Lease(c.t.Context(), 0)
	c.check(err)
	c.lease = lease
}

// check ends the test on an error.
func (c *capturing) check(err error) {
	c.t.Helper()
	if err != nil {
		c.t.Fatal(err)
	}
}

func (c *capturing) begin(kind string, fence int64) changes.Capture {
	c.t.Helper()
	got, err := c.store.Begin(c.t.Context(), kind, fence)
	c.check(err)
	return got
}

// newestEpoch returns the ID of the last epoch of a kind.
func (c *capturing) newestEpoch(kind string) uint64 {
	c.t.Helper()
	epochs, err := c.store.Epochs(c.t.Context(), kind)
	c.check(err)
	if len(epochs) == 0 {
		c.t.Fatalf("%s has no epochs", kind)
	}
	return epochs[len(epochs)-1].ID
}

// capture returns the stored capture of a kind, which must exist.
func (c *capturing) capture(kind string) changes.Capture {
	c.t.Helper()
	captures, err := c.store.Captures(c.t.Context())
	c.check(err)
	i := slices.IndexFunc(captures, func(k changes.Capture) bool { return k.Kind == kind })
	if i < 0 {
		c.t.Fatalf("%s is not captured: %+v", kind, captures)
	}
	return captures[i]
}

// expectCapture compares the stored capture of a kind.
func (c *capturing) expectCapture(kind string, want changes.Capture) {
	c.t.Helper()
	if got := c.capture(kind); !reflect.DeepEqual(got, want) {
		c.t.Errorf("the stored capture is %+v, want %+v", got, want)
	}
}

// noon is a time that every store stores exactly.
var noon = time.Date(2030, 1, 2, 12, 0, 0, 123_456_000, time.UTC)

// entry returns an entry, the content of which depends on its number and a version.
func entry(n int64, version byte) changes.Entry {
	e := changes.Entry{
		Number: n,
		Key:    fmt.Appendf(nil, "key\x00%d", n),
		Scheme: 3,
		Hash:   [16]byte{version, byte(n)},
		Fields: []byte{1, 2, 3, version},
	}
	if n%2 == 0 {
		e.Stamp = []byte{0, version}
		e.Kept = fmt.Appendf(nil, `{"A":%d}`, n)
	}
	return e
}

// group returns a group of changes from an ID on, with an entry of each number; a negative
// number removes it.
func group(kind string, fence, first int64, version byte, numbers ...int64) *delivery.Captured {
	g := &delivery.Captured{Kind: kind, Fence: fence, AddedAt: noon}
	for i, n := range numbers {
		e := entry(max(n, -n), version)
		change := delivery.CapturedChange{
			ID:        first + int64(i),
			Op:        string(changes.Updated),
			Key:       fmt.Sprintf("Ü\"%d", n),
			Number:    e.Number,
			ShadowKey: e.Key,
			Entry:     e.Encode(),
			Deleted:   n < 0,
		}
		change.Body = fmt.Appendf(nil, `{"ChangeID":%d,"Ü":"😀\n"}`, change.ID)
		if n < 0 {
			change.Op = string(changes.Deleted)
		}
		g.Changes = append(g.Changes, change)
	}
	return g
}

// write writes a group as the delivery engine does.
func (c *capturing) write(g *delivery.Captured) error {
	return c.storage.Webhooks.Engine.Write(c.t.Context(), delivery.Batch{
		Version:  delivery.AnyVersion,
		Leases:   []delivery.Lease{c.lease},
		Captured: g,
	})
}

// begin checks that Begin takes a capture over from earlier fences only, keeps its state, and starts
// an epoch.
func begin(c *capturing) {
	if captures, err := c.store.Captures(c.t.Context()); err != nil || len(captures) != 0 {
		c.t.Fatalf("captures of an empty store: %+v (%v), want none", captures, err)
	}
	got := c.begin("K", 5)
	want := changes.Capture{
		Kind:      "K",
		Fence:     5,
		Next:      1,
		FirstKept: 1,
		State:     changes.State{Phase: changes.FirstLook, Epoch: c.newestEpoch("K")},
	}
	if !reflect.DeepEqual(got, want) {
		c.t.Errorf("a new capture is %+v, want %+v", got, want)
	}
	c.expectCapture("K", want)

	want.State = changes.State{
		Phase:    changes.Capturing,
		Reason:   "größe \"'\n",
		Scheme:   4,
		Stamp:    []byte{0, 255},
		Database: changes.Database{Identity: "X", Latest: []byte{1}, Now: noon},
		Began:    noon,
		Rows:     7,
	}
	c.check(c.store.Save(c.t.Context(), "K", 5, want.State))
	if _, err := c.store.Begin(c.t.Context(), "K", 4); !errors.Is(err, delivery.ErrCaptureLost) {
		c.t.Errorf("beginning with an older fence: got the error %v, want %v",
			err, delivery.ErrCaptureLost)
	}
	want.Fence = 6
	if got := c.begin("K", 6); !reflect.DeepEqual(got, want) {
		c.t.Errorf("a capture that is taken over is %+v, want %+v", got, want)
	}

	for name, err := range map[string]error{
		"Save":            c.store.Save(c.t.Context(), "K", 5, changes.State{}),
		"Reset":           c.store.Reset(c.t.Context(), "K", 5),
		"Put":             c.store.Put(c.t.Context(), "K", 5, 0, []changes.Entry{entry(1, 1)}),
		"of another kind": c.store.Save(c.t.Context(), "k", 6, changes.State{}),
	} {
		if !errors.Is(err, delivery.ErrCaptureLost) {
			c.t.Errorf("%s under the older fence: got the error %v, want %v",
				name, err, delivery.ErrCaptureLost)
		}
	}
	c.expectCapture("K", want)

	c.check(c.write(group("K", 6, 1, 1, 1, 2, 3)))
	c.begin("K", 6)
	epochs, err := c.store.Epochs(c.t.Context(), "K")
	c.check(err)
	var firsts []int64
	ids := make(map[uint64]bool)
	for _, e := range epochs {
		firsts = append(firsts, e.First)
		ids[e.ID] = true
	}
	wantFirsts := []int64{1, 1, 1, 4} // an empty shadow starts an epoch too
	if !slices.Equal(firsts, wantFirsts) || len(ids) != len(epochs) {
		c.t.Fatalf("epochs are %+v, want different ones with the first changes %v", epochs, wantFirsts)
	}
}

// changesInOrder checks that changes are read in their order, in pages that are limited in number
// and size.
func changesInOrder(c *capturing) {
	c.begin("K", 1)
	c.begin("L", 1)
	g := group("K", 1, 1, 1, 1, 2, -3)
	c.check(c.write(g))
	c.check(c.write(group("L", 1, 1, 1, 1)))
	second := group("K", 1, 4, 2, 2)
	c.check(c.write(second))

	got, err := c.store.Changes(c.t.Context(), "K", 0, 10)
	c.check(err)
	var want []changes.Change
	for _, written := range slices.Concat(g.Changes, second.Changes) {
		change := changes.Change{
			ID:    written.ID,
			Op:    changes.Op(written.Op),
			Key:   written.Key,
			Body:  written.Body,
			Entry: written.Entry,
		}
		if written.Deleted {
			change.Entry = nil
		}
		want = append(want, change)
	}
	if !reflect.DeepEqual(got, want) {
		c.t.Errorf("changes are\n%+v, want\n%+v", got, want)
	}
	page, err := c.store.Changes(c.t.Context(), "K", 1, 2)
	if err != nil || !reflect.DeepEqual(page, want[1:3]) {
		c.t.Errorf("2 changes after 1 are %+v (%v), want %+v", page, err, want[1:3])
	}
	page, err = c.store.Changes(c.t.Context(), "K", 4, 2)
	if err != nil || len(page) != 0 {
		c.t.Errorf("changes after the last one are %+v (%v), want none", page, err)
	}
	if got := c.capture("K"); got.Next != 5 || got.State.Phase != changes.FirstLook {
		c.t.Errorf("the stored capture is %+v, want next 5 and the phase %q", got, changes.FirstLook)
	}

	large := group("K", 1, 5, 1, 4, 5, 6)
	for i := range large.Changes {
		large.Changes[i].Body = append(bytes.Repeat([]byte("é"), changes.MaxBytes/3), '1')
	}
	c.check(c.write(large))
	got, err = c.store.Changes(c.t.Context(), "K", 4, 10)
	if err != nil || len(got) != 2 || !bytes.Equal(got[0].Body, large.Changes[0].Body) {
		c.t.Errorf("%d changes with bodies of %d bytes are read at once (%v), want 2",
			len(got), len(large.Changes[0].Body), err)
	}
}

// refusedGroups checks that a group under another fence, or with other IDs, leaves nothing.
func refusedGroups(c *capturing) {
	c.begin("K", 7)
	c.check(c.write(group("K", 7, 1, 1, 1)))
	for name, g := range map[string]*delivery.Captured{
		"an older fence":     group("K", 6, 2, 2, 1, 2),
		"a newer fence":      group("K", 8, 2, 2, 1, 2),
		"IDs that are taken": group("K", 7, 1, 2, 1, 2),
		"a gap":              group("K", 7, 3, 2, 1, 2),
		"another kind":       group("L", 7, 2, 2, 1, 2),
	} {
		if err := c.write(g); !errors.Is(err, delivery.ErrCaptureLost) {
			c.t.Errorf("writing a group with %s: got the error %v, want %v",
				name, err, delivery.ErrCaptureLost)
		}
	}
	if got := c.capture("K"); got.Next != 2 {
		c.t.Errorf("the stored capture is %+v, want next 2", got)
	}
	if list, err := c.store.Changes(c.t.Context(), "K", 0, 10); err != nil || len(list) != 1 {
		c.t.Errorf("changes are %+v (%v), want the first one", list, err)
	}
	c.begin("K", 7)
	c.expect("K", 1, entry(1, 1))
	c.expectNone("K", 2)
}
