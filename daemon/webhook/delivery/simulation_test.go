package delivery_test

import (
	"context"
	"io"
	"log/slog"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/sqlite"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/admin"
	"github.com/bizhook/whd/daemon/webhook/delivery"
	"github.com/bizhook/whd/daemon/webhook/delivery/deliverytest"
	"github.com/bizhook/whd/daemon/webhook/sender"
)

// simulation is a testEnv with a store that fails on command and a fake sender. It runs
// in a synctest bubble, where time advances as soon as all goroutines wait.
type simulation struct {
	*testEnv
	faultyStore *deliverytest.Store
	fakeSender  *fakeSender
	term        time.Duration // of leases
	realClock   bool          // the store uses its own clock instead of the bubble's
	hasRules    bool          // the engine has the rules of events of the service

	maxSequences int // of a queue of the engines that are started; 0 for the usual limit
}

// simulate runs a test with a new simulation.
func simulate(t *testing.T, test func(x *simulation)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		x := &simulation{testEnv: newTestEnv(t), fakeSender: newFakeSender()}
		x.policy.Schedule = []time.Duration{time.Second, 5 * time.Second, 30 * time.Second, time.Minute, time.Minute}
		x.startEngine()
		test(x)
		x.stop(testTimeout)
		x.checkFinalState()
	})
}

// peerInterval is the time between two reads of other daemons' events.
const peerInterval = time.Second

// startEngine starts an engine with a configuration that is changed as given.
func (x *simulation) startEngine(change ...func(*delivery.Config)) {
	x.t.Helper()
	store := x.store.Webhooks
	x.faultyStore = deliverytest.New(store.Engine)
	if !x.realClock {
		x.faultyStore.Clock = func() time.Time { return time.Now().UTC() }
	}
	config := delivery.Config{
		Store:        x.faultyStore,
		Sender:       x.fakeSender,
		Log:          slog.New(slog.NewTextHandler(io.Discard, nil)),
		Policy:       func() webhook.Policy { return x.policy },
		Attempts:     40,
		LeaseTerm:    x.term,
		PeerInterval: peerInterval,
	}
	if x.hasRules {
		config.Rules = inHouse
	}
	for _, c := range change {
		c(&config)
	}
	engine := delivery.New(config)
	if x.maxSequences > 0 {
		engine.LimitSequences(x.maxSequences)
	}
	if err := engine.Start(context.Background()); err != nil {
		x.t.Fatal(err)
	}
	x.engine = engine
	x.sender = sender.New(sender.Config{}) // closed by stop
	x.service = admin.New(store.Admin, engine, inHouse, slog.New(slog.DiscardHandler))
	x.t.Cleanup(func() { x.stop(testTimeout) })
}

// startPeer starts another engine on the same store, as another daemon does.
func (x *simulation) startPeer() *simulation { return x.startPeerWith() }

// startPeerWith is startPeer with a configuration that is changed as given.
func (x *simulation) startPeerWith(change ...func(*delivery.Config)) *simulation {
	x.t.Helper()
	h := *x.testEnv
	h.store = h.open()
	n := &simulation{testEnv: &h, fakeSender: x.fakeSender, term: x.term, realClock: x.realClock, hasRules: x.hasRules}
	n.startEngine(change...)
	return n
}

// restartWithRules restarts the engine with the rules of events of the service.
func (x *simulation) restartWithRules() {
	x.t.Helper()
	x.stop(testTimeout)
	x.hasRules = true
	x.startEngine()
}

