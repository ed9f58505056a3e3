package changes

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/bizhook/whd/daemon/row"
	"github.com/bizhook/whd/daemon/webhook/condition"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// Limits of a group of changes.
const (
	maxGroup    = delivery.MaxCaptured
	maxMessages = 4096
	minGroup    = 4 // of a slow store
)

// The time of a write, and how long the store is left to others after it, as a multiple.
// Posted events wait for the write: their p99 is measured as C2.
const (
	maxTurn, rest          = 8 * time.Millisecond, 1
	politeTurn, politeRest = time.Millisecond, 12 // while events are posted
)

// writer collects changes and entries, and writes them in groups.
type writer struct {
	*capture
	next    int64 // ID of the first change of the group
	highest int64 // number in the shadow
	count   int64 // of entries in the shadow

	newest   int64 // number, with those of the group
	group    []delivery.CapturedChange
	entries  []Entry // of the group, and those without a change
	added    int64   // to count
	size     int
	messages int
	limit    int // of the next group
}

// reset drops the unwritten rows and reports whether there were any.
func (w *writer) reset() bool {
	dropped := len(w.group)+len(w.entries) > 0
	w.newest, w.group, w.entries, w.added, w.size, w.messages = w.highest, w.group[:0], w.entries[:0], 0, 0, 0
	return dropped
}

// put adds an entry without a change. A new one gets its number.
func (w *writer) put(e Entry) Entry {
	switch {
	case e.Number == 0:
		w.newest++
		e.Number = w.newest
		w.added++
	case e.Deleted:
		w.added--
	}
	w.entries = append(w.entries, e)
	return e
}

// found is a change to be written.
type found struct {
	op    Op
	old   *Entry     // nil if the shadow has none
	entry Entry      // after the change
	cells []row.Cell // nil for a deleted row
	difference
	quiet bool // without an event
}

// add adds a change with its entry, and writes the group if it is full.
func (w *writer) add(ctx context.Context, f found) (Entry, error) {
	if f.old != nil || f.op != Deleted {
		f.entry = w.put(f.entry)
	}
	key, err := readKey(f.entry.Key)
	if err != nil {
		return f.entry, err
	}
	c := delivery.CapturedChange{
		ID: w.next + int64(len(w.group)), Op: string(f.op), Key: KeyText(w.rows.types(), key),
		Number: f.entry.Number, ShadowKey: f.entry.Key, Deleted: f.entry.Deleted,
	}
	if !f.entry.Deleted {
		c.Entry = f.entry.Encode()
	}
	if !f.quiet && !w.rows.onlyStamp(f.difference) {
		c.Event = event(w.kind, f.op)
	}
	var before []byte
	if f.old != nil {
		before = f.old.Kept
	}
	c.Body = w.rows.body(c.ID, f.op, c.Key, key, f.cells, f.difference, before, time.Now())
	w.group = append(w.group, c)
	w.size += len(c.Body)
	if c.Event != "" {
		w.messages += w.Publisher.Matching(c.Event)
	}
	if len(w.group) >= w.limit || w.size >= MaxBytes || w.messages >= maxMessages {
		began := time.Now()
		if err = w.flush(ctx); err == nil {
			w.yield(ctx, time.Since(began))
		}
	}
	return f.entry, err
}

// yield leaves the store to posted events and results for a time in proportion to that of
// the write of a group, and adapts the size of groups to the speed of the store: otherwise
// each event would wait for one or two groups.
func (w *writer) yield(ctx context.Context, took time.Duration) {
	turn, factor := maxTurn, time.Duration(rest)
	if w.Publisher.Posting() {
		turn, factor = politeTurn, politeRest
	}
	if took > turn {
		w.limit = max(w.limit/2, minGroup)
	} else {
		w.limit = min(w.limit+w.limit/4+1, maxGroup)
	}
	select {
	case <-ctx.Done():
	case <-time.After(factor * took):
	}
}

