package rest_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	goclient "github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/audit"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/live"
	"github.com/bizhook/whd/daemon/rest"
	"github.com/bizhook/whd/daemon/rest/edge"
	"github.com/bizhook/whd/daemon/storage"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// streamsFixture is a service with live streams of events that a test publishes.
type streamsFixture struct {
	client
	key      string // of the client
	hub      *live.Hub
	accounts *account.Service
	rest     *rest.Server
	http     *httptest.Server
}

// startStreams starts a service with two slots for concurrent requests, frequent
// checks of rights, and the given time limit for clients that do not read.
func startStreams(t testing.TB, stall time.Duration) *streamsFixture {
	t.Helper()
	registry := record.Builtin()
	dir := t.TempDir()
	daemontest.Prepare(t, dir)
	kept, err := storage.Open(t.Context(), storage.Config{Dir: dir, Registry: registry, Connections: 2})
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { kept.Close() })
	s := &streamsFixture{hub: live.New(live.Config{Check: 5 * time.Millisecond})}
	if s.accounts, err = account.New(account.Config{
		Store:       kept.AppDB.Accounts(),
		CheapHashes: true,
	}); err != nil {
		t.Fatal(err)
	}

	s.key = s.addKey(t, "all")
	s.rest = rest.New(rest.Config{
		Store:    kept,
		Accounts: s.accounts,
		Log:      slog.New(slog.DiscardHandler),
		Streams:  s.hub,
		Engine:   delivery.New(delivery.Config{Store: kept.Webhooks.Engine}), // webhooks must be enabled
		Edge: edge.Config{
			MaxRequests: 2,
			MaxBody:     1 << 20,
			MaxHead:     64 << 10,
			BodyTimeout: time.Minute,
			WriteStall:  time.Minute,
		},
		StreamStall:  stall,
		ServeMetrics: true,
	})
	s.http = httptest.NewUnstartedServer(s.rest)
	s.http.Config.ConnContext = edge.ConnContext
	s.http.Start()
	t.Cleanup(s.http.Close)
	t.Cleanup(s.hub.Close)
	s.client = client{t: t, url: s.http.URL}.with("Authorization: Bearer " + s.key)
	return s
}

func (s *streamsFixture) addKey(t testing.TB, name string) (key string) {
	t.Helper()
	key, _, err := s.accounts.As(audit.System()).AddKey(t.Context(), account.NewKey{
		Name: name,
		Role: account.Admin,
	})
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// publish publishes numbered changes: Retries is the number.
func (s *streamsFixture) publish(from, n int) {
	all := make([]webhook.Change, n)
	for i := range all {
		all[i] = webhook.Change{
			Message: "6b1c9f9e-7c3e-4c7b-9a55-0d6c6ad90b11",
			Event:   "debtor.updated",
			Retries: from + i,
			At:      time.Now(),
		}
	}
	s.hub.Publish(all)
}

// follow returns the events of a stream until the test ends.
func (s *streamsFixture) follow(t testing.TB, key string, topics ...string) <-chan goclient.StreamEvent {
	t.Helper()
	c, err := goclient.New(goclient.Options{URL: s.url, Token: key})
	if err != nil {
		t.Fatal(err)
	}
	events := make(chan goclient.StreamEvent, 1)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer close(events)
		defer c.Close()
		for e, err := range c.Stream(ctx, goclient.StreamOptions{Topics: topics}) {
			if err != nil {
				e = goclient.Disconnected{Err: err} // permanently
			}
			select {
			case events <- e:
			case <-ctx.Done():
			}
		}
	}()
	t.Cleanup(func() {
		cancel()
		for range events {
		}
	})
	return events
}

// next returns the next event of a type.
func next[E goclient.StreamEvent](t testing.TB, events <-chan goclient.StreamEvent) E {
	t.Helper()
	for e := range events {
		if event, ok := e.(E); ok {
			return event
		}
	}
	t.Fatal("the stream has ended")
	panic("not reached")
}

