package changes

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/row"
)

// stopped is why a capture stops.
type stopped struct {
	reason string
	manual bool // until an administrator resumes it
}

func (s *stopped) Error() string { return s.reason }

// sourceError is a failure of the source: nothing is known about the rows, and earlier
// reads remain valid.
type sourceError struct{ error }

func (e sourceError) Unwrap() error { return e.error }

// pollable reports whether rows are found by their stamp.
func (k *capture) pollable() bool {
	if k.rows.stamp == nil || !k.rows.table.Pollable {
		return false
	}
	return k.rows.table.Version || k.rows.stamp.Type == record.DateTime
}

// read reads rows, and counts the time.
func (k *capture) read(ctx context.Context, r Read) (Page, error) {
	r.Kind = k.kind
	r.Key = k.rows.table.Key
	began := time.Now()
	page, err := k.config.Source.Read(ctx, r)
	took := time.Since(began)
	k.common.share.spend(took)
	k.state.Took += took.Milliseconds()
	if err != nil {
		return page, sourceError{err}
	}
	return page, nil
}

// verify reads which database it is, at most maxAge ago, and stops the capture if it is not
// the one that was captured.
func (k *capture) verify(ctx context.Context, maxAge time.Duration) (reading, error) {
	now, reason, err := k.common.database.read(ctx, k.config.Source, maxAge, k.state.Database)
	if err != nil {
		return reading{}, sourceError{err}
	}
	if reason != "" {
		return reading{}, &stopped{reason: reason, manual: true}
	}
	if now.continues(k.state.Database) == movedDatabase {
		k.config.Log.Info("the database has joined or left an availability group",
			"kind", k.kind.Name, "before", k.state.Database.Identity, "now", now.Identity)
	}
	k.state.Database = now.Database
	return now, nil
}

// keys returns the encodings of the keys of rows.
func (k *capture) keys(list [][]row.Cell) ([][]byte, error) {
	types := k.rows.types()
	values := make([]row.Cell, len(k.rows.key))
	keys := make([][]byte, 0, len(list))
	var buffer []byte // all keys share it
	for _, cells := range list {
		for i, c := range k.rows.key {
			values[i] = cells[c.index]
		}
		start := len(buffer)
		var err error
		buffer, err = appendKey(buffer, types, values)
		if err != nil {
			return nil, &stopped{reason: fmt.Sprintf("%v: %s", err, k.rows.describeKey(cells))}
		}
		keys = append(keys, buffer[start:len(buffer):len(buffer)])
	}
	return keys, nil
}

// describeKey returns the names and values of a row's key, such as "No = 1, Line = 2".
func (r *rows) describeKey(cells []row.Cell) string {
	var texts []string
	for _, c := range r.key {
		texts = append(texts, c.Name+" = "+cells[c.index].Text(c.Type))
	}
	return strings.Join(texts, ", ")
}

// lookUp reads the rows with the given keys, and returns those that exist with their keys,
// which are byte-equal to the given ones, and the positions of keys without a row.
func (k *capture) lookUp(
	ctx context.Context, keys [][]byte,
) (list [][]row.Cell, foundKeys [][]byte, missing []int, err error) {
	result, err := k.lookUpVariants(ctx, keys)
	return result.rows, result.keys, result.missing, err
}

// lookUpResult is the result of a look-up of keys.
type lookUpResult struct {
	rows        [][]row.Cell
	keys        [][]byte // keys of rows, byte-equal to keys that were looked up
	missing     []int    // the positions of the others
	variants    [][]row.Cell
	variantKeys [][]byte // which the source takes for equal to keys that were looked up
}

// lookUpVariants is lookUp, and also returns the rows with keys that the source takes for equal.
func (k *capture) lookUpVariants(ctx context.Context, keys [][]byte) (lookUpResult, error) {
	search := newKeySearch(keys)
	hasMore := true
	for hasMore && len(search.open) > 0 {
		values, err := search.openKeys()
		if err != nil {
			return lookUpResult{}, err
		}
		page, err := k.read(ctx, Read{Fields: k.rows.columns, Keys: values, Limit: MaxRows})
		if err != nil {
			return lookUpResult{}, err
		}
		pageKeys, err := k.keys(page.Rows)
		if err != nil {
			return lookUpResult{}, err
		}

		openBefore := len(search.open)
		for i, key := range pageKeys {
			search.add(key, page.Rows[i])
		}
		hasProgress := len(search.open) < openBefore
		hasMore = page.More && hasProgress // without progress, the same page would follow
	}
	search.result.missing = search.openPositions()
	return search.result, nil
}

