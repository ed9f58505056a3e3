package changes

import (
	"context"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/row"
	"github.com/bizhook/whd/daemon/wake"
)

// Copy compares the rows that are given out for a copy, which are all rows of a kind, with
// the shadow. Rows that differ are read again. So are rows of the shadow that were not passed on:
// they may have been missing only for a moment.
type Copy struct {
	feed  Feed
	kind  *record.Kind
	rows  *rows
	page  [][]byte        // keys of the rows that were not compared yet
	made  []Entry         // entries of these rows
	seen  Bitmap          // numbers of the rows that the shadow has
	notes map[string]bool // keys to be read again
}

// Fields returns the indexes of the fields of a kind's key, and of the captured ones.
func (f Feed) Fields(ctx context.Context, kind *record.Kind) (key, captured []int, err error) {
	r, err := f.rows(ctx, kind, new(State))
	if err != nil {
		return nil, nil, err
	}
	for _, column := range r.record {
		captured = append(captured, column.index)
	}
	return r.table.Key, captured, nil
}

// rows prepares rows with all fields of a kind.
func (f Feed) rows(ctx context.Context, kind *record.Kind, state *State) (*rows, error) {
	table, err := f.config.Source.Table(ctx, kind)
	if err != nil {
		return nil, err
	}
	if len(table.Key) == 0 {
		return nil, fault.New(fault.Unavailable, "no key of %s is proven", kind.Name)
	}
	if err := state.checkSchemes(kind.Name); err != nil {
		return nil, fault.New(fault.Unavailable, "%v", err)
	}
	allFields := make([]int, len(kind.Fields))
	for i := range allFields {
		allFields[i] = i
	}
	return newRows(kind, table, allFields, f.config.Secret, state), nil
}

// Copy starts a copy that is continued with the changes since a token. It fails with a fault
// of kind Stopped while the capture has stopped: rows that differ could not be read again.
func (f Feed) Copy(ctx context.Context, kind *record.Kind, token string) (*Copy, error) {
	p, err := parsePosition(token)
	if err != nil {
		return nil, err
	}
	h, err := f.ready(ctx, kind)
	if err != nil {
		return nil, err
	}
	if err := h.check(p); err != nil {
		return nil, err
	}
	if h.State.Phase == Stopped {
		return nil, h.halted()
	}
	rows, err := f.rows(ctx, kind, &h.State)
	if err != nil {
		return nil, err
	}
	return &Copy{feed: f, kind: kind, rows: rows, notes: make(map[string]bool)}, nil
}

// Row compares a row, with all fields of the kind in their order.
func (c *Copy) Row(ctx context.Context, cells []row.Cell) error {
	key, err := appendKey(nil, c.rows.types(), c.rows.keyOf(cells))
	if err != nil {
		return fault.New(fault.Unavailable, "%v", err)
	}
	c.page = append(c.page, key)
	c.made = append(c.made, c.rows.entry(key, cells))
	if len(c.page) < MaxRows {
		return nil
	}
	return c.compare(ctx)
}

// compare compares the rows of the page, and stores the keys of those that differ.
func (c *Copy) compare(ctx context.Context) error {
	entries, err := c.feed.config.Store.Find(ctx, c.kind.Name, c.page)
	if err != nil {
		return err
	}
	var differing [][]byte
	for i, e := range entries {
		if e != nil {
			c.seen.Set(e.Number)
		}
		if e == nil || e.Scheme != c.made[i].Scheme || e.Hash != c.made[i].Hash {
			differing = append(differing, c.page[i])
		}
	}
	c.page = c.page[:0]
	c.made = c.made[:0]
	return c.note(ctx, differing)
}

// note has rows read again.
func (c *Copy) note(ctx context.Context, keys [][]byte) error {
	if len(keys) == 0 {
		return nil
	}
	for _, key := range keys {
		c.notes[string(key)] = true
	}
	if err := c.feed.config.Store.Note(ctx, c.kind.Name, keys); err != nil {
		return err
	}
	if k := c.feed.running(c.kind.Name); k != nil {
		wake.Signal(k.wake)
	}
	return nil
}

// End waits until the rows that differed have been read again, and returns the token of the
// changes with which the rows become an exact copy.
func (c *Copy) End(ctx context.Context) (token string, err error) {
	if err := c.compare(ctx); err != nil {
		return "", err
	}
	if err := c.noteUnseen(ctx); err != nil {
		return "", err
	}
	for {
		published := c.feed.changed(c.kind.Name)
		open, err := c.open(ctx)
		if err != nil {
			return "", err
		}
		if !open {
			break
		}
		if err := pause(ctx, published, pollFeed); err != nil {
			return "", err
		}
	}
	return c.feed.Now(ctx, c.kind)
}

// noteUnseen has the rows of the shadow read again that were not given out.
func (c *Copy) noteUnseen(ctx context.Context) error {
	after := int64(0)
	for {
		unseen, err := c.feed.config.Store.Unseen(ctx, c.kind.Name, &c.seen, after, MaxRows)
		if err != nil || len(unseen) == 0 {
			return err
		}
		keys := make([][]byte, len(unseen))
		for i, e := range unseen {
			keys[i] = e.Key
		}
		if err := c.note(ctx, keys); err != nil {
			return err
		}
		after = unseen[len(unseen)-1].Number
	}
}

// open reports whether a row is still to be read again.
func (c *Copy) open(ctx context.Context) (bool, error) {
	if len(c.notes) == 0 {
		return false, nil
	}
	h, err := c.feed.history(ctx, c.kind.Name)
	if err == nil && h.State.Phase == Stopped {
		err = h.halted()
	}
	if err != nil {
		return false, err
	}
	notes, err := c.feed.config.Store.Noted(ctx, c.kind.Name, MaxRows)
	if err != nil {
		return false, err
	}
	for _, n := range notes {
		if c.notes[string(n.Key)] {
			return true, nil
		}
	}
	return len(notes) == MaxRows, nil
}
