package client_test

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
)

// Rows of CSV are those of NDJSON unless the service certainly sends the same values.
func TestCSVLikeNDJSON(t *testing.T) {
	for name, c := range map[string]struct {
		kind   string
		fields []string
		header string // of CSV
		media  string
		guard  string
		csv    bool
	}{
		"same":          {kind: "DB_Class", header: "Class", media: "text/csv; charset=utf-8", guard: "false", csv: true},
		"fields":        {kind: "SO_Totals", fields: []string{"InvoiceTotal", "InvoiceID"}, header: "InvoiceTotal,InvoiceID", media: "text/csv", guard: "false", csv: true},
		"guard":         {kind: "DB_Class", header: "Class", media: "text/csv", guard: "true"},
		"older service": {kind: "DB_Class", header: "Class", media: "text/csv"},
		"other columns": {kind: "DB_Class", header: "Class,Other", media: "text/csv", guard: "false"},
		"mark":          {kind: "DB_Class", header: "\ufeffClass", media: "text/csv", guard: "false"},
		"no CSV":        {kind: "DB_Class", header: "Class", media: "text/plain", guard: "false"},
		"bool":          {kind: "IN_KitStockTakeMain", fields: []string{"KitStockTakeStatus"}, header: "KitStockTakeStatus", media: "text/csv"},
	} {
		t.Run(name, func(t *testing.T) {
			checkCSV(t, client.Query{Kind: kind(t, c.kind), Fields: c.fields}, c.header, c.media, c.guard, c.csv)
		})
	}
}

// The header of many columns is longer than the buffer of a reply usually is.
func TestLongHeaderOfCSV(t *testing.T) {
	fields := slices.Repeat([]string{"InvoiceTotal"}, 400)
	header := strings.Join(fields, ",")
	if len(header) <= 4096 {
		t.Fatalf("the header has %d bytes, want more than 4096", len(header))
	}
	checkCSV(t, client.Query{Kind: kind(t, "SO_Totals"), Fields: fields}, header, "text/csv", "false", true)
}

func checkCSV(t *testing.T, q client.Query, header, media, guard string, csv bool) {
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("format") == "ndjson" {
			reply{count: "correct"}.ServeHTTP(w, r)
			return
		}
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", media)
		w.Header().Set(wire.HeaderRowCount, "1")
		if guard != "" {
			w.Header().Set(wire.HeaderFormulaGuard, guard)
		}
		fmt.Fprintf(w, "%s\r\n\"a,\r\n\"\r\n", header)
	})
	rows, err := c.CSV(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for lines, err := range rows.Text() {
		if err != nil {
			t.Fatal(err)
		}
		got += string(lines)
	}
	want := ""
	if csv {
		want = "\"a,\r\n\"\n"
	}
	if rows.IsCSV() != csv || got != want || rows.Notes().Unverified {
		t.Errorf("CSV %t, %q, want %q, notes %+v", rows.IsCSV(), got, want, rows.Notes())
	}
}

// An older service writes errors as CSV, without their message.
func TestErrorsOfOlderServices(t *testing.T) {
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("format") == "csv" {
			w.Header().Set("Content-Type", "text/csv")
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, `{"ResponseStatus":{"ErrorCode":"Unauthorized","Message":"Invalid Username or Password"}}`)
	})
	if _, err := c.CSV(t.Context(), client.Query{Kind: kind(t, "DB_Class")}); err == nil || err.Error() != "Unauthorized: Invalid Username or Password" {
		t.Error(err)
	}
}

// Compression costs more than it saves if the service is on the same machine.
func TestLocalRepliesAreNotCompressed(t *testing.T) {
	for _, compression := range []bool{false, true} {
		c := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if compressed := r.Header.Get("Accept-Encoding") == "gzip"; compressed != compression {
				t.Errorf("Accept-Encoding: %q", r.Header.Get("Accept-Encoding"))
			}
			reply{count: "correct"}.ServeHTTP(w, r)
		})
		if !compression {
			c = newLocal(t, c)
		}
		rows, err := c.Rows(t.Context(), client.Query{Kind: kind(t, "SO_Totals")})
		if err != nil {
			t.Fatal(err)
		}
		rows.Close()
	}
}

// newLocal returns a client of the same service that knows that it is local.
func newLocal(t *testing.T, c *client.Client) *client.Client {
	t.Helper()
	local, err := client.New(client.Options{URL: c.URL()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(local.Close)
	return local
}
