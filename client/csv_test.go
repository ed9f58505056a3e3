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

// csvReply is the reply of a service to a query in CSV.
type csvReply struct {
	header string // first line
	media  string
	guard  string // X-Formula-Guard; empty for none
}

// Rows of CSV are those of NDJSON unless the service certainly sends the same values.
func TestCSVLikeNDJSON(t *testing.T) {
	for name, c := range map[string]struct {
		kind   string
		fields []string
		reply  csvReply
		want   bool // the rows are those of the reply in CSV
	}{
		"same": {
			kind:  "DB_Class",
			reply: csvReply{header: "Class", media: "text/csv; charset=utf-8", guard: "false"},
			want:  true,
		},
		"fields": {
			kind:   "SO_Totals",
			fields: []string{"InvoiceTotal", "InvoiceID"},
			reply:  csvReply{header: "InvoiceTotal,InvoiceID", media: "text/csv", guard: "false"},
			want:   true,
		},
		"guard": {
			kind:  "DB_Class",
			reply: csvReply{header: "Class", media: "text/csv", guard: "true"},
		},
		"older service": {
			kind:  "DB_Class",
			reply: csvReply{header: "Class", media: "text/csv"},
		},
		"other columns": {
			kind:  "DB_Class",
			reply: csvReply{header: "Class,Other", media: "text/csv", guard: "false"},
		},
		"mark": {
			kind:  "DB_Class",
			reply: csvReply{header: "\ufeffClass", media: "text/csv", guard: "false"},
		},
		"no CSV": {
			kind:  "DB_Class",
			reply: csvReply{header: "Class", media: "text/plain", guard: "false"},
		},
		"bool": {
			kind:   "IN_KitStockTakeMain",
			fields: []string{"KitStockTakeStatus"},
			reply:  csvReply{header: "KitStockTakeStatus", media: "text/csv"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			checkCSV(t, client.Query{Kind: kind(t, c.kind), Fields: c.fields}, c.reply, c.want)
		})
	}
}

// The header of many columns is longer than the buffer of a reply usually is.
func TestLongHeaderOfCSV(t *testing.T) {
	const buffer = 4096 // bytes
	fields := slices.Repeat([]string{"InvoiceTotal"}, 400)
	header := strings.Join(fields, ",")
	if len(header) <= buffer {
		t.Fatalf("the header has %d bytes, want more than %d", len(header), buffer)
	}
	query := client.Query{Kind: kind(t, "SO_Totals"), Fields: fields}
	checkCSV(t, query, csvReply{header: header, media: "text/csv", guard: "false"}, true)
}

// checkCSV checks whether the rows of a query are those of the reply in CSV, which has one row, or
// those of the reply in NDJSON, which has none.
func checkCSV(t *testing.T, q client.Query, csv csvReply, wantCSV bool) {
	t.Helper()
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("format") == "ndjson" {
			reply{count: "correct"}.ServeHTTP(w, r)
			return
		}
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", csv.media)
		w.Header().Set(wire.HeaderRowCount, "1")
		if csv.guard != "" {
			w.Header().Set(wire.HeaderFormulaGuard, csv.guard)
		}
		fmt.Fprintf(w, "%s\r\n\"a,\r\n\"\r\n", csv.header)
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
	if wantCSV {
		want = "\"a,\r\n\"\n"
	}
	if rows.IsCSV() != wantCSV || got != want {
		t.Errorf("got the rows %q, as CSV: %t, want %q, %t", got, rows.IsCSV(), want, wantCSV)
	}
	if rows.Notes().Unverified {
		t.Error("the rows are unverified")
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
	_, err := c.CSV(t.Context(), client.Query{Kind: kind(t, "DB_Class")})
	if want := "Unauthorized: Invalid Username or Password"; err == nil || err.Error() != want {
		t.Errorf("got error %v, want %s", err, want)
	}
}

// Compression costs more than it saves if the service is on the same machine.
func TestLocalRepliesAreNotCompressed(t *testing.T) {
	var encoding string
	remote := serve(t, func(w http.ResponseWriter, r *http.Request) {
		encoding = r.Header.Get("Accept-Encoding")
		reply{count: "correct"}.ServeHTTP(w, r)
	})
	for _, test := range []struct {
		client *client.Client
		want   string // Accept-Encoding
	}{
		{client: remote, want: "gzip"},
		{client: newLocal(t, remote), want: ""},
	} {
		rows, err := test.client.Rows(t.Context(), client.Query{Kind: kind(t, "SO_Totals")})
		if err != nil {
			t.Fatal(err)
		}
		rows.Close()
		if encoding != test.want {
			t.Errorf("sent Accept-Encoding %q, want %q", encoding, test.want)
		}
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
