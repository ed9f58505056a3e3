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
	query  Query  // query of the next page; without a cursor after the last one
	csv    bool   // the first page is CSV
	lines  []byte // text of the page
	unread []byte // the part of lines that was not read yet
}

// inPages opens a query, in pages if it has Resume. If the service refuses its cursor, does
// not know cursors, or is behind a proxy that removes them, it opens the query in one reply.
func (c *Client) inPages(
	ctx context.Context, q Query, open func(context.Context, Query) (*Rows, error),
) (*Rows, error) {
	if !q.isResumable() || c.options.DryRun != nil {
		return open(ctx, q)
	}

	p := &pages{ctx: ctx, client: c, open: open, query: q}
	p.query.Include = append([]string{"NoTotal"}, q.Include...)
	first, err := p.fetchFirst()
	if statusOf(err) == http.StatusBadRequest {
		return open(ctx, q)
	}
	if err != nil {
		return nil, err
	}

	// A page without a cursor is the last one, unless it is full.
	isFull := first.count >= *p.query.Take || first.Notes().TakeClamped != ""
	lacksCursor := p.query.cursor == nil && isFull
	if first.unverified || lacksCursor {
		return open(ctx, q)
	}
	p.csv = first.csv
	rows := newRows(first.reply, p, first.csv)
	rows.paged = true
	return rows, nil
}

// fetchFirst reads the first page. If it has a cursor, which only a small page has as a header, a
// larger one is read in its place: that has the cursor as a trailer, which proxies may remove.
func (p *pages) fetchFirst() (*Rows, error) {
	p.query.cursor = new("")
	p.query.Take = new(int64(firstPage))
	first, err := p.fetch()
	if err != nil || first.reply.Header.Get(wire.HeaderNextCursor) == "" {
		return first, err
	}
	p.query.cursor = new("")
	return p.fetch()
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
	isFirst := *p.query.cursor == ""
	for repeats := 0; ; repeats++ {
		rows, err := p.page()
		if err == nil {
			if repeats > 0 { // the pages grow slowly again
				p.setTake(min(*p.query.Take, 2*rows.count))
			}
			return rows, nil
		}

		isUnavailable := Is(err, Unreachable) || statusOf(err) == http.StatusServiceUnavailable
		mayBeBack := isUnavailable && !isFirst // Options.Retries decides about the first page
		canRepeat := Is(err, Incomplete) || mayBeBack
		if repeats == maxRepeats || !canRepeat {
			return nil, err
		}
		if rows != nil && rows.count > 1 {
			p.setTake(rows.count / 2)
		} else {
			p.setTake(*p.query.Take / 4)
		}
		if err := p.client.pauseAfter(p.ctx, err, &pauses); err != nil {
			return nil, err
		}
	}
}

// setTake sets the number of rows of the next page, which is at least one.
func (p *pages) setTake(rows int64) { p.query.Take = new(max(rows, 1)) }

// page reads a page once. With an error it returns the rows that arrived, if any. A page that
// becomes too large, because its rows are longer than those before, is read again with fewer
// rows.
func (p *pages) page() (*Rows, error) {
	for {
		rows, err := p.open(p.ctx, p.query)
		if err != nil {
			return nil, err
		}
		isComplete, err := p.readLines(rows)
		if err != nil {
			return rows, err
		}
		if isComplete {
			return rows, p.accept(rows)
		}
		p.setTake(rows.count / 3)
	}
}

// readLines reads the text of a page into lines. It stops if the text becomes too large.
func (p *pages) readLines(rows *Rows) (isComplete bool, err error) {
	p.lines = p.lines[:0]
	if *p.query.Take > firstPage {
		p.lines = slices.Grow(p.lines, pageBytes+pageBytes/4)
	}
	for lines, err := range rows.Text() {
		if err != nil {
			return false, err
		}
		p.lines = append(p.lines, lines...)
		isTooLarge := len(p.lines) > 2*pageBytes
		if isTooLarge && rows.count < *p.query.Take {
			return false, nil // the loop closes the reply
		}
	}
	return true, nil
}

// accept makes a page that has arrived readable, and the query that of the next page.
func (p *pages) accept(rows *Rows) error {
	isFirst := *p.query.cursor == ""
	isOther := rows.unverified || rows.csv != p.csv
	if !isFirst && isOther {
		return truncated(rows.reply, nil, "the response differs from the previous pages")
	}
	p.unread = p.lines
	next := endHeader(rows.reply, wire.HeaderNextCursor)
	if next == "" {
		p.query.cursor = nil
		return nil
	}
	p.query.cursor = &next
	p.setTake(rows.count * pageBytes / int64(len(p.lines)+1))
	return nil
}
