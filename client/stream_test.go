package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// pipes is an in-memory network, which works in a synctest bubble.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (p pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.conns:
		return conn, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p pipes) Close() error {
	close(p.closed)
	return nil
}

func (p pipes) Addr() net.Addr { return &net.TCPAddr{} }

func (p pipes) dial(context.Context, string, string) (net.Conn, error) {
	local, remote := net.Pipe()
	p.conns <- remote
	return local, nil
}

// script is a service with a handler for each request. It records the members of the
// requests.
type script struct {
	t        *testing.T
	handlers []http.HandlerFunc
	requests []url.Values
}

func (s *script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n := len(s.requests)
	s.requests = append(s.requests, r.URL.Query())
	if r.URL.Path != "/Webhooks/Stream" {
		s.t.Errorf("received a request for %s, want /Webhooks/Stream", r.URL.Path)
	}
	if got := r.Header.Get("Accept"); got != "text/event-stream" {
		s.t.Errorf("the request accepts %q, want text/event-stream", got)
	}
	if got := r.Header.Get("Authorization"); got != "Bearer a key" {
		s.t.Errorf("the request has the authorization %q, want Bearer a key", got)
	}
	if n >= len(s.handlers) {
		w.WriteHeader(http.StatusForbidden) // ends the stream
		return
	}
	s.handlers[n](w, r)
}

// startScript runs a service and returns a client for it. It must be called in a synctest
// bubble, which also detects goroutine leaks.
func startScript(t *testing.T, handlers ...http.HandlerFunc) (*Client, *script) {
	t.Helper()
	s := &script{t: t, handlers: handlers}
	network := pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
	server := &http.Server{Handler: s}
	ended := make(chan error)
	go func() { ended <- server.Serve(network) }()
	t.Cleanup(func() {
		server.Close()
		<-ended
	})
	c, err := New(Options{Token: "a key"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	transport := c.http.GetClient().Transport.(*http.Transport)
	transport.DialContext = network.dial
	transport.Proxy = nil
	return c, s
}

// send sends events, given without their final blank line, and closes the stream after a
// while.
func send(open time.Duration, events ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.(http.Flusher).Flush()
		for _, e := range events {
			_, _ = io.WriteString(w, e+"\n\n")
			w.(http.Flusher).Flush()
		}
		select {
		case <-time.After(open):
		case <-r.Context().Done():
		}
	}
}

// sendAndAbort sends events and aborts the connection.
func sendAndAbort(events ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		send(0, events...)(w, r)
		panic(http.ErrAbortHandler)
	}
}

// status replies with a status code and headers such as "Retry-After: 7".
func status(code int, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for _, h := range headers {
			name, value, _ := strings.Cut(h, ": ")
			w.Header().Set(name, value)
		}
		w.WriteHeader(code)
	}
}

// summarize returns a short form of an event.
func summarize(e StreamEvent) string {
	switch e := e.(type) {
	case Connected:
		return "connected"
	case Disconnected:
		return "disconnected: " + KindOf(e.Err).String()
	case MessageEvent:
		return fmt.Sprintf("message %s: status %d", e.ID, e.Status)
	case StatsEvent:
		return "stats " + string(e.Data)
	case RequestEvent:
		return fmt.Sprintf("request %s: %d", e.PathInfo, e.StatusCode)
	case HeartbeatEvent:
		return fmt.Sprintf("heartbeat %s: %d", e.ID, e.ServerTime.Unix())
	case ResetEvent:
		return "reset: " + e.Reason
	}
	return "?"
}

// follow returns the events of a stream in short form, and the error at its end.
func follow(ctx context.Context, c *Client, o StreamOptions) (events []string, err error) {
	for e, err := range c.Stream(ctx, o) {
		if err != nil {
			return events, err
		}
		events = append(events, summarize(e))
	}
	return events, nil
}

const beat = "event: heartbeat\ndata: {\"At\":\"/Date(1530660012345+0000)/\"}"

func messageChange(id string, status int) string {
	return fmt.Sprintf("id: %s\nevent: message\ndata: {\"MessageID\":\"m\",\"Status\":%d}", id, status)
}

func TestStreamResumesAfterLastEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := send(0,
			"retry: 1000",
			"id: e-0\n"+beat,
			messageChange("e-1", 2),
			"event: stats\ndata: {\"Rate\":1.50}",
			"event: request\ndata: {\"PathInfo\":\"/Info\",\"StatusCode\":200}",
			"event: of a later version\ndata: x",
			":comment",
		)
		second := sendAndAbort(
			messageChange("e-2", 1),
			"event: message\nid: e-3\ndata: {\"Status\":",
		)
		third := send(0,
			"id: f-9\nevent: reset\ndata: {\"Reason\":\"restart\"}",
			"id: f-9\n"+beat,
		)
		c, service := startScript(t, first, second, third)
		options := StreamOptions{Topics: []string{"messages", "requests"}, LastEventID: "d-7"}
		events, err := follow(t.Context(), c, options)
		want := []string{
			"connected",
			"heartbeat e-0: 1530660012",
			"message e-1: status 2",
			`stats {"Rate":1.50}`,
			"request /Info: 200",
			"disconnected: incomplete",

			"connected",
			"message e-2: status 1",
			"disconnected: incomplete",

			"connected",
			"reset: restart",
			"heartbeat f-9: 1530660012",
			"disconnected: incomplete",
		}
		if !slices.Equal(events, want) {
			t.Errorf("got the events\n%q, want\n%q", events, want)
		}
		if KindOf(err) != Unauthorized {
			t.Errorf("the stream ended with %v, want status 403", err)
		}

		var ids []string
		for _, members := range service.requests {
			if got := members.Get("Topics"); got != "messages,requests" {
				t.Errorf("a request has the topics %q, want those of the options", got)
			}
			ids = append(ids, members.Get("LastEventID"))
		}
		wantIDs := []string{"d-7", "e-1", "e-3", "f-9"} // the invalid event e-3 must not be sent again
		if !slices.Equal(ids, wantIDs) {
			t.Errorf("the stream resumed after %q, want %q", ids, wantIDs)
		}
	})
}

// TestStreamEndsOnPermanentErrorOnly checks that a stream ends without a second request.
func TestStreamEndsOnPermanentErrorOnly(t *testing.T) {
	for name, test := range map[string]struct {
		handler http.HandlerFunc
		want    Kind
	}{
		"not signed in": {status(401), Unauthorized},
		"role too low":  {status(403), Unauthorized},
		"no such path":  {status(404), NotFound},
		"no such topic": {status(400), Rejected},
		"redirect":      {status(302, "Location: /login"), Failed},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, service := startScript(t, test.handler)
				events, err := follow(t.Context(), c, StreamOptions{})
				if len(events) > 0 {
					t.Errorf("got the events %q, want none", events)
				}
				if got := KindOf(err); got != test.want {
					t.Errorf("the stream ended with %v of kind %v, want %v", err, got, test.want)
				}
				service.wantRequests(t, 1)
			})
		})
	}
}

// TestStreamReconnectsAfterTemporaryError checks that there is a second request, the reply to which
// ends the stream.
func TestStreamReconnectsAfterTemporaryError(t *testing.T) {
	for name, test := range map[string]struct {
		handler http.HandlerFunc
		want    Kind
		wait    time.Duration // with Retry-After
	}{
		"too many requests": {handler: status(429, "Retry-After: 7"), want: Rejected, wait: 7 * time.Second},
		"unavailable":       {handler: status(503, "Retry-After: 7"), want: Failed, wait: 7 * time.Second},
		"bad gateway":       {handler: status(502), want: Failed},
		"wrong media type":  {handler: status(200, "Content-Type: text/html"), want: Failed},
		"aborted":           {handler: sendAndAbort(), want: Incomplete},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, service := startScript(t, test.handler)
				start := time.Now()
				events, err := follow(t.Context(), c, StreamOptions{})
				if want := "disconnected: " + test.want.String(); !slices.Contains(events, want) {
					t.Errorf("got the events %q, want %q", events, want)
				}
				if statusOf(err) != http.StatusForbidden {
					t.Errorf("the stream ended with %v, want status 403 of the second request", err)
				}
				service.wantRequests(t, 2)
				if took := time.Since(start); test.wait > 0 && took != test.wait {
					t.Errorf("reconnected after %v, want %v", took, test.wait)
				}
			})
		})
	}
}

// wantRequests checks the number of requests, and that the first one has no members.
func (s *script) wantRequests(t *testing.T, want int) {
	t.Helper()
	if len(s.requests) != want {
		t.Fatalf("received %d requests, want %d: %v", len(s.requests), want, s.requests)
	}
	if len(s.requests[0]) > 0 {
		t.Errorf("the first request has the members %v, want none", s.requests[0])
	}
}

