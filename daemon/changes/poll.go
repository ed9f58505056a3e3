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
	capture *capture
	bound   []byte     // lowest active rowversion at the last poll; nil before it
	latest  []byte     // latest rowversion at the last poll
	round   *pollRound // nil between polls
}

// pollRound is a poll that is under way.
type pollRound struct {
	began    time.Time
	database reading // before the rows are read
	since    *Since  // position of the next page
	latest   []byte  // latest stamp of time that was read and is not in the future; nil if none was
}

// position determines where polls start, unless that is known.
func (p *poller) position(now Database) {
	k := p.capture
	if k.rows.stamp == nil || k.state.Stamp != nil {
		return
	}
	if k.rows.table.Version {
		k.state.Stamp = now.Active
	} else {
		k.state.Stamp = p.overlapped(now.Now)
	}
}

// overlapped returns the stamp of a time less the overlap.
func (p *poller) overlapped(t time.Time) []byte {
	overlap := p.capture.config.Settings().Overlap
	return []byte(t.Add(-overlap).Format(wire.DateLayout))
}

// interval returns the time between two polls.
func (p *poller) interval() time.Duration {
	if p.capture.rows.table.Version {
		return versionInterval
	}
	return pollInterval
}

// page reads one page of a poll.
func (p *poller) page(ctx context.Context) error {
	k := p.capture
	if p.round == nil {
		err := p.start(ctx)
		if err != nil || p.round == nil {
			return err
		}
	}
	page, err := k.read(ctx, Read{Fields: k.rows.columns, Since: p.round.since, Limit: MaxPoll})
	if err != nil {
		return err
	}
	keys, err := k.keys(page.Rows)
	if err != nil {
		return err
	}
	p.advance(page.Rows)

	list, keys := lastOf(page.Rows, keys)
	if err := p.removeVariants(ctx, keys); err != nil {
		return err
	}
	if err := k.writer.apply(ctx, batch{rows: list, keys: keys, decide: publishAll}); err != nil {
		return err
	}
	if !page.More {
		p.end()
	}
	return nil
}

// start starts a round, unless no row can have changed.
func (p *poller) start(ctx context.Context) error {
	k := p.capture
	began := time.Now()
	now, err := k.verify(ctx, p.interval()/2)
	if err != nil {
		return err
	}
	p.position(now.Database)
	if k.rows.table.Version && (now.Active == nil || bytes.Equal(now.Active, p.bound)) {
		k.due.poll = began.Add(p.interval())
		p.skip(now)
		return nil
	}
	p.round = &pollRound{
		began:    began,
		database: now,
		since:    &Since{From: stampCell(k.state.Stamp, k.rows.stamp.Type)},
	}
	return nil
}

// skip takes note of a reading of the database by which no rowversion above those that were read has
// been committed.
func (p *poller) skip(now reading) {
	if bytes.Equal(now.Latest, p.latest) {
		p.capture.looked(now.began)
		return
	}
	p.capture.status.set(func(s *Status) { s.Reason = "an open transaction holds back the rowversions" })
}

// advance has the next page continue after these rows.
func (p *poller) advance(list [][]row.Cell) {
	if len(list) == 0 {
		return
	}
	rows := p.capture.rows
	if !rows.table.Version {
		p.noteLatest(list)
	}
	last := cloneRow(list[len(list)-1])
	p.round.since = &Since{From: last[rows.stamp.index], Key: rows.keyOf(last)}
}

// noteLatest notes the latest stamp of time of these rows. Stamps in the future do not count: later
// changes have earlier ones.
func (p *poller) noteLatest(list [][]row.Cell) {
	stamp := p.capture.rows.stamp
	now := []byte(p.round.database.Now.Format(wire.DateLayout))
	for _, cells := range list {
		s := stampOf(cells[stamp.index], stamp.Type)
		if bytes.Compare(s, p.round.latest) > 0 && bytes.Compare(s, now) <= 0 {
			p.round.latest = s
		}
	}
}