// keySearch is a look-up of keys that takes several reads.
type keySearch struct {
	keys   [][]byte
	open   map[string]int  // the last positions of keys that were not found yet
	isRead map[string]bool // keys of the rows that were read
	result lookUpResult
}

func newKeySearch(keys [][]byte) *keySearch {
	s := &keySearch{
		keys:   keys,
		open:   make(map[string]int, len(keys)),
		isRead: make(map[string]bool),
	}
	for i, key := range keys {
		s.open[string(key)] = i
	}
	return s
}

// openPositions returns the positions of the keys that were not found, each key once.
func (s *keySearch) openPositions() []int {
	var positions []int
	for i, key := range s.keys {
		position, ok := s.open[string(key)]
		if ok && position == i {
			positions = append(positions, i)
		}
	}
	return positions
}

// openKeys returns the values of the keys that were not found, each key once.
func (s *keySearch) openKeys() ([][]row.Cell, error) {
	var values [][]row.Cell
	for _, position := range s.openPositions() {
		cells, err := readKey(s.keys[position])
		if err != nil {
			return nil, err
		}
		values = append(values, cells)
	}
	return values, nil
}

// add adds a row that was read, unless an earlier read had it.
func (s *keySearch) add(key []byte, cells []row.Cell) {
	if s.isRead[string(key)] {
		return
	}
	s.isRead[string(key)] = true
	cells = cloneRow(cells)
	if _, ok := s.open[string(key)]; !ok {
		s.result.variants = append(s.result.variants, cells)
		s.result.variantKeys = append(s.result.variantKeys, key)
		return
	}
	delete(s.open, string(key))
	s.result.rows = append(s.result.rows, cells)
	s.result.keys = append(s.result.keys, key)
}

func cloneRow(cells []row.Cell) []row.Cell {
	cloned := append([]row.Cell(nil), cells...)
	for i := range cloned {
		cloned[i].Data = bytes.Clone(cloned[i].Data)
	}
	return cloned
}

// recheck reads the rows again that copies have noted, and makes changes of all of them.
// Those that are equal to the shadow publish no event.
func (k *capture) recheck(ctx context.Context) error {
	notes, err := k.config.Store.Noted(ctx, k.kind.Name, MaxKeys)
	if err != nil || len(notes) == 0 {
		return err
	}
	var keys [][]byte
	noted := make(map[string]bool)
	for _, n := range notes {
		if len(n.Key) == 0 {
			k.common.needs.add(k.kind.Name, time.Now())
		} else if !noted[string(n.Key)] {
			noted[string(n.Key)] = true
			keys = append(keys, n.Key)
		}
	}
	if len(keys) > 0 {
		if err := k.repeat(ctx, keys); err != nil {
			return err
		}
	}
	k.due.notes = time.Time{} // there may be more
	return k.config.Store.Unnote(ctx, k.kind.Name, notes)
}

// repeat reads the rows with these keys, and makes changes of all of them.
func (k *capture) repeat(ctx context.Context, keys [][]byte) error {
	list, foundKeys, missing, err := k.lookUp(ctx, keys)
	if err != nil {
		return err
	}
	err = k.writer.apply(ctx, batch{rows: list, keys: foundKeys, decide: publishAll, repeat: true})
	if err != nil {
		return err
	}
	gone := make([][]byte, len(missing))
	for i, position := range missing {
		gone[i] = keys[position]
	}
	return k.repeatGone(ctx, gone)
}

// repeatGone makes changes of rows that do not exist, also of those that the shadow does
// not have.
func (k *capture) repeatGone(ctx context.Context, keys [][]byte) error {
	entries, err := k.config.Store.Find(ctx, k.kind.Name, keys)
	if err != nil {
		return err
	}
	for i, e := range entries {
		f := finding{op: Deleted, old: e, entry: Entry{Key: keys[i], Deleted: true}, quiet: e == nil}
		if e != nil {
			f.entry.Number = e.Number
		}
		if _, err := k.writer.add(ctx, f); err != nil {
			return err
		}
	}
	return k.writer.flush(ctx)
}
