package sender

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/hostiletest"
)

// shortTimeout is the limit of attempts that are expected to reach it.
const shortTimeout = 300 * time.Millisecond

// pauseOfHealthy is the pause between attempts at an endpoint that works, while others hang.
const pauseOfHealthy = 5 * time.Millisecond

// testTLS returns the certificate of receivers, and the pool that trusts it.
func testTLS(t *testing.T) (*tls.Config, *x509.CertPool) {
	t.Helper()
	server := httptest.NewTLSServer(http.NotFoundHandler())
	defer server.Close()
	pool := x509.NewCertPool()
	pool.AddCert(server.Certificate())
	return server.TLS, pool
}

// hostileSender returns a sender with a limit that can be changed.
func hostileSender(t *testing.T, roots *x509.CertPool) (*Sender, *atomic.Int64) {
	t.Helper()
	limit := new(atomic.Int64)
	config := testConfig(longTimeout)
	config.AttemptTimeout = func() time.Duration { return time.Duration(limit.Load()) }
	config.PingTimeout = time.Second
	config.Outbound.RootCAs = roots
	return New(config), limit
}

// receiversNamed returns the receivers of the table with some names.
func receiversNamed(t *testing.T, names ...string) []hostiletest.Receiver {
	t.Helper()
	var receivers []hostiletest.Receiver
	for _, r := range hostiletest.Table() {
		if slices.Contains(names, r.Name) {
			receivers = append(receivers, r)
		}
	}
	if len(receivers) == 0 {
		t.Fatalf("there are no receivers with the names %q", names)
	}
	return receivers
}

// messageFor returns a message with as large a body as a receiver needs. It is plain text,
// since the sender reads all of a body that may be JSON.
func messageFor(r hostiletest.Receiver) *webhook.Message {
	m := testMessage()
	if r.Body > 0 {
		m.Event = &webhook.Event{Name: m.Event.Name, Body: bytes.Repeat([]byte("x"), r.Body)}
	}
	return m
}

// TestHostileReceivers makes three attempts at each receiver of the table: each ends, with the
// right outcome and at most two requests.
func TestHostileReceivers(t *testing.T) {
	config, roots := testTLS(t)
	table := hostiletest.Table()
	problems := make([][]string, len(table))
	var tried sync.WaitGroup
	for i, r := range table {
		server := r.Start(t, config)
		tried.Go(func() { problems[i] = tryThrice(t, r, server, roots) }) // most of the time they wait
	}
	tried.Wait()
	for i, r := range table {
		t.Run(string(r.Protocol)+"/"+r.Name, func(t *testing.T) {
			for _, problem := range problems[i] {
				t.Error(problem)
			}
		})
	}
}

// tryThrice makes three attempts at a receiver and returns their problems.
func tryThrice(t *testing.T, r hostiletest.Receiver, server *hostiletest.Server, roots *x509.CertPool) (problems []string) {
	s, limit := hostileSender(t, roots)
	defer s.Close()
	limit.Store(int64(longTimeout))
	if slices.Contains(r.Want, hostiletest.Outcome{Cause: webhook.TimedOut}) {
		limit.Store(int64(shortTimeout))
	}
	report := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	for attempt := range 3 {
		before := server.Requests()
		o := s.Send(t.Context(), messageFor(r), subscriptionTo(server.URL), time.Now())
		got := hostiletest.Outcome{Code: o.Code, Cause: o.Cause}
		isLost := r.Protocol == hostiletest.HTTP2 && o.Own == webhook.ConnectionLost
		if !slices.Contains(r.Want, got) && !isLost {
			report("attempt %d ended with %+v (%s), want %+v", attempt+1, got, o.Detail, r.Want)
		}
		if strings.Contains(o.Detail, "%!") {
			report("the detail of attempt %d has a formatting error: %s", attempt+1, o.Detail)
		}
		if o.Own != "" && !isLost {
			report("attempt %d is not charged to the receiver: %s", attempt+1, o.Own)
		}
		if n := server.Requests() - before; n > 2 {
			report("attempt %d made %d requests, want at most 2", attempt+1, n)
		}
	}
	if n := s.Overdue(); n > 0 {
		report("%d requests have not ended", n)
	}
	return problems
}

