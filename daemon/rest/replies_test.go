package rest_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client/wire"
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
	deadline := time.Now().Add(time.Second)
	for time.Now().Before(deadline) {
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
	admin := asAdmin(t, i)
	admin.do("GET /Queries/DB_Class?Take=1", "").want(t, 200) // verifies the password
	admin.do("GET /types/csharp", "").want(t, 200)
	c.do("GET /openapi.json", "").want(t, 200) // it is held once
}

// TestRepliesOfChangesAreSent checks that the responses of requests that have changed something
// are sent although the memory for responses is full: their clients would repeat them.
func TestRepliesOfChangesAreSent(t *testing.T) {
	i := daemontest.Start(t, "--demo", "--http-reply-memory", "16MiB")
	c := asAdmin(t, i)
	for n := 0; ; n++ {
		if c.do("GET /types/csharp", "").status == 503 {
			break
		}
		if n == 2000 {
			t.Fatal("2,000 unread replies fit into 16 MiB")
		}
		unread(t, i, "GET /types/csharp HTTP/1.1", c.headers[0])
	}
	subscriber := read[wire.Subscriber](t, c.do("POST /Webhooks/Subscribers", `{"Name":"Shop"}`).want(t, 201))
	subscriptions := make([]string, 100) // the responses to a list are held together
	for n := range subscriptions {
		subscriptions[n] = fmt.Sprintf(`{"SubscriberID":%q,"EventName":"salesorder.created","URL":"https://example.com/%0*d"}`, subscriber.RecID, 1000, n)
	}
	a := c.do("POST /json/reply/WebhooksSubscriptionsPOSTRequest[]",
		"["+strings.Join(subscriptions, ",")+"]").want(t, 200)
	if n := strings.Count(a.body, "https://example.com/"); n != len(subscriptions) {
		t.Errorf("the response has %d subscriptions, want %d: %.200s", n, len(subscriptions), a.body)
	}
}
