package sender

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
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/webhook"
)

var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}

// longTimeout is a time limit that these tests do not reach.
const longTimeout = 2 * time.Minute

func newTestSender(t *testing.T, limit time.Duration) *Sender {
	t.Helper()
	s := New(Config{Guard: webhook.Guard{Allow: loopback}, UserAgent: "whd/test", ConnectTimeout: longTimeout, AttemptTimeout: timeoutOf(limit), MaxIdlePerHost: 8})
	t.Cleanup(s.Close)
	return s
}

func testMessage() *webhook.Message {
	return &webhook.Message{ID: 7, GUID: "0199a0b2-5c1d-7e3f-8a4b-6c5d4e3f2a1b", Event: &webhook.Event{Name: "debtor.updated", Body: []byte(`{"DebtorID": "0001"}`)}}
}

func subscriptionTo(url string) *webhook.Subscription { return &webhook.Subscription{URL: url} }

// receiver answers every request on a raw connection, so that it can misbehave.
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

func TestSendFollowsStandardWebhooks(t *testing.T) {
	var got *http.Request
	var body []byte
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r
		body, _ = io.ReadAll(r.Body)
		w.WriteHeader(http.StatusAccepted)
		fmt.Fprint(w, "thanks")
	}))
	t.Cleanup(srv.Close)
	secret := webhook.NewSecret()
	m := testMessage()
	sub := &webhook.Subscription{URL: srv.URL + "/hook?x=1", Secret: secret, Replaced: webhook.ReplacedSecret{Secret: webhook.NewSecret()}, Headers: []webhook.Header{{Name: "X-Token", Value: "a"}, {Name: "X-Token", Value: "b"}, {Name: "content-type", Value: "text/plain"}}}
	o := newTestSender(t, longTimeout).Send(context.Background(), m, sub, time.Now())
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

// TestRetryAfterDateUsesStoreClock: a date in Retry-After is compared with the store's
// clock, by which the attempt was timed, since this host's clock may be wrong.
// TestSendDeclaresTypeOfBody checks the Content-Type: events can have any text as their body.
func TestSendDeclaresTypeOfBody(t *testing.T) {
	var got http.Header
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = r.Header }))
	t.Cleanup(srv.Close)
	s := newTestSender(t, longTimeout)
	const jsonType, textType = "application/json; charset=utf-8", "text/plain; charset=utf-8"
	for body, want := range map[string]string{
		`{"DebtorID": "0001"}`: jsonType, " [1,\n2] ": jsonType, `"text"`: jsonType, "12.5": jsonType, "null": jsonType,
		"hello": textType, `{"DebtorID": `: textType, "{DebtorID:0001}": textType, "<Debtor/>": textType, "": textType, `{} {}`: textType,
	} {
		m := testMessage()
		m.Event.Body = []byte(body)
		o := s.Send(context.Background(), m, subscriptionTo(srv.URL), time.Now())
		if types := got.Values("Content-Type"); !o.Success() || len(types) != 1 || types[0] != want {
			t.Errorf("the body %q: Content-Type %q, want %q (%+v)", body, types, want, o)
		}
	}
}

func TestRetryAfterDateUsesStoreClock(t *testing.T) {
	at := time.Now().Add(time.Hour)
	to := receiver(t, func(c net.Conn) {
		fmt.Fprintf(c, "HTTP/1.1 503 Later\r\nRetry-After: %s\r\nContent-Length: 0\r\n\r\n", at.Add(10*time.Minute).UTC().Format(http.TimeFormat))
	})
	o := newTestSender(t, longTimeout).Send(context.Background(), testMessage(), subscriptionTo(to), at)
	if o.RetryAfter <= 5*time.Minute || o.RetryAfter > 10*time.Minute {
		t.Errorf("a date ten minutes later is read as %v", o.RetryAfter)
	}
}