// TestNothingIsLeftOfHostileReceivers runs all receivers together with a healthy one, with one sender.
// Afterwards the goroutines and descriptors are those from before.
func TestNothingIsLeftOfHostileReceivers(t *testing.T) {
	goroutines := goleak.IgnoreCurrent()
	httptest.NewServer(http.NotFoundHandler()).Close() // the descriptors of the network poller stay open
	descriptors := openDescriptors()
	t.Run("all at once", func(t *testing.T) {
		config, roots := testTLS(t)
		healthy := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
		t.Cleanup(healthy.Close)
		s, limit := hostileSender(t, roots)
		defer s.Close()
		limit.Store(int64(time.Second))

		var attempts sync.WaitGroup
		for _, r := range hostiletest.Table() {
			server := r.Start(t, config)
			for range 2 {
				attempts.Go(func() {
					s.Send(context.Background(), messageFor(r), subscriptionTo(server.URL), time.Now())
				})
			}
		}
		ended := make(chan struct{})
		go func() {
			attempts.Wait()
			close(ended)
		}()
		sendUntil(t, s, healthy.URL, ended)
	})
	goleak.VerifyNone(t, goroutines)
	for end := time.Now().Add(longTimeout); openDescriptors() > descriptors && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
	if n := openDescriptors(); n > descriptors {
		t.Errorf("%d descriptors are open, want %d, as before", n, descriptors)
	}
}

// sendUntil sends to an endpoint that works until the others have ended. On a busy machine, attempts
// may time out.
func sendUntil(t *testing.T, s *Sender, url string, ended chan struct{}) {
	t.Helper()
	for attempts := 0; ; attempts++ {
		select {
		case <-ended:
			if attempts == 0 {
				t.Error("no attempt was made at the healthy endpoint in the meantime, want some")
			}
			return
		default:
		}
		time.Sleep(pauseOfHealthy)
		o := s.sendTo(t.Context(), url)
		if !o.Success() && o.Cause != webhook.TimedOut {
			t.Errorf("the attempt at the healthy endpoint ended with %d %s (%s), want a success", o.Code, o.Cause, o.Detail)
		}
	}
}

// openDescriptors returns the number of open descriptors, 0 where it is unknown.
func openDescriptors() int {
	if runtime.GOOS != "linux" {
		return 0
	}
	descriptors, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(descriptors)
}

// TestPoisonedMessageOverIdleConnections sends a message for which the receiver closes the
// connection without an answer, while there are many idle connections to it.
func TestPoisonedMessageOverIdleConnections(t *testing.T) {
	const idle = 250
	var poisoned atomic.Int64
	arrived := make(chan struct{}, idle)
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Poison") == "" {
			arrived <- struct{}{}
			<-release
			return
		}
		poisoned.Add(1)
		panic(http.ErrAbortHandler)
	}))
	t.Cleanup(server.Close)
	config := testConfig(longTimeout)
	config.MaxIdlePerHost = idle
	s := New(config)
	defer s.Close()
	var sent sync.WaitGroup
	for range idle {
		sent.Go(func() { s.sendTo(t.Context(), server.URL) })
	}
	for range idle {
		<-arrived
	}
	close(release)
	sent.Wait()

	for name, headers := range map[string][]webhook.Header{
		"without a key": {{Name: "X-Poison", Value: "1"}},
		"with a key":    {{Name: "X-Poison", Value: "1"}, {Name: "Idempotency-Key", Value: "7"}},
	} {
		poisoned.Store(0)
		sub := &webhook.Subscription{URL: server.URL, Headers: headers}
		o := s.Send(t.Context(), testMessage(), sub, time.Now())
		if o.Cause != webhook.ConnectionReset {
			t.Errorf("%s: the outcome is %q (%s), want %q", name, o.Cause, o.Detail, webhook.ConnectionReset)
		}
		if n := poisoned.Load(); n < 1 || n > 2 {
			t.Errorf("%s: the receiver got %d requests for one attempt, want 1 or 2", name, n)
		}
	}
}

// TestCancelledAttemptsEnd cancels attempts, as the engine does when a subscription is deleted.
func TestCancelledAttemptsEnd(t *testing.T) {
	config, roots := testTLS(t)
	for _, r := range receiversNamed(t, "101", "early answer that does not end", "hangs", "answer head: stall") {
		t.Run(string(r.Protocol)+"/"+r.Name, func(t *testing.T) {
			server := r.Start(t, config)
			s, limit := hostileSender(t, roots)
			defer s.Close()
			limit.Store(int64(longTimeout))
			ctx, cancel := context.WithCancel(t.Context())
			go func() {
				for server.Requests() == 0 {
					time.Sleep(time.Millisecond)
				}
				cancel()
			}()
			start := time.Now()
			s.Send(ctx, messageFor(r), subscriptionTo(server.URL), start)
			if took := time.Since(start); took > longTimeout/2 {
				t.Errorf("a cancelled attempt took %v, want at most %v", took, longTimeout/2)
			}
		})
	}
}

// http2Server starts a server of HTTP/2, and returns the pool that trusts it.
func http2Server(t *testing.T, handler http.HandlerFunc) (*httptest.Server, *x509.CertPool) {
	t.Helper()
	server := httptest.NewUnstartedServer(handler)
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	return server, roots
}

