package sender

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"log"
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

// testConfig returns the configuration of a sender that may send to this host, with a limit of
// attempts.
func testConfig(limit time.Duration) Config {
	return Config{
		Guard:          webhook.Guard{Allow: loopback},
		UserAgent:      "whd/test",
		ConnectTimeout: longTimeout,
		AttemptTimeout: func() time.Duration { return limit },
		MaxIdlePerHost: 8,
	}
}

// newTestSender returns a sender that is closed when the test ends.
func newTestSender(t *testing.T, limit time.Duration) *Sender {
	t.Helper()
	s := New(testConfig(limit))
	t.Cleanup(s.Close)
	return s
}

// testMessage returns a message of a posted event.
func testMessage() *webhook.Message {
	return &webhook.Message{
		ID:    7,
		GUID:  "0199a0b2-5c1d-7e3f-8a4b-6c5d4e3f2a1b",
		Event: &webhook.Event{Name: "debtor.updated", Body: []byte(`{"DebtorID": "0001"}`)},
	}
}

func subscriptionTo(url string) *webhook.Subscription { return &webhook.Subscription{URL: url} }

// sendTo makes an attempt at a URL.
func (s *Sender) sendTo(ctx context.Context, url string) webhook.Outcome {
	return s.Send(ctx, testMessage(), subscriptionTo(url), time.Now())
}

// receiver answers every request on a raw connection, so that it can misbehave.
func receiver(t *testing.T, answer func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	serve := func(c net.Conn) {
		defer c.Close()
		_, err := http.ReadRequest(bufio.NewReader(c))
		if err == nil {
			answer(c)
		}
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return // closed
			}
			go serve(c)
		}
	}()
	return "http://" + l.Addr().String() + "/hook"
}

// delivery is a request as received.
type delivery struct {
	request *http.Request
	body    []byte
}

// deliver sends a message to a new receiver at a URL with the path and query /hook?x=1, and
// returns the received request. It responds with 202 and "thanks".
func deliver(t *testing.T, m *webhook.Message, sub *webhook.Subscription) (delivery, webhook.Outcome) {
	t.Helper()
	var got delivery
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		got = delivery{request: r, body: body}
		w.WriteHeader(http.StatusAccepted)
		fmt.Fprint(w, "thanks")
	}))
	t.Cleanup(srv.Close)
	sub.URL = srv.URL + "/hook?x=1"
	o := newTestSender(t, longTimeout).Send(context.Background(), m, sub, time.Now())
	if got.request == nil {
		t.Fatalf("the receiver got no request; the outcome is %+v", o)
	}
	return got, o
}

// TestSendPostsBody checks the request line and the body of a request, and the outcome.
func TestSendPostsBody(t *testing.T) {
	m := testMessage()
	got, o := deliver(t, m, &webhook.Subscription{Secret: webhook.NewSecret()})
	if o.Code != http.StatusAccepted || !o.Success() || string(o.Text) != "thanks" || o.Took <= 0 {
		t.Errorf("the outcome is %+v, want a success with 202, \"thanks\" and a duration", o)
	}
	if got.request.Method != http.MethodPost || got.request.URL.RequestURI() != "/hook?x=1" {
		t.Errorf("the request is %s %s, want POST /hook?x=1", got.request.Method, got.request.URL)
	}
	if !bytes.Equal(got.body, m.Event.Body) {
		t.Errorf("the body is %s, want %s", got.body, m.Event.Body)
	}
}

// TestSendSetsHeaders checks the headers of the service and of the subscription, which replace them.
func TestSendSetsHeaders(t *testing.T) {
	m := testMessage()
	got, _ := deliver(t, m, &webhook.Subscription{
		Headers: []webhook.Header{
			{Name: "X-Token", Value: "a"},
			{Name: "X-Token", Value: "b"},
			{Name: "content-type", Value: "text/plain"},
		},
	})
	for name, want := range map[string][]string{
		"Webhook-Id":      {m.GUID},
		"X-Event-Name":    {"debtor.updated"},
		"User-Agent":      {"whd/test"},
		"Content-Type":    {"text/plain"},
		"X-Token":         {"a", "b"},
		"Idempotency-Key": nil,
	} {
		values := got.request.Header.Values(name)
		if !slices.Equal(values, want) {
			t.Errorf("%s: %q, want %q", name, values, want)
		}
	}
}

