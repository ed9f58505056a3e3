package rest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/daemontest"
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

// run runs the tests, and fails if they leak goroutines.
func run(m *testing.M) int {
	code := m.Run()
	if err := demo.stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = max(code, 1)
	}
	transport.CloseIdleConnections()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	return code
}

// demo is a daemon with the demo records, shared by the tests that do not modify it.
// The first of them starts it.
var demo sharedDaemon

type sharedDaemon struct {
	once sync.Once
	dir  string
	i    *daemontest.Instance
	err  error
}

func (d *sharedDaemon) start(t testing.TB) *daemontest.Instance {
	t.Helper()
	d.once.Do(func() {
		d.dir, d.err = os.MkdirTemp("", "whd-rest-test")
		if d.err == nil {
			daemontest.Prepare(t, d.dir, "--demo")
			d.i, d.err = daemontest.Open(d.dir, "--demo")
		}
	})
	if d.err != nil {
		t.Fatal(d.err)
	}
	return d.i
}

func (d *sharedDaemon) stop() error {
	if d.i != nil {
		d.err = d.i.Stop()
	}
	if d.dir != "" {
		_ = os.RemoveAll(d.dir)
	}
	return d.err
}

// transport is a plain HTTP transport: tests set all headers themselves.
var transport = &http.Transport{DisableCompression: true}

// client sends requests to one daemon.
type client struct {
	t       testing.TB
	url     string
	headers []string // "Name: value", sent with every request
}

// asAdmin returns a client with the credentials of the user admin.
func asAdmin(t testing.TB, i *daemontest.Instance) client {
	return anonymous(t, i).with(basic("admin", daemontest.AdminPassword))
}

// anonymous returns a client without credentials.
func anonymous(t testing.TB, i *daemontest.Instance) client { return client{t: t, url: i.URL} }

func (c client) with(headers ...string) client {
	c.headers = append(c.headers[:len(c.headers):len(c.headers)], headers...)
	return c
}

func basic(user, password string) string {
	r := http.Request{Header: make(http.Header)}
	r.SetBasicAuth(user, password)
	return "Authorization: " + r.Header.Get("Authorization")
}

// answer is a response with its body.
type answer struct {
	status int
	header http.Header
	http   *http.Response
	body   string
}

// do sends a request, written like "GET /path", and reads the whole response.
func (c client) do(line, body string, headers ...string) answer {
	c.t.Helper()
	a, err := c.try(line, body, headers...)
	if err != nil {
		c.t.Fatalf("%s: %v", line, err)
	}
	return a
}

// try is do for responses that may be aborted.
func (c client) try(line, body string, headers ...string) (answer, error) {
	c.t.Helper()
	reply, err := transport.RoundTrip(c.request(line, body, headers...))
	if err != nil {
		return answer{}, err
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	return answer{reply.StatusCode, reply.Header, reply, string(text)}, err
}

func (c client) request(line, body string, headers ...string) *http.Request {
	c.t.Helper()
	method, path, _ := strings.Cut(line, " ")
	var content io.Reader
	if body != "" {
		content = bytes.NewReader([]byte(body))
	}
	r, err := http.NewRequestWithContext(c.t.Context(), method, c.url+path, content)
	if err != nil {
		c.t.Fatal(err)
	}
	for _, h := range append(c.headers[:len(c.headers):len(c.headers)], headers...) {
		name, value, _ := strings.Cut(h, ": ")
		if name == "Host" {
			r.Host = value
		}
		r.Header.Add(name, value)
	}
	return r
}

// envelope is a query response with its rows not decoded.
type envelope struct {
	Offset         *int64
	Total          *int64
	Results        []json.RawMessage
	Meta           map[string]string
	ResponseStatus wire.ResponseStatus
}

func (a answer) envelope(t testing.TB) envelope {
	t.Helper()
	var e envelope
	d := json.NewDecoder(strings.NewReader(a.body))
	d.DisallowUnknownFields()
	if err := d.Decode(&e); err != nil {
		t.Fatalf("status %d: %v in %s", a.status, err, shortened(a.body))
	}
	return e
}

// want checks the status of a response.
func (a answer) want(t testing.TB, status int) answer {
	t.Helper()
	if a.status != status {
		t.Errorf("status %d, want %d: %s", a.status, status, shortened(a.body))
	}
	return a
}

// wantHeader checks a header of a response; "" means absent.
func (a answer) wantHeader(t testing.TB, name, value string) answer {
	t.Helper()
	if got := strings.Join(a.header.Values(name), ", "); got != value {
		t.Errorf("%s is %q, want %q", name, got, value)
	}
	return a
}

func shortened(text string) string {
	if len(text) > 400 {
		return text[:400] + "..."
	}
	return text
}

func (a answer) wantMessage(t testing.TB, part string) {
	t.Helper()
	if !strings.Contains(a.body, part) {
		t.Errorf("%s does not contain %q", a.body, part)
	}
}
