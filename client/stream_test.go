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

func (p pipes) Close() error   { close(p.closed); return nil }
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
	if r.URL.Path != "/Webhooks/Stream" || r.Header.Get("Accept") != "text/event-stream" || r.Header.Get("Authorization") != "Bearer a key" {
		s.t.Errorf("request %s with %v", r.URL, r.Header)
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
	network := pipes{make(chan net.Conn), make(chan struct{})}
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
	transport.DialContext, transport.Proxy = network.dial, nil
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
func follow(ctx context.Context, c *Client, o StreamOptions) (all []string, last error) {
	for e, err := range c.Stream(ctx, o) {
		if err != nil {
			return all, err
		}
		all = append(all, summarize(e))
	}
	return all, nil
}

const beat = "event: heartbeat\ndata: {\"At\":\"/Date(1530660012345+0000)/\"}"

func messageChange(id string, status int) string {
	return fmt.Sprintf("id: %s\nevent: message\ndata: {\"MessageID\":\"m\",\"Status\":%d}", id, status)
}

func TestStreamResumesAfterLastEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, service := startScript(t,
			send(0, "retry: 1000", "id: e-0\n"+beat, messageChange("e-1", 2), "event: stats\ndata: {\"Rate\":1.50}", "event: request\ndata: {\"PathInfo\":\"/Info\",\"StatusCode\":200}",
				"event: of a later version\ndata: x", ":comment"),
			sendAndAbort(messageChange("e-2", 1), "event: message\nid: e-3\ndata: {\"Status\":"),
			send(0, "id: f-9\nevent: reset\ndata: {\"Reason\":\"restart\"}", "id: f-9\n"+beat))
		all, err := follow(t.Context(), c, StreamOptions{Topics: []string{"messages", "requests"}, LastEventID: "d-7"})
		want := []string{"connected", "heartbeat e-0: 1530660012", "message e-1: status 2", `stats {"Rate":1.50}`, "request /Info: 200", "disconnected: incomplete",
			"connected", "message e-2: status 1", "disconnected: incomplete",
			"connected", "reset: restart", "heartbeat f-9: 1530660012", "disconnected: incomplete"}
		if !slices.Equal(all, want) {
			t.Errorf("got  %q\nwant %q", all, want)
		}
		if KindOf(err) != Unauthorized {
			t.Errorf("final error %v", err)
		}
		var ids []string
		for _, members := range service.requests {
			if members.Get("Topics") != "messages,requests" {
				t.Errorf("request with %v", members)
			}
			ids = append(ids, members.Get("LastEventID"))
		}
		if !slices.Equal(ids, []string{"d-7", "e-1", "e-3", "f-9"}) { // an invalid event must not be sent again
			t.Errorf("resumed after %q", ids)
		}
	})
}

func TestStreamEndsOnPermanentErrorOnly(t *testing.T) {
	for name, test := range map[string]struct {
		handler http.HandlerFunc
		kind    Kind
		ends    bool
	}{
		"not signed in":     {status(401), Unauthorized, true},
		"role too low":      {status(403), Unauthorized, true},
		"no such path":      {status(404), NotFound, true},
		"no such topic":     {status(400), Rejected, true},
		"redirect":          {status(302, "Location: /login"), Failed, true},
		"too many requests": {status(429, "Retry-After: 7"), Rejected, false},
		"unavailable":       {status(503, "Retry-After: 7"), Failed, false},
		"bad gateway":       {status(502), Failed, false},
		"wrong media type":  {status(200, "Content-Type: text/html"), Failed, false},
		"aborted":           {sendAndAbort(), Incomplete, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, service := startScript(t, test.handler)
				start := time.Now()
				all, err := follow(t.Context(), c, StreamOptions{})
				var e *Error
				if !errors.As(err, &e) || test.ends && e.Kind != test.kind || !test.ends && e.Status != 403 {
					t.Errorf("final error %v", err)
				}
				reconnected := slices.Contains(all, "disconnected: "+test.kind.String())
				if reconnected == test.ends || len(service.requests) == 1 != test.ends || len(service.requests[0]) != 0 {
					t.Errorf("events %q, requests %v", all, service.requests)
				}
				if took := time.Since(start); name == "unavailable" && took != 7*time.Second {
					t.Errorf("reconnected after %v, want 7s", took)
				}
			})
		})
	}
}

