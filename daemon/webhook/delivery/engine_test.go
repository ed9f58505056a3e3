package delivery_test

import (
	"context"
	"crypto/x509"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/audit"
	"github.com/bizhook/whd/daemon/sqlite"
	"github.com/bizhook/whd/daemon/storage"
	"github.com/bizhook/whd/daemon/storage/storagetest"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/admin"
	"github.com/bizhook/whd/daemon/webhook/delivery"
	"github.com/bizhook/whd/daemon/webhook/sender"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// testTimeout is the time limit for expected results.
const testTimeout = 2 * time.Minute

// testEnv is a store with an engine that can be stopped and started again.
type testEnv struct {
	t          *testing.T
	dir        string
	store      *storage.Store
	wrap       func(delivery.Store) delivery.Store
	policy     webhook.Policy
	limit      time.Duration
	engine     *delivery.Engine
	service    *admin.Service
	rules      func() webhook.Rules
	sender     *sender.Sender
	roots      *x509.CertPool // trusted by the sender; nil for those of the system
	subscriber string         // a subscriber
}

func newTestEnv(t *testing.T) *testEnv {
	t.Helper()
	h := &testEnv{
		t:     t,
		dir:   t.TempDir(),
		limit: testTimeout,
		rules: inHouse,
		wrap:  func(s delivery.Store) delivery.Store { return s },
	}
	for _, delay := range []time.Duration{1, 2, 5, 10, 20} {
		h.policy.Schedule = append(h.policy.Schedule, delay*time.Millisecond)
	}
	storagetest.Fill(t, h.dir)
	h.store = h.open()
	return h
}

// open opens the store until the test ends.
func (h *testEnv) open() *storage.Store {
	h.t.Helper()
	s, err := storage.Open(context.Background(), storage.Config{Dir: h.dir, Registry: record.Builtin(), Connections: 4})
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() {
		if err := s.Close(); err != nil {
			h.t.Error(err)
		}
	})
	return s
}

func (h *testEnv) start() {
	h.t.Helper()
	h.sender = sender.New(sender.Config{
		Guard:          inHouse().Guard,
		UserAgent:      "whd/test",
		ConnectTimeout: testTimeout,
		AttemptTimeout: func() time.Duration { return h.limit },
		MaxIdlePerHost: 64,
		RootCAs:        h.roots,
	})
	engine := delivery.New(delivery.Config{
		Store:    h.wrap(h.store.Webhooks.Engine),
		Sender:   h.sender,
		Log:      slog.New(slog.NewTextHandler(io.Discard, nil)),
		Policy:   func() webhook.Policy { return h.policy },
		Rules:    h.rules,
		Attempts: 200,
	})
	if err := engine.Start(context.Background()); err != nil {
		h.t.Fatal(err)
	}
	h.engine = engine
	h.service = admin.New(h.store.Webhooks.Admin, engine, h.rules, slog.New(slog.DiscardHandler))
	h.t.Cleanup(func() { h.stop(testTimeout) })
}

// inHouse are the usual rules, by which messages may go to this host.
func inHouse() webhook.Rules {
	guard := webhook.Guard{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}
	return webhook.Rules{Events: record.Events(), Guard: guard}
}

// stop stops the engine with a grace period for attempts in flight.
func (h *testEnv) stop(grace time.Duration) {
	h.t.Helper()
	if h.engine == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	if err := h.engine.Stop(ctx); err != nil && grace == testTimeout {
		h.t.Error(err)
	}
	h.engine = nil
	h.sender.Close()
}