func TestSendToMisbehavingEndpoints(t *testing.T) {
	forever := make(chan struct{})
	t.Cleanup(func() { close(forever) })
	write := func(text string) func(net.Conn) {
		return func(c net.Conn) { _, _ = io.WriteString(c, text) }
	}
	tests := map[string]struct {
		answer func(net.Conn)
		code   int
		cause  webhook.Cause
	}{
		"hangs":             {func(net.Conn) { <-forever }, 0, webhook.TimedOut},
		"drips its head":    {func(c net.Conn) { drip(c, "HTTP/1.1 200 OK\r\nX-Filler: ", forever) }, 0, webhook.TimedOut},
		"never ends":        {func(c net.Conn) { drip(c, "HTTP/1.1 200 OK\r\n\r\n", forever) }, 200, webhook.Responded},
		"resets":            {func(c net.Conn) { _ = c.(*net.TCPConn).SetLinger(0) }, 0, webhook.ConnectionReset},
		"no response":       {func(net.Conn) {}, 0, webhook.ConnectionReset},
		"not HTTP":          {write("220 mail.example.com ESMTP\r\n"), 0, webhook.InvalidResponse},
		"endless 1xx":       {write(strings.Repeat("HTTP/1.1 103 Early Hints\r\n\r\n", 10_000)), 0, webhook.InvalidResponse},
		"huge head":         {write("HTTP/1.1 200 OK\r\nX-Filler: " + strings.Repeat("x", 1<<20) + "\r\n\r\n"), 0, webhook.InvalidResponse},
		"redirects":         {write("HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/\r\nContent-Length: 0\r\n\r\n"), 302, webhook.Responded},
		"truncated body":    {write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nfew"), 200, webhook.Responded},
		"unknown status":    {write("HTTP/1.1 799 Odd\r\nContent-Length: 0\r\n\r\n"), 799, webhook.Responded},
		"too many requests": {write("HTTP/1.1 429 Slow\r\nRetry-After: 60\r\nContent-Length: 0\r\n\r\n"), 429, webhook.Responded},
	}
	limits := map[string]time.Duration{"hangs": 300 * time.Millisecond, "drips its head": 300 * time.Millisecond, "never ends": 3 * time.Second}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			limit := limits[name]
			if limit == 0 { // without reaching the limit
				limit = longTimeout
			}
			o := newTestSender(t, limit).Send(context.Background(), testMessage(), subscriptionTo(receiver(t, tt.answer)), time.Now())
			for tt.code != 0 && o.Cause == webhook.TimedOut && limit < longTimeout { // the head was too late on a busy machine
				limit *= 2
				o = newTestSender(t, limit).Send(context.Background(), testMessage(), subscriptionTo(receiver(t, tt.answer)), time.Now())
			}
			if o.Code != tt.code || o.Cause != tt.cause {
				t.Errorf("code %d, cause %q (%s)", o.Code, o.Cause, o.Detail)
			}
			if connected := !strings.HasPrefix(o.Detail, "dial "); o.Cause == webhook.TimedOut && connected && o.Detail != "no response within 300ms, the limit of webhooks.attempt_timeout" {
				t.Errorf("detail %q", o.Detail)
			}
		})
	}
}

// drip writes a byte every 10 ms until the connection breaks.
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

func TestSendLimitsResponseBody(t *testing.T) {
	var sent int64
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip") // a bomb that is never decompressed
		for range 10_000 {
			n, err := w.Write(bytes.Repeat([]byte("0123456789abcdef"), 256))
			if sent += int64(n); err != nil {
				return
			}
		}
	}))
	t.Cleanup(srv.Close)
	o := newTestSender(t, longTimeout).Send(context.Background(), testMessage(), subscriptionTo(srv.URL), time.Now())
	if o.Code != 200 || len(o.Text) != maxStoredBody {
		t.Errorf("code %d, kept %d bytes", o.Code, len(o.Text))
	}
	srv.Close() // waits for the handler
	if sent > 8<<20 {
		t.Errorf("the receiver could send %d bytes", sent)
	}
}

