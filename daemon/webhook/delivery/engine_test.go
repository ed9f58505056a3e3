package delivery_test

import (
	"context"
	"crypto/x509"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
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
	limit      time.Duration // of an attempt
	engine     *delivery.Engine
	service    *admin.Service
	rules      func() webhook.Rules
	sender     *sender.Sender
	roots      *x509.CertPool // trusted by the sender; nil for those of the system
	subscriber string         // the GUID of the subscriber of all subscriptions
}

// newTestEnv returns a testEnv without a running engine.
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

// start starts an engine with a real sender.
func (h *testEnv) start() {
	h.t.Helper()
	h.sender = sender.New(sender.Config{
		Guard:          inHouse().Guard,
		UserAgent:      "whd/test",
		ConnectTimeout: testTimeout,
		AttemptTimeout: func() time.Duration { return h.limit },
		MaxIdlePerHost: 64,
		Outbound:       webhook.Outbound{RootCAs: h.roots},
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
	return webhook.Rules{
		Events:  record.Events(),
		Guard:   guard,
		MayRead: func(owner string, _ *record.Kind) bool { return owner == adminOwner },
	}
}

// adminOwner owns the subscriptions of an admin.
const adminOwner = "user:admin"

// byAdmin makes an admin the owner of a subscription.
func byAdmin(s *webhook.Subscription) { s.Owner.Name = adminOwner }

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

// changeSubscription changes a subscription as an administrator does.
func (h *testEnv) changeSubscription(sub webhook.Subscription, change admin.SubscriptionChange) webhook.Subscription {
	h.t.Helper()
	changed, err := h.service.ChangeSubscription(
		context.Background(), sub.Subscriber, sub.GUID, change, admin.Caller{Admin: true})
	if err != nil {
		h.t.Fatal(err)
	}
	return changed
}

// removeSubscription removes a subscription.
func (h *testEnv) removeSubscription(sub webhook.Subscription) {
	h.t.Helper()
	err := h.service.RemoveSubscription(context.Background(), sub.Subscriber, sub.GUID)
	if err != nil {
		h.t.Fatal(err)
	}
}

// addressOf returns the address of a message of a subscription.
func addressOf(sub webhook.Subscription, message string) admin.Address {
	return admin.Address{Subscriber: sub.Subscriber, Subscription: sub.GUID, Message: message}
}

// retryMessage retries a message.
func (h *testEnv) retryMessage(sub webhook.Subscription, message string) {
	h.t.Helper()
	_, err := h.service.RetryMessage(context.Background(), addressOf(sub, message))
	if err != nil {
		h.t.Fatal(err)
	}
}

// removeMessage removes a message.
func (h *testEnv) removeMessage(sub webhook.Subscription, message string) {
	h.t.Helper()
	err := h.service.RemoveMessage(context.Background(), addressOf(sub, message))
	if err != nil {
		h.t.Fatal(err)
	}
}

// publish publishes an event.
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

// expect checks the number of rows of a table, with an optional condition.
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
	cond      *sync.Cond     // signalled at each request and response
	order     []string       // bodies with a 2xx response
	times     map[string]int // requests by message
	delivered map[string]int // requests with a 2xx response, by message
}

// newEndpoint starts an endpoint that responds as a function returns.
func newEndpoint(t *testing.T, answer func(n int, body string) int) *endpoint {
	t.Helper()
	e := &endpoint{status: answer, times: make(map[string]int), delivered: make(map[string]int)}
	e.cond = sync.NewCond(&e.mu)
	srv := httptest.NewServer(e)
	t.Cleanup(srv.Close)
	e.URL = srv.URL + "/hook"
	return e
}

// always responds to all requests with a code.
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

	code := e.status(n, string(body)) // may block

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

// awaitAttempts waits until a message was requested n times.
func (e *endpoint) awaitAttempts(t *testing.T, n int) {
	t.Helper()
	e.await(t, fmt.Sprint(n, " attempts at one message"), func() bool {
		for _, times := range e.times {
			if times == n {
				return true
			}
		}
		return false
	})
}

// messages returns the IDs of the messages that were requested.
func (e *endpoint) messages() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Collect(maps.Keys(e.times))
}

// awaitDelivered waits until n messages are delivered.
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
			t.Errorf("message %s was delivered %d times, want once", id, times)
		}
	}
}