// subscribe creates a subscription as an administrator does, and a subscriber if there is none.
func (h *testEnv) subscribe(url, pattern string, change ...func(*webhook.Subscription)) webhook.Subscription {
	h.t.Helper()
	ctx := context.Background()
	if h.subscriber == "" {
		b, err := h.service.AddSubscriber(ctx, admin.Subscriber{Name: "Shop", Enabled: true}, audit.System())
		if err != nil {
			h.t.Fatal(err)
		}
		h.subscriber = b.GUID
	}
	n := webhook.Subscription{Subscriber: h.subscriber, URL: url, Pattern: pattern, Enabled: true, MadeByAdmin: true}
	for _, c := range change {
		c(&n)
	}
	r, err := h.service.AddSubscription(ctx, n)
	if err != nil {
		h.t.Fatal(err)
	}
	return r
}

func (h *testEnv) publish(event string, body string) wire.EventReceipt {
	h.t.Helper()
	r, err := h.engine.Publish(context.Background(), delivery.Post{Name: event, Body: []byte(body)})
	if err != nil {
		h.t.Fatal(err)
	}
	return r
}

// count returns the number of rows of a table of the service, with an optional
// condition.
func (h *testEnv) count(table string) int64 {
	h.t.Helper()
	conn, err := sqlite.Open(filepath.Join(h.dir, "whd.db"), sqlite.Options{ReadOnly: true, BusyTimeout: testTimeout})
	if err != nil {
		h.t.Fatal(err)
	}
	defer conn.Close()
	st, err := conn.Prepare("SELECT COUNT(*) FROM " + table)
	if err != nil {
		h.t.Fatal(err)
	}
	defer st.Reset()
	if _, err := st.Step(); err != nil {
		h.t.Fatal(err)
	}
	return st.Int(0)
}

func (h *testEnv) expect(table string, want int64) {
	h.t.Helper()
	if got := h.count(table); got != want {
		h.t.Errorf("%s: %d, want %d", table, got, want)
	}
}

// endpoint is a receiver that records messages and responds with configurable codes.
type endpoint struct {
	URL    string
	status func(n int, body string) int // returns the status of the nth request of a message

	mu        sync.Mutex
	cond      *sync.Cond
	order     []string
	times     map[string]int // requests by message
	delivered map[string]int // requests with a 2xx response, by message
}

func newEndpoint(t *testing.T, answer func(n int, body string) int) *endpoint {
	t.Helper()
	e := &endpoint{status: answer, times: make(map[string]int), delivered: make(map[string]int)}
	e.cond = sync.NewCond(&e.mu)
	srv := httptest.NewServer(e)
	t.Cleanup(srv.Close)
	e.URL = srv.URL + "/hook"
	return e
}

func always(code int) func(int, string) int { return func(int, string) int { return code } }

// ServeHTTP implements http.Handler.
func (e *endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	id := r.Header.Get("Webhook-Id")
	e.mu.Lock()
	e.times[id]++
	n := e.times[id]
	e.cond.Broadcast()
	e.mu.Unlock()
	code := e.status(n, string(body))
	e.mu.Lock()
	if code >= 200 && code <= 299 {
		e.delivered[id]++
		e.order = append(e.order, string(body))
	}
	e.cond.Broadcast()
	e.mu.Unlock()
	w.WriteHeader(code)
}

// await waits until a condition about the endpoint holds.
func (e *endpoint) await(t *testing.T, description string, holds func() bool) {
	t.Helper()
	late := time.AfterFunc(testTimeout, func() { e.cond.Broadcast() })
	defer late.Stop()
	deadline := time.Now().Add(testTimeout)
	e.mu.Lock()
	defer e.mu.Unlock()
	for !holds() {
		if time.Now().After(deadline) {
			t.Fatalf("timeout waiting for %s: %d messages, %d delivered", description, len(e.times), len(e.delivered))
		}
		e.cond.Wait()
	}
}

func (e *endpoint) awaitDelivered(t *testing.T, n int) {
	t.Helper()
	e.await(t, fmt.Sprint(n, " messages"), func() bool { return len(e.delivered) >= n })
}

// checkDeliveredOnce checks that n messages were delivered, each once.
func (e *endpoint) checkDeliveredOnce(t *testing.T, n int) {
	t.Helper()
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.delivered) != n {
		t.Errorf("%d messages were delivered, want %d", len(e.delivered), n)
	}
	for id, times := range e.delivered {
		if times != 1 {
			t.Errorf("message %s was delivered %d times", id, times)
		}
	}
}

