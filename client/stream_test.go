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

// pipes is a network inside the process, on which time need not pass.
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
	here, there := net.Pipe()
	p.conns <- there
	return here, nil
}

// script is what a service answers, request for request. What it got is in
// asked.
type script struct {
	t     *testing.T
	turns []http.HandlerFunc
	asked []url.Values
}

func (s *script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	turn := len(s.asked)
	s.asked = append(s.asked, r.URL.Query())
	if r.URL.Path != "/Webhooks/Stream" || r.Header.Get("Accept") != "text/event-stream" || r.Header.Get("Authorization") != "Bearer a key" {
		s.t.Errorf("asked %s with %v", r.URL, r.Header)
	}
	if turn >= len(s.turns) {
		w.WriteHeader(http.StatusForbidden) // which ends the stream
		return
	}
	s.turns[turn](w, r)
}

// streamOf runs a service and gives a client for it. It works in a bubble, which
// also sees to it that no goroutine is left.
func streamOf(t *testing.T, turns ...http.HandlerFunc) (*Client, *script) {
	t.Helper()
	s := &script{t: t, turns: turns}
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

// says sends events, written without their ends, and leaves the stream open for
// a while.
func says(open time.Duration, events ...string) http.HandlerFunc {
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

// cutOff says something and breaks the connection.
func cutOff(events ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		says(0, events...)(w, r)
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

// told is an event in short.
func told(e StreamEvent) string {
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

// follow collects what a stream tells until it ends.
func follow(ctx context.Context, c *Client, o StreamOptions) (all []string, last error) {
	for e, err := range c.Stream(ctx, o) {
		if err != nil {
			return all, err
		}
		all = append(all, told(e))
	}
	return all, nil
}

const beat = "event: heartbeat\ndata: {\"At\":\"/Date(1530660012345+0000)/\"}"

func change(id string, status int) string {
	return fmt.Sprintf("id: %s\nevent: message\ndata: {\"MessageID\":\"m\",\"Status\":%d}", id, status)
}

func TestStreamTellsWhatTheServiceSays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, service := streamOf(t,
			says(0, "retry: 1000", "id: e-0\n"+beat, change("e-1", 2), "event: stats\ndata: {\"Rate\":1.50}", "event: request\ndata: {\"PathInfo\":\"/Info\",\"StatusCode\":200}",
				"event: of a later version\ndata: x", ":comment"),
			cutOff(change("e-2", 1), "event: message\nid: e-3\ndata: {\"Status\":"),
			says(0, "id: f-9\nevent: reset\ndata: {\"Reason\":\"anew\"}", "id: f-9\n"+beat))
		all, err := follow(t.Context(), c, StreamOptions{Topics: []string{"messages", "requests"}, LastEventID: "d-7"})
		want := []string{"connected", "heartbeat e-0: 1530660012", "message e-1: status 2", `stats {"Rate":1.50}`, "request /Info: 200", "disconnected: incomplete",
			"connected", "message e-2: status 1", "disconnected: incomplete",
			"connected", "reset: anew", "heartbeat f-9: 1530660012", "disconnected: incomplete"}
		if !slices.Equal(all, want) {
			t.Errorf("told %q\nwant %q", all, want)
		}
		if KindOf(err) != Unauthorized {
			t.Errorf("the end is %v", err)
		}
		var ids []string
		for _, members := range service.asked {
			if members.Get("Topics") != "messages,requests" {
				t.Errorf("asked for %v", members)
			}
			ids = append(ids, members.Get("LastEventID"))
		}
		if !slices.Equal(ids, []string{"d-7", "e-1", "e-3", "f-9"}) { // what cannot be read must not come again
			t.Errorf("went on behind %q", ids)
		}
	})
}

// What makes no sense to repeat ends a stream, and nothing else.
func TestStreamGivesUp(t *testing.T) {
	for name, test := range map[string]struct {
		turn http.HandlerFunc
		kind Kind
		ends bool
	}{
		"not signed in": {status(401), Unauthorized, true},
		"role too low":  {status(403), Unauthorized, true},
		"no webhooks":   {status(404), NotFound, true},
		"no such topic": {status(400), Rejected, true},
		"elsewhere":     {status(302, "Location: /login"), Failed, true},
		"too many":      {status(429, "Retry-After: 7"), Rejected, false},
		"full":          {status(503, "Retry-After: 7"), Failed, false},
		"a proxy":       {status(502), Failed, false},
		"another page":  {status(200, "Content-Type: text/html"), Failed, false},
		"broken":        {cutOff(), Incomplete, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, service := streamOf(t, test.turn)
				start := time.Now()
				all, err := follow(t.Context(), c, StreamOptions{})
				var e *Error
				if !errors.As(err, &e) || test.ends && e.Kind != test.kind || !test.ends && e.Status != 403 {
					t.Errorf("the end is %v", err)
				}
				lost := slices.Contains(all, "disconnected: "+test.kind.String())
				if lost == test.ends || len(service.asked) == 1 != test.ends || len(service.asked[0]) != 0 {
					t.Errorf("told %q, asked %v", all, service.asked)
				}
				if took := time.Since(start); strings.HasPrefix(name, "full") && took != 7*time.Second {
					t.Errorf("came back after %v", took)
				}
			})
		})
	}
}

