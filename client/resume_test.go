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

// paging is a service with pages by cursor: the cursor is the number of the next row.
type paging struct {
	lines      []string
	requests   []map[string]any
	handle     func(p *paging, w http.ResponseWriter, request map[string]any) (handled bool) // nil for none
	noCursor   bool                                                                          // the cursor of the next page is lost
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
	known := prefix == "" || !p.noTrailers
	if _, paged := request["Cursor"]; paged && known && !p.noCursor && to < len(p.lines) {
		w.Header().Set(prefix+wire.HeaderNextCursor, strconv.Itoa(to))
	}
	if known {
		w.Header().Set(prefix+wire.HeaderRowCount, strconv.Itoa(to-from))
	}
	for _, line := range p.lines[from:to] {
		io.WriteString(w, line+"\n")
	}
}

// read reads all rows of a query with Resume.
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

func invoiceLines(count, size int) (lines []string) {
	for i := range count {
		lines = append(lines, fmt.Sprintf(`{"InvoiceID":"D%d%s"}`, i, strings.Repeat(" ", size)))
	}
	return lines
}

// refuse replies with an error to requests with a cursor.
func refuse(code int) func(*paging, http.ResponseWriter, map[string]any) bool {
	return func(p *paging, w http.ResponseWriter, request map[string]any) bool {
		if _, paged := request["Cursor"]; !paged {
			return false
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		io.WriteString(w, `{"ResponseStatus":{"ErrorCode":"ArgumentException","Message":"no key"}}`)
		return true
	}
}

func TestResumeReadsPages(t *testing.T) {
	for _, count := range []int{0, 1, 999, 1000, 1001, 30_000} {
		p := &paging{lines: invoiceLines(count, 0)}
		got, _, err := p.read(t, client.Options{}, nil)
		if err != nil || !slices.Equal(got, p.lines) {
			t.Errorf("%d of %d rows, %v", len(got), count, err)
		}
		if pages := len(p.requests); pages > 1 != (count >= 1000) {
			t.Errorf("%d rows in %d pages", count, pages)
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
		"proxy that removes trailers of larger pages":         {noTrailers: true, buffered: 1000},
	} {
		p.lines = invoiceLines(2500, 0)
		got, rows, err := p.read(t, client.Options{}, nil)
		if err != nil || !slices.Equal(got, p.lines) || rows.Notes().Unverified != p.noTrailers {
			t.Errorf("%s: %d of %d rows, %v", name, len(got), len(p.lines), err)
		}
		if last := p.requests[len(p.requests)-1]; p.buffered == 0 && len(p.requests) != 2 || last["Cursor"] != nil || last["Take"] != nil {
			t.Errorf("%s: requests %v", name, p.requests)
		}
	}
	for name, change := range map[string]func(*client.Query){
		"no order": func(q *client.Query) { q.OrderBy = nil },
		"Take":     func(q *client.Query) { q.Take = new(int64(2500)) },
		"Skip":     func(q *client.Query) { q.Skip = 1 },
		"GroupBy":  func(q *client.Query) { q.GroupBy = "InvoiceID" },
	} {
		p := &paging{lines: invoiceLines(2500, 0)}
		if got, _, err := p.read(t, client.Options{}, change); err != nil || len(got) != 2500 || len(p.requests) != 1 || p.requests[0]["Cursor"] != nil {
			t.Errorf("%s: %d rows, %v, requests %v", name, len(got), err, p.requests)
		}
	}
	p := &paging{handle: refuse(401)}
	if _, _, err := p.read(t, client.Options{}, nil); !client.Is(err, client.Unauthorized) || len(p.requests) != 1 {
		t.Errorf("%v after %d requests", err, len(p.requests))
	}
}

// Pages have fewer rows if a proxy removes the trailers of the others.
func TestResumeWithoutTrailersOfLaterPages(t *testing.T) {
	p := &paging{lines: invoiceLines(2500, 20_000), buffered: 600}
	p.handle = func(p *paging, _ http.ResponseWriter, request map[string]any) bool {
		p.noTrailers = request["Cursor"] != ""
		return false
	}
	if got, _, err := p.read(t, client.Options{}, nil); err != nil || !slices.Equal(got, p.lines) {
		t.Errorf("%d of %d rows, %v", len(got), len(p.lines), err)
	}
}

// Pages have fewer rows if the rows are longer than those before.
func TestResumeBoundsMemory(t *testing.T) {
	p := &paging{lines: append(invoiceLines(1000, 0), invoiceLines(70, 1<<20)...)}
	got, _, err := p.read(t, client.Options{}, nil)
	if err != nil || !slices.Equal(got, p.lines) {
		t.Errorf("%d of %d rows, %v", len(got), len(p.lines), err)
	}
	for _, request := range p.requests[2:] {
		if rows := request["Take"].(float64); rows > 32 {
			t.Errorf("a page of %g MiB", rows)
		}
	}
}

// A query ends with an error if a page after the first one cannot be read. The number of
// repetitions is limited.
func TestResumeEndsAfterRepeats(t *testing.T) {
	t.Parallel()
	abort := func(*paging, http.ResponseWriter, map[string]any) bool { panic(http.ErrAbortHandler) }
	rejected := func(p *paging, w http.ResponseWriter, request map[string]any) bool { return refuse(400)(p, w, request) }
	unavailable := func(p *paging, w http.ResponseWriter, request map[string]any) bool { return refuse(503)(p, w, request) }
	for name, c := range map[string]struct {
		handle  func(*paging, http.ResponseWriter, map[string]any) bool
		repeats int
	}{"aborted": {abort, 5}, "rejected": {rejected, 0}, "unavailable": {unavailable, 5}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &paging{lines: invoiceLines(2500, 0), handle: func(p *paging, w http.ResponseWriter, request map[string]any) bool {
				return request["Cursor"] != "" && c.handle(p, w, request)
			}}
			repeats := 0
			got, _, err := p.read(t, client.Options{Retrying: func(error, time.Duration) { repeats++ }}, nil)
			if !client.Is(err, client.Incomplete) || !slices.Equal(got, p.lines[:1000]) || repeats != c.repeats {
				t.Errorf("%d rows, %d repeats, %v", len(got), repeats, err)
			}
			if err != nil && !strings.HasPrefix(err.Error(), "incomplete reply: aborted after 1000 rows: ") {
				t.Error(err)
			}
		})
	}
}

// A small first page is read again as a part of a larger one, and the others only once.
func TestResumeReadsSmallRowsOnce(t *testing.T) {
	p := &paging{lines: invoiceLines(2500, 0), buffered: 1000}
	if got, _, err := p.read(t, client.Options{}, nil); err != nil || !slices.Equal(got, p.lines) || len(p.requests) != 2 {
		t.Errorf("%d of %d rows, %v, %d requests", len(got), len(p.lines), err, len(p.requests))
	}
}