func TestLiveStreamHead(t *testing.T) {
	s := startStreams(t, time.Minute)
	reply, err := transport.RoundTrip(s.request("GET /webhooks/stream", "",
		"Accept: text/event-stream", "Accept-Encoding: gzip, zstd"))
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	head := s.do("HEAD /Webhooks/Stream", "").want(t, 200)
	for _, h := range []http.Header{reply.Header, head.header} {
		if h.Get("Content-Type") != "text/event-stream" || h.Get("X-Accel-Buffering") != "no" ||
			h.Get("Cache-Control") != "no-store" || h.Get("Content-Encoding") != "" {
			t.Errorf("got the headers %v, want those of an uncompressed stream of events", h)
		}
	}

	beginning := make([]byte, 4096)
	_, err = io.ReadFull(reply.Body, beginning)
	if err != nil || !bytes.HasPrefix(beginning, []byte("retry: 2000\n: ")) {
		t.Errorf("the stream starts with %q (%v), want retry and padding", beginning, err)
	}
	if n := s.hub.Counts().Readers; n != 1 {
		t.Errorf("%d readers", n)
	}

	for path, message := range map[string]string{
		"/Webhooks/Stream?Topics=messages,bodies":         "must be of messages, stats, requests",
		"/Webhooks/Stream?Topics=messages&Topics=stats":   "must be a single text",
		"/Webhooks/Stream?Topic=messages&Strict=true":     "is unknown",
		"/Webhooks/Stream?LastEventID=a&LastEventID=b":    "must be a single text",
		"/Webhooks/Stream?Topics=x&Accept=text/html&a=%z": "",
	} {
		if a := s.do("GET "+path, "").want(t, 400); !strings.Contains(a.body, message) {
			t.Errorf("%s: got %s, want %s", path, a.body, message)
		}
	}

	s.do("POST /Webhooks/Stream", "").want(t, 405)
	unauthenticated := client{t: t, url: s.url}
	unauthenticated.do("GET /Webhooks/Stream", "").want(t, 401)
}

// The header has precedence over the member, which browsers repeat unchanged on
// reconnect.
func TestLiveStreamResume(t *testing.T) {
	s := startStreams(t, time.Minute)
	events := s.follow(t, s.key)
	next[goclient.HeartbeatEvent](t, events)
	s.publish(1, 3)
	id := next[goclient.MessageEvent](t, events).ID
	epoch, _, _ := strings.Cut(id, "-")
	for name, test := range map[string]struct {
		headers []string
		query   string
		first   string
	}{
		"header":  {[]string{"Last-Event-ID: " + id}, "", epoch + "-2"},
		"member":  {nil, "?lasteventid=" + epoch + "-2", epoch + "-3"},
		"both":    {[]string{"Last-Event-ID: " + id}, "?LastEventID=" + epoch + "-2", epoch + "-2"},
		"foreign": {[]string{"Last-Event-ID: x-1"}, "", "reset"},
	} {
		t.Run(name, func(t *testing.T) {
			reply, err := transport.RoundTrip(s.request("GET /Webhooks/Stream"+test.query, "", test.headers...))
			if err != nil {
				t.Fatal(err)
			}
			defer reply.Body.Close()
			last := ""
			for lines := bufio.NewScanner(reply.Body); lines.Scan(); {
				name, value, _ := strings.Cut(lines.Text(), ": ")
				if name == "id" {
					last = value
				}
				if name != "event" || value == wire.EventHeartbeat {
					continue
				}
				isReset := value == wire.EventReset && test.first == "reset"
				isMessage := value == wire.EventMessage && test.first == last
				if isReset || isMessage {
					return
				}
				t.Errorf("got the event %s with the id %s, want %s first", value, last, test.first)
			}
		})
	}
}

// TestLiveStreamReconnect checks that a stream that is interrupted repeatedly shows
// every change once and in order.
func TestLiveStreamReconnect(t *testing.T) {
	s := startStreams(t, time.Minute)
	events := s.follow(t, s.key, wire.TopicMessages)
	next[goclient.HeartbeatEvent](t, events)
	got := 0
	for cut := range 3 {
		s.publish(cut*200+1, 100)
		for range 10 {
			if e := next[goclient.MessageEvent](t, events); e.Retries != got+1 {
				t.Fatalf("%d follows %d", e.Retries, got)
			}
			got++
		}
		s.http.CloseClientConnections()
		s.publish(cut*200+101, 100)
	}
	for got < 600 {
		if e := next[goclient.MessageEvent](t, events); e.Retries != got+1 {
			t.Fatalf("%d follows %d", e.Retries, got)
		}
		got++
	}
}

