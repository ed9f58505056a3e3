package changes

import (
	"bytes"
	"context"
	"slices"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/row"
)

// poller reads the rows with the latest stamps.
type poller struct {
	*capture
	bound  []byte // lowest active rowversion at the last poll
	latest []byte // and the latest one

	// The poll that is under way.
	since *Since // nil between polls
	began time.Time
	now   reading
	last  []byte // latest stamp that is not in the future
}

// position determines where polls start, unless that is known.
func (p *poller) position(now Database) {
	if p.rows.stamp == nil || p.state.Stamp != nil {
		return
	}
	if p.rows.table.Version {
		p.state.Stamp = now.Active
	} else {
		p.state.Stamp = p.overlapped(now.Now)
	}
}

// overlapped returns the stamp of a time less the overlap.
func (p *poller) overlapped(t time.Time) []byte {
	return []byte(t.Add(-p.config.Settings().Overlap).Format(wire.DateLayout))
}

// page reads one page of a poll.
func (p *poller) page(ctx context.Context) error {
	if p.since == nil {
		if due, err := p.start(ctx); err != nil || !due {
			return err
		}
	}
	page, err := p.read(ctx, Read{Fields: p.rows.columns, Since: p.since, Limit: MaxPoll})
	if err != nil {
		return err
	}
	keys, err := p.keys(page.Rows)
	if err != nil {
		return err
	}
	stamp := p.rows.stamp
	for _, cells := range page.Rows {
		if s := stampOf(cells[stamp.at], stamp.Type); bytes.Compare(s, p.last) > 0 && string(s) <= p.now.Now.Format(wire.DateLayout) {
			p.last = s
		}
	}
	if n := len(page.Rows); n > 0 {
		last := cloneRow(page.Rows[n-1])
		p.since = &Since{From: last[stamp.at], Key: p.rows.keyOf(last)}
	}
	list, keys := lastOf(page.Rows, keys)
	if err := p.removeVariants(ctx, keys); err != nil {
		return err
	}
	if err := p.writer.apply(ctx, batch{rows: list, keys: keys, decide: raiseAll}); err != nil {
		return err
	}
	if !page.More {
		p.end()
	}
	return nil
}

func (p *poller) interval() time.Duration {
	if p.rows.table.Version {
		return versionInterval
	}
	return pollInterval
}

// start starts a poll. due is false if no row can have changed.
func (p *poller) start(ctx context.Context) (due bool, err error) {
	began := time.Now()
	now, err := p.verify(ctx, p.interval()/2)
	if err != nil {
		return false, err
	}
	p.position(now.Database)
	if p.rows.table.Version && (now.Active == nil || bytes.Equal(now.Active, p.bound)) {
		p.due.poll = began.Add(p.interval())
		if bytes.Equal(now.Latest, p.latest) {
			p.looked(now.began)
		} else {
			p.status.set(func(s *Status) { s.Reason = "an open transaction holds back the rowversions" })
		}
		return false, nil
	}
	p.began, p.now, p.last = began, now, nil
	p.since = &Since{From: stampCell(p.state.Stamp, p.rows.stamp.Type)}
	return true, nil
}

// end determines where the next poll starts.
func (p *poller) end() {
	next := p.bound
	if p.rows.table.Version {
		p.bound, p.latest = p.now.Active, p.now.Latest
	} else {
		next = p.overlapped(p.now.Now)
		if seen, err := time.Parse(wire.DateLayout, string(p.last)); err == nil {
			next = slices.MinFunc([][]byte{next, p.overlapped(seen)}, bytes.Compare)
		} else {
			next = nil // nothing was seen
		}
	}
	if bytes.Compare(next, p.state.Stamp) > 0 {
		p.state.Stamp = next
	}
	p.due.poll = p.began.Add(p.interval())
	p.since = nil
	p.looked(p.now.began)
}

// removeVariants raises the deletions of keys that are new ones in lower case, in upper case or
// without blanks at the end: a copy that ignores these would lose the row if its deletion
// followed at the end of the next sweep.
func (p *poller) removeVariants(ctx context.Context, keys [][]byte) error {
	if !p.rows.hasTextKey() {
		return nil
	}
	entries, err := p.config.Store.Find(ctx, p.kind.Name, keys)
	if err != nil {
		return err
	}
	var variants [][]byte
	for i, key := range keys {
		if entries[i] != nil {
			continue
		}
		for _, fold := range []func([]byte) []byte{bytes.ToLower, bytes.ToUpper, withoutBlanks} {
			variant, err := p.variant(key, fold)
			if err != nil {
				return err
			}
			if !bytes.Equal(variant, key) {
				variants = append(variants, variant)
			}
		}
	}
	if variants == nil {
		return nil
	}
	if entries, err = p.config.Store.Find(ctx, p.kind.Name, variants); err != nil {
		return err
	}
	var known []*Entry
	var old [][]byte
	for _, e := range entries {
		if e != nil {
			known, old = append(known, e), append(old, e.Key)
		}
	}
	for part := range slices.Chunk(old, MaxKeys) {
		_, _, missing, err := p.lookUp(ctx, part)
		if err != nil {
			return err
		}
		gone := make([]*Entry, len(missing))
		for i, position := range missing {
			gone[i] = known[position]
		}
		if err := p.writer.remove(ctx, gone, raiseAll); err != nil {
			return err
		}
		known = known[len(part):]
	}
	return nil
}

func withoutBlanks(text []byte) []byte { return bytes.TrimRight(text, " ") }

// variant returns a key with its texts in another letter case.
func (p *poller) variant(key []byte, fold func([]byte) []byte) ([]byte, error) {
	cells, err := readKey(key)
	if err != nil {
		return nil, err
	}
	types := p.rows.types()
	for i, t := range types {
		if formOf(t) == texts {
			cells[i].Data = fold(cells[i].Data)
		}
	}
	return appendKey(nil, types, cells)
}

// lastOf leaves out the rows with a key that occurs again: they changed while they were
// read.
func lastOf(list [][]row.Cell, keys [][]byte) ([][]row.Cell, [][]byte) {
	last := make(map[string]int, len(keys))
	for i, key := range keys {
		last[string(key)] = i
	}
	n := 0
	for i, key := range keys {
		if last[string(key)] == i {
			list[n], keys[n] = list[i], key
			n++
		}
	}
	return list[:n], keys[:n]
}
