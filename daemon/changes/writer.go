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
	maxTurn    = 8 * time.Millisecond
	pauseRatio = 1

	// While events are posted.
	politeTurn       = time.Millisecond
	politePauseRatio = 12
)

// writer collects changes and entries, and writes them in groups.
type writer struct {
	capture *capture
	next    int64 // ID of the first change of the group
	highest int64 // highest number of an entry in the shadow
	count   int64 // number of entries in the shadow

	// The group, which is not written yet.
	newest   int64 // highest number of an entry, with those of the group
	group    []delivery.CapturedChange
	entries  []Entry // entries of the group, and those without a change
	added    int64   // by how many entries the shadow grows
	size     int     // bytes of the bodies
	messages int     // messages that the events make
	limit    int     // maximum number of changes
}

// reset drops the unwritten rows and reports whether there were any.
func (w *writer) reset() bool {
	dropped := len(w.group)+len(w.entries) > 0
	w.newest = w.highest
	w.group = w.group[:0]
	w.entries = w.entries[:0]
	w.added = 0
	w.size = 0
	w.messages = 0
	return dropped
}

// put adds an entry without a change. A new one gets its number.
func (w *writer) put(e Entry) Entry {
	if e.Number == 0 {
		w.newest++
		e.Number = w.newest
		w.added++
	} else if e.Deleted {
		w.added--
	}
	w.entries = append(w.entries, e)
	return e
}

// finding is a change to be written.
type finding struct {
	op    Op
	old   *Entry     // nil if the shadow has none
	entry Entry      // after the change
	cells []row.Cell // nil for a deleted row
	difference
	quiet bool // without an event
}

// add adds a change with its entry, and writes the group if it is full.
func (w *writer) add(ctx context.Context, f finding) (Entry, error) {
	isInShadow := f.old != nil || f.op != Deleted
	if isInShadow {
		f.entry = w.put(f.entry)
	}
	c, err := w.newChange(f)
	if err != nil {
		return f.entry, err
	}
	w.group = append(w.group, c)
	w.size += len(c.Body)
	if c.Event != "" {
		w.messages += w.capture.config.Publisher.Matching(c.Event)
	}
	if !w.full() {
		return f.entry, nil
	}

	began := time.Now()
	if err := w.flush(ctx); err != nil {
		return f.entry, err
	}
	w.yield(ctx, time.Since(began))
	return f.entry, nil
}

// newChange returns the next change of the group.
func (w *writer) newChange(f finding) (delivery.CapturedChange, error) {
	k := w.capture
	key, err := readKey(f.entry.Key)
	if err != nil {
		return delivery.CapturedChange{}, err
	}
	c := delivery.CapturedChange{
		ID:        w.next + int64(len(w.group)),
		Op:        string(f.op),
		Key:       KeyText(k.rows.types(), key),
		Number:    f.entry.Number,
		ShadowKey: f.entry.Key,
		Deleted:   f.entry.Deleted,
	}
	if !f.entry.Deleted {
		c.Entry = f.entry.Encode()
	}
	if !f.quiet && !k.rows.onlyStamp(f.difference) {
		c.Event = event(k.kind, f.op)
	}
	b := body{
		id:         c.ID,
		op:         f.op,
		keyText:    c.Key,
		key:        key,
		cells:      f.cells,
		changed:    f.changed,
		capturedAt: time.Now(),
	}
	if f.old != nil {
		b.before = f.old.Kept
	}
	c.Body = k.rows.appendBody(nil, b)
	return c, nil
}

// full reports whether the group has reached one of its limits.
func (w *writer) full() bool {
	return len(w.group) >= w.limit || w.size >= MaxBytes || w.messages >= maxMessages
}

// yield leaves the store to posted events and results for a time in proportion to that of
// the write of a group, and adapts the size of groups to the speed of the store: otherwise
// each event would wait for one or two groups.
func (w *writer) yield(ctx context.Context, took time.Duration) {
	turn := maxTurn
	pause := pauseRatio * took
	if w.capture.config.Publisher.Posting() {
		turn = politeTurn
		pause = politePauseRatio * took
	}
	if took > turn {
		w.limit = max(w.limit/2, minGroup)
	} else {
		w.limit = min(w.limit+w.limit/4+1, maxGroup)
	}
	select {
	case <-ctx.Done():
	case <-time.After(pause):
	}
}