// TestStreamBacksOff: the waits grow until a heartbeat arrives.
func TestStreamBacksOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		unavailable := status(503)
		c, _ := startScript(t, unavailable, unavailable, unavailable, unavailable, unavailable, unavailable, status(503, "Retry-After: 4000"), send(0, "retry: 100", beat), send(0), unavailable, send(0, "retry: 0", beat))
		maxWaits := []time.Duration{2e9, 4e9, 8e9, 16e9, 30e9, 30e9, 30e9, 100e6, 200e6, 400e6, 100e6}
		n := 0
		for e, err := range c.Stream(t.Context(), StreamOptions{}) {
			if err != nil {
				break
			}
			lost, ok := e.(Disconnected)
			if !ok {
				continue
			}
			if lost.Retry < maxWaits[n]/2 || lost.Retry > maxWaits[n] {
				t.Errorf("failure %d: waits %v, want half of %v to all of it", n, lost.Retry, maxWaits[n])
			}
			n++
		}
		if n != len(maxWaits) {
			t.Errorf("%d disconnections, want %d", n, len(maxWaits))
		}
	})
}

func TestStreamReconnectsWithoutHeartbeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		noHeartbeat := func(w http.ResponseWriter, r *http.Request) { // after the first
			send(0, beat)(w, r)
			for r.Context().Err() == nil {
				time.Sleep(time.Second)
				_, _ = io.WriteString(w, ": still there\n\n"+messageChange("e-1", 1)+"\n\n")
				w.(http.Flusher).Flush()
			}
		}
		for name, handler := range map[string]http.HandlerFunc{"silent after heartbeat": send(time.Hour, beat), "silent": send(time.Hour), "events only": noHeartbeat} {
			c, _ := startScript(t, handler)
			start := time.Now()
			for e, err := range c.Stream(t.Context(), StreamOptions{}) {
				lost, ok := e.(Disconnected)
				if ok && (time.Since(start) != heartbeatTimeout || KindOf(lost.Err) != TimedOut || !strings.Contains(lost.Err.Error(), "no heartbeat from http://127.0.0.1:5050 for 20s")) {
					t.Errorf("%s: %v after %v", name, lost.Err, time.Since(start))
				}
				if ok || err != nil {
					break
				}
			}
		}
		time.Sleep(2 * time.Second) // the service detects the disconnection at its next write
	})
}

func TestSlowReaderKeepsConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, service := startScript(t, send(0, beat, messageChange("e-1", 1), messageChange("e-2", 1), beat, messageChange("e-3", 1)))
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
		if n != 3 || len(service.requests) != 2 {
			t.Errorf("%d messages over %d connections", n, len(service.requests))
		}
	})
}

// TestStreamEndsWithLoopOrContext checks that both close the connection in any state.
func TestStreamEndsWithLoopOrContext(t *testing.T) {
	for name, handler := range map[string]http.HandlerFunc{"connected": send(time.Hour, beat, messageChange("e-1", 1)), "disconnected": status(503)} {
		t.Run(name, func(t *testing.T) {
			for _, last := range []int{1, 2, 3} {
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
			}
			synctest.Test(t, func(t *testing.T) {
				c, _ := startScript(t, handler, handler, handler)
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(500*time.Millisecond, cancel)
				if _, err := follow(ctx, c, StreamOptions{}); KindOf(err) != Cancelled {
					t.Errorf("cancelled: %v", err)
				}
				ctx, cancel = context.WithTimeout(t.Context(), 500*time.Millisecond)
				defer cancel()
				if _, err := follow(ctx, c, StreamOptions{}); KindOf(err) != TimedOut {
					t.Errorf("timeout: %v", err)
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
	if all, err := follow(t.Context(), c, StreamOptions{}); len(all) != 0 || !errors.Is(err, ErrNotSent) {
		t.Errorf("events %v, error %v, want ErrNotSent", all, err)
	}
}
