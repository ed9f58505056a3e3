package changes

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/bizhook/whd/daemon/row"
)

// sweep is a look at all rows: first page by page, then at the keys of the rows of the
// shadow that no page had. The deletions come before the new rows that wait for them.
type sweep struct {
	capture *capture
	gate    gate
	began   time.Time // zero before the sweep has started
	content string    // see Table.Content
	emptied bool      // the sweep before found no rows

	// The pages.
	after     []row.Cell // key of the last row; nil on the first page
	paged     bool       // all pages are read
	differing [][]byte   // keys of rows of the page with other stamps
	swept     sweptRows  // rows of the pages

	// The rows after the pages.
	seen    Bitmap   // numbers of the rows that were found, also by polls
	missing int64    // number of the last entry that was looked up
	created [][]byte // keys of new rows, which are published after the deletions
}

// newSweep returns a sweep that publishes the differences that a gate lets through.
func (k *capture) newSweep(g gate) *sweep {
	g.suspects.seed = uint64(k.fence)
	return &sweep{capture: k, gate: g}
}

// maxPostponed limits the memory of the new rows that are published after the deletions.
const maxPostponed = 50_000

// decide decides about a difference that the sweep has found.
func (s *sweep) decide(op Op, e *Entry) decision {
	action := s.gate.decide(op, e)
	mayRepeatKey := op == Created && s.capture.rows.hasTextKey()
	if action == publish && mayRepeatKey && len(s.created) < maxPostponed {
		return postpone
	}
	return action
}

// start starts a sweep, unless nothing can have changed since the last one.
func (s *sweep) start(ctx context.Context) error {
	k := s.capture
	began := time.Now()
	now, err := k.verify(ctx, 0)
	if err != nil {
		return err
	}
	table, err := k.config.Source.Table(ctx, k.kind)
	if err != nil {
		return sourceError{err}
	}
	if !table.hasColumnsOf(k.rows.table) {
		k.drop()
		return nil
	}
	k.rows.table = table
	isUnchanged := table.Content != "" && table.Content == k.state.Content
	if isUnchanged && k.state.Phase == Capturing && !s.gate.isOrdered() {
		k.endSweep(began)
		return nil
	}

	k.poller.position(now.Database)
	k.state.Took = 0
	s.began = began
	s.content = table.Content
	s.gate.first = k.state.Swept.IsZero()
	s.gate.mute = k.state.Phase == Stopped
	return nil
}

// hasColumnsOf reports whether rows that are read from a table have the same columns as those of
// another reading of it.
func (t Table) hasColumnsOf(other Table) bool {
	if t.Stamp != other.Stamp || t.Version != other.Version {
		return false
	}
	return slices.Equal(t.Key, other.Key) && slices.Equal(t.Fields, other.Fields)
}

// readNext makes the next read of the sweep.
func (s *sweep) readNext(ctx context.Context) error {
	if s.began.IsZero() {
		return s.start(ctx)
	}
	if len(s.differing) > 0 {
		return s.readDiffering(ctx)
	}
	if !s.paged {
		return s.readPage(ctx)
	}
	return s.lookUpMissing(ctx)
}

// readPage reads a page, and compares its rows with the shadow.
func (s *sweep) readPage(ctx context.Context) error {
	k := s.capture
	page, err := k.read(ctx, Read{Fields: s.pageFields(), After: s.after, Limit: MaxRows})
	if err != nil {
		return err
	}
	isEmpty := len(page.Rows) == 0 && s.after == nil
	if isEmpty && s.hasLostAll() {
		return s.confirmEmpty()
	}

	list := page.Rows
	if k.rows.table.Version {
		list = k.rows.widen(list)
	}
	keys, err := k.keys(list)
	if err != nil {
		return err
	}
	entries, err := k.config.Store.Find(ctx, k.kind.Name, keys)
	if err != nil {
		return err
	}
	added, err := s.markSwept(list, keys, entries)
	if err != nil {
		return err
	}
	if err := s.checkTexts(ctx, list, added); err != nil {
		return err
	}

	if n := len(list); n > 0 {
		s.after = cloneRow(k.rows.keyOf(list[n-1]))
	}
	s.paged = !page.More
	k.status.set(func(st *Status) { st.Swept += int64(len(list)) })
	if k.rows.table.Version {
		s.compareStamps(list, keys, entries)
		return nil
	}
	return k.writer.apply(ctx, batch{
		rows:    list,
		keys:    keys,
		entries: entries,
		decide:  s.decide,
		marked:  &s.swept.Bitmap,
	})
}

// pageFields returns the fields of a page: of a table with a rowversion only the key and the
// rowversion, since the rows that differ are read afterwards.
func (s *sweep) pageFields() []int {
	r := s.capture.rows
	if r.table.Version {
		return append(slices.Clone(r.table.Key), r.table.Stamp)
	}
	return r.columns
}

// hasLostAll reports whether an empty table means the deletion of all rows, without the order of an
// administrator to publish them.
func (s *sweep) hasLostAll() bool {
	publishes := !s.gate.first && !s.gate.mute
	return publishes && !s.gate.all && s.capture.writer.count > 0
}

// confirmEmpty sweeps a table again that reads as empty. It stops the capture after the second
// time.
func (s *sweep) confirmEmpty() error {
	k := s.capture
	if s.emptied {
		return &stopped{
			reason: fmt.Sprintf("%s reads as empty, although it had %d rows", k.kind.Name, k.writer.count),
			manual: true,
		}
	}
	k.sweep = k.newSweep(gate{})
	k.sweep.emptied = true
	return nil
}

