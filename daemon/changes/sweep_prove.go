package changes

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/bizhook/whd/daemon/row"
)

// After the first look at fields, this number of rows is read again in this interval.
const (
	proofRows     = 10
	proofInterval = 100 * time.Millisecond
)

// prove stops the capture if the same fields of all of some rows differ in each of three
// reads, as the time of reading does in a view: every sweep would change all rows.
func (s *sweep) prove(ctx context.Context) error {
	k := s.capture
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
	fields := cmp.Or(strings.Join(p.fields, ", "), "a field")
	return &stopped{reason: fields + " differs in every read; name it in ignore"}
}

// proof compares repeated reads of the same rows.
type proof struct {
	rows   *rows
	last   map[string]*Entry // the last reads, by key
	fields []string          // fields that differ in all rows and reads; nil if unknown
}

// isSteady compares a row with its last read. It reports whether the row is the same, or differs in
// none of the fields that all others differ in.
func (p *proof) isSteady(key []byte, cells []row.Cell) bool {
	entry := p.rows.entry(key, cells)
	difference := p.rows.compare(p.last[string(key)], &entry, cells)
	p.last[string(key)] = &entry
	if p.fields == nil {
		p.fields = difference.changed
	}
	p.fields = slices.DeleteFunc(p.fields, func(name string) bool {
		return !slices.Contains(difference.changed, name)
	})
	isKnown := difference.changed != nil
	hasCommonFields := len(p.fields) > 0
	return difference.same || (isKnown && !hasCommonFields)
}
