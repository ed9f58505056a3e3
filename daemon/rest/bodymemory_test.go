package rest_test

import (
	"fmt"
	"io"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/audit"
	"github.com/bizhook/whd/daemon/rest"
	"github.com/bizhook/whd/daemon/storage"
)

// TestUnauthenticatedBodiesAreBounded checks that incomplete bodies of
// unauthenticated requests can only use their share of the memory for bodies: small
// bodies and those of an API key are still accepted.
func TestUnauthenticatedBodiesAreBounded(t *testing.T) {
	var accounts *account.Service
	handler, _ := newServer(t, storage.Config{Dir: t.TempDir()}, func(c *rest.Config) { accounts = c.Accounts })
	key, _, err := accounts.As(audit.System()).AddKey(t.Context(), account.NewKey{
		Name: "reader",
		Role: account.Reader,
	})
	if err != nil {
		t.Fatal(err)
	}

	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	begin := func(bytes int) *socket {
		w := dialURL(t, server.URL)
		_, err := fmt.Fprintf(w.conn, "POST /json/reply/DB_ClassQuery HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s", 1<<20, strings.Repeat(" ", bytes))
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	unauthenticated := client{t: t, url: server.URL}
	large, path := strings.Repeat(" ", 100<<10)+"{}", "POST /json/reply/DB_ClassQuery"
	for range 8 { // the announced length does not count
		begin(4<<10 - 1)
	}

	unauthenticated.do(path, large).want(t, 200)
	var slow []*socket
	for range 4 { // a quarter of 16 times the largest body
		slow = append(slow, begin(1<<20-1))
	}

	held := fmt.Sprintf("\nwhd_http_body_bytes %v\n", float64(4*(1<<20-4<<10)))
	for !strings.Contains(unauthenticated.do("GET /metrics", "").body, held) { // until all of it has arrived
	}
	unauthenticated.do(path, large).want(t, 503).wantHeader(t, "Retry-After", "1").
		wantMessage(t, "ServiceUnavailable")
	unauthenticated.do(path, strings.Repeat(" ", 4000)+"{}").want(t, 200)
	unauthenticated.do(path, large, "Authorization: Bearer "+key).want(t, 200)
	for _, w := range slow { // they may still be completed
		if _, err := io.WriteString(w.conn, "\n"); err != nil {
			t.Fatal(err)
		}
		if a, err := w.readResponse(); err != nil || a.status != 200 {
			t.Errorf("got %+v (%v), want status 200", a, err)
		}
	}

	for !strings.Contains(unauthenticated.do("GET /metrics", "").body, "\nwhd_http_body_bytes 0\n") {
	}
	unauthenticated.do(path, large).want(t, 200)
}