// TestSendSignsWithBothSecrets signs with the secret of the subscription first, as Standard
// Webhooks specifies, then with the replaced one.
func TestSendSignsWithBothSecrets(t *testing.T) {
	m := testMessage()
	secret, replaced := webhook.NewSecret(), webhook.NewSecret()
	got, _ := deliver(t, m, &webhook.Subscription{
		Secret:   secret,
		Replaced: webhook.ReplacedSecret{Secret: replaced},
	})

	signature := func(secret string) string {
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
		if err != nil {
			t.Fatal(err)
		}
		mac := hmac.New(sha256.New, key)
		fmt.Fprintf(mac, "%s.%s.%s", m.GUID, got.request.Header.Get("Webhook-Timestamp"), got.body)
		return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	}
	signatures := strings.Fields(got.request.Header.Get("Webhook-Signature"))
	want := []string{signature(secret), signature(replaced)}
	if !slices.Equal(signatures, want) {
		t.Errorf("the signatures are %q, want %q", signatures, want)
	}
}

// TestSendDeclaresTypeOfBody checks the Content-Type: events can have any text as their body.
func TestSendDeclaresTypeOfBody(t *testing.T) {
	var got http.Header
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = r.Header }))
	t.Cleanup(srv.Close)
	s := newTestSender(t, longTimeout)
	const jsonType, textType = "application/json; charset=utf-8", "text/plain; charset=utf-8"
	for body, want := range map[string]string{
		`{"DebtorID": "0001"}`: jsonType,
		" [1,\n2] ":            jsonType,
		`"text"`:               jsonType,
		"12.5":                 jsonType,
		"null":                 jsonType,
		"hello":                textType,
		`{"DebtorID": `:        textType,
		"{DebtorID:0001}":      textType,
		"<Debtor/>":            textType,
		"":                     textType,
		`{} {}`:                textType,
	} {
		m := testMessage()
		m.Event.Body = []byte(body)
		o := s.Send(context.Background(), m, subscriptionTo(srv.URL), time.Now())
		types := got.Values("Content-Type")
		if !o.Success() || !slices.Equal(types, []string{want}) {
			t.Errorf("the body %q: Content-Type %q, want %q once (%+v)", body, types, want, o)
		}
	}
}

// TestRetryAfterDateUsesStoreClock: a date in Retry-After is compared with the store's
// clock, by which the attempt was timed, since this host's clock may be wrong.
func TestRetryAfterDateUsesStoreClock(t *testing.T) {
	at := time.Now().Add(time.Hour)
	to := receiver(t, func(c net.Conn) {
		date := at.Add(10 * time.Minute).UTC().Format(http.TimeFormat)
		fmt.Fprintf(c, "HTTP/1.1 503 Later\r\nRetry-After: %s\r\nContent-Length: 0\r\n\r\n", date)
	})
	o := newTestSender(t, longTimeout).Send(context.Background(), testMessage(), subscriptionTo(to), at)
	if o.RetryAfter <= 5*time.Minute || o.RetryAfter > 10*time.Minute {
		t.Errorf("a date ten minutes later is read as %v, want 5 to 10 minutes", o.RetryAfter)
	}
}

// misbehaviour is how an endpoint answers, with the expected outcome.
type misbehaviour struct {
	answer func(net.Conn)
	limit  time.Duration // that the attempt reaches; 0 for none
	code   int
	cause  webhook.Cause
}

