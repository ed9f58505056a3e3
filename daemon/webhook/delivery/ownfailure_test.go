package delivery_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// failingSender is a delivery.Sender that ends attempts with failures of our own.
type failingSender struct {
	failure func(m *webhook.Message) webhook.OwnFailure // of an attempt that starts now; empty for a success

	mu    sync.Mutex
	times map[string]int // attempts by message
}

func newFailingSender(failure func(m *webhook.Message) webhook.OwnFailure) *failingSender {
	return &failingSender{failure: failure, times: make(map[string]int)}
}

// Send implements delivery.Sender.
func (s *failingSender) Send(_ context.Context, m *webhook.Message, _ *webhook.Subscription, _ time.Time) webhook.Outcome {
	s.mu.Lock()
	s.times[m.GUID]++
	s.mu.Unlock()
	time.Sleep(attemptTime)
	failure := s.failure(m)
	if failure == "" {
		return webhook.Outcome{Code: 200, Took: attemptTime}
	}
	return webhook.Outcome{Cause: webhook.NetworkFailed, Own: failure, Detail: "made up by the test", Took: attemptTime}
}

func (s *failingSender) attempts() (sum int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range s.times {
		sum += n
	}
	return sum
}

// simulateFailures runs a test with an engine that uses a failingSender.
func simulateFailures(t *testing.T, s *failingSender, test func(x *simulation)) {
	t.Helper()
	simulate(t, func(x *simulation) {
		x.stop(testTimeout)
		x.startEngine(func(c *delivery.Config) { c.Sender = s })
		test(x)
		x.stop(testTimeout)
		x.fakeSender.sent = make(map[string]int)
	})
}

// TestFailureOfTheMachinePausesAll lets all attempts fail for a minute because of this machine.
func TestFailureOfTheMachinePausesAll(t *testing.T) {
	for _, failure := range []webhook.OwnFailure{webhook.OutOfDescriptors, webhook.OutOfMemory} {
		t.Run(string(failure), func(t *testing.T) {
			lacks := true
			s := newFailingSender(func(*webhook.Message) webhook.OwnFailure {
				if lacks {
					return failure
				}
				return ""
			})
			simulateFailures(t, s, func(x *simulation) {
				x.subscribe("http://127.0.0.1/a", "debtor.*")
				x.subscribe("http://127.0.0.1/b", "debtor.*")
				for range 20 {
					x.publish("debtor.updated", "x")
				}
				x.advance(time.Second / 2)
				atOnce := s.attempts()
				x.advance(time.Minute)
				if probes := s.attempts() - atOnce; probes < 4 || probes > 6 { // after 1, 3, 7, 15 and 31 s
					t.Errorf("%d attempts within a minute, want about 5 probes", probes)
				}
				if problems := strings.Join(x.engine.Problems(), "\n"); !strings.Contains(problems, string(failure)) {
					t.Errorf("the problems are %q, want one about %q", problems, failure)
				}
				if n := x.engine.InHand().Uncharged[string(failure)]; n != int64(s.attempts()) {
					t.Errorf("%d attempts are counted as not charged, want %d", n, s.attempts())
				}
				x.expect("SY_WebhookMessage WHERE Attempts > 0", 0)
				x.expect("SY_WebhookMessageResponse", 0)
				x.expect("SY_WebhookSubscription WHERE FailingSince IS NOT NULL", 0)

				lacks = false
				x.advance(time.Minute)
				x.expect("SY_WebhookMessage WHERE Status = 1 AND Attempts = 1", 40)
				if problems := x.engine.Problems(); len(problems) > 0 {
					t.Errorf("afterwards the problems are %q, want none", problems)
				}
			})
		})
	}
}

// TestFailureConcerningOneEndpoint does not delay another endpoint.
func TestFailureConcerningOneEndpoint(t *testing.T) {
	for _, failure := range []webhook.OwnFailure{webhook.OutOfPorts, webhook.NoNetwork} {
		t.Run(string(failure), func(t *testing.T) {
			fails := true
			s := newFailingSender(func(m *webhook.Message) webhook.OwnFailure {
				if fails && strings.HasSuffix(m.URL, "/a") {
					return failure
				}
				return ""
			})
			simulateFailures(t, s, func(x *simulation) {
				x.subscribe("http://127.0.0.1/a", "debtor.*")
				x.subscribe("http://127.0.0.1/b", "debtor.*")
				for range 20 {
					x.publish("debtor.updated", "x")
				}
				x.advance(time.Second / 2)
				x.expect("SY_WebhookMessage WHERE Status = 1 AND URL LIKE '%/b'", 20)
				x.advance(time.Minute)
				x.expect("SY_WebhookMessage WHERE Attempts > 0 AND URL LIKE '%/a'", 0)
				if n := s.attempts(); n > 20+8*7 {
					t.Errorf("%d attempts, want 20 at the endpoint that works and at most 8 after each wait at the other", n)
				}
				fails = false
				x.advance(time.Minute)
				x.expect("SY_WebhookMessage WHERE Status = 1 AND Attempts = 1", 40)
			})
		})
	}
}

// TestLostConnectionsAreExcusedOnce: an endpoint that loses all its connections is charged.
func TestLostConnectionsAreExcusedOnce(t *testing.T) {
	s := newFailingSender(func(*webhook.Message) webhook.OwnFailure { return webhook.ConnectionLost })
	simulateFailures(t, s, func(x *simulation) {
		x.subscribe("http://127.0.0.1/a", "debtor.*")
		x.publish("debtor.updated", "x")
		x.advance(time.Hour)
		x.expect("SY_WebhookMessage WHERE Status = 3 AND Attempts = 6", 1)
		x.expect("SY_WebhookMessageResponse", 6)
		if n := s.attempts(); n != 7 {
			t.Errorf("%d attempts, want 7: six that count, and one that does not", n)
		}
	})
}

// TestDeletedSubscriptionFreesItsSlots deletes a subscription while its attempts hang.
func TestDeletedSubscriptionFreesItsSlots(t *testing.T) {
	simulate(t, func(x *simulation) {
		x.stop(testTimeout)
		x.startEngine(func(c *delivery.Config) { c.Sender = hangingSender{} })
		sub := x.subscribe("http://127.0.0.1/a", "debtor.*")
		for range 20 {
			x.publish("debtor.updated", "x")
		}
		x.advance(time.Second)
		if n := x.engine.InHand().InFlight; n == 0 {
			t.Fatal("no attempt is in flight")
		}
		if err := x.service.RemoveSubscription(context.Background(), x.subscriber, sub.GUID); err != nil {
			t.Fatal(err)
		}
		x.advance(time.Second)
		if n := x.engine.InHand().InFlight; n != 0 {
			t.Errorf("%d attempts are in flight a second after the deletion, want 0", n)
		}
	})
}

// hangingSender is a delivery.Sender that ends attempts only when they are cancelled.
type hangingSender struct{}

// Send implements delivery.Sender.
func (hangingSender) Send(ctx context.Context, _ *webhook.Message, _ *webhook.Subscription, _ time.Time) webhook.Outcome {
	<-ctx.Done()
	return webhook.Outcome{Cause: webhook.TimedOut}
}
