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

// faulty answers the first requests in its way, and those behind them well.
func faulty(asked *atomic.Int32, times int32, fault http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		if asked.Add(1) <= times {
			fault(w, r)
			return
		}
		reply{lines: []string{`{"Class":"A"}`}, count: "right"}.ServeHTTP(w, r)
	}
}

func reset(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

// Reads are sent again as often as they may be, where that can help.
func TestRetries(t *testing.T) {
	for name, tt := range map[string]struct {
		fault   http.HandlerFunc
		times   int32 // that it fails
		retries int
		asked   int32 // in the end
		kind    client.Kind
		fails   bool
	}{
		"502":          {answer(502, "text/html", "<html>"), 2, 2, 3, 0, false},
		"503":          {answer(503, "application/json", `{"ResponseStatus":{"ErrorCode":"ServiceUnavailable"}}`), 1, 3, 2, 0, false},
		"504":          {answer(504, "text/plain", "late"), 1, 1, 2, 0, false},
		"reset":        {reset, 1, 3, 2, 0, false},
		"too often":    {answer(503, "text/plain", ""), 9, 2, 3, client.Failed, true},
		"not asked":    {answer(503, "text/plain", ""), 1, 0, 1, client.Failed, true},
		"500":          {answer(500, "text/plain", ""), 1, 3, 1, client.Failed, true},
		"400":          {answer(400, "text/plain", ""), 1, 3, 1, client.Rejected, true},
		"401":          {answer(401, "text/plain", ""), 1, 3, 1, client.Unauthorized, true},
		"other answer": {answer(200, "text/html", "<html>"), 1, 3, 1, client.Failed, true},
		"cut":          {reply{lines: []string{`{"Class":"A"}`}, abort: true}.ServeHTTP, 1, 3, 1, client.Incomplete, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var asked, told atomic.Int32
			c := serveWith(t, faulty(&asked, tt.times, tt.fault), client.Options{Retries: tt.retries, Retrying: func(error, time.Duration) { told.Add(1) }})
			rows, err := c.Rows(t.Context(), client.Query{Kind: kind(t, "DB_Class")})
			var lines []string
			if err == nil {
				lines, err = collect(rows)
			}
			if (err != nil) != tt.fails || tt.fails && !client.Is(err, tt.kind) || !tt.fails && len(lines) != 1 {
				t.Errorf("%q, %v", lines, err)
			}
			if asked.Load() != tt.asked || told.Load() != tt.asked-1 {
				t.Errorf("asked %d times, told %d; want %d", asked.Load(), told.Load(), tt.asked)
			}
		})
	}
}

// What makes or changes something is sent once, whatever is the answer.
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
		for fault, answers := range map[string]http.HandlerFunc{"503": answer(503, "text/plain", ""), "reset": reset} {
			t.Run(name+" "+fault, func(t *testing.T) {
				var asked atomic.Int32
				c := serveWith(t, faulty(&asked, 9, answers), client.Options{Retries: 3})
				if err := change(t.Context(), c); err == nil || asked.Load() != 1 {
					t.Errorf("sent %d times, %v", asked.Load(), err)
				}
			})
		}
	}
}

// Who gives up while it waits hears so at once.
func TestRetriesEndWithTheirContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c := serveWith(t, answer(503, "text/plain", ""), client.Options{Retries: 1 << 30, Retrying: func(error, time.Duration) { cancel() }})
	if _, err := c.Rows(ctx, client.Query{Kind: kind(t, "DB_Class")}); !client.Is(err, client.Cancelled) {
		t.Error(err)
	}
}
