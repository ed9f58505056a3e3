package delivery_test

import (
	"context"
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
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/admin"
	"github.com/bizhook/whd/daemon/webhook/delivery"
	"github.com/bizhook/whd/daemon/webhook/sender"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long anything that must happen may take.
const patience = 2 * time.Minute

// house is a store with an engine on it, which can be stopped and started again.
type house struct {
	t       *testing.T
	dir     string
	store   *storage.Store
	wrap    func(delivery.Store) delivery.Store
	policy  webhook.Policy
	limit   time.Duration
	engine  *delivery.Engine
	desk    *admin.Service
	sender  *sender.Sender
	subject string // a subscriber
}

func newHouse(t *testing.T) *house {
	t.Helper()
	h := &house{t: t, dir: t.TempDir(), limit: patience, wrap: func(s delivery.Store) delivery.Store { return s },
		policy: webhook.Policy{Schedule: []time.Duration{time.Millisecond, 2 * time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond, 20 * time.Millisecond}}}
	h.store = h.open()
	return h
}

// open opens the store until the test ends.
func (h *house) open() *storage.Store {
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

func (h *house) start() {
	h.t.Helper()
	h.sender = sender.New(sender.Config{Guard: webhook.Guard{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}},
		UserAgent: "whd/test", ConnectTimeout: 5 * time.Second, AttemptTimeout: func() time.Duration { return h.limit }, MaxIdlePerHost: 64})
	kept := h.store.Webhooks
	engine := delivery.New(delivery.Config{Store: h.wrap(kept), Sender: h.sender, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
		Policy: func() webhook.Policy { return h.policy }, Attempts: 200})
	if err := engine.Start(context.Background()); err != nil {
		h.t.Fatal(err)
	}
	h.engine = engine
	h.desk = admin.New(kept, engine, inHouse, slog.New(slog.DiscardHandler))
	h.t.Cleanup(func() { h.stop(patience) })
}

// inHouse are the usual rules, by which messages may go to this host.
func inHouse() webhook.Rules {
	return webhook.Rules{Events: record.Events(), Guard: webhook.Guard{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}}
}

// stop stops the engine; attempts under way get so long to finish.
func (h *house) stop(grace time.Duration) {
	h.t.Helper()
	if h.engine == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	if err := h.engine.Stop(ctx); err != nil && grace == patience {
		h.t.Error(err)
	}
	h.engine = nil
	h.sender.Close()
}

// subscribe makes a subscription, with a subscriber if there is none.
func (h *house) subscribe(url, pattern string, change ...func(*webhook.Subscription)) webhook.Subscription {
	h.t.Helper()
	ctx := context.Background()
	if h.subject == "" {
		b, err := h.desk.AddSubscriber(ctx, admin.Subscriber{Name: "Shop", Enabled: true}, audit.System())
		if err != nil {
			h.t.Fatal(err)
		}
		h.subject = b.GUID
	}
	n := webhook.Subscription{Subscriber: h.subject, URL: url, Pattern: pattern, Enabled: true}
	for _, c := range change {
		c(&n)
	}
	r, err := h.desk.AddSubscription(ctx, n)
	if err != nil {
		h.t.Fatal(err)
	}
	return r
}

func (h *house) publish(event string, body string) wire.EventReceipt {
	h.t.Helper()
	r, err := h.engine.Publish(context.Background(), event, []byte(body))
	if err != nil {
		h.t.Fatal(err)
	}
	return r
}

// count counts rows of our own tables.
func (h *house) count(what string) int64 {
	h.t.Helper()
	conn, err := sqlite.Open(filepath.Join(h.dir, "whd.db"), sqlite.Options{ReadOnly: true, BusyTimeout: patience})
	if err != nil {
		h.t.Fatal(err)
	}
	defer conn.Close()
	st, err := conn.Prepare("SELECT COUNT(*) FROM " + what)
	if err != nil {
		h.t.Fatal(err)
	}
	defer st.Reset()
	if _, err := st.Step(); err != nil {
		h.t.Fatal(err)
	}
	return st.Int(0)
}

func (h *house) expect(what string, want int64) {
	h.t.Helper()
	if got := h.count(what); got != want {
		h.t.Errorf("%s: %d, want %d", what, got, want)
	}
}

// endpoint is a receiver that remembers what came and answers as it is told.
type endpoint struct {
	URL    string
	answer func(n int, body string) int // the status of the nth request of a message

	mu    sync.Mutex
	cond  *sync.Cond
	order []string
	times map[string]int // requests by message
	taken map[string]int // requests that were answered 2xx
}

func newEndpoint(t *testing.T, answer func(n int, body string) int) *endpoint {
	t.Helper()
	e := &endpoint{answer: answer, times: make(map[string]int), taken: make(map[string]int)}
	e.cond = sync.NewCond(&e.mu)
	srv := httptest.NewServer(e)
	t.Cleanup(srv.Close)
	e.URL = srv.URL + "/hook"
	return e
}

func always(code int) func(int, string) int { return func(int, string) int { return code } }

// ServeHTTP is http.Handler's.
func (e *endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	id := r.Header.Get("Webhook-Id")
	e.mu.Lock()
	e.times[id]++
	n := e.times[id]
	e.cond.Broadcast()
	e.mu.Unlock()
	code := e.answer(n, string(body))
	e.mu.Lock()
	if code >= 200 && code <= 299 {
		e.taken[id]++
		e.order = append(e.order, string(body))
	}
	e.cond.Broadcast()
	e.mu.Unlock()
	w.WriteHeader(code)
}

// await waits until a condition about the endpoint holds.
func (e *endpoint) await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	late := time.AfterFunc(patience, func() { e.cond.Broadcast() })
	defer late.Stop()
	deadline := time.Now().Add(patience)
	e.mu.Lock()
	defer e.mu.Unlock()
	for !holds() {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %s: %d messages, %d taken", what, len(e.times), len(e.taken))
		}
		e.cond.Wait()
	}
}