// end ends the round, and determines where the next one starts: never before this one.
func (p *poller) end() {
	k := p.capture
	next := p.nextStamp()
	if bytes.Compare(next, k.state.Stamp) > 0 {
		k.state.Stamp = next
	}
	if k.rows.table.Version {
		p.bound = p.round.database.Active
		p.latest = p.round.database.Latest
	}
	k.due.poll = p.round.began.Add(p.interval())
	k.looked(p.round.database.began)
	p.round = nil
}

// nextStamp returns the stamp from which on rows can still change after the round; nil if that is
// not known.
//
// No row below the bound of a round can appear after it. The next round starts a bound earlier
// all the same, and so reads each row twice: a margin for reads that do not see all that was
// committed when the bound was read. The shadow recognizes the repeated rows.
//
// Stamps of time are given before the commit, by clocks that may differ: the overlap covers both.
func (p *poller) nextStamp() []byte {
	if p.capture.rows.table.Version {
		return p.bound
	}
	latest, err := time.Parse(wire.DateLayout, string(p.round.latest))
	if err != nil {
		return nil // no row was read, or only future stamps
	}
	return p.overlapped(latest)
}

// textVariants are the forms of a text that copies may take for equal to it.
var textVariants = []func(text []byte) []byte{bytes.ToLower, bytes.ToUpper, withoutBlanks}

// removeVariants publishes the deletions of keys that are new ones in lower case, in upper case or
// without blanks at the end: a copy that ignores these would lose the row if its deletion
// followed at the end of the next sweep.
func (p *poller) removeVariants(ctx context.Context, keys [][]byte) error {
	if !p.capture.rows.hasTextKey() {
		return nil
	}
	variants, err := p.variantsOf(ctx, keys)
	if err != nil || len(variants) == 0 {
		return err
	}
	known, err := p.findKnown(ctx, variants)
	if err != nil {
		return err
	}
	for part := range slices.Chunk(known, MaxKeys) {
		if err := p.removeGone(ctx, part); err != nil {
			return err
		}
	}
	return nil
}

// variantsOf returns the variants of the keys that the shadow does not have.
func (p *poller) variantsOf(ctx context.Context, keys [][]byte) ([][]byte, error) {
	k := p.capture
	entries, err := k.config.Store.Find(ctx, k.kind.Name, keys)
	if err != nil {
		return nil, err
	}
	var variants [][]byte
	for i, key := range keys {
		if entries[i] != nil {
			continue
		}
		for _, change := range textVariants {
			variant, err := p.variant(key, change)
			if err != nil {
				return nil, err
			}
			if !bytes.Equal(variant, key) {
				variants = append(variants, variant)
			}
		}
	}
	return variants, nil
}

// findKnown returns the entries of the keys that the shadow has.
func (p *poller) findKnown(ctx context.Context, keys [][]byte) ([]*Entry, error) {
	k := p.capture
	entries, err := k.config.Store.Find(ctx, k.kind.Name, keys)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(entries, func(e *Entry) bool { return e == nil }), nil
}

// removeGone publishes the deletions of entries, at most MaxKeys, that have no row any more.
func (p *poller) removeGone(ctx context.Context, entries []*Entry) error {
	keys := make([][]byte, len(entries))
	for i, e := range entries {
		keys[i] = e.Key
	}
	result, err := p.capture.lookUpVariants(ctx, keys)
	if err != nil {
		return err
	}
	gone := make([]*Entry, len(result.missing))
	for i, position := range result.missing {
		gone[i] = entries[position]
	}
	return p.capture.writer.remove(ctx, gone, publishAll)
}

// withoutBlanks returns a text without the blanks at its end.
func withoutBlanks(text []byte) []byte { return bytes.TrimRight(text, " ") }

// variant returns a key with its texts changed, in letter case or in blanks.
func (p *poller) variant(key []byte, change func(text []byte) []byte) ([]byte, error) {
	cells, err := readKey(key)
	if err != nil {
		return nil, err
	}
	types := p.capture.rows.types()
	for i, t := range types {
		if formOf(t) == texts {
			cells[i].Data = change(cells[i].Data)
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
