package delivery_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/sqlite"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/admin"
	"github.com/bizhook/whd/daemon/webhook/delivery"
	"github.com/bizhook/whd/daemon/webhook/delivery/deliverytest"
)

// TestFailingStore makes each call fail that publishing needs. Rejected events leave
// nothing behind; afterwards everything works again.
func TestFailingStore(t *testing.T) {
	for _, c := range []struct {
		call deliverytest.Call
		why  string
	}{
		{deliverytest.Write, "busy"},
		{deliverytest.Write, "the disk is full"},
		{deliverytest.Write, "read-only"},
		{deliverytest.AllocateIDs, "busy"},
	} {
		t.Run(string(c.call)+" "+c.why, func(t *testing.T) {
			simulate(t, func(x *simulation) {
				x.subscribe("http://127.0.0.1/hook", "*")
				x.faultyStore.SetRule(deliverytest.Refuse(deliverytest.Unavailable(c.why)), c.call)
				x.publishRefused(20)
				x.faultyStore.SetRule(nil, c.call)
				for range 20 {
					x.publish("debtor.updated", "accepted")
				}
				x.advance(time.Minute)
				x.expect("SY_WebhookMessage WHERE Status = 1 AND Attempts = 1", 20)
				x.expect("WH_Event WHERE Body = 'accepted'", 20)
				x.expect("WH_Event", 20)
			})
		})
	}
}

// TestWriteWithUnknownResult reports successful writes as failed. Their events are
// rejected, but may be delivered, once; no message stays open.
func TestWriteWithUnknownResult(t *testing.T) {
	simulate(t, func(x *simulation) {
		x.subscribe("http://127.0.0.1/hook", "*")
		x.faultyStore.SetRule(deliverytest.FailAfter(deliverytest.Unavailable("the connection was lost")), deliverytest.Write)
		x.publishRefused(20)
		x.faultyStore.SetRule(nil, deliverytest.Write)
		x.advance(time.Minute)
		x.expect("WH_Event WHERE Body = 'refused'", 20)
		x.expect("SY_WebhookMessage WHERE Status = 1 AND Attempts = 1", 20)
	})
}

// TestLeaseReleaseTimeout stops while the store is slow: releasing the leases may take
// the rest of the grace period, and 2 s if it is over.
func TestLeaseReleaseTimeout(t *testing.T) {
	for _, test := range []struct{ grace, release time.Duration }{
		{grace: time.Minute, release: 50 * time.Second},
		{grace: 0, release: time.Second},
	} {
		t.Run(test.grace.String(), func(t *testing.T) {
			simulate(t, func(x *simulation) {
				slow := func(ctx context.Context, do func(context.Context) error) error {
					select {
					case <-time.After(test.release):
						return do(ctx)
					case <-ctx.Done():
						return ctx.Err()
					}
				}
				x.faultyStore.SetRule(slow, deliverytest.Release)
				ctx, cancel := context.WithTimeout(context.Background(), test.grace)
				defer cancel()
				err := x.engine.Stop(ctx)
				if err != nil {
					t.Errorf("stopping while the release takes %v: %v", test.release, err)
				}
				x.engine = nil
			})
		})
	}
}

// TestUnwrittenResultIsLogged stops while results cannot be written: their messages are sent
// twice, which the log announces.
func TestUnwrittenResultIsLogged(t *testing.T) {
	simulate(t, func(x *simulation) {
		var log bytes.Buffer
		x.stop(testTimeout)
		x.startEngine(func(c *delivery.Config) { c.Log = slog.New(slog.NewTextHandler(&log, nil)) })
		x.subscribe("http://127.0.0.1/hook", "*")
		x.publish("debtor.updated", "{}")
		x.faultyStore.SetRule(deliverytest.Refuse(deliverytest.Unavailable("the disk is full")), deliverytest.Write)
		x.advance(time.Minute)
		x.stop(time.Second)
		if !strings.Contains(log.String(), `sent again" results=1`) {
			t.Errorf("the log is\n%s\nwant one result that is sent again", &log)
		}

		x.startEngine()
		x.advance(time.Minute)
		x.expect("SY_WebhookMessage WHERE Status = 1 AND Attempts = 1", 1)
		x.forget() // the message was sent twice
	})
}

