package client_test

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
)

// failFirst handles the first n requests with fail and later ones with a row.
func failFirst(requests *atomic.Int32, n int32, fail http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		if requests.Add(1) <= n {
			fail(w, r)
			return
		}
		reply{lines: []string{`{"Class":"A"}`}, count: "correct"}.ServeHTTP(w, r)
	}
}

func abort(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

// TestReadsAreRetried: reads are retried after temporary errors, up to Options.Retries.
func TestReadsAreRetried(t *testing.T) {
	unavailable := respond(503, "application/json", `{"ResponseStatus":{"ErrorCode":"ServiceUnavailable"}}`)
	for name, tt := range map[string]struct {
		fail     http.HandlerFunc
		failures int32 // number of requests that fail
		retries  int   // Options.Retries
		requests int32 // expected number
	}{
		"502":   {fail: respond(502, "text/html", "<html>"), failures: 2, retries: 2, requests: 3},
		"503":   {fail: unavailable, failures: 1, retries: 3, requests: 2},
		"504":   {fail: respond(504, "text/plain", "late"), failures: 1, retries: 1, requests: 2},
		"abort": {fail: abort, failures: 1, retries: 3, requests: 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lines, err := readClass(t, tt.fail, tt.failures, tt.retries, tt.requests)
			if err != nil {
				t.Fatalf("got error %v, want the row of the last request", err)
			}
			if len(lines) != 1 {
				t.Errorf("got the rows %q, want one", lines)
			}
		})
	}
}

// TestReadsFailAfterRetries: other errors are not retried, and temporary ones only so many times.
func TestReadsFailAfterRetries(t *testing.T) {
	status := func(code int) http.HandlerFunc { return respond(code, "text/plain", "") }
	html := respond(200, "text/html", "<html>")
	truncated := reply{lines: []string{`{"Class":"A"}`}, abort: true}.ServeHTTP
	for name, tt := range map[string]struct {
		fail     http.HandlerFunc
		failures int32 // number of requests that fail
		retries  int   // Options.Retries
		requests int32 // expected number
		want     client.Kind
	}{
		"too many failures": {fail: status(503), failures: 9, retries: 2, requests: 3, want: client.Failed},
		"no retries":        {fail: status(503), failures: 1, retries: 0, requests: 1, want: client.Failed},
		"500":               {fail: status(500), failures: 1, retries: 3, requests: 1, want: client.Failed},
		"400":               {fail: status(400), failures: 1, retries: 3, requests: 1, want: client.Rejected},
		"401":               {fail: status(401), failures: 1, retries: 3, requests: 1, want: client.Unauthorized},
		"wrong media type":  {fail: html, failures: 1, retries: 3, requests: 1, want: client.Failed},
		"truncated":         {fail: truncated, failures: 1, retries: 3, requests: 1, want: client.Incomplete},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := readClass(t, tt.fail, tt.failures, tt.retries, tt.requests)
			wantKind(t, err, tt.want)
		})
	}
}

// readClass reads the rows of DB_Class from a service with failing requests, and checks the number
// of requests.
func readClass(
	t *testing.T, fail http.HandlerFunc, failures int32, maxRetries int, wantRequests int32,
) ([]string, error) {
	t.Helper()
	var requests, retries atomic.Int32
	c := serveWith(t, failFirst(&requests, failures, fail), client.Options{
		Retries:  maxRetries,
		Retrying: func(error, time.Duration) { retries.Add(1) },
	})
	rows, err := c.Rows(t.Context(), client.Query{Kind: kind(t, "DB_Class")})
	var lines []string
	if err == nil {
		lines, err = collect(rows)
	}
	if got := requests.Load(); got != wantRequests {
		t.Errorf("sent %d requests, want %d", got, wantRequests)
	}
	if got := retries.Load(); got != wantRequests-1 {
		t.Errorf("Retrying was called %d times, want %d", got, wantRequests-1)
	}
	return lines, err
}

func TestChangesAreNotRetried(t *testing.T) {
	failures := map[string]http.HandlerFunc{
		"503":   respond(503, "text/plain", ""),
		"abort": abort,
	}
	for name, change := range map[string]func(context.Context, *client.Client) error{
		"publish": func(ctx context.Context, c *client.Client) error {
			_, err := c.PublishEvent(ctx, "debtor.updated", "x")
			return err
		},
		"add": func(ctx context.Context, c *client.Client) error {
			_, err := c.AddSubscriber(ctx, wire.SubscriberRequest{})
			return err
		},
		"delete": func(ctx context.Context, c *client.Client) error {
			return c.RemoveSubscriber(ctx, "1")
		},
		"bulk": func(ctx context.Context, c *client.Client) error {
			_, err := c.RetryMessages(ctx, url.Values{})
			return err
		},
	} {
		for failure, fail := range failures {
			t.Run(name+" "+failure, func(t *testing.T) {
				var requests atomic.Int32
				c := serveWith(t, failFirst(&requests, 9, fail), client.Options{Retries: 3})
				if err := change(t.Context(), c); err == nil {
					t.Error("got no error, want that of the first request")
				}
				if n := requests.Load(); n != 1 {
					t.Errorf("sent %d requests, want 1", n)
				}
			})
		}
	}
}

func TestCancelEndsRetries(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c := serveWith(t, respond(503, "text/plain", ""), client.Options{
		Retries:  1 << 30, // in fact without a limit
		Retrying: func(error, time.Duration) { cancel() },
	})
	_, err := c.Rows(ctx, client.Query{Kind: kind(t, "DB_Class")})
	wantKind(t, err, client.Cancelled)
}