// flush writes the group. A database that is not the one that was captured stops the
// capture before.
func (w *writer) flush(ctx context.Context) error {
	k := w.capture
	name := k.kind.Name
	next := w.next + int64(len(w.group))
	if len(w.group) > 0 {
		if _, err := k.verify(ctx, 0); err != nil {
			return err
		}
		captured := &delivery.Captured{
			Kind:    name,
			Fence:   k.fence,
			Known:   w.known(),
			Changes: slices.Clone(w.group),
		}
		if err := k.config.Publisher.PublishCaptured(ctx, captured); err != nil {
			return err
		}
	}
	if len(w.entries) > 0 {
		if err := k.config.Store.Put(ctx, name, k.fence, next-1, w.entries); err != nil {
			return err
		}
	}

	w.next = next
	w.highest = w.newest
	w.count += w.added
	k.status.set(func(s *Status) {
		s.Rows = w.count
		for _, c := range w.group {
			s.Changes[Op(c.Op)]++
		}
	})
	if len(w.group) > 0 {
		k.common.followers.notify(name)
	}
	w.reset()
	return nil
}

// known returns the facts that conditions rely on.
func (w *writer) known() condition.Change {
	k := w.capture
	var fields []string
	for _, column := range k.rows.record {
		fields = append(fields, column.Name)
	}
	return condition.Change{
		Fields: fields,
		Kept:   slices.Collect(maps.Keys(k.state.KeptFrom)),

		Collations: k.rows.table.Collations,
	}
}

// decision is the handling of a row that differs from the shadow.
type decision uint8

// The decisions.
const (
	publish  decision = iota // a change
	fill                     // the shadow is changed, without a change
	leave                    // nothing, for now
	postpone                 // the sweep looks it up again at its end, after deletions
)

// judge decides about a difference.
type judge func(op Op, e *Entry) decision

func publishAll(Op, *Entry) decision { return publish }

// batch is a batch of rows that were read.
type batch struct {
	rows    [][]row.Cell
	keys    [][]byte
	entries []*Entry // entries of the keys; nil if they are to be looked up
	decide  judge
	repeat  bool    // rows that are equal become changes without an event
	marked  *Bitmap // gets the numbers of the rows, as the sweep does; nil if not needed
}

// apply compares rows with the shadow and writes the differences.
func (w *writer) apply(ctx context.Context, b batch) error {
	entries := b.entries
	if entries == nil {
		var err error
		entries, err = w.capture.config.Store.Find(ctx, w.capture.kind.Name, b.keys)
		if err != nil {
			return err
		}
	}
	for i, cells := range b.rows {
		number, err := w.applyRow(ctx, b, entries[i], b.keys[i], cells)
		if err != nil {
			return err
		}
		w.mark(number, b.marked)
	}
	return w.flush(ctx)
}

// applyRow is apply for one row. It returns the row's number in the shadow, 0 if it has none.
func (w *writer) applyRow(
	ctx context.Context, b batch, old *Entry, key []byte, cells []row.Cell,
) (int64, error) {
	k := w.capture
	if old != nil && !b.repeat && k.rows.unchanged(old, cells) {
		return old.Number, nil
	}
	f := finding{op: Created, old: old, entry: k.rows.entry(key, cells), cells: cells}
	if old != nil {
		f.op = Updated
		f.entry.Number = old.Number
		f.difference = k.rows.compare(old, &f.entry, cells)
	}
	action := publish
	if !f.same {
		action = b.decide(f.op, &f.entry)
	} else if b.repeat {
		f.quiet = true
	} else {
		action = refresh(old, &f.entry)
	}

	switch action {
	case publish:
		entry, err := w.add(ctx, f)
		return entry.Number, err
	case fill:
		f.entry = w.put(f.entry)
	case postpone:
		// A key that was changed in letter case only looks like a new row here, before the sweep
		// has found that the old key is gone. A copy that ignores case would lose the row if the
		// deletion were last.
		k.sweep.created = append(k.sweep.created, bytes.Clone(key))
	}
	return f.entry.Number, nil
}

// refresh decides about an entry that has the same values: it is written if it has another
// scheme or stamp, or other values are kept.
func refresh(old, e *Entry) decision {
	isUpToDate := old.Scheme == e.Scheme && bytes.Equal(old.Stamp, e.Stamp) && bytes.Equal(old.Kept, e.Kept)
	if isUpToDate {
		return leave
	}
	return fill
}

// mark adds the number of a row to those that the sweep has found.
func (w *writer) mark(number int64, marked *Bitmap) {
	if number == 0 || w.capture.sweep == nil {
		return
	}
	w.capture.sweep.seen.Set(number)
	if marked != nil {
		marked.Set(number)
	}
}

// remove decides about rows that do not exist any more.
func (w *writer) remove(ctx context.Context, entries []*Entry, decide judge) error {
	for _, old := range entries {
		f := finding{
			op:    Deleted,
			old:   old,
			entry: Entry{Number: old.Number, Key: old.Key, Deleted: true},
		}
		switch decide(Deleted, &f.entry) {
		case publish:
			if _, err := w.add(ctx, f); err != nil {
				return err
			}
		case fill:
			w.put(f.entry)
		}
	}
	return w.flush(ctx)
}