// TestSendTestReturnsStoredMessage checks that attempts do not change the returned
// message.
func TestSendTestReturnsStoredMessage(t *testing.T) {
	simulate(t, func(x *simulation) {
		r := x.subscribe("http://127.0.0.1/hook", "*")
		m, err := x.service.SendTest(context.Background(), x.subscriber, r.GUID, admin.TestMessage{})
		if err != nil {
			t.Fatal(err)
		}
		x.advance(time.Minute)
		x.expect("SY_WebhookMessage WHERE Status = 1 AND Attempts = 1", 1)
		if m.ID == 0 || m.GUID == "" {
			t.Errorf("the test returned message %d with the GUID %q, want those of a stored message", m.ID, m.GUID)
		}
		if m.Attempts != 0 || m.Status != webhook.NotSent || m.Next.IsZero() {
			t.Errorf("the test returned %+v, want a message that is not sent yet", m.State)
		}
	})
}

// TestHangingWrite blocks a write for half a minute. Publishers must get an error
// earlier.
func TestHangingWrite(t *testing.T) {
	for _, test := range []struct {
		name   string
		hang   func(*deliverytest.Gate) deliverytest.Rule
		stored int64 // messages of the event that was rejected
	}{
		{"without effect", func(g *deliverytest.Gate) deliverytest.Rule { return g.Hold }, 0},
		{"with a late effect", func(g *deliverytest.Gate) deliverytest.Rule { return g.HoldDetached }, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			simulate(t, func(x *simulation) {
				x.subscribe("http://127.0.0.1/hook", "*")
				gate := deliverytest.NewGate()
				x.faultyStore.SetRuleOnce(test.hang(gate), deliverytest.Write)
				start := time.Now()
				x.publishRefused(1)
				if took := time.Since(start); took > 25*time.Second {
					t.Errorf("the event was rejected after %v, want at most 25s", took)
				}
				x.publish("debtor.updated", "accepted")

				x.advance(30*time.Second - time.Since(start))
				gate.Open()
				x.advance(3 * time.Minute)
				x.expect("SY_WebhookMessage WHERE Status = 1 AND Attempts = 1", test.stored+1)
			})
		})
	}
}

// TestLockedFile has another program hold the file's lock for longer than the store
// waits for it.
func TestLockedFile(t *testing.T) {
	simulate(t, func(x *simulation) {
		x.subscribe("http://127.0.0.1/hook", "*")
		x.publish("debtor.updated", "accepted")
		x.withConnection(func(conn *sqlite.Conn) {
			if err := conn.Exec("BEGIN IMMEDIATE"); err != nil {
				t.Fatal(err)
			}
			x.publishRefused(1)
			if err := conn.Exec("ROLLBACK"); err != nil {
				t.Fatal(err)
			}
		})
		x.publish("debtor.updated", "accepted")
		x.advance(time.Minute)
		x.expect("SY_WebhookMessage WHERE Status = 1 AND Attempts = 1", 2)
		x.expect("WH_Event", 2)
	})
}

// TestFailingReads has a backlog in the store while calls of Page or Due fail or hang.
// New events must be accepted.
func TestFailingReads(t *testing.T) {
	hang := func(g *deliverytest.Gate) deliverytest.Rule { return g.Hold }
	fail := func(*deliverytest.Gate) deliverytest.Rule {
		return deliverytest.Refuse(deliverytest.Unavailable("busy"))
	}
	for _, c := range []struct {
		name string
		call deliverytest.Call
		rule func(*deliverytest.Gate) deliverytest.Rule
	}{
		{"Page fails", deliverytest.OpenMessages, fail},
		{"Page hangs", deliverytest.OpenMessages, hang},
		{"Due fails", deliverytest.NextDue, fail},
		{"Due hangs", deliverytest.NextDue, hang},
	} {
		t.Run(c.name, func(t *testing.T) {
			simulate(t, func(x *simulation) {
				const before, during = 300, 40 // events
				on, off := true, false
				sub := x.subscribe("http://127.0.0.1/hook", "*")
				x.changeSubscription(sub, admin.SubscriptionChange{Enabled: &off})
				x.publishMany(before, func(int) delivery.Post {
					return delivery.Post{Name: "debtor.updated", Body: []byte("before")}
				})

				gate := deliverytest.NewGate()
				x.faultyStore.SetRule(c.rule(gate), c.call)
				x.changeSubscription(sub, admin.SubscriptionChange{Enabled: &on})
				for range during {
					x.publish("debtor.updated", "during")
					x.advance(750 * time.Millisecond)
				}

				x.faultyStore.SetRule(nil, c.call)
				gate.Open()
				x.advance(time.Minute)
				x.expect("SY_WebhookMessage WHERE Status = 1 AND Attempts = 1", before+during)
			})
		})
	}
}

