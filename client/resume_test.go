package client_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
)

// pageHandler handles a request instead of the service, or reports that it has not.
type pageHandler func(p *paging, w http.ResponseWriter, request map[string]any) (handled bool)

// paging is a service with pages by cursor: the cursor is the number of the next row.
type paging struct {
	lines      []string
	requests   []map[string]any
	handle     pageHandler // nil for none
	noCursor   bool        // the cursor of the next page is lost
	noTrailers bool
	buffered   int // rows of the largest page with headers instead of trailers
}

func (p *paging) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	request := map[string]any{}
	if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
		panic(err)
	}
	p.requests = append(p.requests, request)
	if p.handle != nil && p.handle(p, w, request) {
		return
	}

	from, to := 0, len(p.lines)
	if cursor, _ := request["Cursor"].(string); cursor != "" {
		from, _ = strconv.Atoi(cursor)
	}
	if take, limited := request["Take"].(float64); limited {
		to = min(to, from+int(take))
	}

	w.Header().Set("Content-Type", "application/x-ndjson")
	prefix := ""
	if to-from > p.buffered {
		prefix = http.TrailerPrefix
		w.(http.Flusher).Flush()
	}
	arrives := prefix == "" || !p.noTrailers
	_, paged := request["Cursor"]
	hasNext := paged && to < len(p.lines)
	if arrives && hasNext && !p.noCursor {
		w.Header().Set(prefix+wire.HeaderNextCursor, strconv.Itoa(to))
	}
	if arrives {
		w.Header().Set(prefix+wire.HeaderRowCount, strconv.Itoa(to-from))
	}
	for _, line := range p.lines[from:to] {
		io.WriteString(w, line+"\n")
	}
}

// read reads all rows of a query with Resume, which change modifies before, unless it is nil.
func (p *paging) read(t *testing.T, o client.Options, change func(*client.Query)) ([]string, *client.Rows, error) {
	t.Helper()
	q := client.Query{Kind: kind(t, "SO_Totals"), OrderBy: []string{"InvoiceID"}, Resume: true}
	if change != nil {
		change(&q)
	}
	rows, err := serveWith(t, p.ServeHTTP, o).Rows(t.Context(), q)
	if err != nil {
		return nil, nil, err
	}
	lines, err := collect(rows)
	return lines, rows, err
}

// readAll reads the query and checks that it returns all rows.
func (p *paging) readAll(t *testing.T, change func(*client.Query)) *client.Rows {
	t.Helper()
	got, rows, err := p.read(t, client.Options{}, change)
	if err != nil {
		t.Fatalf("reading %d rows: got error %v after %d rows", len(p.lines), err, len(got))
	}
	if !slices.Equal(got, p.lines) {
		t.Errorf("reading %d rows: got %d rows, or others", len(p.lines), len(got))
	}
	return rows
}

// wantRequests checks the number of requests.
func (p *paging) wantRequests(t *testing.T, want int) {
	t.Helper()
	if len(p.requests) != want {
		t.Errorf("reading %d rows: got %d requests, want %d: %v",
			len(p.lines), len(p.requests), want, p.requests)
	}
}

// wantWholeReply checks that the last request is for all rows in one reply.
func (p *paging) wantWholeReply(t *testing.T) {
	t.Helper()
	last := p.requests[len(p.requests)-1]
	if last["Cursor"] != nil {
		t.Errorf("the last request has the cursor %q, want none", last["Cursor"])
	}
	if last["Take"] != nil {
		t.Errorf("the last request is for %v rows, want all", last["Take"])
	}
}

func invoiceLines(count, size int) (lines []string) {
	for i := range count {
		lines = append(lines, fmt.Sprintf(`{"InvoiceID":"D%d%s"}`, i, strings.Repeat(" ", size)))
	}
	return lines
}

