package rest_test

import (
	"context"
	"io"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/rest"
	"github.com/bizhook/whd/daemon/rest/edge"
	"github.com/bizhook/whd/daemon/storage"
)

// startWithTimeLimits runs a daemon that reads SY_Filters from a view that returns no row in time.
// The limits are in a settings file, so that tests can change them.
func startWithTimeLimits(t *testing.T) *daemontest.Instance {
	t.Helper()
	settings := filepath.Join(t.TempDir(), "whd.toml")
	err := os.WriteFile(settings, []byte("[query]\ntimeout = '100ms'\ncount_timeout = '100ms'\n"), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	return startWithView(t, "SY_Filters", noRows, "--config", settings)
}

// TestStatementTimeLimit checks that a statement ends after query.timeout, with status 504, and that
// its connection can be used again.
func TestStatementTimeLimit(t *testing.T) {
	i := startWithTimeLimits(t)
	c := asAdmin(t, i)
	for _, line := range []string{
		"GET /json/reply/SY_FiltersQuery",
		"GET /Queries/SY_Filters?Take=5&OrderBy=Name",
		"HEAD /csv/reply/SY_FiltersQuery",
	} {
		a := c.do(line, "").want(t, 504).wantHeader(t, "Retry-After", "")
		if !strings.HasPrefix(line, "HEAD") && a.envelope(t).ResponseStatus.ErrorCode != "Timeout" {
			t.Errorf("%s: got %s, want the error Timeout", line, a.body)
		}
		checkNoInternals(t, a)
	}

	i.Set(t, "query.timeout", "0s")
	c.do("GET /json/reply/IN_ColoursQuery", "").want(t, 200)
}

// TestCountTimeLimit checks that a total that takes too long is left out, unless the request
// includes it.
func TestCountTimeLimit(t *testing.T) {
	c := asAdmin(t, startWithTimeLimits(t))
	a := c.do("GET /json/reply/SY_FiltersQuery?Take=0", "").want(t, 200)
	if e := a.envelope(t); *e.Total != 0 || !strings.Contains(e.Meta["Total"], "not counted") {
		t.Errorf("got %s, want the total 0 with a note that it was not counted", a.body)
	}
	c.do("GET /json/reply/SY_FiltersQuery?Take=0&Include=Total", "").want(t, 504)
}

// TestStatementTimeLimitIsResetByRows checks that query.timeout limits the time of each row, not that
// of all. A busy machine may need long for a row, so that longer limits are tried, too.
func TestStatementTimeLimitIsResetByRows(t *testing.T) {
	i := startWithView(t, "SY_Filters", endless, "--query-total", "asked")
	var err error
	for limit := time.Second; limit <= 16*time.Second; limit *= 2 {
		i.Set(t, "query.timeout", limit.String())
		err = readFor(asAdmin(t, i), 2*limit)
		if err == nil {
			return
		}
	}
	t.Errorf("reading rows for twice the limit: got error %v, want none", err)
}

// readFor reads endless rows for a while, with pauses in which the service waits too.
func readFor(c client, span time.Duration) error {
	reply, err := transport.RoundTrip(c.request("GET /csv/reply/SY_FiltersQuery", ""))
	if err != nil {
		return err
	}
	defer reply.Body.Close()
	end := time.Now().Add(span)
	for time.Now().Before(end) {
		if _, err := io.CopyN(io.Discard, reply.Body, 64<<10); err != nil {
			return err
		}
		time.Sleep(10 * time.Millisecond)
	}
	return nil
}

// TestDisconnectCancelsStatement checks that the statement of a client that has disconnected ends,
// which releases its slot and its connection to the records.
func TestDisconnectCancelsStatement(t *testing.T) {
	for name, view := range map[string]string{"before the first row": noRows, "amid the rows": endless} {
		t.Run(name, func(t *testing.T) {
			i := startWithView(t, "SY_Filters", view, "--query-timeout", "0", "--http-max-requests", "1")
			_, w := holdSlot(t, i, "/json/reply/SY_FiltersQuery", "{}")
			if _, err := io.WriteString(w.conn, "{}"); err != nil {
				t.Fatal(err)
			}
			if view == endless {
				w.line() // the response has started
			}
			w.conn.Close()
			i.Log.Await(t, "msg=request", "aborted=true")
			asAdmin(t, i).do("GET /json/reply/IN_ColoursQuery", "").want(t, 200)
			if err := i.Stop(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestWriteStallDisconnects checks that a client that reads nothing receives the buffered data, and
// that its connection is closed then.
func TestWriteStallDisconnects(t *testing.T) {
	i := startWithView(t, "SY_Filters", endless, "--http-write-stall", "150ms")
	w := dial(t, i)
	w.send("", "GET /csv/reply/SY_FiltersQuery HTTP/1.1")
	line := i.Log.Await(t, "msg=request", "path=/csv/reply/SY_FiltersQuery", "aborted=true")
	if !strings.Contains(line, "status=200") {
		t.Errorf("the log has %s, want status=200", line)
	}
	if a, err := w.readResponse(); err == nil {
		t.Errorf("a response of %d bytes looks complete", len(a.body))
	}
}

// TestWriteStallWithPipelinedRequests sends requests without reading the responses, so that the
// server's writes block between two requests, until it disconnects. A server that does not
// disconnect blocks the test until its time limit.
func TestWriteStallWithPipelinedRequests(t *testing.T) {
	i := daemontest.Start(t, "--http-write-stall", "150ms")
	w := dial(t, i)
	request := strings.Join([]string{
		"GET /json/reply/DB_ClassQuery?callback=" + strings.Repeat("x", 30000) + " HTTP/1.1",
		"Host: whd",
		basic("admin", daemontest.AdminPassword),
		"",
		"",
	}, "\r\n")
	var err error
	for err == nil {
		_, err = io.WriteString(w.conn, request)
	}
	if err := i.Stop(); err != nil {
		t.Error(err)
	}
}

// TestWriteStallDoesNotIncludeTheWait checks that the time before the first byte of a response does
// not count.
func TestWriteStallDoesNotIncludeTheWait(t *testing.T) {
	i := startWithView(t, "SY_Filters", noRows, "--http-write-stall", "500ms", "--query-timeout", "700ms")
	w := dial(t, i)
	for range 2 { // each takes longer than the stall
		w.send("", "GET /json/reply/SY_FiltersQuery HTTP/1.1")
		a, err := w.readResponse()
		if err != nil || a.status != 504 {
			t.Fatalf("got %+v (%v), want status 504", a, err)
		}
	}
	w.send("", "POST /json/reply/IN_ColoursQuery HTTP/1.1", "Content-Length: 2", "Expect: 100-continue")
	if got := w.line(); got != "HTTP/1.1 100 Continue" {
		t.Errorf("got %s, want HTTP/1.1 100 Continue", got)
	}
}

// slowLog is a log that takes longer than clients may read nothing.
type slowLog struct{ slog.Handler }

func (slowLog) Enabled(context.Context, slog.Level) bool { return true }

func (slowLog) Handle(context.Context, slog.Record) error {
	time.Sleep(2 * time.Second)
	return nil
}

// TestWriteStallDoesNotIncludeTheLog checks that a response is complete although its line of the log
// takes longer than the stall.
func TestWriteStallDoesNotIncludeTheLog(t *testing.T) {
	server, _ := newServer(t, storage.Config{Dir: t.TempDir()}, func(c *rest.Config) {
		c.Log = slog.New(slowLog{slog.DiscardHandler})
		c.Edge.WriteStall = time.Second
		c.Options = func() *edge.Options { return &edge.Options{Registry: record.Builtin(), LogLines: true} }
	})
	s := httptest.NewServer(server)
	defer s.Close()
	client{t: t, url: s.URL}.do("GET /healthz", "").want(t, 200)
}
