package webhook

import (
	"bufio"
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"
)

var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}

// unhurried is the limit of attempts that end without it.
const unhurried = 2 * time.Minute

func newTestSender(t *testing.T, limit time.Duration) *HTTPSender {
	t.Helper()
	s := NewHTTPSender(SenderConfig{Guard: Guard{Allow: loopback}, Agent: "whd/test", Connect: 5 * time.Second, Attempt: within(limit), Idle: 8})
	t.Cleanup(s.Close)
	return s
}

func testMessage(to string) *Message {
	return &Message{ID: 7, GUID: newGUID(time.Now()), URL: to, Event: &Event{Name: "debtor.updated", Body: []byte(`{"DebtorID": "0001"}`)}}
}

// receiver answers every request by a raw connection, so that it can misbehave.
func receiver(t *testing.T, answer func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				if _, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
					answer(c)
				}
			}()
		}
	}()
	return "http://" + l.Addr().String() + "/hook"
}

func TestSendIsAStandardWebhook(t *testing.T) {
	var got *http.Request
	var body []byte
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r
		body, _ = io.ReadAll(r.Body)
		w.WriteHeader(http.StatusAccepted)
		fmt.Fprint(w, "thanks")
	}))
	t.Cleanup(srv.Close)
	secret := NewSecret()
	m := testMessage(srv.URL + "/hook?x=1")
	sub := &Subscription{URL: srv.URL, Secrets: []string{secret, NewSecret()}, Headers: []Header{{"X-Token", "a"}, {"X-Token", "b"}, {"content-type", "text/plain"}}}
	o := newTestSender(t, unhurried).Send(context.Background(), m, sub, time.Now())
	if o.Code != 202 || !o.Success() || string(o.Text) != "thanks" || o.Took <= 0 {
		t.Fatalf("outcome %+v", o)
	}
	if !bytes.Equal(body, m.Event.Body) || got.URL.RawQuery != "x=1" || got.Method != http.MethodPost {
		t.Errorf("%s %s with body %s", got.Method, got.URL, body)
	}
	for name, want := range map[string]string{
		"Webhook-Id": m.GUID, "X-Event-Name": "debtor.updated", "User-Agent": "whd/test", "Content-Type": "text/plain",
	} {
		if got.Header.Get(name) != want {
			t.Errorf("%s: %q, want %q", name, got.Header.Get(name), want)
		}
	}
	if v := got.Header.Values("X-Token"); len(v) != 2 {
		t.Errorf("X-Token: %q", v)
	}
	if _, sent := got.Header["Idempotency-Key"]; sent {
		t.Error("an Idempotency-Key was sent")
	}
	key, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%s.%s", m.GUID, got.Header.Get("Webhook-Timestamp"), body)
	signatures := strings.Fields(got.Header.Get("Webhook-Signature"))
	if len(signatures) != 2 || signatures[0] != "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)) {
		t.Errorf("signatures %q", signatures)
	}
}

// A date in Retry-After is held against the store's clock, by which the attempt
// began, since this host's may be wrong.
func TestADateToRetryAfter(t *testing.T) {
	at := time.Now().Add(time.Hour)
	to := receiver(t, func(c net.Conn) {
		fmt.Fprintf(c, "HTTP/1.1 503 Later\r\nRetry-After: %s\r\nContent-Length: 0\r\n\r\n", at.Add(10*time.Minute).UTC().Format(http.TimeFormat))
	})
	o := newTestSender(t, unhurried).Send(context.Background(), testMessage(to), &Subscription{}, at)
	if o.RetryAfter <= 5*time.Minute || o.RetryAfter > 10*time.Minute {
		t.Errorf("ten minutes later is in %v", o.RetryAfter)
	}
}

func TestSendToEndpointsThatMisbehave(t *testing.T) {
	forever := make(chan struct{})
	t.Cleanup(func() { close(forever) })
	write := func(text string) func(net.Conn) {
		return func(c net.Conn) { _, _ = io.WriteString(c, text) }
	}
	tests := map[string]struct {
		answer func(net.Conn)
		code   int
		cause  Cause
	}{
		"hangs":             {func(net.Conn) { <-forever }, 0, TimedOut},
		"drips its head":    {func(c net.Conn) { drip(c, "HTTP/1.1 200 OK\r\nX-Filler: ", forever) }, 0, TimedOut},
		"never ends":        {func(c net.Conn) { drip(c, "HTTP/1.1 200 OK\r\n\r\n", forever) }, 200, Answered},
		"resets":            {func(c net.Conn) { _ = c.(*net.TCPConn).SetLinger(0) }, 0, ConnectionReset},
		"says nothing":      {func(net.Conn) {}, 0, ConnectionReset},
		"speaks no HTTP":    {write("220 mail.example.com ESMTP\r\n"), 0, BadAnswer},
		"informs for ever":  {write(strings.Repeat("HTTP/1.1 103 Early Hints\r\n\r\n", 10_000)), 0, BadAnswer},
		"huge head":         {write("HTTP/1.1 200 OK\r\nX-Filler: " + strings.Repeat("x", 1<<20) + "\r\n\r\n"), 0, BadAnswer},
		"redirects":         {write("HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/\r\nContent-Length: 0\r\n\r\n"), 302, Answered},
		"cuts its body":     {write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nfew"), 200, Answered},
		"unknown status":    {write("HTTP/1.1 799 Odd\r\nContent-Length: 0\r\n\r\n"), 799, Answered},
		"too many requests": {write("HTTP/1.1 429 Slow\r\nRetry-After: 60\r\nContent-Length: 0\r\n\r\n"), 429, Answered},
	}
	limits := map[string]time.Duration{"hangs": 300 * time.Millisecond, "drips its head": 300 * time.Millisecond, "never ends": 3 * time.Second}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			limit := limits[name]
			if limit == 0 { // they end without it
				limit = unhurried
			}
			sender := newTestSender(t, limit)
			o := sender.Send(context.Background(), testMessage(receiver(t, tt.answer)), new(Subscription), time.Now())
			if o.Code != tt.code || o.Cause != tt.cause {
				t.Errorf("code %d, cause %q (%s)", o.Code, o.Cause, o.Detail)
			}
		})
	}
}