// TestSendRetriesOnClosedConnections closes each connection after its response without
// announcing it.
func TestSendRetriesOnClosedConnections(t *testing.T) {
	to := receiver(t, func(c net.Conn) { _, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok") })
	sender := newTestSender(t, longTimeout)
	for i := range 50 {
		if o := sender.Send(context.Background(), testMessage(), subscriptionTo(to), time.Now()); o.Code != 200 {
			t.Fatalf("attempt %d: %+v", i, o)
		}
	}
}

func TestSendRefusesBadCertificates(t *testing.T) {
	srv := httptest.NewTLSServer(http.NotFoundHandler())
	srv.Config.ErrorLog = nil
	t.Cleanup(srv.Close)
	sender := newTestSender(t, longTimeout)
	if o := sender.Send(context.Background(), testMessage(), subscriptionTo(srv.URL), time.Now()); o.Cause != webhook.TLSFailed {
		t.Errorf("%+v", o)
	}
	plain := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(plain.Close)
	to := strings.Replace(plain.URL, "http:", "https:", 1)
	if o := sender.Send(context.Background(), testMessage(), subscriptionTo(to), time.Now()); o.Cause != webhook.TLSFailed {
		t.Errorf("%+v", o)
	}
}

func TestSendEnforcesGuard(t *testing.T) {
	reached := make(chan struct{}, 8)
	srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached <- struct{}{} }))
	t.Cleanup(srv.Close)
	at, _ := url.Parse(srv.URL)
	sender := New(Config{UserAgent: "whd/test", ConnectTimeout: longTimeout, AttemptTimeout: timeoutOf(longTimeout), MaxIdlePerHost: 1})
	t.Cleanup(sender.Close)
	for _, host := range []string{"127.0.0.1", "localhost", "[::ffff:127.0.0.1]"} {
		for _, byAdmin := range []bool{false, true} {
			sub := subscriptionTo("http://" + host + ":" + at.Port() + "/")
			sub.MadeByAdmin = byAdmin
			o := sender.Send(context.Background(), testMessage(), sub, time.Now())
			if o.Cause != webhook.TargetForbidden || !o.Permanent() {
				t.Errorf("%s: %+v", host, o)
			}
		}
	}
	if len(reached) > 0 {
		t.Error("a request was sent")
	}
}

func TestSendReachesTestTarget(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusCreated) }))
	t.Cleanup(srv.Close)
	self, _ := url.Parse(srv.URL + "/Webhooks/Test")
	sender := New(Config{UserAgent: "whd/test", ConnectTimeout: longTimeout, AttemptTimeout: timeoutOf(longTimeout), MaxIdlePerHost: 1, TestTarget: self})
	t.Cleanup(sender.Close)
	if o := sender.Send(context.Background(), testMessage(), subscriptionTo(srv.URL+"/webhooks/test/"), time.Now()); o.Code != http.StatusCreated {
		t.Errorf("%+v", o)
	}
	if o := sender.Send(context.Background(), testMessage(), subscriptionTo(srv.URL+"/Users"), time.Now()); o.Cause != webhook.TargetForbidden {
		t.Errorf("%+v", o)
	}
}

func TestSendToUnknownHost(t *testing.T) {
	o := newTestSender(t, longTimeout).Send(context.Background(), testMessage(), subscriptionTo("http://nowhere.invalid/"), time.Now())
	if o.Cause != webhook.NameNotFound && o.Cause != webhook.NetworkFailed && o.Cause != webhook.TimedOut { // depends on the machine's resolver
		t.Errorf("%+v", o)
	}
}

func timeoutOf(d time.Duration) func() time.Duration { return func() time.Duration { return d } }