// TestFailingSubscriptionReads changes subscriptions while the store cannot be read. No
// event may be matched with outdated subscriptions.
func TestFailingSubscriptionReads(t *testing.T) {
	for _, call := range []deliverytest.Call{deliverytest.Version, deliverytest.ChangedSubscriptions} {
		t.Run(string(call), func(t *testing.T) {
			simulate(t, func(x *simulation) {
				x.subscribe("http://127.0.0.1/one", "*")
				x.faultyStore.SetRule(deliverytest.Refuse(deliverytest.Unavailable("busy")), call)
				x.subscribe("http://127.0.0.1/two", "*")
				x.publishRefused(3)
				x.faultyStore.SetRule(nil, call)
				if got := x.publish("debtor.updated", "accepted"); got.Messages != 2 {
					t.Errorf("the event was sent to %d subscriptions, want 2", got.Messages)
				}
				x.advance(time.Minute)
				x.expect("SY_WebhookMessage WHERE Status = 1", 2)
			})
		})
	}
}

// attemptCase is an endpoint's responses to an event, and the expected final state.
type attemptCase struct {
	event    string
	codes    []int // of the first attempts, the last one also of later ones
	status   webhook.Status
	attempts int
}

var attemptCases = []attemptCase{
	{"debtor.created", []int{200}, webhook.Successful, 1},
	{"debtor.updated", []int{422, 404, 200}, webhook.Successful, 3},
	{"debtor.deleted", []int{422}, webhook.Failed, 6},
	{"creditor.created", []int{410}, webhook.Failed, 1},
	{"creditor.updated", []int{503, 200}, webhook.Successful, 2},
	{"creditor.deleted", []int{0, 410}, webhook.Failed, 2},
}

// TestAttemptRecording combines successful and failing attempts with writes of their
// outcomes that succeed, fail temporarily, report a false failure, or hang. No attempt
// may be repeated because its outcome is not written yet, and none may count twice.
func TestAttemptRecording(t *testing.T) {
	for recording, rule := range map[string]func(*deliverytest.Gate) deliverytest.Rule{
		"succeeds": func(*deliverytest.Gate) deliverytest.Rule { return nil },
		"fails": func(*deliverytest.Gate) deliverytest.Rule {
			return deliverytest.Refuse(deliverytest.Unavailable("busy"))
		},
		"reports a false failure": func(*deliverytest.Gate) deliverytest.Rule {
			return deliverytest.FailAfter(deliverytest.Unavailable("busy"))
		},
		"hangs":   func(g *deliverytest.Gate) deliverytest.Rule { return g.Hold },
		"is late": func(g *deliverytest.Gate) deliverytest.Rule { return g.HoldDetached },
	} {
		t.Run("recording "+recording, func(t *testing.T) {
			simulate(t, func(x *simulation) {
				gate := deliverytest.NewGate()
				departure := deliverytest.NewGate() // opened when all events are accepted
				x.fakeSender.setStatus(func(n int, m *webhook.Message) int {
					_ = departure.Hold(context.Background(), func(context.Context) error { return nil })
					return inTurn(attemptCaseOf(m.Event.Name).codes...)(n, m)
				})
				for _, c := range attemptCases {
					x.subscribe("http://127.0.0.1/hook", c.event)
					x.publish(c.event, "x")
				}

				x.faultyStore.SetRule(rule(gate), deliverytest.Write)
				departure.Open()
				x.advance(40 * time.Second)
				x.faultyStore.SetRule(nil, deliverytest.Write)
				gate.Open()
				x.advance(20 * time.Minute)
				for _, c := range attemptCases {
					x.expect(fmt.Sprintf("WH_MessageView WHERE EventName = '%s' AND Status = %d AND Retries = %d",
						c.event, c.status, c.attempts-1), 1)
				}
			})
		})
	}
}

// attemptCaseOf returns the case of an event.
func attemptCaseOf(event string) attemptCase {
	i := slices.IndexFunc(attemptCases, func(c attemptCase) bool { return c.event == event })
	return attemptCases[i]
}

// TestRandomFaults draws faults while events are published. In the end all accepted
// events must be delivered once, and no message may be open.
func TestRandomFaults(t *testing.T) {
	for seed := range 4 {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			simulate(t, func(x *simulation) { x.runRandomFaults(rand.New(rand.NewPCG(uint64(seed), 7))) })
		})
	}
}

