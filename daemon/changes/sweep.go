package changes

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/bizhook/whd/daemon/row"
)

// From these numbers of differences on, a sweep raises nothing more and is repeated.
const (
	alarmDifferences = 1000
	alarmDeletions   = 100
)

// sweep is a look at all rows: first page by page, then at the keys of the rows of the
// shadow that no page had.
type sweep struct {
	capture   *capture
	started   bool
	began     time.Time
	content   string     // see Table.Content
	after     []row.Cell // key of the last row; nil on the first page
	paged     bool       // all pages are read
	created   [][]byte   // keys of new rows, which are raised after the deletions
	differing [][]byte   // keys of rows of the page with other stamps
	missing   int64      // number of the last entry that was looked up
	seen      Bitmap     // numbers of the rows that were found, also by polls
	swept     sweptRows  // those of the pages

	all     bool      // all differences are raised, by order of an administrator
	first   bool      // the kind's first sweep, which only fills the shadow
	mute    bool      // raises nothing: the kind has stopped, and its cause may be gone
	emptied bool      // the sweep before found no rows
	confirm *suspects // only these are raised

	differences int
	deletions   int
	left        int      // differences that were not raised
	suspects    suspects // those after the alarm
}

// suspects are differences that are raised only if the next sweep finds them too.
type suspects struct {
	numbers Bitmap   // numbers of rows in the shadow
	created []uint64 // from the hashes of the others, see newKey
	sorted  bool
}

// newKey returns 64 bits of the hash of a new row's key.
func (s *sweep) newKey(key []byte) uint64 {
	return siphash([2]uint64{uint64(s.capture.fence)}, key)[0]
}

func (s *sweep) suspect(e *Entry) {
	if e.Number > 0 {
		s.suspects.numbers.Set(e.Number)
	} else {
		s.suspects.created = append(s.suspects.created, s.newKey(e.Key))
	}
}

func (s *sweep) suspected(e *Entry) bool {
	c := s.confirm
	if e.Number > 0 {
		return c.numbers.Has(e.Number)
	}
	if !c.sorted {
		slices.Sort(c.created)
		c.sorted = true
	}
	_, ok := slices.BinarySearch(c.created, s.newKey(e.Key))
	return ok
}

// decide decides about a difference that the sweep has found.
func (s *sweep) decide(op Op, e *Entry) decision {
	action := s.judge(op, e)
	mayRepeatKey := op == Created && s.capture.rows.hasTextKey()
	if action == raise && mayRepeatKey && len(s.created) < maxPostponed {
		return postpone
	}
	return action
}

// maxPostponed limits the memory of the new rows that are raised after the deletions.
const maxPostponed = 50_000

// judge is decide without regard to the order of differences.
func (s *sweep) judge(op Op, e *Entry) decision {
	switch {
	case s.first:
		return fill
	case s.all && !s.mute, s.confirm != nil && s.suspected(e):
		return raise
	case s.mute, s.confirm != nil:
		s.left++
		return leave
	}
	s.differences++
	if op == Deleted {
		s.deletions++
	}
	if s.differences < alarmDifferences && s.deletions < alarmDeletions {
		return raise
	}
	s.left++
	s.suspect(e)
	return leave
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
	if isUnchanged && k.state.Phase == Capturing && !s.isOrdered() {
		k.endSweep(began)
		return nil
	}

	k.poller.position(now.Database)
	k.state.Took = 0
	s.started = true
	s.began = began
	s.content = table.Content
	s.first = k.state.Swept.IsZero()
	s.mute = k.state.Phase == Stopped
	return nil
}

// isOrdered reports whether the sweep has to read the rows even if they cannot have changed: it
// follows the order of an administrator, or an alarm.
func (s *sweep) isOrdered() bool { return s.all || s.confirm != nil }

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
	if !s.started {
		return s.start(ctx)
	}
	if len(s.differing) > 0 {
		return s.fetch(ctx)
	}
	if !s.paged {
		return s.page(ctx)
	}
	return s.lookUpMissing(ctx)
}

// page reads a page. Of a table with a rowversion it reads keys and rowversions, and
// then the rows that differ.
func (s *sweep) page(ctx context.Context) error {
	k := s.capture
	r := k.rows
	fields := r.columns
	if r.table.Version {
		fields = append(slices.Clone(r.table.Key), r.table.Stamp)
	}
	page, err := k.read(ctx, Read{Fields: fields, After: s.after, Limit: MaxRows})
	if err != nil {
		return err
	}
	isEmpty := len(page.Rows) == 0 && s.after == nil
	raises := !s.first && !s.mute
	lostAll := isEmpty && k.writer.count > 0
	if lostAll && raises && !s.all {
		if s.emptied {
			return &stopped{
				reason: fmt.Sprintf("%s reads as empty, although it had %d rows", k.kind.Name, k.writer.count),
				manual: true,
			}
		}
		k.sweep = &sweep{capture: k, emptied: true}
		return nil
	}
	list := page.Rows
	if r.table.Version {
		list = r.widen(list)
	}
	keys, err := k.keys(list)
	if err != nil {
		return err
	}
	entries, err := k.config.Store.Find(ctx, k.kind.Name, keys)
	if err != nil {
		return err
	}
	if err := s.unique(ctx, list, keys, entries); err != nil {
		return err
	}
	if n := len(list); n > 0 {
		s.after = cloneRow(r.keyOf(list[n-1]))
	}
	s.paged = !page.More
	k.status.set(func(st *Status) { st.Swept += int64(len(list)) })
	if !r.table.Version {
		return k.writer.apply(ctx, batch{
			rows:    list,
			keys:    keys,
			entries: entries,
			decide:  s.decide,
			marked:  &s.swept.Bitmap,
		})
	}
	for i, e := range entries {
		if r.hasStampOf(e, list[i]) {
			k.writer.mark(e.Number, &s.swept.Bitmap)
		} else {
			s.differing = append(s.differing, keys[i])
		}
	}
	return nil
}