// TestSharedHTTP2Host sends to one HTTP/2 host for two subscriptions, of which one always hangs:
// attempts of the other succeed, also while those that hang time out.
func TestSharedHTTP2Host(t *testing.T) {
	testEnds := make(chan struct{})
	server, roots := http2Server(t, func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/hangs" {
			return
		}
		select {
		case <-testEnds:
		case <-r.Context().Done():
		}
	})
	defer close(testEnds)
	s, limit := hostileSender(t, roots)
	defer s.Close()
	limit.Store(int64(longTimeout))
	expectSuccess := func() {
		t.Helper()
		o := s.sendTo(t.Context(), server.URL+"/works")
		if !o.Success() || o.Own != "" {
			t.Errorf("the attempt at the endpoint that works ended with %d %s %s (%s), want a success",
				o.Code, o.Cause, o.Own, o.Detail)
		}
	}
	for range 5 {
		expectSuccess()
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			ctx, cancel := context.WithTimeout(t.Context(), shortTimeout)
			defer cancel()
			s.sendTo(ctx, server.URL+"/hangs")
		}()
		for hasEnded := false; !hasEnded; {
			time.Sleep(pauseOfHealthy)
			expectSuccess()
			select {
			case <-ended:
				hasEnded = true
			default:
			}
		}
	}
}

// TestNewConnectionAfterTimeout lets a proxy stop forwarding on the connections that it has, while
// new ones work: the attempt after a timeout arrives.
func TestNewConnectionAfterTimeout(t *testing.T) {
	server, roots := http2Server(t, func(http.ResponseWriter, *http.Request) {})
	proxy := newStoppingProxy(t, server.Listener.Addr().String())
	s, limit := hostileSender(t, roots)
	defer s.Close()
	send := func(timeout time.Duration) webhook.Outcome {
		limit.Store(int64(timeout))
		return s.sendTo(t.Context(), fmt.Sprintf("https://%s/hook", proxy.address))
	}

	o := send(longTimeout)
	if !o.Success() {
		t.Fatalf("before the proxy stops: %+v, want a success", o)
	}
	proxy.stopForwarding()
	o = send(shortTimeout)
	if o.Cause != webhook.TimedOut {
		t.Fatalf("over the dead connection: %+v, want a timeout", o)
	}
	o = send(longTimeout)
	if !o.Success() {
		t.Errorf("after the timeout: %d %s (%s), want a success on a new connection", o.Code, o.Cause, o.Detail)
	}
}

// TestLostConnectionIsNotCharged lets pings of an HTTP/2 connection go unanswered.
func TestLostConnectionIsNotCharged(t *testing.T) {
	tlsConfig, roots := testTLS(t)
	for _, r := range receiversNamed(t, "hangs without answers to pings") {
		server := r.Start(t, tlsConfig)
		config := testConfig(longTimeout)
		config.PingTimeout = 50 * time.Millisecond
		config.Outbound.RootCAs = roots
		s := New(config)
		defer s.Close()
		o := s.Send(t.Context(), messageFor(r), subscriptionTo(server.URL), time.Now())
		if o.Own != webhook.ConnectionLost || o.Cause != webhook.TimedOut {
			t.Errorf("the outcome is %q, %q (%s), want %q and %q",
				o.Own, o.Cause, o.Detail, webhook.ConnectionLost, webhook.TimedOut)
		}
		if n := server.Requests(); n != 1 {
			t.Errorf("%d requests were sent, want 1", n)
		}
	}
}

// TestRetiredConnectionsAreClosed lets attempts over HTTP/2 time out: no connection is left.
func TestRetiredConnectionsAreClosed(t *testing.T) {
	tlsConfig, roots := testTLS(t)
	for _, r := range receiversNamed(t, "hangs") {
		if r.Protocol != hostiletest.HTTP2 {
			continue
		}
		const attempts = 20
		server := r.Start(t, tlsConfig)
		config := testConfig(shortTimeout)
		config.MaxConnections = attempts
		config.Outbound.RootCAs = roots
		s := New(config)
		defer s.Close()
		var running sync.WaitGroup
		for range attempts {
			running.Go(func() { s.Send(t.Context(), messageFor(r), subscriptionTo(server.URL), time.Now()) })
		}
		running.Wait()

		slots := s.public.connections.slots
		for end := time.Now().Add(longTimeout); len(slots) > 0; time.Sleep(10 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%d connections are open, want 0", len(slots))
			}
		}
	}
}

// TestIdleConnectionsMakeRoom sends to more hosts than there may be connections.
func TestIdleConnectionsMakeRoom(t *testing.T) {
	const limit, hosts = 4, 12
	config := testConfig(longTimeout)
	config.MaxConnections = limit
	s := New(config)
	defer s.Close()
	var urls []string
	for range hosts {
		server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
		t.Cleanup(server.Close)
		urls = append(urls, server.URL)
	}
	for range 3 {
		for i, url := range urls {
			o := s.sendTo(t.Context(), url)
			if !o.Success() {
				t.Fatalf("the attempt at host %d ended with %d %s %s (%s), want a success", i, o.Code, o.Cause, o.Own, o.Detail)
			}
		}
	}
}
