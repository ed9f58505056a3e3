package rest_test

import (
	"strings"
	"testing"

	"github.com/bizhook/whd/daemon/daemontest"
)

func TestMaxRequests(t *testing.T) {
	i := startWithView(t, "SY_Filters", endless, "--http-max-requests", "2")
	var busy []*socket
	for range 2 {
		w := dial(t, i)
		w.send("", "GET /csv/reply/SY_FiltersQuery HTTP/1.1")
		if got := w.line(); got != "HTTP/1.1 200 OK" {
			t.Fatal(got)
		}
		busy = append(busy, w)
	}
	c := asAdmin(t, i)
	a := c.do("GET /json/reply/DB_ClassQuery", "").want(t, 503).wantHeader(t, "Retry-After", "1")
	s := a.envelope(t).ResponseStatus
	if s.ErrorCode != "ServiceUnavailable" || !strings.Contains(s.Message, "busy") {
		t.Errorf("got %s, want ServiceUnavailable, since the service is busy", a.body)
	}
	c.do("GET /auth", "").want(t, 503)
	for _, path := range []string{"/healthz", "/readyz", "/metrics"} {
		c.do("GET "+path, "").want(t, 200)
	}
	for _, w := range busy {
		w.conn.Close()
	}
	for c.do("GET /json/reply/DB_ClassQuery", "").status != 200 { // until the slot is released
	}
}

// TestIncompleteBodyTakesNoSlot checks that slow bodies do not occupy slots of
// concurrent requests.
func TestIncompleteBodyTakesNoSlot(t *testing.T) {
	i := daemontest.Start(t, "--http-max-requests", "1")
	first, _ := holdSlot(t, i, "/json/reply/DB_ClassQuery", "{}")
	second, _ := holdSlot(t, i, "/auth", "{}")
	asAdmin(t, i).do("GET /json/reply/DB_ClassQuery", "").want(t, 200)
	for _, finish := range []func() (answer, error){first, second} {
		if a, err := finish(); err != nil || a.status != 200 {
			t.Errorf("got %+v (%v), want status 200", a, err)
		}
	}
}

func TestLargeBodyIsRejectedBeforeItIsSent(t *testing.T) {
	i := daemontest.Start(t, "--http-max-body", "2KiB")
	w := dial(t, i)
	w.send("", "POST /json/reply/DB_ClassQuery HTTP/1.1", "Content-Length: 1000000000000", "Expect: 100-continue")
	a, err := w.readResponse()
	if err != nil || a.status != 413 {
		t.Fatalf("got %+v (%v), want status 413", a, err)
	}
	// A body of unknown length is read up to the limit.
	w = dial(t, i)
	w.send("900\r\n"+strings.Repeat(" ", 0x900)+"\r\n", "POST /json/reply/DB_ClassQuery HTTP/1.1",
		"Transfer-Encoding: chunked")
	if a, err = w.readResponse(); err != nil || a.status != 413 {
		t.Fatalf("got %+v (%v), want status 413", a, err)
	}
	c := asAdmin(t, i)
	c.do("POST /json/reply/DB_ClassQuery", strings.Repeat(" ", 2046)+"{}").want(t, 200)
	c.do("POST /json/reply/DB_ClassQuery", strings.Repeat(" ", 2047)+"{}").want(t, 413)
}

func TestIncompleteBody(t *testing.T) {
	w := dial(t, demo.start(t))
	w.send("{", "POST /json/reply/DB_ClassQuery HTTP/1.1", "Content-Length: 2")
	if err := w.conn.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if a, err := w.readResponse(); err == nil && a.status != 400 {
		t.Errorf("got %+v, want status 400 or a closed connection", a)
	}
}

func TestHeadFarAboveTheLimit(t *testing.T) {
	c := asAdmin(t, demo.start(t))
	// Far above the limit the head is refused while it arrives.
	a := c.do("GET /json/reply/DB_ClassQuery", "", "X-Large: "+strings.Repeat("x", 1<<20))
	a.want(t, 431)
	c.do("GET /json/reply/DB_ClassQuery?Class="+strings.Repeat("x", 60<<10), "").want(t, 200)
}

func TestTwoCredentials(t *testing.T) {
	i := daemontest.Start(t) // not shared, since failed logins are limited by address
	c := anonymous(t, i)
	good := basic("admin", daemontest.AdminPassword)
	bad := basic("admin2", "wrong")
	session := asAdmin(t, i).do("GET /auth?UserName=admin&Password=a+password+for+tests+only", "").want(t, 200).header.Get("Set-Cookie")
	session, _, _ = strings.Cut(session, ";")
	id := strings.TrimPrefix(session, "ss-id=")
	for _, test := range []struct {
		headers []string
		status  int
	}{
		{[]string{good, "X-ss-id: wrong"}, 200}, // Authorization has precedence
		{[]string{good, "Cookie: ss-id=wrong"}, 200},
		{[]string{bad, "X-ss-id: " + id}, 401},
		{[]string{"Authorization: Bearer wrong", "Cookie: " + session}, 401},
		{[]string{"X-ss-id: " + id, "Cookie: ss-id=wrong"}, 200}, // then the header
		{[]string{"X-ss-id: wrong", "Cookie: " + session}, 401},
		{[]string{"Cookie: ss-id=wrong", "Cookie: " + session}, 401}, // then the first cookie
	} {
		c.do("GET /json/reply/DB_ClassQuery?Take=1", "", test.headers...).want(t, test.status)
	}
}