func TestDelivery(t *testing.T) {
	h := newTestEnv(t)
	h.start()
	exact := newEndpoint(t, always(200))
	family := newEndpoint(t, always(204))
	every := newEndpoint(t, always(201))
	h.subscribe(exact.URL, "debtor.updated")
	h.subscribe(family.URL, "debtor.*")
	h.subscribe(every.URL, "*")
	const n = 300
	events := []string{"debtor.updated", "debtor.created", "shipment.created"}
	var publishers sync.WaitGroup
	for p := range 8 {
		publishers.Go(func() {
			for i := p; i < n; i += 8 {
				event := events[i%len(events)]
				if r := h.publish(event, fmt.Sprintf(`{"n":%d}`, i)); r.Messages != 3-i%3 {
					t.Errorf("%s was sent to %d subscriptions", event, r.Messages)
				}
			}
		})
	}
	publishers.Wait()
	exact.awaitDelivered(t, n/3)
	family.awaitDelivered(t, n/3*2)
	every.awaitDelivered(t, n)
	h.stop(testTimeout)
	exact.checkDeliveredOnce(t, n/3)
	family.checkDeliveredOnce(t, n/3*2)
	every.checkDeliveredOnce(t, n)
	h.expect("SY_WebhookMessage WHERE Status = 1 AND Attempts = 1 AND HTTPCode IN (200, 201, 204)", 2*n)
	h.expect("SY_WebhookMessage WHERE Status <> 1", 0)
	h.expect("SY_WebhookMessageResponse", 2*n)
	h.expect("WH_Event", n)
}

func TestRetriesFollowSchedule(t *testing.T) {
	h := newTestEnv(t)
	h.start()
	twice := newEndpoint(t, func(n int, _ string) int {
		if n <= 2 {
			return 404
		}
		return 200
	})
	never := newEndpoint(t, always(400))
	h.subscribe(twice.URL, "debtor.updated")
	h.subscribe(never.URL, "debtor.created")
	h.publish("debtor.updated", "1")
	h.publish("debtor.created", "2")
	twice.awaitDelivered(t, 1)
	never.await(t, "6 attempts", func() bool {
		for _, n := range never.times {
			return n == 6
		}
		return false
	})
	h.stop(testTimeout)
	h.expect("SY_WebhookMessage WHERE Status = 1 AND Attempts = 3", 1)
	h.expect("SY_WebhookMessage WHERE Status = 3 AND Attempts = 6 AND NextAttemptDateTime IS NULL AND HTTPCode = 400", 1)
	h.expect("SY_WebhookMessageResponse", 9)
}

// TestBacklogOfFailingEndpoint queues more messages than fit into memory for an
// endpoint that recovers.
func TestBacklogOfFailingEndpoint(t *testing.T) {
	h := newTestEnv(t)
	h.policy.Schedule = slices.Repeat([]time.Duration{5 * time.Millisecond}, 1000)
	h.start()
	var mu sync.Mutex
	alive := false
	e := newEndpoint(t, func(int, string) int {
		mu.Lock()
		defer mu.Unlock()
		if alive {
			return 200
		}
		return 503
	})
	h.subscribe(e.URL, "*")
	const n = 1500
	var publishers sync.WaitGroup
	for range 20 {
		publishers.Go(func() {
			for range n / 20 {
				h.publish("debtor.updated", "x")
			}
		})
	}
	publishers.Wait()
	mu.Lock()
	alive = true
	mu.Unlock()
	e.awaitDelivered(t, n)
	h.stop(testTimeout)
	e.checkDeliveredOnce(t, n)
	h.expect("SY_WebhookMessage WHERE Status = 1", n)
}

