package client_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
)

func quietLog() *log.Logger { return log.New(io.Discard, "", 0) }

func TestNewRejectsInvalidAddresses(t *testing.T) {
	for _, address := range []string{
		"erp01:5050",
		"erp01",
		"ftp://erp01",
		"http://",
		"http://user:swordfish@erp01",
		"http://erp01/?a=b",
		"http://erp01/#x",
		"http://erp01:x",
		"::",
	} {
		c, err := client.New(client.Options{URL: address})
		if err == nil {
			t.Errorf("%q: got a client of %s, want an error", address, c.URL())
			continue
		}
		if strings.Contains(err.Error(), "swordfish") {
			t.Errorf("%q: got error %v, want it without the password", address, err)
		}
	}
}

func TestNewNormalizesAddresses(t *testing.T) {
	for address, want := range map[string]string{
		"":                     client.DefaultURL,
		"http://erp01:5050/":   "http://erp01:5050",
		"https://erp01/whd/":   "https://erp01/whd",
		"HTTP://[::1]:5050/a/": "http://[::1]:5050/a",
	} {
		c, err := client.New(client.Options{URL: address})
		if err != nil {
			t.Errorf("%q: %v", address, err)
			continue
		}
		if c.URL() != want {
			t.Errorf("%q: got a client of %s, want %s", address, c.URL(), want)
		}
	}
}

// received is a request that arrived at the service.
type received struct {
	path   string
	header http.Header
	body   map[string]any
}

// recording records each request before the handler next replies to it.
func recording(to *received, next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		*to = received{path: r.URL.RequestURI(), header: r.Header}
		body, _ := io.ReadAll(r.Body)
		if len(body) > 0 {
			if err := json.Unmarshal(body, &to.body); err != nil {
				panic(err)
			}
		}
		next(w, r)
	}
}

func TestQuerySendsFiltersAsJSON(t *testing.T) {
	var got received
	c := serve(t, recording(&got, reply{count: "correct"}.ServeHTTP))
	rows, err := c.Rows(t.Context(), client.Query{
		Kind: kind(t, "BM_Inputs"),
		Where: []client.Filter{
			{Field: "Note", Operator: record.Equal, Values: []string{""}},
			{Field: "Note", Operator: record.In, Values: []string{"a,b"}},
			{Field: "Quantity", Operator: record.Between, Values: []string{"0.10000000000000000001", "20"}},
			{Field: "SubAssemblyExplodePolicy", Operator: record.In, Values: []string{"1", "255"}},
			{Field: "IsRatio", Operator: record.Equal, Values: []string{"true"}},
		},
		Fields:  []string{"RecID", "Note"},
		OrderBy: []string{"-Quantity", "RecID"},
		Skip:    5,
		Take:    new(int64(0)),
		Include: []string{"Total", "SUM(Quantity)"},
		Strict:  true,
	})
	if err != nil {
		t.Fatal(err)
	}
	rows.Close()
	want := map[string]any{
		"Note":                       "",
		"NoteIn":                     []any{"a,b"},
		"QuantityBetween":            []any{"0.10000000000000000001", "20"},
		"SubAssemblyExplodePolicyIn": "Af8=", // the bytes 1 and 255 in base64
		"IsRatio":                    "true",
		"Fields":                     "RecID,Note",
		"OrderBy":                    "-Quantity,RecID",
		"Skip":                       5.0,
		"Take":                       0.0,
		"Include":                    "Total,SUM(Quantity)",
		"Strict":                     true,
	}
	if !reflect.DeepEqual(got.body, want) {
		t.Errorf("body %v, want %v", got.body, want)
	}
	if want := "/Queries/BM_Inputs?format=ndjson"; got.path != want {
		t.Errorf("path %s, want %s", got.path, want)
	}
	for name, want := range map[string]string{"Content-Type": "application/json", "Accept": "application/x-ndjson"} {
		if text := got.header.Get(name); text != want {
			t.Errorf("header %s is %q, want %q", name, text, want)
		}
	}
	if _, sent := got.header["X-Idempotency-Key"]; sent {
		t.Error("the marker for net/http was sent")
	}
}

