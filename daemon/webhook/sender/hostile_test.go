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
	s := New(Config{
		Guard:          webhook.Guard{Allow: loopback},
		UserAgent:      "whd/test",
		ConnectTimeout: longTimeout,
		AttemptTimeout: func() time.Duration { return time.Duration(limit.Load()) },
		PingTimeout:    time.Second,
		MaxIdlePerHost: 8,
		RootCAs:        roots,
	})
	return s, limit
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
				attempts.Go(func() { s.Send(context.Background(), messageFor(r), subscriptionTo(server.URL), time.Now()) })
			}
		}
		ended := make(chan struct{})
		go func() { attempts.Wait(); close(ended) }()
		for delivered := 0; ; delivered++ {
			select {
			case <-ended:
				if delivered == 0 {
					t.Error("nothing was sent to the healthy endpoint in the meantime")
				}
				return
			default:
			}
			time.Sleep(pauseOfHealthy)
			if o := s.Send(t.Context(), testMessage(), subscriptionTo(healthy.URL), time.Now()); !o.Success() && o.Cause != webhook.TimedOut {
				t.Errorf("the healthy endpoint got %d %s: %s", o.Code, o.Cause, o.Detail)
			}
		}
	})
	goleak.VerifyNone(t, goroutines)
	for end := time.Now().Add(longTimeout); openDescriptors() > descriptors && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
	if n := openDescriptors(); n > descriptors {
		t.Errorf("%d descriptors are open, %d before", n, descriptors)
	}
}

// openDescriptors returns the number of open descriptors, 0 where it is unknown.
func openDescriptors() int {
	if runtime.GOOS != "linux" {
		return 0
	}
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(all)
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
	s := New(Config{Guard: webhook.Guard{Allow: loopback}, UserAgent: "whd/test", ConnectTimeout: longTimeout, AttemptTimeout: timeoutOf(longTimeout), MaxIdlePerHost: idle})
	defer s.Close()
	var sent sync.WaitGroup
	for range idle {
		sent.Go(func() { s.Send(t.Context(), testMessage(), subscriptionTo(server.URL), time.Now()) })
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
	for _, r := range hostiletest.Table() {
		if r.Name != "101" && r.Name != "early answer that does not end" && r.Name != "hangs" && r.Name != "answer head: stall" {
			continue
		}
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
			began := time.Now()
			s.Send(ctx, messageFor(r), subscriptionTo(server.URL), time.Now())
			if took := time.Since(began); took > longTimeout/2 {
				t.Errorf("a cancelled attempt took %v", took)
			}
		})
	}
}

// TestSharedHTTP2Host sends to one HTTP/2 host for two subscriptions, of which one always hangs:
// attempts of the other succeed, also while those that hang time out.
func TestSharedHTTP2Host(t *testing.T) {
	hang := make(chan struct{})
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/hangs" {
			select {
			case <-hang:
			case <-r.Context().Done():
			}
		}
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	defer close(hang)
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	s, limit := hostileSender(t, roots)
	defer s.Close()
	limit.Store(int64(longTimeout))
	healthy := func() {
		if o := s.Send(t.Context(), testMessage(), subscriptionTo(server.URL+"/works"), time.Now()); !o.Success() || o.Own != "" {
			t.Errorf("the endpoint that works got %d %s %s: %s", o.Code, o.Cause, o.Own, o.Detail)
		}
	}
	for range 5 {
		healthy()
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			short, stop := context.WithTimeout(ctx, shortTimeout)
			defer stop()
			s.Send(short, testMessage(), subscriptionTo(server.URL+"/hangs"), time.Now())
		}()
		for done := false; !done; {
			time.Sleep(pauseOfHealthy)
			healthy()
			select {
			case <-ended:
				done = true
			default:
			}
		}
		cancel()
	}
}

// TestNewConnectionAfterTimeout lets a proxy stop forwarding on the connections that it has, while
// new ones work: the attempt after a timeout arrives.
func TestNewConnectionAfterTimeout(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	proxy := newStoppingProxy(t, server.Listener.Addr().String())
	s, limit := hostileSender(t, roots)
	defer s.Close()
	send := func(limited time.Duration) webhook.Outcome {
		limit.Store(int64(limited))
		return s.Send(t.Context(), testMessage(), subscriptionTo(fmt.Sprintf("https://%s/hook", proxy.address)), time.Now())
	}
	if o := send(longTimeout); !o.Success() {
		t.Fatalf("before the proxy stops: %+v", o)
	}
	proxy.stopForwarding()
	if o := send(shortTimeout); o.Cause != webhook.TimedOut {
		t.Fatalf("over the dead connection: %+v, want a timeout", o)
	}
	if o := send(longTimeout); !o.Success() {
		t.Errorf("after the timeout: %d %s (%s), want a success on a new connection", o.Code, o.Cause, o.Detail)
	}
}

// TestLostConnectionIsNotCharged lets pings of an HTTP/2 connection go unanswered.
func TestLostConnectionIsNotCharged(t *testing.T) {
	config, roots := testTLS(t)
	for _, r := range hostiletest.Table() {
		if r.Name != "hangs without answers to pings" {
			continue
		}
		server := r.Start(t, config)
		s := New(Config{
			Guard: webhook.Guard{Allow: loopback}, UserAgent: "whd/test", ConnectTimeout: longTimeout,
			AttemptTimeout: timeoutOf(longTimeout), PingTimeout: 50 * time.Millisecond, MaxIdlePerHost: 8, RootCAs: roots,
		})
		defer s.Close()
		o := s.Send(t.Context(), messageFor(r), subscriptionTo(server.URL), time.Now())
		if o.Own != webhook.ConnectionLost || o.Cause != webhook.TimedOut {
			t.Errorf("the outcome is %q, %q (%s), want %q and %q", o.Own, o.Cause, o.Detail, webhook.ConnectionLost, webhook.TimedOut)
		}
		if n := server.Requests(); n != 1 {
			t.Errorf("%d requests were sent, want 1", n)
		}
	}
}

// TestRetiredConnectionsAreClosed lets attempts over HTTP/2 time out: no connection is left.
func TestRetiredConnectionsAreClosed(t *testing.T) {
	config, roots := testTLS(t)
	for _, r := range hostiletest.Table() {
		if r.Protocol != hostiletest.HTTP2 || r.Name != "hangs" {
			continue
		}
		server := r.Start(t, config)
		s := New(Config{
			Guard: webhook.Guard{Allow: loopback}, UserAgent: "whd/test", ConnectTimeout: longTimeout,
			AttemptTimeout: timeoutOf(shortTimeout), MaxIdlePerHost: 8, MaxConnections: 20, RootCAs: roots,
		})
		defer s.Close()
		var attempts sync.WaitGroup
		for range 20 {
			attempts.Go(func() { s.Send(t.Context(), messageFor(r), subscriptionTo(server.URL), time.Now()) })
		}
		attempts.Wait()
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
	s := New(Config{
		Guard: webhook.Guard{Allow: loopback}, UserAgent: "whd/test", ConnectTimeout: longTimeout,
		AttemptTimeout: timeoutOf(longTimeout), MaxIdlePerHost: 8, MaxConnections: limit,
	})
	defer s.Close()
	var urls []string
	for range hosts {
		server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
		t.Cleanup(server.Close)
		urls = append(urls, server.URL)
	}
	for range 3 {
		for i, url := range urls {
			o := s.Send(t.Context(), testMessage(), subscriptionTo(url), time.Now())
			if !o.Success() {
				t.Fatalf("host %d got %d %s %s: %s", i, o.Code, o.Cause, o.Own, o.Detail)
			}
		}
	}
}