// randomOutages lets endpoints respond with errors for a while.
type randomOutages struct {
	mu    sync.Mutex
	codes map[string]int // by URL
}

// status returns the response to an attempt.
func (o *randomOutages) status(_ int, m *webhook.Message) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	if code, isDown := o.codes[m.URL]; isDown {
		return code
	}
	return 200
}

// draw replaces the outages by up to three new ones.
func (o *randomOutages) draw(random *rand.Rand) {
	codes := []int{0, 404, 429, 500, 503}
	o.mu.Lock()
	defer o.mu.Unlock()
	clear(o.codes)
	for range random.IntN(4) {
		url := fmt.Sprintf("http://127.0.0.1/%d", random.IntN(5))
		o.codes[url] = codes[random.IntN(len(codes))]
	}
}

// end ends all outages.
func (o *randomOutages) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	clear(o.codes)
}

// runRandomFaults publishes for a minute while calls fail and endpoints fail
// temporarily.
func (x *simulation) runRandomFaults(random *rand.Rand) {
	x.t.Helper()
	const subscriptions = 5
	x.policy.Schedule = append(
		[]time.Duration{time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 20 * time.Second},
		slices.Repeat([]time.Duration{time.Minute}, 7)...)
	for i := range subscriptions {
		x.subscribe(fmt.Sprintf("http://127.0.0.1/%d", i), "*", func(s *webhook.Subscription) { s.Order.All = i == 0 })
	}
	outages := &randomOutages{codes: make(map[string]int)}
	x.fakeSender.setStatus(outages.status)

	end := time.Now().Add(time.Minute)
	var accepted atomic.Int64
	var publishers sync.WaitGroup
	for p := range 8 {
		interval := time.Duration(600+p) * time.Millisecond
		publishers.Go(func() { accepted.Add(x.publishUntil(end, interval)) })
	}
	x.drawFaults(random, outages, end)
	publishers.Wait()
	outages.end()
	x.advance(30 * time.Minute)

	stored := x.count("WH_Event")
	x.expect("SY_WebhookMessage WHERE Status = 1", subscriptions*stored)
	if n := accepted.Load(); n == 0 || n > stored {
		x.t.Errorf("%d events were accepted, want at least one and at most %d, which are stored", n, stored)
	}
	_, delivered := x.fakeSender.counts()
	if want := subscriptions * accepted.Load(); int64(delivered) < want {
		x.t.Errorf("%d messages were delivered, want at least %d, those of accepted events", delivered, want)
	}
}

// publishUntil publishes an event in each interval, and returns how many were accepted. The others
// must be rejected as unavailable.
func (x *simulation) publishUntil(end time.Time, interval time.Duration) int64 {
	accepted := int64(0)
	for time.Now().Before(end) {
		_, err := x.engine.Publish(context.Background(), delivery.Post{Name: "debtor.updated", Body: []byte("x")})
		if err == nil {
			accepted++
		} else if !fault.Is(err, fault.Unavailable) {
			x.t.Errorf("publishing returned the error %v, want Unavailable", err)
		}
		time.Sleep(interval)
	}
	return accepted
}

// drawFaults draws faults of calls, and outages of endpoints, every few seconds. In the end no call
// fails any more.
func (x *simulation) drawFaults(random *rand.Rand, outages *randomOutages, end time.Time) {
	calls := []deliverytest.Call{
		deliverytest.Write,
		deliverytest.Write,
		deliverytest.OpenMessages,
		deliverytest.NextDue,
		deliverytest.Version,
		deliverytest.ChangedSubscriptions,
		deliverytest.AllocateIDs,
	}
	busy := deliverytest.Unavailable("busy")
	var gates []*deliverytest.Gate
	for time.Now().Before(end) {
		gate := deliverytest.NewGate()
		gates = append(gates, gate)
		rules := []deliverytest.Rule{
			nil,
			nil,
			deliverytest.Refuse(busy),
			deliverytest.FailAfter(busy),
			gate.Hold,
			gate.HoldDetached,
		}
		rule := rules[random.IntN(len(rules))]
		x.faultyStore.SetRule(rule, calls[random.IntN(len(calls))])
		outages.draw(random)
		time.Sleep(time.Duration(random.IntN(4000)) * time.Millisecond)
		if random.IntN(3) > 0 {
			gate.Open()
		}
	}
	x.faultyStore.SetRule(nil, calls...)
	for _, gate := range gates {
		gate.Open()
	}
}