func TestInvalidQueryIsNotSent(t *testing.T) {
	c := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("a request was sent") })
	for name, test := range map[string]struct {
		kind  string
		where []client.Filter
	}{
		"unknown field": {
			kind:  "SO_Totals",
			where: []client.Filter{{Field: "Colour", Values: []string{"x"}}},
		},
		"wrong operator": {
			kind:  "SO_Totals",
			where: []client.Filter{{Field: "InvoiceID", Operator: record.GreaterThan, Values: []string{"x"}}},
		},
		"no value": {
			kind:  "SO_Totals",
			where: []client.Filter{{Field: "InvoiceID"}},
		},
		"two values for one": {
			kind:  "SO_Totals",
			where: []client.Filter{{Field: "InvoiceID", Values: []string{"x", "y"}}},
		},
		"one value for Between": {
			kind:  "SO_Totals",
			where: []client.Filter{{Field: "InvoiceID", Operator: record.Between, Values: []string{"x"}}},
		},
		"no values for In": {
			kind:  "SO_Totals",
			where: []client.Filter{{Field: "InvoiceID", Operator: record.In}},
		},
		"duplicate filter": {
			kind: "SO_Totals",
			where: []client.Filter{
				{Field: "InvoiceID", Values: []string{"x"}},
				{Field: "InvoiceID", Values: []string{"y"}},
			},
		},
		"byte out of range": {
			kind:  "BM_Inputs",
			where: []client.Filter{{Field: "SubAssemblyExplodePolicy", Operator: record.In, Values: []string{"256"}}},
		},
	} {
		query := client.Query{Kind: kind(t, test.kind), Where: test.where}
		if _, err := c.Rows(t.Context(), query); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestCredentialsOfRequests(t *testing.T) {
	for name, c := range map[string]struct {
		options client.Options
		header  string
		want    string
	}{
		"anonymous":       {client.Options{}, "Authorization", ""},
		"key":             {client.Options{Token: "k1"}, "Authorization", "Bearer k1"},
		"user":            {client.Options{User: "jsmith", Password: "word"}, "Authorization", "Basic anNtaXRoOndvcmQ="},
		"key and user":    {client.Options{Token: "k1", User: "jsmith"}, "Authorization", "Bearer k1"},
		"session":         {client.Options{Session: "s1"}, "X-Ss-Id", "s1"},
		"session and key": {client.Options{Session: "s1", Token: "k1"}, "Authorization", ""},
		"agent":           {client.Options{UserAgent: "whctl/1"}, "User-Agent", "whctl/1"},
	} {
		t.Run(name, func(t *testing.T) {
			var got received
			service := serveWith(t, recording(&got, reply{count: "correct"}.ServeHTTP), c.options)
			rows, err := service.Rows(t.Context(), client.Query{Kind: kind(t, "SO_Totals")})
			if err != nil {
				t.Fatal(err)
			}
			rows.Close()
			if text := got.header.Get(c.header); text != c.want {
				t.Errorf("%s: %q, want %q", c.header, text, c.want)
			}
		})
	}
}

func TestLoginStartsSession(t *testing.T) {
	var got received
	c := serveWith(t, func(w http.ResponseWriter, r *http.Request) {
		body := `{"SessionId":"s1","UserName":"jsmith","DisplayName":"J. Smith","ResponseStatus":{}}`
		recording(&got, respond(200, "application/json", body))(w, r)
	}, client.Options{User: "other", Password: "word"})
	session, err := c.Login(t.Context(), "jsmith", "secret")
	if err != nil {
		t.Fatal(err)
	}
	if session.SessionID != "s1" || session.DisplayName != "J. Smith" {
		t.Errorf("the session is %+v, want s1 of J. Smith", session)
	}
	want := map[string]any{"UserName": "jsmith", "Password": "secret"}
	if got.path != "/auth" || !reflect.DeepEqual(got.body, want) {
		t.Errorf("the login is %s with %v, want /auth with %v", got.path, got.body, want)
	}
	if got.header.Get("Authorization") != "" {
		t.Error("the login has credentials")
	}
	if err := c.Logout(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got.path != "/auth/logout" {
		t.Errorf("the path of the logout is %s, want /auth/logout", got.path)
	}
	if got.header.Get("X-Ss-Id") != "s1" || got.header.Get("Authorization") != "" {
		t.Errorf("the logout has the header %v, want only the session s1", got.header)
	}
}

func TestPageAndCountResults(t *testing.T) {
	const body = `{
		"Offset":10,
		"Results":[{"InvoiceID":"D1"},{"InvoiceID":"D2","InvoiceTotal":0.10}],
		"Total":12403,
		"Meta":{"Total":"12403"},
		"ResponseStatus":{}
	}`
	var sent received
	c := serve(t, recording(&sent, respond(200, "application/json; charset=utf-8", body)))
	query := client.Query{Kind: kind(t, "SO_Totals"), Skip: 3, Take: new(int64(2)), OrderBy: []string{"InvoiceID"}}

	page, err := c.Page(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprintf("offset %d, total %d, meta %v", page.Offset, page.Total, page.Meta)
	if want := "offset 10, total 12403, meta map[Total:12403]"; got != want {
		t.Errorf("the page has %s, want %s", got, want)
	}
	if len(page.Rows) != 2 || page.Rows[1].Text("InvoiceTotal") != "0.10" {
		t.Errorf("the page has the rows %v, want two, the second with the total 0.10", page.Rows)
	}

	n, err := c.Count(t.Context(), query)
	if err != nil || n != 12403 {
		t.Errorf("the count is %d (%v), want 12403", n, err)
	}
	if want := map[string]any{"Take": 0.0, "Include": "Total"}; !reflect.DeepEqual(sent.body, want) {
		t.Errorf("the request of the count is %v, want %v", sent.body, want)
	}
}

func TestIncompletePageIsAnError(t *testing.T) {
	for name, h := range map[string]http.HandlerFunc{
		"no envelope":    respond(200, "application/json", `[1,2]`),
		"invalid record": respond(200, "application/json", `{"Results":[1]}`),
		"truncated":      respond(200, "application/json", `{"Results":[{"InvoiceID":"D1"}`),
		"wrong count":    withCount(respond(200, "application/json", `{"Results":[{"InvoiceID":"D1"}]}`), "2"),
		"aborted": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "1000")
			respond(200, "application/json", `{"Results":[`)(w, r)
		},
	} {
		_, err := serve(t, h).Page(t.Context(), client.Query{Kind: kind(t, "SO_Totals")})
		if !client.Is(err, client.Incomplete) {
			t.Errorf("%s: error %v of kind %v, want incomplete", name, err, client.KindOf(err))
		}
	}
}

func withCount(h http.HandlerFunc, n string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set(wire.HeaderRowCount, n)
		h(w, r)
	}
}