// fetch reads the rows with other stamps.
func (s *sweep) fetch(ctx context.Context) error {
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

// unique stops the capture if the page, or the pages before it, have another row with the
// same key, or with one that has the same text.
func (s *sweep) unique(ctx context.Context, list [][]row.Cell, keys [][]byte, entries []*Entry) error {
	added := make(map[string]bool)
	for i, key := range keys {
		cells := s.capture.rows.keyOf(list[i])
		isRepeated := added[string(key)]
		if e := entries[i]; e == nil {
			added[string(key)] = true
		} else if s.swept.Has(e.Number) {
			isRepeated = true
		} else {
			s.swept.Set(e.Number)
		}
		if isRepeated {
			return &stopped{reason: "two rows have the key " + KeyText(s.capture.rows.types(), cells)}
		}
	}
	return s.uniqueTexts(ctx, list, added)
}

// uniqueTexts stops the capture if two keys have the same object in JSON. added are the keys of
// the page that the shadow does not have.
func (s *sweep) uniqueTexts(ctx context.Context, list [][]row.Cell, added map[string]bool) error {
	k := s.capture
	texts := keyTexts(k.rows.key)
	var alike []alikeKey
	for _, cells := range list {
		isLossy := texts.loses(cells)
		if !isLossy && s.swept.forms.isOnly(k.rows.key, cells) {
			continue
		}
		key := k.rows.keyOf(cells)
		object := texts.object(key)
		if isLossy {
			stored := texts.stored(key)
			first, isRepeated := s.swept.forms.addLossy(string(object), stored)
			if isRepeated {
				return s.sameText(key, first, stored)
			}
		}
		for _, form := range s.swept.forms.add(formOfKey(key)) {
			other, ok := texts.inForm(key, form)
			if !ok || !bytes.Equal(texts.object(other), object) {
				continue
			}
			encoded, err := appendKey(nil, k.rows.types(), other)
			if err != nil {
				return err
			}
			if added[string(encoded)] {
				return s.sameText(key, texts.stored(other), texts.stored(key))
			}
			alike = append(alike, alikeKey{
				key:      cloneRow(key),
				first:    texts.stored(other),
				encoding: encoded,
			})
		}
	}
	return s.lookUpAlike(ctx, alike)
}

// lookUpAlike stops the capture if this sweep has found the rows of the other keys.
func (s *sweep) lookUpAlike(ctx context.Context, alike []alikeKey) error {
	k := s.capture
	for part := range slices.Chunk(alike, MaxKeys) {
		keys := make([][]byte, len(part))
		for i, a := range part {
			keys[i] = a.encoding
		}
		entries, err := k.config.Store.Find(ctx, k.kind.Name, keys)
		if err != nil {
			return err
		}
		for i, e := range entries {
			if e != nil && s.swept.Has(e.Number) {
				return s.sameText(part[i].key, part[i].first, keyTexts(k.rows.key).stored(part[i].key))
			}
		}
	}
	return nil
}

// sameText returns the reason for a stop that names a key, and how two rows hold it.
func (s *sweep) sameText(key []row.Cell, first, second string) error {
	text := KeyText(s.capture.rows.types(), key)
	return &stopped{reason: fmt.Sprintf(
		"two rows of %s have the key %s in JSON: in one %s, in the other %s; correct one of them",
		s.capture.kind.Name, text, first, second)}
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

// repeatVariants raises rows again, without events, that have keys which the source takes for
// equal to removed ones: if a poll has raised the new key before its deletion, a copy that ignores
// the same differences has lost the row. New keys that no poll has raised are still postponed.
func (s *sweep) repeatVariants(ctx context.Context, result lookUpResult) error {
	k := s.capture
	if s.first || s.mute || len(result.variants) == 0 {
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

// create raises new rows, which have waited for the deletions: a key that was changed in letter
// case only is a deletion and then a creation, since a copy that ignores case would lose the
// row in the other order.
func (s *sweep) create(ctx context.Context) error {
	part := s.created[:min(len(s.created), MaxKeys)]
	list, keys, _, err := s.capture.lookUp(ctx, part)
	if err != nil {
		return err
	}
	s.created = s.created[len(part):]
	return s.capture.writer.apply(ctx, batch{rows: list, keys: keys, decide: raiseAll})
}

// finish stores that the sweep is complete. After an alarm the next one starts.
func (s *sweep) finish(ctx context.Context) error {
	k := s.capture
	k.state.Content = ""
	if s.confirm == nil && s.left > 0 && !s.mute {
		k.config.Log.Warn("a sweep has found many differences and is repeated",
			"kind", k.kind.Name, "differences", s.differences, "deletions", s.deletions)
		k.sweep = &sweep{capture: k, confirm: &s.suspects}
		return nil
	}
	if s.first || len(k.state.Schemes) > 1 {
		if err := s.prove(ctx); err != nil {
			return err
		}
	}
	if s.left == 0 {
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
	if err := k.config.Store.Save(ctx, k.kind.Name, k.fence, k.state); err != nil {
		return err
	}
	k.status.set(func(st *Status) { st.Phase = Capturing })
	k.failures.warned = ""
	k.endSweep(s.began)
	if s.mute || s.left > 0 {
		k.due.sweep = time.Time{} // for the differences that it has left
	}
	if s.first {
		k.common.followers.notify(k.kind.Name)
	}
	return nil
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