// misbehaviours returns misbehaviours by name. Those that do not end wait for forever.
func misbehaviours(forever chan struct{}) map[string]misbehaviour {
	write := func(text string) func(net.Conn) {
		return func(c net.Conn) { _, _ = io.WriteString(c, text) }
	}
	return map[string]misbehaviour{
		"hangs": {
			answer: func(net.Conn) { <-forever },
			limit:  shortTimeout,
			cause:  webhook.TimedOut,
		},
		"drips its head": {
			answer: func(c net.Conn) { drip(c, "HTTP/1.1 200 OK\r\nX-Filler: ", forever) },
			limit:  shortTimeout,
			cause:  webhook.TimedOut,
		},
		"never ends": {
			answer: func(c net.Conn) { drip(c, "HTTP/1.1 200 OK\r\n\r\n", forever) },
			limit:  3 * time.Second,
			code:   200,
			cause:  webhook.Responded,
		},
		"resets": {
			answer: func(c net.Conn) { _ = c.(*net.TCPConn).SetLinger(0) },
			cause:  webhook.ConnectionReset,
		},
		"no response": {
			answer: func(net.Conn) {},
			cause:  webhook.ConnectionReset,
		},
		"not HTTP": {
			answer: write("220 mail.example.com ESMTP\r\n"),
			cause:  webhook.InvalidResponse,
		},
		"endless 1xx": {
			answer: write(strings.Repeat("HTTP/1.1 103 Early Hints\r\n\r\n", 10_000)),
			cause:  webhook.InvalidResponse,
		},
		"huge head": {
			answer: write("HTTP/1.1 200 OK\r\nX-Filler: " + strings.Repeat("x", 1<<20) + "\r\n\r\n"),
			cause:  webhook.InvalidResponse,
		},
		"redirects": {
			answer: write("HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/\r\nContent-Length: 0\r\n\r\n"),
			code:   302,
			cause:  webhook.Responded,
		},
		"truncated body": {
			answer: write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nfew"),
			code:   200,
			cause:  webhook.Responded,
		},
		"unknown status": {
			answer: write("HTTP/1.1 799 Odd\r\nContent-Length: 0\r\n\r\n"),
			code:   799,
			cause:  webhook.Responded,
		},
		"too many requests": {
			answer: write("HTTP/1.1 429 Slow\r\nRetry-After: 60\r\nContent-Length: 0\r\n\r\n"),
			code:   429,
			cause:  webhook.Responded,
		},
	}
}

// TestSendToMisbehavingEndpoints checks the outcome of each misbehaviour.
func TestSendToMisbehavingEndpoints(t *testing.T) {
	forever := make(chan struct{})
	t.Cleanup(func() { close(forever) })
	for name, tt := range misbehaviours(forever) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			limit := cmp.Or(tt.limit, longTimeout)
			o := sendWithin(t, limit, tt.answer)
			for tt.code != 0 && o.Cause == webhook.TimedOut && limit < longTimeout {
				limit *= 2 // the head was too late on a busy machine
				o = sendWithin(t, limit, tt.answer)
			}
			if o.Code != tt.code || o.Cause != tt.cause {
				t.Errorf("the outcome has code %d and cause %q, want %d and %q (%s)",
					o.Code, o.Cause, tt.code, tt.cause, o.Detail)
			}
			connected := !strings.HasPrefix(o.Detail, "dial ")
			const want = "no response within 300ms, the limit of webhooks.attempt_timeout"
			if o.Cause == webhook.TimedOut && connected && o.Detail != want {
				t.Errorf("the outcome has the detail %q, want %q", o.Detail, want)
			}
		})
	}
}

// sendWithin makes an attempt with a time limit at a receiver that answers on a raw connection.
func sendWithin(t *testing.T, limit time.Duration, answer func(net.Conn)) webhook.Outcome {
	t.Helper()
	return newTestSender(t, limit).sendTo(context.Background(), receiver(t, answer))
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

// TestSendLimitsResponseBody sends to a receiver with an endless response.
func TestSendLimitsResponseBody(t *testing.T) {
	sent := int64(0)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip") // a bomb that is never decompressed
		block := bytes.Repeat([]byte("0123456789abcdef"), 256)
		for range 10_000 {
			n, err := w.Write(block)
			sent += int64(n)
			if err != nil {
				return
			}
		}
	}))
	t.Cleanup(srv.Close)
	o := newTestSender(t, longTimeout).sendTo(context.Background(), srv.URL)
	if o.Code != 200 || len(o.Text) != webhook.MaxResponseText {
		t.Errorf("the outcome has code %d and %d bytes, want 200 and %d", o.Code, len(o.Text), webhook.MaxResponseText)
	}
	srv.Close()          // waits for the handler
	const most = 8 << 20 // buffers of both sides
	if sent > most {
		t.Errorf("the receiver could send %d bytes, want at most %d", sent, most)
	}
}

