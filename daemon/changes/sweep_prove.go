package changes

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/bizhook/whd/daemon/row"
)

// After the first look at fields, this number of rows is read again at this interval.
const (
	proofRows     = 10
	proofInterval = 100 * time.Millisecond
)

// prove stops the capture if the same fields of the first rows differ in each of three
// reads, as the time of reading does in a view: every sweep would change all rows. Those of a table
// that stores all values differ only if they are changed.
func (s *sweep) prove(ctx context.Context) error {
	k := s.capture
	if k.rows.table.Stored {
		return nil
	}
	entries, err := k.config.Store.Unseen(ctx, k.kind.Name, new(Bitmap), 0, proofRows)
	if err != nil || len(entries) == 0 {
		return err
	}
	var keys [][]byte
	p := proof{rows: k.rows, last: make(map[string]*Entry)}
	for _, e := range entries {
		keys = append(keys, e.Key)
		p.last[string(e.Key)] = &e
	}
	for range 2 {
		if err := pause(ctx, nil, proofInterval); err != nil {
			return err
		}
		list, foundKeys, _, err := k.lookUp(ctx, keys)
		if err != nil || len(list) == 0 {
			return err
		}
		for i, cells := range list {
			if p.isSteady(foundKeys[i], cells) {
				return nil
			}
		}
	}
	return &stopped{reason: p.reason()}
}

// proof compares repeated reads of the same rows.
type proof struct {
	rows *rows
	last map[string]*Entry // the last reads, by key

	hasFields bool     // fields is known
	fields    []string // fields that differ in all rows and reads so far
}

// reason returns why the capture stops if no row was steady.
func (p *proof) reason() string {
	switch len(p.fields) {
	case 0:
		return "a field differs in every read; name it in ignore"
	case 1:
		return p.fields[0] + " differs in every read; name it in ignore"
	}
	return strings.Join(p.fields, ", ") + " differ in every read; name them in ignore"
}

// isSteady compares a row with its last read. It reports whether the row is the same, or differs in
// none of the fields that all others differ in.
func (p *proof) isSteady(key []byte, cells []row.Cell) bool {
	entry := p.rows.entry(key, cells)
	difference := p.rows.compare(p.last[string(key)], &entry, cells)
	p.last[string(key)] = &entry
	if difference.same {
		return true
	}
	if difference.changed == nil { // it is unknown which fields differ
		return false
	}
	if !p.hasFields {
		p.hasFields = true
		p.fields = slices.Clone(difference.changed)
	}
	p.fields = slices.DeleteFunc(p.fields, func(name string) bool {
		return !slices.Contains(difference.changed, name)
	})
	return len(p.fields) == 0
}
