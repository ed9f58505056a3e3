package rest_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/bizhook/whd/daemon/daemontest"
)

// socket is a raw connection to a daemon.
type socket struct {
	t    testing.TB
	conn *net.TCPConn
	in   *bufio.Reader
}

func dial(t testing.TB, i *daemontest.Instance) *socket {
	t.Helper()
	return dialURL(t, i.URL)
}

func dialURL(t testing.TB, address string) *socket {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp", u.Host)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return &socket{t, conn.(*net.TCPConn), bufio.NewReader(conn)}
}

// send sends the lines of a request's head with the admin's credentials, and its
// body.
func (w *socket) send(body string, lines ...string) {
	w.t.Helper()
	lines = append(lines, "Host: whd", basic("admin", daemontest.AdminPassword), "", body)
	if _, err := io.WriteString(w.conn, strings.Join(lines, "\r\n")); err != nil {
		w.t.Fatal(err)
	}
}

func (w *socket) line() string {
	w.t.Helper()
	text, err := w.in.ReadString('\n')
	if err != nil {
		w.t.Fatal(err)
	}
	return strings.TrimSpace(text)
}

// readResponse reads a response to its end.
func (w *socket) readResponse() (answer, error) {
	w.t.Helper()
	r, err := http.ReadResponse(w.in, nil)
	if err != nil {
		return answer{}, err
	}
	body, err := io.ReadAll(r.Body)
	return answer{r.StatusCode, r.Header, r, string(body)}, err
}

// holdSlot starts a query that waits for its body: the server sends 100 Continue after
// the request has got its slot.
func holdSlot(t testing.TB, i *daemontest.Instance, path, body string) (finish func() (answer, error), w *socket) {
	t.Helper()
	w = dial(t, i)
	w.send("", "POST "+path+" HTTP/1.1", fmt.Sprintf("Content-Length: %d", len(body)), "Expect: 100-continue")
	if got := w.line(); got != "HTTP/1.1 100 Continue" {
		t.Fatalf("POST %s: got %s, want HTTP/1.1 100 Continue", path, got)
	}
	w.line()
	return func() (answer, error) {
		if _, err := io.WriteString(w.conn, body); err != nil {
			return answer{}, err
		}
		return w.readResponse()
	}, w
}