// TestHangingEndpointDoesNotDelayOthers has one endpoint hang while another receives
// messages.
func TestHangingEndpointDoesNotDelayOthers(t *testing.T) {
	h := newTestEnv(t)
	h.start()
	release := make(chan struct{})
	hanging := newEndpoint(t, func(int, string) int { <-release; return 200 })
	t.Cleanup(func() { close(release) })
	healthy := newEndpoint(t, always(200))
	h.subscribe(hanging.URL, "*")
	h.subscribe(healthy.URL, "*")
	const n = 500
	for range n {
		h.publish("debtor.updated", "x")
	}
	healthy.awaitDelivered(t, n)
	healthy.checkDeliveredOnce(t, n)
	hanging.mu.Lock()
	defer hanging.mu.Unlock()
	if len(hanging.delivered) != 0 {
		t.Error("the hanging endpoint received a message")
	}
}

// TestStopDoesNotCountInterruptedAttempts stops while an endpoint hangs. The message is
// sent again after the next start.
func TestStopDoesNotCountInterruptedAttempts(t *testing.T) {
	h := newTestEnv(t)
	h.start()
	hang := make(chan struct{})
	e := newEndpoint(t, func(n int, _ string) int {
		if n == 1 {
			<-hang
		}
		return 200
	})
	h.subscribe(e.URL, "*")
	h.publish("debtor.updated", "x")
	e.await(t, "the first attempt", func() bool { return len(e.times) == 1 })
	h.stop(time.Millisecond)
	close(hang)
	h.expect("SY_WebhookMessage WHERE Status = 0 AND Attempts = 0", 1)
	h.start()
	e.await(t, "the second attempt", func() bool {
		for _, n := range e.times {
			return n == 2
		}
		return false
	})
	h.stop(testTimeout)
	h.expect("SY_WebhookMessage WHERE Status = 1 AND Attempts = 1", 1)
}

// TestOrderedDelivery lets every third message fail at first.
func TestOrderedDelivery(t *testing.T) {
	h := newTestEnv(t)
	h.start()
	e := newEndpoint(t, func(n int, body string) int {
		if n == 1 && len(body)%3 == 0 {
			return 422
		}
		return 200
	})
	h.subscribe(e.URL, "*", func(r *webhook.Subscription) { r.Order.All = true })
	const n = 60
	body := ""
	for range n {
		body += "x"
		h.publish("debtor.updated", body)
	}
	e.awaitDelivered(t, n)
	for i, body := range e.order {
		if len(body) != i+1 {
			t.Fatalf("message %d was delivered as number %d", len(body), i+1)
		}
	}
	e.checkDeliveredOnce(t, n)
}

// TestGoneDisablesSubscription checks that messages are queued until the subscription
// is enabled again.
func TestGoneDisablesSubscription(t *testing.T) {
	h := newTestEnv(t)
	h.start()
	var mu sync.Mutex
	code := 410
	e := newEndpoint(t, func(int, string) int {
		mu.Lock()
		defer mu.Unlock()
		return code
	})
	r := h.subscribe(e.URL, "*")
	h.publish("debtor.updated", "first")
	for h.disabled(r) == "" { // the engine writes the result a little later
		if t.Context().Err() != nil {
			t.Fatal("the subscription is not disabled")
		}
	}
	if got := h.publish("debtor.updated", "second"); got.Messages != 1 {
		t.Errorf("%d messages for a disabled subscription, want 1", got.Messages)
	}
	mu.Lock()
	code = 200
	mu.Unlock()
	yes := true
	if _, err := h.service.ChangeSubscription(context.Background(), h.subscriber, r.GUID, admin.SubscriptionChange{Enabled: &yes}, admin.Caller{}); err != nil {
		t.Fatal(err)
	}
	e.awaitDelivered(t, 1)
	h.stop(testTimeout)
	h.expect("SY_WebhookMessage WHERE Status = 3 AND HTTPCode = 410", 1)
	h.expect("SY_WebhookMessage WHERE Status = 1", 1)
}

