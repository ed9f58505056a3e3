package client_test

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
)

var threeRows = []string{
	`{"InvoiceID":"D1","InvoiceTotal":0.10000000000000000001}`,
	`{"InvoiceID":"D2"}`,
	`{"InvoiceID":"a \"quoted\" \u00e9\n","InvoiceTotal":-12345678901234567890.12}`,
}

func TestRowsWhole(t *testing.T) {
	for name, s := range map[string]reply{
		"trailer":          {lines: threeRows, count: "right"},
		"trailer and gzip": {lines: threeRows, count: "right", gzip: true},
		"header":           {lines: threeRows, count: "right", header: true},
		"header and gzip":  {lines: threeRows, count: "right", header: true, gzip: true},
		"no rows":          {count: "right"},
		"empty lines":      {lines: []string{}, count: "0"},
		"long row":         {lines: []string{`{"RecID":"` + strings.Repeat("x", 3<<20) + `"}`, `{"RecID":"1"}`}, count: "right"},
	} {
		t.Run(name, func(t *testing.T) {
			rows, err := serve(t, s.ServeHTTP).Rows(context.Background(), client.Query{Kind: kind(t, "SO_Totals")})
			if err != nil {
				t.Fatal(err)
			}
			lines, err := collect(rows)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(lines, s.lines) || rows.Count() != int64(len(s.lines)) {
				t.Errorf("got %d rows %.200q, want %.200q", rows.Count(), lines, s.lines)
			}
		})
	}
}

// A proxy may take away the trailers, and their announcement or not. The
// reply's framing then still tells that it is whole, and the notes that no more
// is known.
func TestRowsUnverified(t *testing.T) {
	for name, head := range map[string]http.Header{
		"not announced": {},
		"nginx 1.22":    {"Trailer": {"X-Row-Count"}, "Server": {"nginx/1.22.1"}},
		"other proxies": {"Trailer": {"X-Row-Count"}, "Via": {"1.1 gate"}},
	} {
		t.Run(name, func(t *testing.T) { unverifiedRows(t, head) })
	}
}

func unverifiedRows(t *testing.T, head http.Header) {
	stripped := func(s reply) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body)
			maps.Copy(w.Header(), head)
			w.Header().Set("Content-Type", "application/x-ndjson")
			s.write(w, r)
			w.(http.Flusher).Flush()
			if s.abort {
				panic(http.ErrAbortHandler)
			}
		}
	}
	query := client.Query{Kind: kind(t, "SO_Totals")}
	for _, s := range []reply{{lines: threeRows}, {lines: threeRows, gzip: true}, {}} {
		rows, err := serve(t, stripped(s)).Rows(t.Context(), query)
		if err != nil {
			t.Fatal(err)
		}
		if lines, err := collect(rows); err != nil || len(lines) != len(s.lines) || !rows.Notes().Unverified {
			t.Errorf("%d rows, %v, notes %+v", len(lines), err, rows.Notes())
		}
	}
	rows, err := serve(t, stripped(reply{lines: threeRows, abort: true})).Rows(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := collect(rows); !client.Is(err, client.Incomplete) {
		t.Errorf("one that broke off: %v", err)
	}
	whole, err := serve(t, func(w http.ResponseWriter, r *http.Request) {
		maps.Copy(w.Header(), head)
		reply{lines: threeRows, count: "right"}.ServeHTTP(w, r)
	}).Rows(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := collect(whole); err != nil || whole.Notes().Unverified {
		t.Errorf("one with trailers: %v, notes %+v", err, whole.Notes())
	}
}

// What ends with the connection may have been cut anywhere.
func TestRowsWithoutFraming(t *testing.T) {
	rows, err := serve(t, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		line, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			panic(err)
		}
		defer line.Close()
		io.WriteString(line, "HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nConnection: close\r\n\r\n"+threeRows[0]+"\n")
	}).Rows(t.Context(), client.Query{Kind: kind(t, "SO_Totals")})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := collect(rows); !client.Is(err, client.Incomplete) {
		t.Errorf("error %v, want incomplete", err)
	}
}

