package changes_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/bizhook/whd/daemon/changes"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// store is a Store and the Publisher of all daemons, in memory. As on the embedded store,
// the shadow is written after the changes, and Begin applies the missing ones.
type store struct {
	mu       sync.Mutex
	fence    int64 // fence of the coordinator
	kinds    map[string]*stored
	notes    int64  // number of notes, for their IDs
	epochs   uint64 // number of epochs, for their IDs
	matching int    // number of subscriptions that each event matches

	// Hooks, which tests set under mu, or while capture waits.
	publish   func() error // called before a group is published
	published func() error // called after it, under mu
	putting   func() error // called before the shadow is written
	saving    func() error // called before a state is stored
	noting    func() error // called before keys are noted
}

// stored is the state of a kind.
type stored struct {
	changes.Capture
	epochs   []changes.Epoch
	groups   [][]delivery.CapturedChange
	changes  []delivery.CapturedChange
	entries  map[int64]changes.Entry // keyed by number
	numbers  map[string]int64        // keyed by key
	position int64                   // ID of the last change in the shadow
	notes    []changes.Recheck
}

func newStore() *store { return &store{fence: 1, kinds: make(map[string]*stored)} }

func (s *store) kind(name string) *stored {
	if s.kinds[name] == nil {
		s.kinds[name] = &stored{entries: make(map[int64]changes.Entry), numbers: make(map[string]int64)}
	}
	return s.kinds[name]
}

// run calls a hook if it is set.
func (s *store) run(hook *func() error) error {
	s.mu.Lock()
	call := *hook
	s.mu.Unlock()
	if call == nil {
		return nil
	}
	return call()
}

// failing returns a hook that fails n times.
func failing(n int) func() error {
	return func() error {
		n--
		if n >= 0 {
			return fault.New(fault.Unavailable, "the store does not reply")
		}
		return nil
	}
}

// daemon is the Publisher of one of the daemons.
type daemon struct {
	*store
	coordinates func() bool
}

func (d daemon) Coordinator() (delivery.Lease, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return delivery.Lease{Partition: delivery.FirstPartition, Fence: d.fence}, d.coordinates == nil || d.coordinates()
}

func (s *store) Matching(string) int { return s.matching }

func (s *store) Posting() bool { return false }

func (s *store) PublishCaptured(_ context.Context, c *delivery.Captured) error {
	if err := s.run(&s.publish); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.kind(c.Kind)
	if k.Fence != c.Fence || k.Next != c.Changes[0].ID {
		return delivery.ErrCaptureLost
	}
	for i, change := range c.Changes {
		if change.ID != k.Next {
			return errors.New("the IDs have a gap")
		}
		c.Changes[i].Body = bytes.Clone(change.Body)
		k.Next++
	}
	k.changes = append(k.changes, c.Changes...)
	k.groups = append(k.groups, c.Changes)
	if s.published != nil {
		return s.published()
	}
	return nil
}

func (s *store) Begin(_ context.Context, kind string, fence int64) (changes.Capture, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.kind(kind)
	if fence < k.Fence {
		return k.Capture, delivery.ErrCaptureLost
	}
	if k.Next == 0 {
		k.Capture = changes.Capture{Kind: kind, Next: 1, FirstKept: 1}
	}
	k.Fence = fence
	s.epochs++
	k.epochs = append(k.epochs, changes.Epoch{ID: s.epochs * 7919, First: k.Next})
	for _, c := range k.changes {
		if c.ID <= k.position {
			continue
		}
		e := changes.Entry{Number: c.Number, Key: c.ShadowKey, Deleted: c.Deleted}
		if !c.Deleted {
			if err := changes.DecodeEntry(c.Entry, &e); err != nil {
				return k.Capture, err
			}
		}
		k.put(e)
	}
	k.position = k.Next - 1
	return k.copied(), nil
}

// copied returns the capture with its state as JSON has it.
func (k *stored) copied() changes.Capture {
	c := k.Capture
	text, err := json.Marshal(c.State)
	if err == nil {
		c.State = changes.State{}
		err = json.Unmarshal(text, &c.State)
	}
	if err != nil {
		panic(err)
	}
	return c
}