// download is a reply in CSV that is downloaded, and correctDigest its digest.
const download = "InvoiceID\r\nD1\r\n"

var correctDigest = fmt.Sprintf("sha-256=%x", sha256.Sum256([]byte(download)))

// serveDownload returns a client of a service that sends download, with a digest as a trailer.
func serveDownload(t *testing.T, digest string) *client.Client {
	t.Helper()
	return serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Want-Digest") != "sha-256" || r.URL.Query().Get("format") != "csv" {
			t.Errorf("received a request for %s with %v, want CSV with a digest", r.URL, r.Header)
		}
		w.Header().Set("Trailer", wire.HeaderDigest)
		respond(200, "text/csv; charset=utf-8", download)(w, r)
		w.(http.Flusher).Flush()
		if digest == "abort" {
			panic(http.ErrAbortHandler)
		}
		w.Header().Set(wire.HeaderDigest, digest)
	})
}

func TestDownloadVerifiesDigest(t *testing.T) {
	query := client.Query{Kind: kind(t, "SO_Totals")}
	var out bytes.Buffer
	n, _, err := serveDownload(t, correctDigest).Download(t.Context(), query, "csv", &out)
	if err != nil {
		t.Fatal(err)
	}
	if n != int64(len(download)) || out.String() != download {
		t.Errorf("downloaded %d bytes %q, want %d bytes %q", n, out.String(), len(download), download)
	}

	for _, digest := range []string{"", "sha-256=00", "abort"} {
		_, _, err := serveDownload(t, digest).Download(t.Context(), query, "csv", io.Discard)
		if !client.Is(err, client.Incomplete) {
			t.Errorf("digest %q: error %v, want incomplete", digest, err)
		}
	}
}

func TestDownloadWithoutDigestIsUnverified(t *testing.T) {
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		respond(200, "text/csv", download)(w, r)
		w.(http.Flusher).Flush()
	})
	_, notes, err := c.Download(t.Context(), client.Query{Kind: kind(t, "SO_Totals")}, "csv", io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if !notes.Unverified {
		t.Errorf("the notes are %+v, want that the reply is unverified", notes)
	}
}

func TestDownloadErrors(t *testing.T) {
	c := serveDownload(t, correctDigest)
	query := client.Query{Kind: kind(t, "SO_Totals")}
	full := errors.New("disk full")
	_, _, err := c.Download(t.Context(), query, "csv", failingWriter{full})
	if !errors.Is(err, full) {
		t.Errorf("a failing writer: got error %v, want %v", err, full)
	}
	_, _, err = c.Download(t.Context(), query, "xls", io.Discard)
	if want := "unknown format xls"; err == nil || err.Error() != want {
		t.Errorf("got error %v, want %s", err, want)
	}
}

type failingWriter struct{ err error }

func (f failingWriter) Write([]byte) (int, error) { return 0, f.err }

func TestLogHasNoSecrets(t *testing.T) {
	var text bytes.Buffer
	handler := slog.NewTextHandler(&text, &slog.HandlerOptions{Level: slog.LevelDebug})
	c := serveWith(t, respond(200, "application/json", `{"SessionId":"canary-session"}`), client.Options{
		Token: "canary-token",
		Log:   slog.New(handler),
	})
	if _, err := c.Login(t.Context(), "jsmith", "canary-password"); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Page(t.Context(), client.Query{Kind: kind(t, "SO_Totals")}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text.String(), "/Queries/SO_Totals") {
		t.Errorf("the log does not have the path of the query:\n%s", &text)
	}
	if strings.Contains(text.String(), "canary") {
		t.Errorf("the log has a secret:\n%s", &text)
	}
}