// A cut reply must never be taken for a whole one.
func TestRowsIncomplete(t *testing.T) {
	many := make([]string, 5000)
	for i := range many {
		many[i] = fmt.Sprintf(`{"InvoiceID":"D%d"}`, i)
	}
	for name, s := range map[string]reply{
		"aborted":               {lines: many, abort: true},
		"aborted, gzip":         {lines: many, abort: true, gzip: true},
		"aborted, first byte":   {abort: true},
		"trailer without value": {lines: threeRows},
		"header without value":  {lines: threeRows, header: true},
		"too few":               {lines: threeRows, count: "4"},
		"too many":              {lines: threeRows, count: "2"},
		"no number":             {lines: threeRows, count: "three"},
		"cut line":              {lines: []string{`{"InvoiceID":"D1"}`, `{"InvoiceID":`}, count: "right"},
		"no object":             {lines: []string{`["D1"]`}, count: "right"},
	} {
		t.Run(name, func(t *testing.T) {
			rows, err := serve(t, s.ServeHTTP).Rows(context.Background(), client.Query{Kind: kind(t, "SO_Totals")})
			if err == nil {
				_, err = collect(rows)
			}
			if !client.Is(err, client.Incomplete) {
				t.Errorf("error %v of kind %v, want incomplete", err, client.KindOf(err))
			}
		})
	}
}

func TestRowsCancelled(t *testing.T) {
	gone := make(chan struct{})
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/x-ndjson")
		io.WriteString(w, threeRows[0]+"\n")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		close(gone)
	})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	rows, err := c.Rows(ctx, client.Query{Kind: kind(t, "SO_Totals")})
	if err != nil {
		t.Fatal(err)
	}
	for _, err = range rows.All() {
		cancel()
	}
	if !client.Is(err, client.Cancelled) {
		t.Errorf("error %v, want cancelled", err)
	}
	<-gone
}

// Leaving the loop early must stop the service's work.
func TestRowsLeftEarly(t *testing.T) {
	gone := make(chan struct{})
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/x-ndjson")
		io.WriteString(w, threeRows[0]+"\n"+threeRows[1]+"\n")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		close(gone)
	})
	rows, err := c.Rows(context.Background(), client.Query{Kind: kind(t, "SO_Totals")})
	if err != nil {
		t.Fatal(err)
	}
	for row := range rows.All() {
		if row.Text("InvoiceID") != "D1" {
			t.Errorf("first row %s", row.JSON())
		}
		break
	}
	<-gone
}

func TestNotes(t *testing.T) {
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set(wire.HeaderTakeClamped, "100")
		w.Header().Set(wire.HeaderIgnoredMembers, "Colour")
		reply{count: "right", header: true}.ServeHTTP(w, r)
	})
	rows, err := c.Rows(context.Background(), client.Query{Kind: kind(t, "SO_Totals"), Take: new(int64(1000))})
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	if got, want := rows.Notes(), (client.Notes{TakeClamped: "100", Ignored: "Colour"}); got != want {
		t.Errorf("notes %+v, want %+v", got, want)
	}
}

// BenchmarkRows reads a large stream and takes the text of each value.
func BenchmarkRows(b *testing.B) {
	line := `{"InvoiceID":"D100512","InvoiceTotal":40002.1500,"Cartage1Total":12.5000,"Cartage1TaxTotal":1.2500,` +
		`"Cartage2Total":0.0000,"Cartage2TaxTotal":0.0000,"Cartage3Total":0.0000,"Cartage3TaxTotal":0.0000}`
	k := kind(b, "SO_Totals")
	rowCount := b.N
	c := serve(b, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/x-ndjson")
		w.Header().Set("Trailer", wire.HeaderRowCount)
		piece := strings.Repeat(line+"\n", 300)
		for left := rowCount; left > 0; left -= 300 {
			io.WriteString(w, piece[:min(left, 300)*(len(line)+1)])
		}
		w.Header().Set(wire.HeaderRowCount, fmt.Sprint(rowCount))
	})
	b.ReportAllocs()
	b.SetBytes(int64(len(line) + 1))
	rows, err := c.Rows(context.Background(), client.Query{Kind: k})
	if err != nil {
		b.Fatal(err)
	}
	var values []client.Value
	var text []byte
	columns := k.FieldNames()
	for row, err := range rows.All() {
		if err != nil {
			b.Fatal(err)
		}
		text = text[:0]
		values = row.Values(values[:0], columns)
		for _, v := range values {
			text = v.AppendText(text)
		}
	}
}