// A service that is away is asked less and less often, until it is back.
func TestStreamWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		away := status(503)
		c, _ := streamOf(t, away, away, away, away, away, away, status(503, "Retry-After: 4000"), says(0, "retry: 100", beat), says(0), away, says(0, "retry: 0", beat))
		longest := []time.Duration{2e9, 4e9, 8e9, 16e9, 30e9, 30e9, 30e9, 100e6, 200e6, 400e6, 100e6}
		n := 0
		for e, err := range c.Stream(t.Context(), StreamOptions{}) {
			if err != nil {
				break
			}
			lost, is := e.(Disconnected)
			if !is {
				continue
			}
			if lost.Retry < longest[n]/2 || lost.Retry > longest[n] {
				t.Errorf("failure %d: waits %v, want %v at most", n, lost.Retry, longest[n])
			}
			n++
		}
		if n != len(longest) {
			t.Errorf("lost %d times", n)
		}
	})
}

func TestStreamThatIsSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		chatty := func(w http.ResponseWriter, r *http.Request) { // but no heartbeat
			says(0, beat)(w, r)
			for r.Context().Err() == nil {
				time.Sleep(time.Second)
				_, _ = io.WriteString(w, ": still there\n\n"+change("e-1", 1)+"\n\n")
				w.(http.Flusher).Flush()
			}
		}
		for name, turn := range map[string]http.HandlerFunc{"silent": says(time.Hour, beat), "silent at once": says(time.Hour), "chatty": chatty} {
			c, _ := streamOf(t, turn)
			start := time.Now()
			for e, err := range c.Stream(t.Context(), StreamOptions{}) {
				lost, is := e.(Disconnected)
				if is && (time.Since(start) != heartbeatTimeout || KindOf(lost.Err) != TimedOut || !strings.Contains(lost.Err.Error(), "no heartbeat from http://127.0.0.1:5050 for 20s")) {
					t.Errorf("%s: %v after %v", name, lost.Err, time.Since(start))
				}
				if is || err != nil {
					break
				}
			}
		}
		time.Sleep(2 * time.Second) // the service notices only when it says something
	})
}

// Who is slow has not lost the connection.
func TestStreamOfASlowReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, service := streamOf(t, says(0, beat, change("e-1", 1), change("e-2", 1), beat, change("e-3", 1)))
		n := 0
		for e, err := range c.Stream(t.Context(), StreamOptions{}) {
			if err != nil {
				break
			}
			if _, is := e.(MessageEvent); is {
				n++
				time.Sleep(time.Minute)
			}
		}
		if n != 3 || len(service.asked) != 2 {
			t.Errorf("%d messages by %d connections", n, len(service.asked))
		}
	})
}

// Leaving the loop or cancelling ends the connection, in whatever state it is.
func TestStreamIsLeft(t *testing.T) {
	for name, turn := range map[string]http.HandlerFunc{"open": says(time.Hour, beat, change("e-1", 1)), "lost": status(503)} {
		t.Run(name, func(t *testing.T) {
			for _, at := range []int{1, 2, 3} {
				synctest.Test(t, func(t *testing.T) {
					c, _ := streamOf(t, turn, turn, turn)
					n := 0
					for range c.Stream(t.Context(), StreamOptions{}) {
						if n++; n == at {
							break
						}
					}
				})
			}
			synctest.Test(t, func(t *testing.T) {
				c, _ := streamOf(t, turn, turn, turn)
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(500*time.Millisecond, cancel)
				if _, err := follow(ctx, c, StreamOptions{}); KindOf(err) != Cancelled {
					t.Errorf("cancelled: %v", err)
				}
				ctx, cancel = context.WithTimeout(t.Context(), 500*time.Millisecond)
				defer cancel()
				if _, err := follow(ctx, c, StreamOptions{}); KindOf(err) != TimedOut {
					t.Errorf("out of time: %v", err)
				}
			})
		})
	}
}

func TestStreamIsNotSent(t *testing.T) {
	c, err := New(Options{DryRun: func(Request) {}})
	if err != nil {
		t.Fatal(err)
	}
	if all, err := follow(t.Context(), c, StreamOptions{}); len(all) != 0 || !errors.Is(err, ErrNotSent) {
		t.Errorf("%v, %v", all, err)
	}
}