func (e *endpoint) awaitTaken(t *testing.T, n int) {
	t.Helper()
	e.await(t, fmt.Sprint(n, " messages"), func() bool { return len(e.taken) >= n })
}

// once checks that each message was taken once.
func (e *endpoint) once(t *testing.T, n int) {
	t.Helper()
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.taken) != n {
		t.Errorf("%d messages were taken, want %d", len(e.taken), n)
	}
	for id, times := range e.taken {
		if times != 1 {
			t.Errorf("message %s was taken %d times", id, times)
		}
	}
}

func TestEventsAreDelivered(t *testing.T) {
	h := newHouse(t)
	h.start()
	one, family, every := newEndpoint(t, always(200)), newEndpoint(t, always(204)), newEndpoint(t, always(201))
	h.subscribe(one.URL, "debtor.updated")
	h.subscribe(family.URL, "debtor.*")
	h.subscribe(every.URL, "*")
	const n = 300
	var publishers sync.WaitGroup
	for p := range 8 {
		publishers.Go(func() {
			for i := p; i < n; i += 8 {
				event := []string{"debtor.updated", "debtor.created", "shipment.created"}[i%3]
				if r := h.publish(event, fmt.Sprintf(`{"n":%d}`, i)); r.Messages != 3-i%3 {
					t.Errorf("%s went to %d subscriptions", event, r.Messages)
				}
			}
		})
	}
	publishers.Wait()
	one.awaitTaken(t, n/3)
	family.awaitTaken(t, n/3*2)
	every.awaitTaken(t, n)
	h.stop(patience)
	one.once(t, n/3)
	family.once(t, n/3*2)
	every.once(t, n)
	h.expect("SY_WebhookMessage WHERE Status = 1 AND Attempts = 1 AND HTTPCode IN (200, 201, 204)", 2*n)
	h.expect("SY_WebhookMessage WHERE Status <> 1", 0)
	h.expect("SY_WebhookMessageResponse", 2*n)
	h.expect("WH_Event", n)
}

func TestFailuresAreRetriedUntilTheScheduleEnds(t *testing.T) {
	h := newHouse(t)
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
	twice.awaitTaken(t, 1)
	never.await(t, "6 attempts", func() bool {
		for _, n := range never.times {
			return n == 6
		}
		return false
	})
	h.stop(patience)
	h.expect("SY_WebhookMessage WHERE Status = 1 AND Attempts = 3", 1)
	h.expect("SY_WebhookMessage WHERE Status = 3 AND Attempts = 6 AND NextAttemptDateTime IS NULL AND HTTPCode = 400", 1)
	h.expect("SY_WebhookMessageResponse", 9)
}

// TestBacklogOfADeadEndpoint has more messages than a lane keeps in memory wait
// for an endpoint that comes back.
func TestBacklogOfADeadEndpoint(t *testing.T) {
	h := newHouse(t)
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
	const n = 2500
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
	e.awaitTaken(t, n)
	h.stop(patience)
	e.once(t, n)
	h.expect("SY_WebhookMessage WHERE Status = 1", n)
}

// TestOthersDoNotWait has one endpoint hang while another takes its messages.
func TestOthersDoNotWait(t *testing.T) {
	h := newHouse(t)
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
	healthy.awaitTaken(t, n)
	healthy.once(t, n)
	hanging.mu.Lock()
	defer hanging.mu.Unlock()
	if len(hanging.taken) != 0 {
		t.Error("the hanging endpoint answered")
	}
}

// TestStopCutsAttemptsWithoutCountingThem stops while an endpoint hangs. The
// message goes out again after the next start.
func TestStopCutsAttemptsWithoutCountingThem(t *testing.T) {
	h := newHouse(t)
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
	h.stop(patience)
	h.expect("SY_WebhookMessage WHERE Status = 1 AND Attempts = 1", 1)
}