// advance lets time pass and then waits until all goroutines are blocked.
func (x *simulation) advance(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// publishMany publishes n events concurrently, which are written in batches.
func (x *simulation) publishMany(n int, post func(i int) delivery.Post) {
	x.t.Helper()
	const publishers = 50
	var running sync.WaitGroup
	for p := range publishers {
		running.Go(func() {
			for i := p; i < n; i += publishers {
				_, err := x.engine.Publish(context.Background(), post(i))
				if err != nil {
					x.t.Errorf("publishing event %d returned %v", i, err)
				}
			}
		})
	}
	running.Wait()
}

// publishRefused publishes events concurrently, all of which must be rejected as
// unavailable.
func (x *simulation) publishRefused(n int) {
	x.t.Helper()
	var publishers sync.WaitGroup
	for range n {
		publishers.Go(func() {
			_, err := x.engine.Publish(context.Background(), delivery.Post{Name: "debtor.updated", Body: []byte("refused")})
			if !fault.Is(err, fault.Unavailable) {
				x.t.Errorf("publishing returned the error %v, want Unavailable", err)
			}
		})
	}
	publishers.Wait()
}

// checkFinalState checks the state after all faults: no message is open, and the stored
// attempts and deliveries match those of the fake sender.
func (x *simulation) checkFinalState() {
	x.t.Helper()
	x.expect("SY_WebhookMessage WHERE Status IN (0, 2) OR NextAttemptDateTime IS NOT NULL", 0)
	x.expect(`SY_WebhookMessage m
WHERE Attempts <> (SELECT COUNT(*) FROM SY_WebhookMessageResponse r WHERE r.MessageID = m.ID)`, 0)
	x.expect("WH_Event e WHERE NOT EXISTS (SELECT 1 FROM SY_WebhookMessage m WHERE m.EventID = e.EventID)", 0)
	stored := x.attempts()
	for id, n := range x.fakeSender.sent {
		if stored[id] != n {
			x.t.Errorf("message %s was sent %d times, %d are recorded", id, n, stored[id])
		}
	}
	for id, n := range x.fakeSender.delivered {
		if n != 1 {
			x.t.Errorf("message %s was delivered %d times, want once", id, n)
		}
	}
}

// attempts returns the recorded number of attempts, by message.
func (x *simulation) attempts() map[string]int {
	x.t.Helper()
	attempts := make(map[string]int)
	for _, text := range x.texts("SELECT RecID || ' ' || Attempts FROM SY_WebhookMessage") {
		id, n, _ := strings.Cut(text, " ")
		count, err := strconv.Atoi(n)
		if err != nil {
			x.t.Fatal(err)
		}
		attempts[id] = count
	}
	return attempts
}

// withConnection opens another connection to the file, as another program does.
func (x *simulation) withConnection(run func(*sqlite.Conn)) {
	x.t.Helper()
	conn, err := sqlite.Open(filepath.Join(x.dir, "whd.db"), sqlite.Options{BusyTimeout: testTimeout})
	if err != nil {
		x.t.Fatal(err)
	}
	defer conn.Close()
	run(conn)
}

// exec executes a statement in the file.
func (x *simulation) exec(statement string) {
	x.t.Helper()
	x.withConnection(func(conn *sqlite.Conn) {
		if err := conn.Exec(statement); err != nil {
			x.t.Fatal(err)
		}
	})
}

// fakeSender is a delivery.Sender that records attempts instead of sending.
type fakeSender struct {
	status     func(n int, m *webhook.Message) int // returns the status code of a message's nth attempt; 0 for no response
	retryAfter time.Duration                       // requested by each response that is no success

	mu        sync.Mutex
	sent      map[string]int // attempts by message
	delivered map[string]int // deliveries by message
}

func newFakeSender() *fakeSender {
	return &fakeSender{status: inTurn(200), sent: make(map[string]int), delivered: make(map[string]int)}
}

// inTurn responds to the attempts of a message with codes, and to further ones with the last.
func inTurn(codes ...int) func(n int, m *webhook.Message) int {
	return func(n int, _ *webhook.Message) int { return codes[min(n, len(codes))-1] }
}

// attemptTime is the duration of an attempt.
const attemptTime = 3 * time.Millisecond

// Send implements delivery.Sender.
func (p *fakeSender) Send(ctx context.Context, m *webhook.Message, sub *webhook.Subscription, _ time.Time) webhook.Outcome {
	began := time.Now()
	sent := *m
	sent.URL = sub.URL
	p.mu.Lock()
	p.sent[m.GUID]++
	n := p.sent[m.GUID]
	status := p.status
	p.mu.Unlock()

	time.Sleep(attemptTime)
	o := webhook.Outcome{Code: status(n, &sent), Began: began.UTC(), Took: attemptTime}
	if o.Code == 0 {
		o.Cause = webhook.ConnectionRefused
	}
	if !o.Success() {
		o.RetryAfter = p.retryAfter
	}
	if o.Success() {
		p.mu.Lock()
		p.delivered[m.GUID]++
		p.mu.Unlock()
	}
	return o
}

// setStatus replaces the function that returns the status codes.
func (p *fakeSender) setStatus(f func(n int, m *webhook.Message) int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.status = f
}

// counts returns the numbers of messages that were sent and delivered.
func (p *fakeSender) counts() (sent, delivered int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.sent), len(p.delivered)
}
