package rest_test

import (
	"fmt"
	"io"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/erp"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/rest"
	"github.com/bizhook/whd/daemon/storage"
)

// TestIncompleteBodyClosesConnection checks that the connection is closed after BodyTimeout if
// a body is incomplete, even if it is not read.
func TestIncompleteBodyClosesConnection(t *testing.T) {
	handler, _ := newServer(t, storage.Config{Dir: t.TempDir()},
		func(c *rest.Config) { c.Edge.BodyTimeout = 50 * time.Millisecond })
	server := httptest.NewServer(handler)
	defer server.Close()
	for line, status := range map[string]int{
		"POST /json/reply/DB_ClassQuery": 408,
		"GET /nothing":                   404,
		"GET /healthz":                   200,
		"POST /auth/logout":              408,
	} {
		w := dialURL(t, server.URL)
		fmt.Fprintf(w.conn, "%s HTTP/1.1\r\nHost: whd\r\nContent-Length: 10\r\n\r\n{", line)
		a, err := w.readResponse()
		if err != nil || a.status != status {
			t.Errorf("%s: got %+v (%v), want status %d", line, a, err, status)
		}
		if _, err := w.in.ReadByte(); err != io.EOF {
			t.Errorf("%s: the connection stays open: %v", line, err)
		}
	}
}

// TestBodyTimeoutDoesNotLimitQuery checks that the time limit of the body does not
// apply to the query.
func TestBodyTimeoutDoesNotLimitQuery(t *testing.T) {
	dir := t.TempDir()
	kind, _ := record.Builtin().Lookup("SY_Filters")
	daemontest.Prepare(t, dir)
	makeView(t, dir, kind, noRows)
	handler, _ := newServer(t, storage.Config{
		Dir:    dir,
		ERP:    erp.Config{Sources: map[string]string{kind.Name: "the_view"}},
		Limits: rowLimit(500 * time.Millisecond),
	},
		func(c *rest.Config) { c.Edge.BodyTimeout = 300 * time.Millisecond })
	server := httptest.NewServer(handler)
	defer server.Close()
	w := dialURL(t, server.URL)
	for range 2 {
		fmt.Fprint(w.conn, "POST /json/reply/SY_FiltersQuery HTTP/1.1\r\nHost: whd\r\nContent-Length: 2\r\n\r\n{}")
		if a, err := w.readResponse(); err != nil || a.status != 504 {
			t.Fatalf("got %+v (%v), want status 504", a, err)
		}
	}
}

// rowLimit limits the time of a statement until its next row.
func rowLimit(d time.Duration) func() executor.Limits {
	return func() executor.Limits { return executor.Limits{Row: d} }
}
