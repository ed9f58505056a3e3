package client_test

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
)

// serve runs a handler on a TCP port and returns a client for it.
func serve(t testing.TB, h http.HandlerFunc) *client.Client {
	t.Helper()
	return serveWith(t, h, client.Options{})
}

func serveWith(t testing.TB, h http.HandlerFunc, o client.Options) *client.Client {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	o.URL = server.URL
	c, err := client.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	if o.Wire == nil {
		client.RequestCompression(c)
	}
	return c
}

// reply is a stream of rows in the published format, with optional errors.
type reply struct {
	lines  []string
	gzip   bool
	count  string // value of the trailer; "correct" for the number of lines, empty for none
	abort  bool   // abort the connection after the lines
	header bool   // send the count as a header, as in replies without streaming
}

func (s reply) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	io.Copy(io.Discard, r.Body)
	count := s.count
	if count == "correct" {
		count = fmt.Sprint(len(s.lines))
	}
	h := w.Header()
	h.Set("Content-Type", "application/x-ndjson")
	if s.header {
		h.Set(wire.HeaderRowCount, count)
	} else {
		h.Set("Trailer", wire.HeaderRowCount)
	}
	s.write(w, r)
	if s.abort {
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
	if !s.header && count != "" {
		h.Set(wire.HeaderRowCount, count)
	}
}

func (s reply) write(w http.ResponseWriter, r *http.Request) {
	text := strings.Join(s.lines, "\n") + "\n"
	if len(s.lines) == 0 {
		text = ""
	}
	if !s.gzip {
		io.WriteString(w, text)
		return
	}
	if !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		panic("the client does not accept gzip")
	}
	w.Header().Set("Content-Encoding", "gzip")
	z := gzip.NewWriter(w)
	io.WriteString(z, text)
	if s.abort {
		z.Flush()
		return
	}
	z.Close()
}

// respond returns a handler with a fixed reply.
func respond(status int, media, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", media)
		w.Header().Set(wire.HeaderRequestID, "id-of-header")
		w.WriteHeader(status)
		io.WriteString(w, body)
	}
}

func kind(t testing.TB, name string) *record.Kind {
	t.Helper()
	k, ok := record.Builtin().Lookup(name)
	if !ok {
		t.Fatalf("no kind %s", name)
	}
	return k
}

// collect reads a stream to its end.
func collect(rows *client.Rows) (lines []string, err error) {
	for row, err := range rows.All() {
		if err != nil {
			return lines, err
		}
		lines = append(lines, string(row.JSON()))
	}
	return lines, nil
}
