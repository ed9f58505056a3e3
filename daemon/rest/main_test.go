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

// run runs the tests, and fails where they leave a goroutine behind.
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

// demo is a daemon with the demo records, which the tests share that leave it
// as it is. It is started by the first of them.
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
		if d.dir, d.err = os.MkdirTemp("", "whd-rest-test"); d.err == nil {
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

// transport is plain: what a test wants to be different from the standard, it
// says itself.
var transport = &http.Transport{DisableCompression: true}

// client asks one daemon.
type client struct {
	t       testing.TB
	url     string
	headers []string // "Name: value", sent with every request
}

// asAdmin asks as the user asAdmin.
func asAdmin(t testing.TB, i *daemontest.Instance) client {
	return stranger(t, i).with(basic("admin", daemontest.AdminPassword))
}

// stranger asks without any credentials.
func stranger(t testing.TB, i *daemontest.Instance) client { return client{t: t, url: i.URL} }

func (c client) with(headers ...string) client {
	c.headers = append(c.headers[:len(c.headers):len(c.headers)], headers...)
	return c
}

func basic(user, password string) string {
	r := http.Request{Header: make(http.Header)}
	r.SetBasicAuth(user, password)
	return "Authorization: " + r.Header.Get("Authorization")
}

// answer is a reply that was read to its end.
type answer struct {
	status int
	header http.Header
	http   *http.Response
	body   string
}

// do sends a request, written like "GET /path", and reads the whole reply.
func (c client) do(line, body string, headers ...string) answer {
	c.t.Helper()
	a, err := c.try(line, body, headers...)
	if err != nil {
		c.t.Fatalf("%s: %v", line, err)
	}
	return a
}

// try is do where the reply may break off.
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

// envelope is the reply to a query, its rows undecoded.
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

// want checks a reply's status.
func (a answer) want(t testing.TB, status int) answer {
	t.Helper()
	if a.status != status {
		t.Errorf("status %d, want %d: %s", a.status, status, shortened(a.body))
	}
	return a
}

// wantHeader checks a reply's header; "" is one that is absent.
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
