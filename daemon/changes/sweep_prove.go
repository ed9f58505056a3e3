package changes

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"
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
	last := make(map[string]*Entry)
	for _, e := range entries {
		keys = append(keys, e.Key)
		last[string(e.Key)] = &e
	}
	var fields []string // that differ in all rows and reads; nil if that is unknown
	for range 2 {
		if err := pause(ctx, nil, proofInterval); err != nil {
			return err
		}
		list, foundKeys, _, err := k.lookUp(ctx, keys)
		if err != nil || len(list) == 0 {
			return err
		}
		for i, cells := range list {
			key := string(foundKeys[i])
			e := k.rows.entry(foundKeys[i], cells)
			d := k.rows.compare(last[key], &e, cells)
			if fields == nil {
				fields = d.changed
			}
			isSteady := func(name string) bool { return !slices.Contains(d.changed, name) }
			fields = slices.DeleteFunc(fields, isSteady)
			if d.same || d.changed != nil && len(fields) == 0 {
				return nil
			}
			last[key] = &e
		}
	}
	return &stopped{reason: cmp.Or(strings.Join(fields, ", "), "a field") + " differs in every read; name it in ignore"}
}