func (h *testEnv) disabled(r webhook.Subscription) string {
	h.t.Helper()
	now, err := h.service.Subscription(context.Background(), h.subscriber, r.GUID)
	if err != nil {
		h.t.Fatal(err)
	}
	return now.DisabledReason
}

// TestDeletionCancelsAttempts deletes a message, and then the subscription, while
// messages await a retry.
func TestDeletionCancelsAttempts(t *testing.T) {
	h := newTestEnv(t)
	h.policy.Schedule = []time.Duration{time.Hour}
	h.start()
	e := newEndpoint(t, always(422))
	r := h.subscribe(e.URL, "*")
	h.publish("debtor.updated", "x")
	h.publish("debtor.updated", "y")
	e.await(t, "both", func() bool { return len(e.times) == 2 })
	var ids []string
	e.mu.Lock()
	for id := range e.times {
		ids = append(ids, id)
	}
	e.mu.Unlock()
	ctx := context.Background()
	at := admin.Address{Subscriber: h.subscriber, Subscription: r.GUID, Message: ids[0]}
	for range 2 { // the second call finds it deleted
		if err := h.service.RemoveMessage(ctx, at); err != nil {
			t.Fatal(err)
		}
	}
	if err := h.service.RemoveSubscription(ctx, h.subscriber, r.GUID); err != nil {
		t.Fatal(err)
	}
	if got := h.publish("debtor.updated", "z"); got.Messages != 0 {
		t.Errorf("%d messages for a deleted subscription", got.Messages)
	}
	h.stop(testTimeout)
	h.start()
	h.stop(testTimeout)
	for id, n := range e.times {
		if n != 1 {
			t.Errorf("message %s was sent %d times", id, n)
		}
	}
}

// TestRetryFailedMessage requests another attempt of a message that has none left.
func TestRetryFailedMessage(t *testing.T) {
	h := newTestEnv(t)
	h.policy.Schedule = []time.Duration{time.Millisecond}
	h.start()
	e := newEndpoint(t, func(n int, _ string) int {
		if n <= 2 {
			return 422
		}
		return 200
	})
	r := h.subscribe(e.URL, "*")
	h.publish("debtor.updated", "x")
	e.await(t, "two attempts", func() bool {
		for _, n := range e.times {
			return n == 2
		}
		return false
	})
	h.stop(testTimeout)
	h.expect("SY_WebhookMessage WHERE Status = 3", 1)
	h.start()
	var id string
	for id = range e.times {
	}
	if _, err := h.service.RetryMessage(context.Background(), admin.Address{Subscriber: h.subscriber, Subscription: r.GUID, Message: id}); err != nil {
		t.Fatal(err)
	}
	e.awaitDelivered(t, 1)
	h.stop(testTimeout)
	h.expect("SY_WebhookMessage WHERE Status = 1 AND Attempts = 3", 1)
}

// TestSecondDaemonFencesFirst starts another engine on the same store.
func TestSecondDaemonFencesFirst(t *testing.T) {
	h := newTestEnv(t)
	h.start()
	e := newEndpoint(t, always(200))
	h.subscribe(e.URL, "*")
	first := h.engine
	h.publish("debtor.updated", "x")
	e.awaitDelivered(t, 1)
	for h.count("SY_WebhookMessage WHERE Status = 1") == 0 { // otherwise the second would rightly send it again
		if t.Context().Err() != nil {
			t.Fatal("the outcome is not recorded")
		}
	}
	second := *h
	second.start()
	if _, err := first.Publish(context.Background(), delivery.Post{Name: "debtor.updated", Body: []byte("y")}); err == nil {
		t.Error("the first engine still accepts events")
	}
	for first.Ready() == nil {
		if t.Context().Err() != nil {
			t.Fatal("the first engine is still ready")
		}
	}
	second.publish("debtor.updated", "z")
	e.awaitDelivered(t, 2)
	e.checkDeliveredOnce(t, 2)
	second.stop(testTimeout)
}