// TestSendRetriesOnClosedConnections closes each connection after its response without
// announcing it.
func TestSendRetriesOnClosedConnections(t *testing.T) {
	to := receiver(t, func(c net.Conn) {
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
	})
	sender := newTestSender(t, longTimeout)
	for i := range 50 {
		o := sender.sendTo(context.Background(), to)
		if o.Code != http.StatusOK {
			t.Fatalf("attempt %d has the outcome %+v, want code 200", i, o)
		}
	}
}

// TestSendRefusesBadCertificates sends to a receiver with a certificate of an unknown authority.
func TestSendRefusesBadCertificates(t *testing.T) {
	srv := httptest.NewUnstartedServer(http.NotFoundHandler())
	srv.Config.ErrorLog = log.New(io.Discard, "", 0) // each handshake fails
	srv.StartTLS()
	t.Cleanup(srv.Close)
	o := newTestSender(t, longTimeout).sendTo(context.Background(), srv.URL)
	if o.Cause != webhook.TLSFailed {
		t.Errorf("a certificate of an unknown authority: the outcome is %+v, want the cause %q", o, webhook.TLSFailed)
	}
}

// TestSendFailsWithoutTLS sends over HTTPS to a receiver of HTTP.
func TestSendFailsWithoutTLS(t *testing.T) {
	srv := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(srv.Close)
	to := strings.Replace(srv.URL, "http:", "https:", 1)
	o := newTestSender(t, longTimeout).sendTo(context.Background(), to)
	if o.Cause != webhook.TLSFailed {
		t.Errorf("a receiver without TLS: the outcome is %+v, want the cause %q", o, webhook.TLSFailed)
	}
}

// TestSendEnforcesGuard sends to this host by a sender that may not.
func TestSendEnforcesGuard(t *testing.T) {
	reached := make(chan struct{}, 8)
	srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		reached <- struct{}{}
	}))
	t.Cleanup(srv.Close)
	target, err := url.Parse(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	config := testConfig(longTimeout)
	config.Guard = webhook.Guard{}
	sender := New(config)
	t.Cleanup(sender.Close)
	for _, host := range []string{"127.0.0.1", "localhost", "[::ffff:127.0.0.1]"} {
		for _, byAdmin := range []bool{false, true} {
			sub := subscriptionTo("http://" + host + ":" + target.Port() + "/")
			sub.MadeByAdmin = byAdmin
			o := sender.Send(context.Background(), testMessage(), sub, time.Now())
			if o.Cause != webhook.TargetForbidden || !o.Permanent() {
				t.Errorf("%s, made by an administrator %v: the outcome is %+v, want the permanent cause %q",
					host, byAdmin, o, webhook.TargetForbidden)
			}
		}
	}
	if len(reached) > 0 {
		t.Errorf("the receiver got %d requests, want none", len(reached))
	}
}

// TestSendReachesTestTarget sends to the service itself: only its test target may be reached.
func TestSendReachesTestTarget(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusCreated)
	}))
	t.Cleanup(srv.Close)
	target, err := url.Parse(srv.URL + "/Webhooks/Test")
	if err != nil {
		t.Fatal(err)
	}
	config := testConfig(longTimeout)
	config.Guard = webhook.Guard{}
	config.TestTarget = target
	sender := New(config)
	t.Cleanup(sender.Close)

	o := sender.sendTo(context.Background(), srv.URL+"/webhooks/test/")
	if o.Code != http.StatusCreated {
		t.Errorf("the test target: the outcome is %+v, want code 201", o)
	}
	o = sender.sendTo(context.Background(), srv.URL+"/Users")
	if o.Cause != webhook.TargetForbidden {
		t.Errorf("another path of the service: the outcome is %+v, want the cause %q", o, webhook.TargetForbidden)
	}
}

// TestSendToUnknownHost sends to a name that does not exist. The cause depends on the machine's
// resolver.
func TestSendToUnknownHost(t *testing.T) {
	o := newTestSender(t, longTimeout).sendTo(context.Background(), "http://nowhere.invalid/")
	causes := []webhook.Cause{webhook.NameNotFound, webhook.NetworkFailed, webhook.TimedOut}
	if !slices.Contains(causes, o.Cause) {
		t.Errorf("the outcome is %+v, want a cause of %q", o, causes)
	}
}