// TestDelivery delivers events of three names to subscriptions to one name, to a family, and to all.
func TestDelivery(t *testing.T) {
	h := newTestEnv(t)
	h.start()
	exact := newEndpoint(t, always(200))
	family := newEndpoint(t, always(204))
	every := newEndpoint(t, always(201))
	h.subscribe(exact.URL, "debtor.updated")
	h.subscribe(family.URL, "debtor.*")
	h.subscribe(every.URL, "*")

	const count, publishers = 300, 8
	events := []struct {
		name          string
		subscriptions int
	}{{"debtor.updated", 3}, {"debtor.created", 2}, {"shipment.created", 1}}
	var running sync.WaitGroup
	for p := range publishers {
		running.Go(func() {
			for i := p; i < count; i += publishers {
				event := events[i%len(events)]
				r := h.publish(event.name, fmt.Sprintf(`{"n":%d}`, i))
				if r.Messages != event.subscriptions {
					t.Errorf("%s was sent to %d subscriptions, want %d", event.name, r.Messages, event.subscriptions)
				}
			}
		})
	}
	running.Wait()

	exact.awaitDelivered(t, count/3)
	family.awaitDelivered(t, count/3*2)
	every.awaitDelivered(t, count)
	h.stop(testTimeout)
	exact.checkDeliveredOnce(t, count/3)
	family.checkDeliveredOnce(t, count/3*2)
	every.checkDeliveredOnce(t, count)
	h.expect("SY_WebhookMessage WHERE Status = 1 AND Attempts = 1 AND HTTPCode IN (200, 201, 204)", 2*count)
	h.expect("SY_WebhookMessage WHERE Status <> 1", 0)
	h.expect("SY_WebhookMessageResponse", 2*count)
	h.expect("WH_Event", count)
}

// failsFirst responds with a code to the first n requests of a message, and with 200 to others.
func failsFirst(n, code int) func(int, string) int {
	return func(request int, _ string) int {
		if request <= n {
			return code
		}
		return 200
	}
}

// TestRetriesFollowSchedule delivers a message at the third attempt, and fails another one for good.
func TestRetriesFollowSchedule(t *testing.T) {
	h := newTestEnv(t)
	h.start()
	recovering := newEndpoint(t, failsFirst(2, 404))
	failing := newEndpoint(t, always(400))
	h.subscribe(recovering.URL, "debtor.updated")
	h.subscribe(failing.URL, "debtor.created")
	h.publish("debtor.updated", "1")
	h.publish("debtor.created", "2")
	recovering.awaitDelivered(t, 1)
	failing.awaitAttempts(t, 1+len(h.policy.Schedule))
	h.stop(testTimeout)

	h.expect("SY_WebhookMessage WHERE Status = 1 AND Attempts = 3", 1)
	h.expect("SY_WebhookMessage WHERE Status = 3 AND Attempts = 6 AND NextAttemptDateTime IS NULL AND HTTPCode = 400", 1)
	h.expect("SY_WebhookMessageResponse", 3+6)
}

// TestBacklogOfFailingEndpoint queues more messages than fit into memory for an
// endpoint that recovers.
func TestBacklogOfFailingEndpoint(t *testing.T) {
	h := newTestEnv(t)
	h.policy.Schedule = slices.Repeat([]time.Duration{5 * time.Millisecond}, 1000)
	h.start()
	var works atomic.Bool
	e := newEndpoint(t, func(int, string) int {
		if works.Load() {
			return 200
		}
		return 503
	})
	h.subscribe(e.URL, "*")

	const messages, publishers = 1500, 20
	var running sync.WaitGroup
	for range publishers {
		running.Go(func() {
			for range messages / publishers {
				h.publish("debtor.updated", "x")
			}
		})
	}
	running.Wait()
	works.Store(true)
	e.awaitDelivered(t, messages)
	h.stop(testTimeout)
	e.checkDeliveredOnce(t, messages)
	h.expect("SY_WebhookMessage WHERE Status = 1", messages)
}

