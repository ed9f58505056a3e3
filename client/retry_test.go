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
	for name, tt := range map[string]struct {
		fail     http.HandlerFunc
		failures int32
		retries  int
		requests int32
		kind     client.Kind
		fails    bool
	}{
		"502":               {respond(502, "text/html", "<html>"), 2, 2, 3, 0, false},
		"503":               {respond(503, "application/json", `{"ResponseStatus":{"ErrorCode":"ServiceUnavailable"}}`), 1, 3, 2, 0, false},
		"504":               {respond(504, "text/plain", "late"), 1, 1, 2, 0, false},
		"abort":             {abort, 1, 3, 2, 0, false},
		"too many failures": {respond(503, "text/plain", ""), 9, 2, 3, client.Failed, true},
		"no retries":        {respond(503, "text/plain", ""), 1, 0, 1, client.Failed, true},
		"500":               {respond(500, "text/plain", ""), 1, 3, 1, client.Failed, true},
		"400":               {respond(400, "text/plain", ""), 1, 3, 1, client.Rejected, true},
		"401":               {respond(401, "text/plain", ""), 1, 3, 1, client.Unauthorized, true},
		"wrong media type":  {respond(200, "text/html", "<html>"), 1, 3, 1, client.Failed, true},
		"truncated":         {reply{lines: []string{`{"Class":"A"}`}, abort: true}.ServeHTTP, 1, 3, 1, client.Incomplete, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var requests, retries atomic.Int32
			c := serveWith(t, failFirst(&requests, tt.failures, tt.fail), client.Options{Retries: tt.retries, Retrying: func(error, time.Duration) { retries.Add(1) }})
			rows, err := c.Rows(t.Context(), client.Query{Kind: kind(t, "DB_Class")})
			var lines []string
			if err == nil {
				lines, err = collect(rows)
			}
			if (err != nil) != tt.fails || tt.fails && !client.Is(err, tt.kind) || !tt.fails && len(lines) != 1 {
				t.Errorf("%q, %v", lines, err)
			}
			if requests.Load() != tt.requests || retries.Load() != tt.requests-1 {
				t.Errorf("%d requests and %d calls of Retrying, want %d requests", requests.Load(), retries.Load(), tt.requests)
			}
		})
	}
}

func TestChangesAreNotRetried(t *testing.T) {
	for name, change := range map[string]func(context.Context, *client.Client) error{
		"raise": func(ctx context.Context, c *client.Client) error {
			_, err := c.RaiseEvent(ctx, "debtor.updated", "x")
			return err
		},
		"add": func(ctx context.Context, c *client.Client) error {
			_, err := c.AddSubscriber(ctx, wire.SubscriberRequest{})
			return err
		},
		"delete": func(ctx context.Context, c *client.Client) error { return c.RemoveSubscriber(ctx, "1") },
		"bulk": func(ctx context.Context, c *client.Client) error {
			_, err := c.RetryMessages(ctx, url.Values{})
			return err
		},
	} {
		for failure, fail := range map[string]http.HandlerFunc{"503": respond(503, "text/plain", ""), "abort": abort} {
			t.Run(name+" "+failure, func(t *testing.T) {
				var requests atomic.Int32
				c := serveWith(t, failFirst(&requests, 9, fail), client.Options{Retries: 3})
				if err := change(t.Context(), c); err == nil || requests.Load() != 1 {
					t.Errorf("%d requests, error %v, want one request", requests.Load(), err)
				}
			})
		}
	}
}

func TestCancelEndsRetries(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c := serveWith(t, respond(503, "text/plain", ""), client.Options{Retries: 1 << 30, Retrying: func(error, time.Duration) { cancel() }})
	if _, err := c.Rows(ctx, client.Query{Kind: kind(t, "DB_Class")}); !client.Is(err, client.Cancelled) {
		t.Error(err)
	}
}
