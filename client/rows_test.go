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

func TestRowsReadsCompleteReplies(t *testing.T) {
	longRow := `{"RecID":"` + strings.Repeat("x", 3<<20) + `"}` // longer than the buffer of a reply
	for name, s := range map[string]reply{
		"trailer":          {lines: threeRows, count: "correct"},
		"trailer and gzip": {lines: threeRows, count: "correct", gzip: true},
		"header":           {lines: threeRows, count: "correct", header: true},
		"header and gzip":  {lines: threeRows, count: "correct", header: true, gzip: true},
		"no rows":          {count: "correct"},
		"empty lines":      {lines: []string{}, count: "0"},
		"long row":         {lines: []string{longRow, `{"RecID":"1"}`}, count: "correct"},
	} {
		t.Run(name, func(t *testing.T) {
			rows, err := serve(t, s.ServeHTTP).Rows(t.Context(), client.Query{Kind: kind(t, "SO_Totals")})
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

// TestRowsWithoutTrailersAreUnverified covers proxies that remove the trailers, with or
// without their announcement. The framing still shows that the reply is complete.
func TestRowsWithoutTrailersAreUnverified(t *testing.T) {
	for name, head := range map[string]http.Header{
		"not announced": {},
		"nginx 1.22":    {"Trailer": {"X-Row-Count"}, "Server": {"nginx/1.22.1"}},
		"other proxies": {"Trailer": {"X-Row-Count"}, "Via": {"1.1 gate"}},
	} {
		t.Run(name, func(t *testing.T) { checkUnverifiedRows(t, head) })
	}
}

func checkUnverifiedRows(t *testing.T, head http.Header) {
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
		lines, err := collect(rows)
		if err != nil || len(lines) != len(s.lines) {
			t.Errorf("without trailers: got %d rows (%v), want %d", len(lines), err, len(s.lines))
		}
		if !rows.Notes().Unverified {
			t.Errorf("without trailers: the notes are %+v, want that the rows are unverified", rows.Notes())
		}
	}

	rows, err := serve(t, stripped(reply{lines: threeRows, abort: true})).Rows(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := collect(rows); !client.Is(err, client.Incomplete) {
		t.Errorf("aborted reply: error %v, want incomplete", err)
	}

	verified, err := serve(t, func(w http.ResponseWriter, r *http.Request) {
		maps.Copy(w.Header(), head)
		reply{lines: threeRows, count: "correct"}.ServeHTTP(w, r)
	}).Rows(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := collect(verified); err != nil || verified.Notes().Unverified {
		t.Errorf("reply with trailers: error %v, notes %+v", err, verified.Notes())
	}
}

// TestRowsWithoutFramingAreIncomplete: a reply that ends with the connection can be
// truncated at any row.
func TestRowsWithoutFramingAreIncomplete(t *testing.T) {
	rows, err := serve(t, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			panic(err)
		}
		defer conn.Close()
		io.WriteString(conn, "HTTP/1.1 200 OK\r\n"+
			"Content-Type: application/x-ndjson\r\n"+
			"Connection: close\r\n\r\n"+
			threeRows[0]+"\n")
	}).Rows(t.Context(), client.Query{Kind: kind(t, "SO_Totals")})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := collect(rows); !client.Is(err, client.Incomplete) {
		t.Errorf("error %v, want incomplete", err)
	}
}

func TestTruncatedRowsAreIncomplete(t *testing.T) {
	many := make([]string, 5000)
	for i := range many {
		many[i] = fmt.Sprintf(`{"InvoiceID":"D%d"}`, i)
	}
	for name, s := range map[string]reply{
		"aborted":               {lines: many, abort: true},
		"aborted, gzip":         {lines: many, abort: true, gzip: true},
		"aborted at start":      {abort: true},
		"trailer without value": {lines: threeRows},
		"header without value":  {lines: threeRows, header: true},
		"too few":               {lines: threeRows, count: "4"},
		"too many":              {lines: threeRows, count: "2"},
		"invalid count":         {lines: threeRows, count: "three"},
		"truncated line":        {lines: []string{`{"InvoiceID":"D1"}`, `{"InvoiceID":`}, count: "correct"},
		"not an object":         {lines: []string{`["D1"]`}, count: "correct"},
	} {
		t.Run(name, func(t *testing.T) {
			rows, err := serve(t, s.ServeHTTP).Rows(t.Context(), client.Query{Kind: kind(t, "SO_Totals")})
			if err == nil {
				_, err = collect(rows)
			}
			if !client.Is(err, client.Incomplete) {
				t.Errorf("error %v of kind %v, want incomplete", err, client.KindOf(err))
			}
		})
	}
}

func TestRowsEndOnCancel(t *testing.T) {
	disconnected := make(chan struct{})
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/x-ndjson")
		io.WriteString(w, threeRows[0]+"\n")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		close(disconnected)
	})
	ctx, cancel := context.WithCancel(t.Context())
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
	<-disconnected
}

// Leaving the loop early must stop the service's work.
func TestRowsLeftEarly(t *testing.T) {
	disconnected := make(chan struct{})
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/x-ndjson")
		io.WriteString(w, threeRows[0]+"\n"+threeRows[1]+"\n")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		close(disconnected)
	})
	rows, err := c.Rows(t.Context(), client.Query{Kind: kind(t, "SO_Totals")})
	if err != nil {
		t.Fatal(err)
	}
	for row := range rows.All() {
		if row.Text("InvoiceID") != "D1" {
			t.Errorf("first row %s", row.JSON())
		}
		break
	}
	<-disconnected
}

func TestNotesFromHeaders(t *testing.T) {
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set(wire.HeaderTakeClamped, "100")
		w.Header().Set(wire.HeaderIgnoredMembers, "Colour")
		reply{count: "correct", header: true}.ServeHTTP(w, r)
	})
	rows, err := c.Rows(t.Context(), client.Query{Kind: kind(t, "SO_Totals"), Take: new(int64(1000))})
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	if got, want := rows.Notes(), (client.Notes{TakeClamped: "100", Ignored: "Colour"}); got != want {
		t.Errorf("notes %+v, want %+v", got, want)
	}
}

// BenchmarkRows reads a stream and formats each value.
func BenchmarkRows(b *testing.B) {
	line := `{"InvoiceID":"D100512","InvoiceTotal":40002.1500,"Cartage1Total":12.5000,"Cartage1TaxTotal":1.2500,` +
		`"Cartage2Total":0.0000,"Cartage2TaxTotal":0.0000,"Cartage3Total":0.0000,"Cartage3TaxTotal":0.0000}`
	k := kind(b, "SO_Totals")
	rowCount := b.N
	c := serve(b, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/x-ndjson")
		w.Header().Set("Trailer", wire.HeaderRowCount)
		chunk := strings.Repeat(line+"\n", 300)
		for left := rowCount; left > 0; left -= 300 {
			io.WriteString(w, chunk[:min(left, 300)*(len(line)+1)])
		}
		w.Header().Set(wire.HeaderRowCount, fmt.Sprint(rowCount))
	})
	b.ReportAllocs()
	b.SetBytes(int64(len(line) + 1))
	rows, err := c.Rows(b.Context(), client.Query{Kind: k})
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
