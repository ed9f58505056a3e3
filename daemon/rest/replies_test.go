package rest_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/daemontest"
)

// unread requests a path on its own connection, and reads nothing.
func unread(t *testing.T, i *daemontest.Instance, lines ...string) {
	t.Helper()
	w := dial(t, i)
	if err := w.conn.SetReadBuffer(4 << 10); err != nil {
		t.Fatal(err)
	}
	text := strings.Join(lines, "\r\n") + "\r\nHost: localhost\r\n\r\n"
	if _, err := fmt.Fprint(w.conn, strings.Repeat(text, 8)); err != nil { // one may fit into the buffers of the connection
		t.Fatal(err)
	}
}

// TestUnreadDocumentsTakeNoSlot checks that clients that do not read documents leave the only
// slot to others.
func TestUnreadDocumentsTakeNoSlot(t *testing.T) {
	i := daemontest.Start(t, "--demo", "--http-max-requests", "1")
	for range 4 {
		unread(t, i, "GET /openapi.json HTTP/1.1")
	}
	c := asAdmin(t, i)
	for began := time.Now(); time.Since(began) < time.Second; {
		if a := c.do("GET /json/reply/DB_ClassQuery", ""); a.status == 200 {
			return
		}
	}
	c.do("GET /json/reply/DB_ClassQuery", "").want(t, 200)
}

// TestReplyMemory checks that unread replies are counted until their clients are gone, that
// beyond the share of anonymous requests they get a short error, and that clients with
// credentials still get theirs.
func TestReplyMemory(t *testing.T) {
	i := daemontest.Start(t, "--demo", "--http-reply-memory", "16MiB")
	c := anonymous(t, i)
	for n := 0; ; n++ {
		a := c.do("GET /types/csharp", "")
		if a.status == 503 {
			a.wantHeader(t, "Retry-After", "1").wantMessage(t, "too many responses are being read")
			break
		}
		if n == 2000 {
			t.Fatal("2,000 unread replies of an anonymous client fit into a quarter of 16 MiB")
		}
		unread(t, i, "GET /types/csharp HTTP/1.1")
	}
	asAdmin(t, i).do("GET /types/csharp", "").want(t, 200)
	c.do("GET /openapi.json", "").want(t, 200) // it is held once
}