func TestRetryAfterHeader(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Duration{
		"":                              0,
		"120":                           2 * time.Minute,
		" 7 ":                           7 * time.Second,
		"-5":                            0,
		"soon":                          0,
		"1e9":                           0,
		"99999999999999999999":          0,
		"Sun, 01 Mar 2026 12:01:00 GMT": time.Minute,
		"Sun, 01 Mar 2026 11:00:00 GMT": 0,
	} {
		if got := retryAfter(text, now); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

// TestOldSecretSignsUntilExpiry covers secrets that have expired but are still stored.
func TestOldSecretSignsUntilExpiry(t *testing.T) {
	end := time.Date(2030, 1, 2, 12, 0, 0, 0, time.UTC)
	s := New(Config{})
	defer s.Close()
	current, old := webhook.NewSecret(), webhook.NewSecret()
	for _, tt := range []struct {
		current, old string
		until        time.Time
		at           time.Time
		want         int
	}{
		{current, old, end, end.Add(-time.Nanosecond), 2},
		{current, old, end, end, 1},
		{current, old, end, end.Add(time.Hour), 1},
		{current, old, time.Time{}, end, 2},
		{current, "", time.Time{}, end, 1},
		{current, "", end, end.Add(time.Hour), 1},
		{"", "", end, end.Add(time.Hour), 0},
	} {
		m := testMessage()
		req, err := s.request(t.Context(), m, &webhook.Subscription{Secret: tt.current, Replaced: webhook.ReplacedSecret{Secret: tt.old, Until: tt.until}}, tt.at)
		if err != nil {
			t.Fatal(err)
		}
		signatures := strings.Fields(req.Header.Get(headerSignature))
		if len(signatures) != tt.want || tt.want > 0 && signatures[0] != sign([]string{current}, m.GUID, tt.at, m.Event.Body) {
			t.Errorf("%q and %q until %v: signed with %d at %v, want %d", tt.current, tt.old, tt.until, len(signatures), tt.at, tt.want)
		}
	}
}

// TestFiveSecrets signs with five secrets, each of the replaced ones until its own time.
func TestFiveSecrets(t *testing.T) {
	s := New(Config{})
	defer s.Close()
	noon := time.Date(2030, 1, 2, 12, 0, 0, 0, time.UTC)
	sub := &webhook.Subscription{Secret: webhook.NewSecret(), Replaced: webhook.ReplacedSecret{Secret: webhook.NewSecret(), Until: noon.Add(2 * time.Hour)}}
	for _, hours := range []time.Duration{4, 1, 3} {
		sub.Earlier = append(sub.Earlier, webhook.ReplacedSecret{Secret: webhook.NewSecret(), Until: noon.Add(hours * time.Hour)})
	}
	for hour := range 5 {
		at := noon.Add(time.Duration(hour)*time.Hour - time.Nanosecond) // just before one ends
		m := testMessage()
		req, err := s.request(t.Context(), m, sub, at)
		if err != nil {
			t.Fatal(err)
		}
		signatures := strings.Fields(req.Header.Get(headerSignature))
		verifies := func(secret string) bool {
			return slices.Contains(signatures, sign([]string{secret}, m.GUID, at, m.Event.Body))
		}
		if !verifies(sub.Secret) {
			t.Errorf("the current secret does not verify at %v", at)
		}
		for _, r := range append(sub.Earlier, sub.Replaced) {
			if want := at.Before(r.Until); verifies(r.Secret) != want {
				t.Errorf("the secret that ends at %v verifies at %v: %v, want %v", r.Until, at, !want, want)
			}
		}
	}
}

// TestSendFollowsSubscription sends a message that was made when the subscription had another URL.
func TestSendFollowsSubscription(t *testing.T) {
	m := testMessage()
	m.URL = "https://before.example/in"
	m.MadeByAdmin = true
	sub := subscriptionTo("https://now.example/in")
	sub.Headers = []webhook.Header{{Name: "X-Token", Value: "s"}}
	req, err := newTestSender(t, 0).request(t.Context(), m, sub, m.Next)
	if err != nil {
		t.Fatal(err)
	}
	if got := req.URL.String(); got != sub.URL {
		t.Errorf("the request goes to %s, want %s", got, sub.URL)
	}
	if got := req.Header.Get("X-Token"); got != "s" {
		t.Errorf("the request has the header %q, want that of the subscription", got)
	}
}