func (k *stored) put(e changes.Entry) {
	if e.Deleted {
		delete(k.numbers, string(e.Key))
		delete(k.entries, e.Number)
		return
	}
	e.Key = bytes.Clone(e.Key)
	e.Fields = bytes.Clone(e.Fields)
	e.Stamp = bytes.Clone(e.Stamp)
	e.Kept = bytes.Clone(e.Kept)
	k.entries[e.Number] = e
	k.numbers[string(e.Key)] = e.Number
}

func (s *store) Save(_ context.Context, kind string, fence int64, state changes.State) error {
	if err := s.run(&s.saving); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.kind(kind)
	if k.Fence != fence {
		return delivery.ErrCaptureLost
	}
	k.State = state
	k.State = k.copied().State
	return nil
}

func (s *store) Captures(context.Context) (all []changes.Capture, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(s.kinds)) {
		if s.kinds[name].Next > 0 {
			all = append(all, s.kinds[name].copied())
		}
	}
	return all, nil
}

func (s *store) Changes(_ context.Context, kind string, after int64, limit int) ([]changes.Change, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []changes.Change
	for _, c := range s.kind(kind).changes {
		if c.ID > after && len(list) < limit {
			list = append(list, changes.Change{
				ID:    c.ID,
				Op:    changes.Op(c.Op),
				Key:   c.Key,
				Body:  c.Body,
				Entry: c.Entry,
			})
		}
	}
	return list, nil
}

func (s *store) Epochs(_ context.Context, kind string) ([]changes.Epoch, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.kind(kind).epochs), nil
}

func (s *store) Reset(_ context.Context, kind string, fence int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.kind(kind)
	if k.Fence != fence {
		return delivery.ErrCaptureLost
	}
	clear(k.entries)
	clear(k.numbers)
	return nil
}

func (s *store) Remove(_ context.Context, kind string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.kinds, kind)
	return nil
}

func (s *store) Prune(context.Context, time.Time, int64, int) (bool, error) { return false, nil }

func (s *store) Note(_ context.Context, kind string, keys [][]byte) error {
	if err := s.run(&s.noting); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, key := range keys {
		s.notes++
		k := s.kind(kind)
		k.notes = append(k.notes, changes.Recheck{ID: s.notes, Key: bytes.Clone(key)})
	}
	return nil
}

func (s *store) Noted(_ context.Context, kind string, limit int) ([]changes.Recheck, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	notes := s.kind(kind).notes
	return slices.Clone(notes[:min(limit, len(notes))]), nil
}

func (s *store) Unnote(_ context.Context, kind string, notes []changes.Recheck) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.kind(kind)
	k.notes = slices.DeleteFunc(k.notes, func(n changes.Recheck) bool {
		return slices.ContainsFunc(notes, func(m changes.Recheck) bool { return m.ID == n.ID })
	})
	return nil
}

func (s *store) Find(_ context.Context, kind string, keys [][]byte) ([]*changes.Entry, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.kind(kind)
	found := make([]*changes.Entry, len(keys))
	for i, key := range keys {
		if number, known := k.numbers[string(key)]; known {
			e := k.entries[number]
			found[i] = &e
		}
	}
	return found, nil
}

func (s *store) Put(_ context.Context, kind string, fence, position int64, entries []changes.Entry) error {
	if err := s.run(&s.putting); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.kind(kind)
	if k.Fence != fence {
		return delivery.ErrCaptureLost
	}
	for _, e := range entries {
		if known, taken := k.entries[e.Number]; taken && !bytes.Equal(known.Key, e.Key) {
			return fault.New(fault.Internal, "number %d has two keys", e.Number)
		}
		k.put(e)
	}
	k.position = position
	return nil
}

func (s *store) Unseen(
	_ context.Context, kind string, seen *changes.Bitmap, after int64, limit int,
) ([]changes.Entry, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var unseen []changes.Entry
	for number, e := range s.kind(kind).entries {
		if number > after && !seen.Has(number) {
			unseen = append(unseen, e)
		}
	}
	slices.SortFunc(unseen, func(a, b changes.Entry) int { return cmp.Compare(a.Number, b.Number) })
	return unseen[:min(limit, len(unseen))], nil
}

func (s *store) Size(_ context.Context, kind string) (rows, highest int64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.kind(kind)
	for number := range k.entries {
		highest = max(highest, number)
	}
	return int64(len(k.entries)), highest, nil
}