// drip writes a byte now and then until the connection breaks.
func drip(c net.Conn, head string, stop <-chan struct{}) {
	_, err := io.WriteString(c, head)
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for err == nil {
		select {
		case <-ticker.C:
			_, err = c.Write([]byte{'x'})
		case <-stop:
			return
		}
	}
}

func TestSendReadsOnlyTheBeginning(t *testing.T) {
	var sent int64
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip") // a bomb that is never unpacked
		for range 10_000 {
			n, err := w.Write(bytes.Repeat([]byte("0123456789abcdef"), 256))
			if sent += int64(n); err != nil {
				return
			}
		}
	}))
	t.Cleanup(srv.Close)
	o := newTestSender(t, unhurried).Send(context.Background(), testMessage(srv.URL), new(Subscription), time.Now())
	if o.Code != 200 || len(o.Text) != answerKept {
		t.Errorf("code %d, kept %d bytes", o.Code, len(o.Text))
	}
	srv.Close() // waits for the handler
	if sent > 8<<20 {
		t.Errorf("the receiver could send %d bytes", sent)
	}
}

// TestSendSurvivesClosedConnections closes each connection after its answer
// without announcing it.
func TestSendSurvivesClosedConnections(t *testing.T) {
	to := receiver(t, func(c net.Conn) { _, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok") })
	sender := newTestSender(t, unhurried)
	for i := range 50 {
		if o := sender.Send(context.Background(), testMessage(to), new(Subscription), time.Now()); o.Code != 200 {
			t.Fatalf("attempt %d: %+v", i, o)
		}
	}
}

func TestSendRefusesBadCertificates(t *testing.T) {
	srv := httptest.NewTLSServer(http.NotFoundHandler())
	srv.Config.ErrorLog = nil
	t.Cleanup(srv.Close)
	sender := newTestSender(t, unhurried)
	if o := sender.Send(context.Background(), testMessage(srv.URL), new(Subscription), time.Now()); o.Cause != TLSFailed {
		t.Errorf("%+v", o)
	}
	plain := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(plain.Close)
	to := strings.Replace(plain.URL, "http:", "https:", 1)
	if o := sender.Send(context.Background(), testMessage(to), new(Subscription), time.Now()); o.Cause != TLSFailed {
		t.Errorf("%+v", o)
	}
}

func TestSendKeepsToTheGuard(t *testing.T) {
	reached := make(chan struct{}, 8)
	srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached <- struct{}{} }))
	t.Cleanup(srv.Close)
	at, _ := url.Parse(srv.URL)
	sender := NewHTTPSender(SenderConfig{Agent: "whd/test", Connect: time.Second, Attempt: within(time.Second), Idle: 1})
	t.Cleanup(sender.Close)
	for _, host := range []string{"127.0.0.1", "localhost", "[::ffff:127.0.0.1]"} {
		for _, private := range []bool{false, true} {
			m := testMessage("http://" + host + ":" + at.Port() + "/")
			m.Private = private
			o := sender.Send(context.Background(), m, new(Subscription), time.Now())
			if o.Cause != TargetForbidden || !o.Permanent() {
				t.Errorf("%s: %+v", host, o)
			}
		}
	}
	if len(reached) > 0 {
		t.Error("a request went out")
	}
}

func TestSendReachesTheOwnTestTarget(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusCreated) }))
	t.Cleanup(srv.Close)
	self, _ := url.Parse(srv.URL + "/Webhooks/Test")
	sender := NewHTTPSender(SenderConfig{Agent: "whd/test", Connect: time.Second, Attempt: within(time.Second), Idle: 1, Self: self})
	t.Cleanup(sender.Close)
	if o := sender.Send(context.Background(), testMessage(srv.URL+"/webhooks/test/"), new(Subscription), time.Now()); o.Code != http.StatusCreated {
		t.Errorf("%+v", o)
	}
	if o := sender.Send(context.Background(), testMessage(srv.URL+"/Users"), new(Subscription), time.Now()); o.Cause != TargetForbidden {
		t.Errorf("%+v", o)
	}
}

func TestSendFindsNoName(t *testing.T) {
	o := newTestSender(t, unhurried).Send(context.Background(), testMessage("http://nowhere.invalid/"), new(Subscription), time.Now())
	if o.Cause != NameNotFound && o.Cause != NetworkFailed && o.Cause != TimedOut { // as the machine's resolver is
		t.Errorf("%+v", o)
	}
}

func within(d time.Duration) func() time.Duration { return func() time.Duration { return d } }