// TestRetryAfterHeader reads times in seconds and dates, and ignores others.
func TestRetryAfterHeader(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Duration{
		"":                              0,
		"120":                           2 * time.Minute,
		" 7 ":                           7 * time.Second,
		"-5":                            0,
		"soon":                          0,
		"1e9":                           0,
		"2147483648":                    maxRetryAfter * time.Second,
		"9223372037":                    maxRetryAfter * time.Second,
		"99999999999999999999":          maxRetryAfter * time.Second,
		"Sun, 01 Mar 2026 12:01:00 GMT": time.Minute,
		"Sun, 01 Mar 2026 11:00:00 GMT": 0,
	} {
		if got := retryAfter(text, now); got != want {
			t.Errorf("reading %q: %v, want %v", text, got, want)
		}
	}
}

// signaturesAt returns the signatures of a message that is sent at a time.
func (s *Sender) signaturesAt(t *testing.T, m *webhook.Message, sub *webhook.Subscription, at time.Time) []string {
	t.Helper()
	request, err := s.request(t.Context(), m, sub, at)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(request.Header.Get(headerSignature))
}

// TestOldSecretSignsUntilExpiry covers secrets that have expired but are still stored.
func TestOldSecretSignsUntilExpiry(t *testing.T) {
	s := New(Config{})
	defer s.Close()
	end := time.Date(2030, 1, 2, 12, 0, 0, 0, time.UTC)
	never := time.Time{}
	current, replaced := webhook.NewSecret(), webhook.NewSecret()
	m := testMessage()
	for _, test := range []struct {
		name              string
		current, replaced string
		until             time.Time // end of the replaced secret
		at                time.Time
		want              []string // secrets that sign
	}{
		{"before the end", current, replaced, end, end.Add(-time.Nanosecond), []string{current, replaced}},
		{"at the end", current, replaced, end, end, []string{current}},
		{"after the end", current, replaced, end, end.Add(time.Hour), []string{current}},
		{"without an end", current, replaced, never, end, []string{current, replaced}},
		{"none replaced", current, "", never, end, []string{current}},
		{"none replaced, with an end", current, "", end, end.Add(time.Hour), []string{current}},
		{"no secret", "", "", end, end.Add(time.Hour), nil},
	} {
		sub := &webhook.Subscription{
			Secret:   test.current,
			Replaced: webhook.ReplacedSecret{Secret: test.replaced, Until: test.until},
		}
		var want []string
		for _, secret := range test.want {
			want = append(want, sign([]string{secret}, m.GUID, test.at, m.Event.Body))
		}
		if got := s.signaturesAt(t, m, sub, test.at); !slices.Equal(got, want) {
			t.Errorf("%s: the signatures are %q, want %q", test.name, got, want)
		}
	}
}

// TestFiveSecrets signs with five secrets, each of the replaced ones until its own time.
func TestFiveSecrets(t *testing.T) {
	s := New(Config{})
	defer s.Close()
	noon := time.Date(2030, 1, 2, 12, 0, 0, 0, time.UTC)
	replaced := func(hours time.Duration) webhook.ReplacedSecret {
		return webhook.ReplacedSecret{Secret: webhook.NewSecret(), Until: noon.Add(hours * time.Hour)}
	}
	sub := &webhook.Subscription{
		Secret:   webhook.NewSecret(),
		Replaced: replaced(2),
		Earlier:  []webhook.ReplacedSecret{replaced(4), replaced(1), replaced(3)},
	}
	m := testMessage()
	for hour := range 5 {
		at := noon.Add(time.Duration(hour)*time.Hour - time.Nanosecond) // just before one ends
		signatures := s.signaturesAt(t, m, sub, at)
		verifies := func(secret string) bool {
			return slices.Contains(signatures, sign([]string{secret}, m.GUID, at, m.Event.Body))
		}
		if !verifies(sub.Secret) {
			t.Errorf("the current secret does not verify at %v, want it to", at)
		}
		for _, r := range append(sub.Earlier, sub.Replaced) {
			want := at.Before(r.Until)
			if got := verifies(r.Secret); got != want {
				t.Errorf("the secret that ends at %v verifies at %v: %v, want %v", r.Until, at, got, want)
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