// compareStamps marks the rows of a page that have the stamps of the shadow. The others are read by
// the next reads.
func (s *sweep) compareStamps(list [][]row.Cell, keys [][]byte, entries []*Entry) {
	k := s.capture
	for i, e := range entries {
		if k.rows.hasStampOf(e, list[i]) {
			k.writer.mark(e.Number, &s.swept.Bitmap)
		} else {
			s.differing = append(s.differing, keys[i])
		}
	}
}

// readDiffering reads the rows with other stamps.
func (s *sweep) readDiffering(ctx context.Context) error {
	part := s.differing[:min(len(s.differing), MaxKeys)]
	list, keys, _, err := s.capture.lookUp(ctx, part)
	if err != nil {
		return err
	}
	s.differing = s.differing[len(part):]
	return s.capture.writer.apply(ctx, batch{
		rows:   list,
		keys:   keys,
		decide: s.decide,
		marked: &s.swept.Bitmap,
	})
}

// lookUpMissing looks up keys of the shadow that no page had. Without any, the sweep ends.
func (s *sweep) lookUpMissing(ctx context.Context) error {
	k := s.capture
	entries, err := k.config.Store.Unseen(ctx, k.kind.Name, &s.seen, s.missing, MaxKeys)
	if err != nil {
		return err
	}
	if len(entries) == 0 && len(s.created) > 0 {
		return s.create(ctx)
	}
	if len(entries) == 0 {
		return s.finish(ctx)
	}
	keys := make([][]byte, len(entries))
	for i, e := range entries {
		keys[i] = e.Key
	}
	result, err := k.lookUpVariants(ctx, keys)
	if err != nil {
		return err
	}
	s.missing = entries[len(entries)-1].Number
	err = k.writer.apply(ctx, batch{rows: result.rows, keys: result.keys, decide: s.decide})
	if err != nil {
		return err
	}
	gone := make([]*Entry, len(result.missing))
	for i, position := range result.missing {
		gone[i] = &entries[position]
	}
	if err := k.writer.remove(ctx, gone, s.decide); err != nil {
		return err
	}
	return s.repeatVariants(ctx, result)
}

// repeatVariants publishes rows again, without events, that have keys which the source takes for
// equal to removed ones: if a poll has published the new key before its deletion, a copy that ignores
// the same differences has lost the row. New keys that no poll has published are still postponed.
func (s *sweep) repeatVariants(ctx context.Context, result lookUpResult) error {
	k := s.capture
	if s.gate.first || s.gate.mute || len(result.variants) == 0 {
		return nil
	}
	entries, err := k.config.Store.Find(ctx, k.kind.Name, result.variantKeys)
	if err != nil {
		return err
	}
	var list [][]row.Cell
	var keys [][]byte
	for i, e := range entries {
		if e != nil {
			list = append(list, result.variants[i])
			keys = append(keys, result.variantKeys[i])
		}
	}
	return k.writer.apply(ctx, batch{rows: list, keys: keys, decide: s.decide, repeat: true})
}

// create publishes new rows, which have waited for the deletions: a key that was changed in letter
// case only is a deletion and then a creation, since a copy that ignores case would lose the
// row in the other order.
func (s *sweep) create(ctx context.Context) error {
	part := s.created[:min(len(s.created), MaxKeys)]
	list, keys, _, err := s.capture.lookUp(ctx, part)
	if err != nil {
		return err
	}
	s.created = s.created[len(part):]
	return s.capture.writer.apply(ctx, batch{rows: list, keys: keys, decide: publishAll})
}

// finish stores that the sweep is complete. After an alarm the next one starts.
func (s *sweep) finish(ctx context.Context) error {
	k := s.capture
	k.state.Content = ""
	if s.gate.hasAlarm() {
		k.config.Log.Warn("a sweep has found many differences and is repeated",
			"kind", k.kind.Name, "differences", s.gate.differences, "deletions", s.gate.deletions)
		k.sweep = k.newSweep(gate{confirm: &s.gate.suspects})
		return nil
	}
	if s.gate.first || len(k.state.Schemes) > 1 {
		if err := s.prove(ctx); err != nil {
			return err
		}
	}
	s.completeState()
	if err := k.config.Store.Save(ctx, k.kind.Name, k.fence, k.state); err != nil {
		return err
	}

	k.status.set(func(st *Status) { st.Phase = Capturing })
	k.failures.warned = ""
	k.endSweep(s.began)
	if s.gate.mute || s.gate.unpublished > 0 {
		k.due.sweep = time.Time{} // the next sweep publishes the differences that remain
	}
	if s.gate.first {
		k.common.followers.notify(k.kind.Name)
	}
	return nil
}

// completeState sets the state of the kind after the sweep.
func (s *sweep) completeState() {
	k := s.capture
	if s.gate.unpublished == 0 { // the shadow equals the table
		k.state.Content = s.content
		k.state.Schemes = map[int64]Scheme{k.rows.current.number: k.rows.scheme}
		s.keep()
	}
	k.state.Phase = Capturing
	k.state.Reason = ""
	k.state.Manual = false
	k.state.Needed = k.lastNeed()
	k.state.Began = s.began.UTC()
	k.state.Swept = time.Now().UTC()
	k.state.Rows = k.writer.count
}

// keep stores since when the values of all kept fields are known: the shadow has them for all
// rows.
func (s *sweep) keep() {
	k := s.capture
	kept := make(map[string]time.Time)
	for _, name := range k.rows.scheme.Kept {
		since, ok := k.state.KeptFrom[name]
		if !ok {
			since = time.Now().UTC()
		}
		kept[name] = since
	}
	k.state.KeptFrom = kept
}
