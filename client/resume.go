package client

import (
	"context"
	"io"
	"net/http"
	"slices"

	"github.com/bizhook/whd/client/backoff"
	"github.com/bizhook/whd/client/wire"
)

// The first page of a query with Resume has firstPage rows. The others have as many as
// pageBytes hold, from the size of those before: each page costs a statement, which without
// an index of the order reads the whole table.
const (
	firstPage  = 1000
	pageBytes  = 16 << 20
	maxRepeats = 5 // of a page, one after the other
)

// pages reads the rows of a query with Resume, as Rows.Text yields them. A page is kept
// until it is complete, so that it can be repeated.
type pages struct {
	ctx    context.Context
	client *Client
	open   func(context.Context, Query) (*Rows, error)
	query  Query // query of the next page; without a cursor after the last one
	csv    bool
	lines  []byte // text of the page
	unread []byte
}

// inPages opens a query, in pages if it has Resume. A service that refuses its cursor,
// does not know cursors, or is behind a proxy that removes them, returns all rows in
// one reply.
func (c *Client) inPages(
	ctx context.Context, q Query, open func(context.Context, Query) (*Rows, error),
) (*Rows, error) {
	if !q.isResumable() || c.options.DryRun != nil {
		return open(ctx, q)
	}

	p := &pages{ctx: ctx, client: c, open: open, query: q}
	p.query.cursor = new("")
	p.query.Take = new(int64(firstPage))
	p.query.Include = append([]string{"NoTotal"}, q.Include...)
	first, err := p.fetch()
	if err == nil && first.reply.Header.Get(wire.HeaderNextCursor) != "" {
		p.query.cursor = new("") // larger pages have it as a trailer, which proxies may remove
		first, err = p.fetch()
	}
	if statusOf(err) == http.StatusBadRequest {
		return open(ctx, q)
	}
	if err != nil {
		return nil, err
	}

	// A page without a cursor is the last one, unless it is full.
	isFull := first.count >= *p.query.Take || first.Notes().TakeClamped != ""
	hasNoCursor := p.query.cursor == nil && isFull
	if first.unverified || hasNoCursor {
		return open(ctx, q)
	}
	p.csv = first.csv
	rows := newRows(first.reply, p, first.csv)
	rows.paged = true
	return rows, nil
}

// isResumable reports whether Resume has an effect, as far as the client knows.
func (q Query) isResumable() bool {
	isPart := q.Take != nil || q.Skip != 0
	hasOrder := len(q.OrderBy) > 0 && q.GroupBy == ""
	return q.Resume && hasOrder && !isPart
}

func (p *pages) Read(b []byte) (int, error) {
	for len(p.unread) == 0 {
		if p.query.cursor == nil {
			return 0, io.EOF
		}
		if _, err := p.fetch(); err != nil {
			return 0, err
		}
	}
	n := copy(b, p.unread)
	p.unread = p.unread[n:]
	return n, nil
}

// fetch reads a page, and repeats it after errors of the connection. A connection that is
// always lost after some bytes can still carry smaller pages.
func (p *pages) fetch() (*Rows, error) {
	pauses := backoff.Backoff{Min: minReadPause, Max: maxReadPause}
	started := *p.query.cursor != ""
	for n := 0; ; n++ {
		rows, err := p.page()
		if err == nil {
			if n > 0 {
				p.query.Take = new(min(*p.query.Take, 2*rows.count))
			}
			return rows, nil
		}

		isUnavailable := Is(err, Unreachable) || statusOf(err) == http.StatusServiceUnavailable
		canRepeat := Is(err, Incomplete) || started && isUnavailable
		if n == maxRepeats || !canRepeat {
			return nil, err
		}
		if rows != nil && rows.count > 1 {
			p.query.Take = new(rows.count / 2)
		} else {
			p.query.Take = new(max(*p.query.Take/4, 1))
		}
		if err := p.client.pauseAfter(p.ctx, err, &pauses); err != nil {
			return nil, err
		}
	}
}

// page reads a page once. With an error it returns the rows that arrived, if any.
func (p *pages) page() (*Rows, error) {
	rows, err := p.open(p.ctx, p.query)
	if err != nil {
		return nil, err
	}
	p.lines = p.lines[:0]
	if *p.query.Take > firstPage {
		p.lines = slices.Grow(p.lines, pageBytes+pageBytes/4)
	}
	for lines, err := range rows.Text() {
		if err != nil {
			return rows, err
		}
		p.lines = append(p.lines, lines...)
		if len(p.lines) > 2*pageBytes && rows.count < *p.query.Take {
			rows.Close() // these rows are longer than those before
			p.query.Take = new(max(rows.count/3, 1))
			return p.page()
		}
	}
	if *p.query.cursor != "" && (rows.unverified || rows.csv != p.csv) {
		return rows, truncated(rows.reply, nil, "the reply differs from those before")
	}

	p.unread = p.lines
	p.query.cursor = nil
	next := endHeader(rows.reply, wire.HeaderNextCursor)
	if next != "" {
		p.query.cursor = &next
		p.query.Take = new(max(rows.count*pageBytes/int64(len(p.lines)+1), 1))
	}
	return rows, nil
}
