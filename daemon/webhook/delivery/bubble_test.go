package delivery_test

import (
	"context"
	"io"
	"log/slog"
	"path/filepath"
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

// trial is a house whose store fails on command and whose messages go no
// further than a postman. It runs in a bubble, where time passes as soon as
// everybody waits.
type trial struct {
	*house
	faulty   *deliverytest.Store
	postman  *postman
	term     time.Duration // of leases
	trueTime bool          // the store has its own clock, which does not pass as the bubble's does
}

// inBubble runs a test with a fresh trial.
func inBubble(t *testing.T, test func(x *trial)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		x := &trial{house: newHouse(t), postman: newPostman()}
		x.policy.Schedule = []time.Duration{time.Second, 5 * time.Second, 30 * time.Second, time.Minute, time.Minute}
		x.begin()
		test(x)
		x.stop(patience)
		x.done()
	})
}

// watch is how often the daemons of a trial hear of each other.
const watch = time.Second

// begin starts an engine.
func (x *trial) begin(change ...func(*delivery.Config)) {
	x.t.Helper()
	kept := x.store.Webhooks
	x.faulty = deliverytest.New(kept)
	if !x.trueTime {
		x.faulty.Clock = func() time.Time { return time.Now().UTC() }
	}
	config := delivery.Config{Store: x.faulty, Sender: x.postman, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
		Policy: func() webhook.Policy { return x.policy }, Attempts: 40, LeaseTerm: x.term, PeerInterval: watch}
	for _, c := range change {
		c(&config)
	}
	engine := delivery.New(config)
	if err := engine.Start(context.Background()); err != nil {
		x.t.Fatal(err)
	}
	x.engine = engine
	x.sender = sender.New(sender.Config{}) // which the house closes
	x.desk = admin.New(kept, engine, inHouse, slog.New(slog.DiscardHandler))
	x.t.Cleanup(func() { x.stop(patience) })
}

// neighbour starts another engine on the same store, as another daemon does.
func (x *trial) neighbour() *trial { return x.neighbourThat() }

func (x *trial) neighbourThat(change ...func(*delivery.Config)) *trial {
	x.t.Helper()
	h := *x.house
	h.store = h.open()
	n := &trial{house: &h, postman: x.postman, term: x.term, trueTime: x.trueTime}
	n.begin(change...)
	return n
}

// pass lets time pass, and then everybody finish what they can.
func (x *trial) pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// refused publishes events at once, all of which must be refused for the time
// being.
func (x *trial) refused(n int) {
	x.t.Helper()
	var publishers sync.WaitGroup
	for range n {
		publishers.Go(func() {
			_, err := x.engine.Publish(context.Background(), "debtor.updated", []byte("refused"))
			if !fault.Is(err, fault.Unavailable) {
				x.t.Errorf("publishing gave %v", err)
			}
		})
	}
	publishers.Wait()
}

// done checks what must be true in the end, when nothing fails any more: no
// message is open, and what is stored is what happened.
func (x *trial) done() {
	x.t.Helper()
	x.expect("SY_WebhookMessage WHERE Status IN (0, 2) OR NextAttemptDateTime IS NOT NULL", 0)
	x.expect("SY_WebhookMessage m WHERE Attempts <> (SELECT COUNT(*) FROM SY_WebhookMessageResponse r WHERE r.MessageID = m.ID)", 0)
	x.expect("WH_Event e WHERE NOT EXISTS (SELECT 1 FROM SY_WebhookMessage m WHERE m.EventID = e.EventID)", 0)
	stored := x.attempts()
	for id, n := range x.postman.sent {
		if stored[id] != n {
			x.t.Errorf("message %s was sent %d times, %d are written down", id, n, stored[id])
		}
	}
	for id, n := range x.postman.taken {
		if n != 1 {
			x.t.Errorf("message %s was taken %d times", id, n)
		}
	}
}

// attempts are the numbers of attempts that are written down, by message.
func (x *trial) attempts() map[string]int {
	x.t.Helper()
	conn, err := sqlite.Open(filepath.Join(x.dir, "whd.db"), sqlite.Options{ReadOnly: true, BusyTimeout: patience})
	if err != nil {
		x.t.Fatal(err)
	}
	defer conn.Close()
	st, err := conn.Prepare("SELECT RecID, Attempts FROM SY_WebhookMessage")
	if err != nil {
		x.t.Fatal(err)
	}
	defer st.Reset()
	all := make(map[string]int)
	for {
		more, err := st.Step()
		if err != nil {
			x.t.Fatal(err)
		}
		if !more {
			return all
		}
		all[string(st.Text(0))] = int(st.Int(1))
	}
}

// other opens another connection to the file, as a program does that is not
// ours.
func (x *trial) other(run func(*sqlite.Conn)) {
	x.t.Helper()
	conn, err := sqlite.Open(filepath.Join(x.dir, "whd.db"), sqlite.Options{BusyTimeout: patience})
	if err != nil {
		x.t.Fatal(err)
	}
	defer conn.Close()
	run(conn)
}

func (x *trial) exec(statement string) {
	x.t.Helper()
	x.other(func(conn *sqlite.Conn) {
		if err := conn.Exec(statement); err != nil {
			x.t.Fatal(err)
		}
	})
}

// postman is a sender that goes nowhere.
type postman struct {
	answer func(n int, m *webhook.Message) int // the status of a message's nth attempt; 0 for none

	mu    sync.Mutex
	sent  map[string]int // attempts by message
	taken map[string]int // those that were answered 2xx
}

func newPostman() *postman {
	return &postman{answer: func(int, *webhook.Message) int { return 200 }, sent: make(map[string]int), taken: make(map[string]int)}
}

// travel is the time that an attempt takes.
const travel = 3 * time.Millisecond

// Send is webhook.Sender's.
func (p *postman) Send(ctx context.Context, m *webhook.Message, _ *webhook.Subscription, _ time.Time) webhook.Outcome {
	began := time.Now()
	p.mu.Lock()
	p.sent[m.GUID]++
	n, answer := p.sent[m.GUID], p.answer
	p.mu.Unlock()
	time.Sleep(travel)
	o := webhook.Outcome{Code: answer(n, m), Began: began.UTC(), Took: travel}
	if o.Code == 0 {
		o.Cause = webhook.ConnectionRefused
	}
	if o.Success() {
		p.mu.Lock()
		p.taken[m.GUID]++
		p.mu.Unlock()
	}
	return o
}

func (p *postman) answers(f func(n int, m *webhook.Message) int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answer = f
}

// counts is how many messages were sent, and how many taken.
func (p *postman) counts() (sent, taken int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.sent), len(p.taken)
}