// TestStreamBacksOff: the waits grow until a heartbeat arrives.
func TestStreamBacksOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		steps := []struct {
			handler http.HandlerFunc
			maxWait time.Duration // after the handler; at least half of it
		}{
			{status(503), 2 * time.Second},
			{status(503), 4 * time.Second},
			{status(503), 8 * time.Second},
			{status(503), 16 * time.Second},
			{status(503), 30 * time.Second},
			{status(503), 30 * time.Second},
			{status(503, "Retry-After: 4000"), 30 * time.Second},
			{send(0, "retry: 100", beat), 100 * time.Millisecond},
			{send(0), 200 * time.Millisecond},
			{status(503), 400 * time.Millisecond},
			{send(0, "retry: 0", beat), 100 * time.Millisecond}, // which is ignored
		}
		var handlers []http.HandlerFunc
		for _, step := range steps {
			handlers = append(handlers, step.handler)
		}
		c, _ := startScript(t, handlers...)

		n := 0
		for e, err := range c.Stream(t.Context(), StreamOptions{}) {
			if err != nil {
				break
			}
			lost, ok := e.(Disconnected)
			if !ok {
				continue
			}
			maxWait := steps[n].maxWait
			if lost.Retry < maxWait/2 || lost.Retry > maxWait {
				t.Errorf("disconnection %d: the wait is %v, want %v to %v", n, lost.Retry, maxWait/2, maxWait)
			}
			n++
		}
		if n != len(steps) {
			t.Errorf("got %d disconnections, want %d", n, len(steps))
		}
	})
}

// eventsOnly sends a heartbeat, and then events without heartbeats.
func eventsOnly(w http.ResponseWriter, r *http.Request) {
	send(0, beat)(w, r)
	for r.Context().Err() == nil {
		time.Sleep(time.Second)
		_, _ = io.WriteString(w, ": still there\n\n"+messageChange("e-1", 1)+"\n\n")
		w.(http.Flusher).Flush()
	}
}

func TestStreamReconnectsWithoutHeartbeat(t *testing.T) {
	for name, handler := range map[string]http.HandlerFunc{
		"silent after heartbeat": send(time.Hour, beat),
		"silent":                 send(time.Hour),
		"events only":            eventsOnly,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, _ := startScript(t, handler)
				start := time.Now()
				var lost Disconnected
				for e, err := range c.Stream(t.Context(), StreamOptions{}) {
					if err != nil {
						t.Fatalf("the stream ended with %v, want a disconnection", err)
					}
					if disconnected, ok := e.(Disconnected); ok {
						lost = disconnected
						break
					}
				}
				if took := time.Since(start); took != heartbeatTimeout {
					t.Errorf("disconnected after %v, want %v", took, heartbeatTimeout)
				}
				const want = "no heartbeat from http://127.0.0.1:5050 for 20s"
				if KindOf(lost.Err) != TimedOut || !strings.Contains(lost.Err.Error(), want) {
					t.Errorf("disconnected with %v, want the timeout %q", lost.Err, want)
				}
				time.Sleep(2 * time.Second) // the service detects the disconnection at its next write
			})
		})
	}
}

func TestSlowReaderKeepsConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, service := startScript(t, send(0,
			beat,
			messageChange("e-1", 1),
			messageChange("e-2", 1),
			beat,
			messageChange("e-3", 1),
		))
		n := 0
		for e, err := range c.Stream(t.Context(), StreamOptions{}) {
			if err != nil {
				break
			}
			if _, ok := e.(MessageEvent); ok {
				n++
				time.Sleep(time.Minute)
			}
		}
		if n != 3 {
			t.Errorf("got %d messages, want 3", n)
		}
		service.wantRequests(t, 2) // the second one ends the stream
	})
}

// TestStreamEndsWithLoopOrContext checks that both close the connection in any state. The bubble
// fails if a goroutine is left.
func TestStreamEndsWithLoopOrContext(t *testing.T) {
	for name, handler := range map[string]http.HandlerFunc{
		"connected":    send(time.Hour, beat, messageChange("e-1", 1)),
		"disconnected": status(503),
	} {
		for _, last := range []int{1, 2, 3} {
			t.Run(fmt.Sprintf("%s, loop left at event %d", name, last), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					c, _ := startScript(t, handler, handler, handler)
					n := 0
					for range c.Stream(t.Context(), StreamOptions{}) {
						n++
						if n == last {
							break
						}
					}
				})
			})
		}
		t.Run(name+", context ended", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const limit = 500 * time.Millisecond
				c, _ := startScript(t, handler, handler, handler)
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(limit, cancel)
				_, err := follow(ctx, c, StreamOptions{})
				if KindOf(err) != Cancelled {
					t.Errorf("the stream of a cancelled context ended with %v", err)
				}

				ctx, cancel = context.WithTimeout(t.Context(), limit)
				defer cancel()
				_, err = follow(ctx, c, StreamOptions{})
				if KindOf(err) != TimedOut {
					t.Errorf("the stream of a context with a timeout ended with %v", err)
				}
			})
		})
	}
}

func TestDryRunDoesNotStream(t *testing.T) {
	c, err := New(Options{DryRun: func(Request) {}})
	if err != nil {
		t.Fatal(err)
	}
	events, err := follow(t.Context(), c, StreamOptions{})
	if len(events) > 0 || !errors.Is(err, ErrNotSent) {
		t.Errorf("got the events %q and the error %v, want ErrNotSent", events, err)
	}
}