// TestHangingEndpointDoesNotDelayOthers has one endpoint hang while another receives
// messages.
func TestHangingEndpointDoesNotDelayOthers(t *testing.T) {
	h := newTestEnv(t)
	h.start()
	release := make(chan struct{})
	hanging := newEndpoint(t, func(int, string) int {
		<-release
		return 200
	})
	t.Cleanup(func() { close(release) })
	healthy := newEndpoint(t, always(200))
	h.subscribe(hanging.URL, "*")
	h.subscribe(healthy.URL, "*")
	const messages = 500
	for range messages {
		h.publish("debtor.updated", "x")
	}
	healthy.awaitDelivered(t, messages)
	healthy.checkDeliveredOnce(t, messages)
	hanging.checkDeliveredOnce(t, 0)
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
	e.awaitAttempts(t, 1)
	h.stop(time.Millisecond)
	close(hang)
	h.expect("SY_WebhookMessage WHERE Status = 0 AND Attempts = 0", 1)

	h.start()
	e.awaitAttempts(t, 2)
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
	const messages = 60
	for n := range messages {
		h.publish("debtor.updated", strings.Repeat("x", n+1))
	}
	e.awaitDelivered(t, messages)
	for i, body := range e.order {
		if len(body) != i+1 {
			t.Fatalf("message %d was delivered as number %d, want in order", len(body), i+1)
		}
	}
	e.checkDeliveredOnce(t, messages)
}

// TestGoneDisablesSubscription checks that messages are queued until the subscription
// is enabled again.
func TestGoneDisablesSubscription(t *testing.T) {
	h := newTestEnv(t)
	h.start()
	var code atomic.Int64
	code.Store(http.StatusGone)
	e := newEndpoint(t, func(int, string) int { return int(code.Load()) })
	sub := h.subscribe(e.URL, "*")
	h.publish("debtor.updated", "first")
	h.awaitCount("SY_WebhookSubscription WHERE IsEnabled = 0 AND DisabledReason IS NOT NULL", 1)
	if got := h.publish("debtor.updated", "second"); got.Messages != 1 {
		t.Errorf("%d messages for a disabled subscription, want 1", got.Messages)
	}

	code.Store(http.StatusOK)
	enabled := true
	h.changeSubscription(sub, admin.SubscriptionChange{Enabled: &enabled})
	e.awaitDelivered(t, 1)
	h.stop(testTimeout)
	h.expect("SY_WebhookMessage WHERE Status = 3 AND HTTPCode = 410", 1)
	h.expect("SY_WebhookMessage WHERE Status = 1", 1)
}

// TestDeletionCancelsAttempts deletes a message, and then the subscription, while
// messages await a retry.
func TestDeletionCancelsAttempts(t *testing.T) {
	h := newTestEnv(t)
	h.policy.Schedule = []time.Duration{time.Hour}
	h.start()
	e := newEndpoint(t, always(422))
	sub := h.subscribe(e.URL, "*")
	h.publish("debtor.updated", "x")
	h.publish("debtor.updated", "y")
	e.await(t, "both", func() bool { return len(e.times) == 2 })

	message := e.messages()[0]
	for range 2 { // the second call finds it deleted
		h.removeMessage(sub, message)
	}
	h.removeSubscription(sub)
	if got := h.publish("debtor.updated", "z"); got.Messages != 0 {
		t.Errorf("%d messages for a deleted subscription, want 0", got.Messages)
	}
	h.stop(testTimeout)
	h.start()
	h.stop(testTimeout)
	for id, n := range e.times {
		if n != 1 {
			t.Errorf("message %s was sent %d times, want once", id, n)
		}
	}
}

// TestRetryFailedMessage requests another attempt of a message that has none left.
func TestRetryFailedMessage(t *testing.T) {
	h := newTestEnv(t)
	h.policy.Schedule = []time.Duration{time.Millisecond}
	h.start()
	e := newEndpoint(t, failsFirst(2, 422))
	sub := h.subscribe(e.URL, "*")
	h.publish("debtor.updated", "x")
	e.awaitAttempts(t, 2)
	h.stop(testTimeout)
	h.expect("SY_WebhookMessage WHERE Status = 3", 1)

	h.start()
	h.retryMessage(sub, e.messages()[0])
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
	h.publish("debtor.updated", "x")
	e.awaitDelivered(t, 1)
	h.awaitCount("SY_WebhookMessage WHERE Status = 1", 1) // otherwise the second would rightly send it again

	first := h.engine
	second := *h
	second.start()
	_, err := first.Publish(context.Background(), delivery.Post{Name: "debtor.updated", Body: []byte("y")})
	if err == nil {
		t.Error("the first engine accepts an event, want an error")
	}
	for end := time.Now().Add(testTimeout); first.Ready() == nil; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the first engine is still ready after %v, want fenced", testTimeout)
		}
	}
	second.publish("debtor.updated", "z")
	e.awaitDelivered(t, 2)
	e.checkDeliveredOnce(t, 2)
	second.stop(testTimeout)
}
