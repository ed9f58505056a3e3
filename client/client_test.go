package client_test

import (
	"bytes"
	"context"
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
		"erp01:5050", "erp01", "ftp://erp01", "http://", "http://user:swordfish@erp01", "http://erp01/?a=b", "http://erp01/#x", "http://erp01:x", "::",
	} {
		if c, err := client.New(client.Options{URL: address}); err == nil {
			t.Errorf("%q: no error, URL %s", address, c.URL())
		} else if strings.Contains(err.Error(), "swordfish") {
			t.Errorf("%q: the error has the password: %v", address, err)
		}
	}
	for address, want := range map[string]string{
		"":                     client.DefaultURL,
		"http://erp01:5050/":   "http://erp01:5050",
		"https://erp01/whd/":   "https://erp01/whd",
		"HTTP://[::1]:5050/a/": "http://[::1]:5050/a",
	} {
		c, err := client.New(client.Options{URL: address})
		if err != nil || c.URL() != want {
			t.Errorf("%q: %v, want %s", address, err, want)
		}
	}
}

// received is a request that arrived at the service.
type received struct {
	path   string
	header http.Header
	body   map[string]any
}

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
	rows, err := c.Rows(context.Background(), client.Query{
		Kind: kind(t, "BM_Inputs"),
		Where: []client.Filter{
			{Field: "Note", Operator: record.Equal, Values: []string{""}},
			{Field: "Note", Operator: record.In, Values: []string{"a,b"}},
			{Field: "Quantity", Operator: record.Between, Values: []string{"0.10000000000000000001", "20"}},
			{Field: "SubAssemblyExplodePolicy", Operator: record.In, Values: []string{"1", "255"}},
			{Field: "IsRatio", Operator: record.Equal, Values: []string{"true"}},
		},
		Fields: []string{"RecID", "Note"}, OrderBy: []string{"-Quantity", "RecID"},
		Skip: 5, Take: new(int64(0)), Include: []string{"Total", "SUM(Quantity)"}, Strict: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	rows.Close()
	want := map[string]any{
		"Note": "", "NoteIn": []any{"a,b"}, "QuantityBetween": []any{"0.10000000000000000001", "20"},
		"SubAssemblyExplodePolicyIn": "Af8=", "IsRatio": "true",
		"Fields": "RecID,Note", "OrderBy": "-Quantity,RecID", "Skip": 5.0, "Take": 0.0, "Include": "Total,SUM(Quantity)", "Strict": true,
	}
	if !reflect.DeepEqual(got.body, want) {
		t.Errorf("body %v, want %v", got.body, want)
	}
	if got.path != "/Queries/BM_Inputs?format=ndjson" {
		t.Errorf("path %s", got.path)
	}
	if got.header.Get("Content-Type") != "application/json" || got.header.Get("Accept") != "application/x-ndjson" {
		t.Errorf("headers %v", got.header)
	}
	if _, sent := got.header["X-Idempotency-Key"]; sent {
		t.Error("the marker for net/http was sent")
	}
}

func TestInvalidQueryIsNotSent(t *testing.T) {
	c := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("a request was sent") })
	for name, where := range map[string][]client.Filter{
		"unknown field":         {{Field: "Colour", Values: []string{"x"}}},
		"wrong operator":        {{Field: "InvoiceID", Operator: record.GreaterThan, Values: []string{"x"}}},
		"no value":              {{Field: "InvoiceID"}},
		"two values for one":    {{Field: "InvoiceID", Values: []string{"x", "y"}}},
		"one value for Between": {{Field: "InvoiceID", Operator: record.Between, Values: []string{"x"}}},
		"no values for In":      {{Field: "InvoiceID", Operator: record.In}},
		"duplicate filter":      {{Field: "InvoiceID", Values: []string{"x"}}, {Field: "InvoiceID", Values: []string{"y"}}},
	} {
		if _, err := c.Rows(context.Background(), client.Query{Kind: kind(t, "SO_Totals"), Where: where}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := c.Rows(context.Background(), client.Query{Kind: kind(t, "BM_Inputs"), Where: []client.Filter{
		{Field: "SubAssemblyExplodePolicy", Operator: record.In, Values: []string{"256"}},
	}}); err == nil {
		t.Error("no error for the byte 256")
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
			rows, err := serveWith(t, recording(&got, reply{count: "correct"}.ServeHTTP), c.options).
				Rows(context.Background(), client.Query{Kind: kind(t, "SO_Totals")})
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
	session, err := c.Login(context.Background(), "jsmith", "secret")
	if err != nil {
		t.Fatal(err)
	}
	if session.SessionID != "s1" || session.DisplayName != "J. Smith" {
		t.Errorf("session %+v", session)
	}
	if want := map[string]any{"UserName": "jsmith", "Password": "secret"}; got.path != "/auth" || !reflect.DeepEqual(got.body, want) {
		t.Errorf("sent %s %v", got.path, got.body)
	}
	if got.header.Get("Authorization") != "" {
		t.Error("the login has credentials")
	}
	if err := c.Logout(context.Background()); err != nil {
		t.Fatal(err)
	}
	if got.path != "/auth/logout" || got.header.Get("X-Ss-Id") != "s1" || got.header.Get("Authorization") != "" {
		t.Errorf("logout: %s with %v", got.path, got.header)
	}
}

func TestPageAndCountResults(t *testing.T) {
	var got received
	body := `{"Offset":10,"Results":[{"InvoiceID":"D1"},{"InvoiceID":"D2","InvoiceTotal":0.10}],"Total":12403,"Meta":{"Total":"12403"},"ResponseStatus":{}}`
	c := serve(t, recording(&got, respond(200, "application/json; charset=utf-8", body)))
	page, err := c.Page(context.Background(), client.Query{Kind: kind(t, "SO_Totals"), Take: new(int64(2))})
	if err != nil {
		t.Fatal(err)
	}
	if page.Offset != 10 || page.Total != 12403 || page.Meta["Total"] != "12403" || len(page.Rows) != 2 || page.Rows[1].Text("InvoiceTotal") != "0.10" {
		t.Errorf("page %+v", page)
	}
	n, err := c.Count(context.Background(), client.Query{Kind: kind(t, "SO_Totals"), Skip: 3, OrderBy: []string{"InvoiceID"}})
	if err != nil || n != 12403 {
		t.Errorf("count %d, %v", n, err)
	}
	if want := map[string]any{"Take": 0.0, "Include": "Total"}; !reflect.DeepEqual(got.body, want) {
		t.Errorf("count sent %v, want %v", got.body, want)
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
		_, err := serve(t, h).Page(context.Background(), client.Query{Kind: kind(t, "SO_Totals")})
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

func TestDownloadVerifiesDigest(t *testing.T) {
	const text = "InvoiceID\r\nD1\r\n"
	correct := fmt.Sprintf("sha-256=%x", sha256.Sum256([]byte(text)))
	csv := func(digest string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Want-Digest") != "sha-256" || r.URL.Query().Get("format") != "csv" {
				t.Errorf("request %s with %v", r.URL, r.Header)
			}
			w.Header().Set("Trailer", wire.HeaderDigest)
			respond(200, "text/csv; charset=utf-8", text)(w, r)
			w.(http.Flusher).Flush()
			if digest == "abort" {
				panic(http.ErrAbortHandler)
			}
			w.Header().Set(wire.HeaderDigest, digest)
		}
	}
	q := client.Query{Kind: kind(t, "SO_Totals")}
	var out bytes.Buffer
	n, _, err := serve(t, csv(correct)).Download(context.Background(), q, "csv", &out)
	if err != nil || n != int64(len(text)) || out.String() != text {
		t.Errorf("%d bytes %q, %v", n, out.String(), err)
	}
	for _, digest := range []string{"", "sha-256=00", "abort"} {
		_, _, err := serve(t, csv(digest)).Download(context.Background(), q, "csv", io.Discard)
		if !client.Is(err, client.Incomplete) {
			t.Errorf("digest %q: error %v, want incomplete", digest, err)
		}
	}
	if _, notes, err := serve(t, func(w http.ResponseWriter, r *http.Request) {
		respond(200, "text/csv", text)(w, r)
		w.(http.Flusher).Flush()
	}).Download(context.Background(), q, "csv", io.Discard); err != nil || !notes.Unverified {
		t.Errorf("without a digest: error %v, notes %+v", err, notes)
	}
	full := errors.New("disk full")
	if _, _, err := serve(t, csv(correct)).Download(context.Background(), q, "csv", failingWriter{full}); !errors.Is(err, full) {
		t.Errorf("error %v, want that of the writer", err)
	}
	if _, _, err := serve(t, csv(correct)).Download(context.Background(), q, "xls", io.Discard); err == nil {
		t.Error("no error for an unknown format")
	}
}

type failingWriter struct{ err error }

func (f failingWriter) Write([]byte) (int, error) { return 0, f.err }

func TestLogHasNoSecrets(t *testing.T) {
	var text bytes.Buffer
	c := serveWith(t, respond(200, "application/json", `{"SessionId":"canary-session"}`), client.Options{
		Token: "canary-token", Log: slog.New(slog.NewTextHandler(&text, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	if _, err := c.Login(context.Background(), "jsmith", "canary-password"); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Page(context.Background(), client.Query{Kind: kind(t, "SO_Totals")}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text.String(), "/Queries/SO_Totals") || strings.Contains(text.String(), "canary") {
		t.Errorf("log:\n%s", &text)
	}
}