// TestSlotsOfLiveStreams checks that streams use their own slots, not those of
// requests.
func TestSlotsOfLiveStreams(t *testing.T) {
	s := startStreams(t, time.Minute)
	var open []*http.Response
	for range 64 {
		reply, err := transport.RoundTrip(s.request("GET /Webhooks/Stream", ""))
		if err != nil || reply.StatusCode != 200 {
			t.Fatal(err, reply)
		}
		defer reply.Body.Close()
		open = append(open, reply)
	}
	s.do("GET /Sessions/Current", "").want(t, 200)
	a := s.do("GET /Webhooks/Stream", "").want(t, 503).wantHeader(t, "Retry-After", "30")
	if !strings.Contains(a.body, "too many live streams") {
		t.Error(a.body)
	}
	text := s.do("GET /metrics", "").want(t, 200).body
	for _, line := range []string{
		"whd_streams 64",
		`whd_streams_dropped_total{cause="refused"} 1`,
		"whd_http_requests_in_work 1",
	} {
		if !strings.Contains(text, "\n"+line+"\n") {
			t.Errorf("/metrics lacks %s", line)
		}
	}
	open[9].Body.Close()
	for s.statusOf("GET /Webhooks/Stream") != 200 { // until the slot is released
	}
}

func TestLiveStreamEndsWhenAccessIsRevoked(t *testing.T) {
	s := startStreams(t, time.Minute)
	till := s.addKey(t, "till")
	mine, others := s.follow(t, s.key), s.follow(t, till)
	next[goclient.HeartbeatEvent](t, mine)
	next[goclient.HeartbeatEvent](t, others)
	if err := s.accounts.As(audit.System()).RemoveKey(t.Context(), "till"); err != nil {
		t.Fatal(err)
	}
	next[goclient.Disconnected](t, others)
	if e := next[goclient.Disconnected](t, others); !goclient.Is(e.Err, goclient.Unauthorized) {
		t.Errorf("the stream ended with %v, want Unauthorized", e.Err)
	}
	s.publish(1, 1)
	next[goclient.MessageEvent](t, mine)
}

// TestLiveStreamEndsDuringLockout checks that a stream ends after a change of the
// password even while its user is locked out by failed logins.
func TestLiveStreamEndsDuringLockout(t *testing.T) {
	s, us := startStreams(t, time.Minute), audit.System()
	const before, after = "the-old-password", "the-new-password"
	_, err := s.accounts.As(us).AddUser(t.Context(), account.NewUser{
		Name:     "eve",
		Role:     account.Admin,
		Password: before,
	})
	if err != nil {
		t.Fatal(err)
	}
	unauthenticated := client{t: t, url: s.url}
	reply, err := transport.RoundTrip(unauthenticated.request("GET /Webhooks/Stream", "", basic("eve", before)))
	if err != nil || reply.StatusCode != 200 {
		t.Fatal(err, reply)
	}
	defer reply.Body.Close()
	for n := range 5 {
		unauthenticated.do("GET /Sessions/Current", "", basic("eve", fmt.Sprint("wrong-", n))).want(t, 401)
	}
	if err := s.accounts.As(us).SetPassword(t.Context(), "eve", after); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, reply.Body); err != nil {
		t.Error(err)
	}
	unauthenticated.do("GET /Sessions/Current", "", basic("eve", after)).want(t, 429) // and was all the while
}

// openStalled opens a stream without reading it.
func (s *streamsFixture) openStalled() *socket {
	s.t.Helper()
	w := dialURL(s.t, s.url)
	if err := w.conn.SetReadBuffer(4 << 10); err != nil {
		s.t.Fatal(err)
	}
	fmt.Fprintf(w.conn, "GET /Webhooks/Stream HTTP/1.1\r\nHost: whd\r\nAuthorization: Bearer %s\r\n\r\n", s.key)
	if got := w.line(); got != "HTTP/1.1 200 OK" {
		s.t.Fatal(got)
	}
	return w
}

func TestStalledLiveStreamIsDropped(t *testing.T) {
	s := startStreams(t, time.Second) // the other stream, which is read, never reaches the limit
	events := s.follow(t, s.key, wire.TopicMessages)
	next[goclient.HeartbeatEvent](t, events)
	s.openStalled()
	n := 0
	for s.hub.Counts().Stalled == 0 {
		s.publish(n+1, 100)
		for range 100 {
			n++
			if e := next[goclient.MessageEvent](t, events); e.Retries != n {
				t.Fatalf("%d follows %d", e.Retries, n-1)
			}
		}
	}
	for s.hub.Counts().Readers > 1 { // until it is dropped
	}
	text := s.do("GET /metrics", "").body
	if !strings.Contains(text, `whd_streams_dropped_total{cause="stalled"} 1`) {
		t.Error("the metric is missing")
	}
}