// flush writes the group. A database that is not the one that was captured stops the
// capture before.
func (w *writer) flush(ctx context.Context) error {
	name := w.kind.Name
	if len(w.group) > 0 {
		if _, err := w.verify(ctx, 0); err != nil {
			return err
		}
		if err := w.Publisher.PublishCaptured(ctx, &delivery.Captured{Kind: name, Fence: w.fence, Known: w.known(), Changes: slices.Clone(w.group)}); err != nil {
			return err
		}
	}
	if len(w.entries) > 0 {
		if err := w.Store.Put(ctx, name, w.fence, w.next+int64(len(w.group))-1, w.entries); err != nil {
			return err
		}
	}
	w.next, w.highest, w.count = w.next+int64(len(w.group)), w.newest, w.count+w.added
	w.status.set(func(s *Status) {
		s.Rows = w.count
		for _, c := range w.group {
			s.Changes[Op(c.Op)]++
		}
	})
	if len(w.group) > 0 {
		w.notify(name)
	}
	w.reset()
	return nil
}

// known returns the facts that conditions rely on.
func (w *writer) known() (c condition.Change) {
	for _, column := range w.rows.record {
		c.Fields = append(c.Fields, column.Name)
	}
	c.Kept = slices.Collect(maps.Keys(w.state.KeptFrom))
	return c
}

// decision is the handling of a row that differs from the shadow.
type decision uint8

// The decisions.
const (
	raise    decision = iota // a change
	fill                     // the shadow is changed, without a change
	leave                    // nothing, for now
	postpone                 // the sweep looks it up again at its end
)

// judge decides about a difference.
type judge func(op Op, e *Entry) decision

func raiseAll(Op, *Entry) decision { return raise }

// apply compares rows with the shadow and writes the differences. entries are those of the
// keys; they are looked up if they are nil. Rows that are equal become changes without an
// event if repeat is set. The numbers of the rows are added to the sweep's, and to marked
// unless it is nil.
func (w *writer) apply(ctx context.Context, list [][]row.Cell, keys [][]byte, entries []*Entry, decide judge, repeat bool, marked *Bitmap) (err error) {
	if entries == nil {
		if entries, err = w.Store.Find(ctx, w.kind.Name, keys); err != nil {
			return err
		}
	}
	for i, cells := range list {
		if old := entries[i]; old != nil && !repeat && w.rows.unchanged(old, cells) {
			w.mark(old.Number, marked)
			continue
		}
		f := found{op: Created, old: entries[i], entry: w.rows.entry(keys[i], cells), cells: cells}
		action := raise
		if f.old != nil {
			f.op, f.entry.Number = Updated, f.old.Number
			f.difference = w.rows.compare(f.old, &f.entry, cells)
		}
		switch {
		case !f.same:
			action = decide(f.op, &f.entry)
		case repeat:
			f.quiet = true
		case f.old.Scheme != f.entry.Scheme || !bytes.Equal(f.old.Stamp, f.entry.Stamp) || !bytes.Equal(f.old.Kept, f.entry.Kept):
			action = fill
		default:
			action = leave
		}
		switch action {
		case raise:
			if f.entry, err = w.add(ctx, f); err != nil {
				return err
			}
		case fill:
			f.entry = w.put(f.entry)
		case postpone:
			w.sweep.created = append(w.sweep.created, bytes.Clone(keys[i]))
		}
		w.mark(f.entry.Number, marked)
	}
	return w.flush(ctx)
}

// mark adds the number of a row to those that the sweep has found.
func (w *writer) mark(number int64, marked *Bitmap) {
	if number > 0 && w.sweep != nil {
		w.sweep.seen.Set(number)
		if marked != nil {
			marked.Set(number)
		}
	}
}

// remove decides about rows that do not exist any more.
func (w *writer) remove(ctx context.Context, entries []*Entry, decide judge) (err error) {
	for _, old := range entries {
		f := found{op: Deleted, old: old, entry: Entry{Number: old.Number, Key: old.Key, Deleted: true}}
		switch decide(Deleted, &f.entry) {
		case raise:
			if _, err = w.add(ctx, f); err != nil {
				return err
			}
		case fill:
			w.put(f.entry)
		}
	}
	return w.flush(ctx)
}