// refuse replies with an error to requests with a cursor.
func refuse(code int) pageHandler {
	return func(_ *paging, w http.ResponseWriter, request map[string]any) bool {
		if _, paged := request["Cursor"]; !paged {
			return false
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		io.WriteString(w, `{"ResponseStatus":{"ErrorCode":"ArgumentException","Message":"no key"}}`)
		return true
	}
}

// disconnect breaks the connection.
func disconnect(*paging, http.ResponseWriter, map[string]any) bool { panic(http.ErrAbortHandler) }

// laterPages handles only the requests for pages after the first one.
func laterPages(handle pageHandler) pageHandler {
	return func(p *paging, w http.ResponseWriter, request map[string]any) bool {
		return request["Cursor"] != "" && handle(p, w, request)
	}
}

func TestResumeReadsPages(t *testing.T) {
	for _, tt := range []struct {
		rows  int
		paged bool // in more than one page
	}{
		{0, false},
		{1, false},
		{999, false},
		{1000, true},
		{1001, true},
		{30_000, true},
	} {
		p := &paging{lines: invoiceLines(tt.rows, 0)}
		p.readAll(t, nil)
		if paged := len(p.requests) > 1; paged != tt.paged {
			t.Errorf("%d rows: got %d pages, want more than one: %t", tt.rows, len(p.requests), tt.paged)
		}
	}
}

// If the service has no pages of a query, or if they could look complete although they are
// not, the query is sent again for one reply.
func TestResumeFallsBackToOneReply(t *testing.T) {
	for name, p := range map[string]*paging{
		"no key": {handle: refuse(400)},
		"service without cursors, or proxy that removes them": {noCursor: true},
		"proxy that removes trailers":                         {noTrailers: true},
	} {
		t.Run(name, func(t *testing.T) {
			p.lines = invoiceLines(2500, 0)
			rows := p.readAll(t, nil)
			p.wantRequests(t, 2)
			p.wantWholeReply(t)
			if got := rows.Notes().Unverified; got != p.noTrailers {
				t.Errorf("the rows are unverified: got %t, want %t", got, p.noTrailers)
			}
		})
	}
}

// If the first page arrives complete, the loss of trailers is noticed at a later one.
func TestResumeFallsBackToOneReplyAfterPages(t *testing.T) {
	p := &paging{lines: invoiceLines(2500, 0), noTrailers: true, buffered: 1000}
	rows := p.readAll(t, nil)
	p.wantWholeReply(t)
	if !rows.Notes().Unverified {
		t.Error("the rows of a reply without trailers are not marked as unverified")
	}
}

// Queries with pages that could differ from one reply are sent for one reply at once.
func TestResumeSendsQueryWithoutPages(t *testing.T) {
	for name, change := range map[string]func(*client.Query){
		"no order": func(q *client.Query) { q.OrderBy = nil },
		"Take":     func(q *client.Query) { q.Take = new(int64(2500)) },
		"Skip":     func(q *client.Query) { q.Skip = 1 },
		"GroupBy":  func(q *client.Query) { q.GroupBy = "InvoiceID" },
	} {
		t.Run(name, func(t *testing.T) {
			p := &paging{lines: invoiceLines(2500, 0)}
			p.readAll(t, change)
			p.wantRequests(t, 1)
			if cursor := p.requests[0]["Cursor"]; cursor != nil {
				t.Errorf("the request has the cursor %q, want none", cursor)
			}
		})
	}
}

// A request without a valid login is not sent again without pages.
func TestResumeDoesNotRepeatUnauthorized(t *testing.T) {
	p := &paging{handle: refuse(401)}
	_, _, err := p.read(t, client.Options{}, nil)
	if !client.Is(err, client.Unauthorized) {
		t.Errorf("got error %v, want status 401", err)
	}
	p.wantRequests(t, 1)
}

// Pages have fewer rows if a proxy removes the trailers of the others.
func TestResumeWithoutTrailersOfLaterPages(t *testing.T) {
	p := &paging{lines: invoiceLines(2500, 20_000), buffered: 600}
	p.handle = func(p *paging, _ http.ResponseWriter, request map[string]any) bool {
		p.noTrailers = request["Cursor"] != ""
		return false
	}
	p.readAll(t, nil)
}

// Pages have fewer rows if the rows are longer than those before.
func TestResumeBoundsMemory(t *testing.T) {
	const maxRows = 32 // of 1 MiB
	p := &paging{lines: append(invoiceLines(1000, 0), invoiceLines(70, 1<<20)...)}
	p.readAll(t, nil)
	for _, request := range p.requests[2:] {
		if rows := request["Take"].(float64); rows > maxRows {
			t.Errorf("a page was requested with %g rows of 1 MiB, want at most %d", rows, maxRows)
		}
	}
}

// A query ends with an error if a page after the first one cannot be read. The number of
// repetitions is limited.
func TestResumeEndsAfterRepeats(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		handle  pageHandler
		repeats int
	}{
		{"aborted", disconnect, 5},
		{"rejected", refuse(400), 0},
		{"unavailable", refuse(503), 5},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := &paging{lines: invoiceLines(2500, 0), handle: laterPages(tt.handle)}
			repeats := 0
			count := func(error, time.Duration) { repeats++ }
			got, _, err := p.read(t, client.Options{Retrying: count}, nil)
			if !slices.Equal(got, p.lines[:1000]) {
				t.Errorf("got %d rows, want the 1000 of the first page", len(got))
			}
			if repeats != tt.repeats {
				t.Errorf("got %d repetitions, want %d", repeats, tt.repeats)
			}
			if !client.Is(err, client.Incomplete) {
				t.Fatalf("got error %v, want an incomplete response", err)
			}
			const want = "incomplete response: aborted after 1000 rows: "
			if !strings.HasPrefix(err.Error(), want) {
				t.Errorf("got error %v, want %s...", err, want)
			}
		})
	}
}

// A small first page is read again as a part of a larger one, and the others only once.
func TestResumeReadsSmallRowsOnce(t *testing.T) {
	p := &paging{lines: invoiceLines(2500, 0), buffered: 1000}
	p.readAll(t, nil)
	p.wantRequests(t, 2)
}