// TestDrainEndsLiveStreams checks that neither active nor stalled streams delay
// Drain.
func TestDrainEndsLiveStreams(t *testing.T) {
	s := startStreams(t, time.Hour)
	events := s.follow(t, s.key, wire.TopicMessages)
	next[goclient.HeartbeatEvent](t, events)
	s.openStalled()
	s.publish(1, 10_000) // more than the system's buffers hold
	for next[goclient.MessageEvent](t, events).Retries < 10_000 {
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	if err := s.rest.Drain(ctx); err != nil {
		t.Errorf("drain: %v", err)
	}
	if err := s.http.Config.Shutdown(ctx); err != nil {
		t.Errorf("shutdown: %v", err)
	}
	next[goclient.Disconnected](t, events)
}

// TestLiveStreamHTTP10 checks HTTP/1.0, which has no chunks and closes
// connections after responses without a length.
func TestLiveStreamHTTP10(t *testing.T) {
	s := startStreams(t, time.Minute)
	w := dialURL(t, s.url)
	fmt.Fprintf(w.conn, "GET /Webhooks/Stream?Topics=messages HTTP/1.0\r\nConnection: keep-alive\r\nAuthorization: Bearer %s\r\n\r\n", s.key)
	for _, want := range []string{"HTTP/1.0 200 OK", "retry: 2000", "event: heartbeat"} {
		for line := w.line(); line != want; line = w.line() {
			if strings.HasPrefix(line, "Transfer-Encoding") || strings.HasPrefix(line, "Connection") {
				t.Fatalf("before %s: %s", want, line)
			}
		}
	}
	s.publish(1, 1)
	for !strings.HasPrefix(w.line(), `data: {"MessageID":`) {
	}
	s.hub.Close()
	if trailing, err := io.ReadAll(w.in); err != nil || len(bytes.TrimSpace(trailing)) > 0 {
		t.Errorf("after the stream there is %q (%v), want nothing", trailing, err)
	}
}

func TestLiveStreamOfRequests(t *testing.T) {
	s := startStreams(t, time.Minute)
	events := s.follow(t, s.key, wire.TopicRequests)
	next[goclient.HeartbeatEvent](t, events)
	s.do("GET /healthz", "").want(t, 200)
	a := s.do("GET /Sessions/Current?Password=x", "").want(t, 200)
	unauthenticated := client{t: t, url: s.url}
	unauthenticated.do("GET /Sessions/Current", "").want(t, 401)
	unauthenticated.do("GET /nothing/token=hidden", "").want(t, 404)
	var got []string
	for range 3 {
		e := next[goclient.RequestEvent](t, events)
		got = append(got, fmt.Sprintf("%s %s %d %q", e.Method, e.PathInfo, e.StatusCode, e.UserName))
		if e.RequestID == "" || e.DurationMilliseconds < 0 || time.Time(e.At).IsZero() {
			t.Errorf("got %+v, want an ID, a duration and a time", e)
		}
		if want := a.header.Get("X-Request-Id"); len(got) == 1 && e.RequestID != want {
			t.Errorf("the first event has the ID %s, want %s", e.RequestID, want)
		}
	}
	want := []string{
		`GET /Sessions/Current 200 "all"`,
		`GET /Sessions/Current 401 ""`,
		`GET /nothing/*** 404 ""`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
}

// TestLiveStreamInTheRequestLog checks that a stream is logged once, when it ends.
func TestLiveStreamInTheRequestLog(t *testing.T) {
	i := daemontest.Start(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c, err := goclient.New(goclient.Options{URL: i.URL, Token: i.Key(t, "admin")})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for e, err := range c.Stream(ctx, goclient.StreamOptions{}) {
		if _, ok := e.(goclient.HeartbeatEvent); ok {
			a := asAdmin(t, i).do("GET /Logs?PathInfo=/Webhooks/Stream", "").want(t, 200)
			if total := *a.envelope(t).Total; total != 0 {
				t.Errorf("while the stream is open, the log has %d entries, want none: %s", total, a.body)
			}
			cancel()
		}
		var last *goclient.Error
		if err != nil && !errors.As(err, &last) {
			t.Error(err)
		}
	}
	i.Log.Await(t, "msg=request", "path=/Webhooks/Stream", "status=200")
	a := asAdmin(t, i).do("GET /Logs?PathInfo=/Webhooks/Stream", "").want(t, 200)
	if *a.envelope(t).Total != 1 || !strings.Contains(a.body, `"StatusCode":200`) {
		t.Error(a.body)
	}
}