// TestOrderedSubscriptionsKeepTheirOrder lets every third message fail at first.
func TestOrderedSubscriptionsKeepTheirOrder(t *testing.T) {
	h := newHouse(t)
	h.start()
	e := newEndpoint(t, func(n int, body string) int {
		if n == 1 && len(body)%3 == 0 {
			return 422
		}
		return 200
	})
	h.subscribe(e.URL, "*", func(r *webhook.Subscription) { r.Ordered = true })
	const n = 60
	body := ""
	for range n {
		body += "x"
		h.publish("debtor.updated", body)
	}
	e.awaitTaken(t, n)
	for i, body := range e.order {
		if len(body) != i+1 {
			t.Fatalf("message %d came as number %d", len(body), i+1)
		}
	}
	e.once(t, n)
}

// TestGoneDisablesTheSubscription has messages wait until the subscription is
// enabled again.
func TestGoneDisablesTheSubscription(t *testing.T) {
	h := newHouse(t)
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
	for h.disabled(r) == "" { // the desk reads what the engine writes down a little later
		if t.Context().Err() != nil {
			t.Fatal("it is not disabled")
		}
	}
	if got := h.publish("debtor.updated", "second"); got.Messages != 1 {
		t.Errorf("%d messages for a subscription that is disabled", got.Messages)
	}
	mu.Lock()
	code = 200
	mu.Unlock()
	yes := true
	if _, err := h.desk.ChangeSubscription(context.Background(), h.subject, r.GUID, admin.SubscriptionChange{Enabled: &yes}, false); err != nil {
		t.Fatal(err)
	}
	e.awaitTaken(t, 1)
	h.stop(patience)
	h.expect("SY_WebhookMessage WHERE Status = 3 AND HTTPCode = 410", 1)
	h.expect("SY_WebhookMessage WHERE Status = 1", 1)
}

func (h *house) disabled(r webhook.Subscription) string {
	h.t.Helper()
	now, err := h.desk.Subscription(context.Background(), h.subject, r.GUID)
	if err != nil {
		h.t.Fatal(err)
	}
	return now.DisabledReason
}

// TestDeletingCancels removes a message, and then the subscription, while
// messages wait for a second attempt.
func TestDeletingCancels(t *testing.T) {
	h := newHouse(t)
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
	at := admin.Address{Subscriber: h.subject, Subscription: r.GUID, Message: ids[0]}
	for range 2 { // the second time it is gone already
		if err := h.desk.RemoveMessage(ctx, at); err != nil {
			t.Fatal(err)
		}
	}
	if err := h.desk.RemoveSubscription(ctx, h.subject, r.GUID); err != nil {
		t.Fatal(err)
	}
	if got := h.publish("debtor.updated", "z"); got.Messages != 0 {
		t.Errorf("%d messages for a subscription that is gone", got.Messages)
	}
	h.stop(patience)
	h.start()
	h.stop(patience)
	for id, n := range e.times {
		if n != 1 {
			t.Errorf("message %s was sent %d times", id, n)
		}
	}
}

// TestRetryingWhatHasFailed asks for another attempt of a message without any
// left.
func TestRetryingWhatHasFailed(t *testing.T) {
	h := newHouse(t)
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
	h.stop(patience)
	h.expect("SY_WebhookMessage WHERE Status = 3", 1)
	h.start()
	var id string
	for id = range e.times {
	}
	if _, err := h.desk.RetryMessage(context.Background(), admin.Address{Subscriber: h.subject, Subscription: r.GUID, Message: id}); err != nil {
		t.Fatal(err)
	}
	e.awaitTaken(t, 1)
	h.stop(patience)
	h.expect("SY_WebhookMessage WHERE Status = 1 AND Attempts = 3", 1)
}

// TestTheSecondDaemonOnAFileWins starts another engine on the same store.
func TestTheSecondDaemonOnAFileWins(t *testing.T) {
	h := newHouse(t)
	h.start()
	e := newEndpoint(t, always(200))
	h.subscribe(e.URL, "*")
	first := h.engine
	h.publish("debtor.updated", "x")
	e.awaitTaken(t, 1)
	for h.count("SY_WebhookMessage WHERE Status = 1") == 0 { // else the second sends it again, rightly
		if t.Context().Err() != nil {
			t.Fatal("the outcome is not written down")
		}
	}
	second := *h
	second.start()
	if _, err := first.Publish(context.Background(), "debtor.updated", []byte("y")); err == nil {
		t.Error("the first engine still takes events")
	}
	for first.Ready() == nil {
		if t.Context().Err() != nil {
			t.Fatal("the first engine does not know")
		}
	}
	second.publish("debtor.updated", "z")
	e.awaitTaken(t, 2)
	e.once(t, 2)
	second.stop(patience)
}
